"""Software verification witnesses 2.0: ours are of the format and validated, those of others are checked before they count."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml

from analysis.api import Checker
from analysis.certificate.c_reading import UnreadableConditionError, read_condition
from analysis.certificate.c_values import Name
from analysis.certificate.checker import check
from analysis.certificate.loop_invariant import LoopInvariant
from analysis.certificate.refusal import RefusedError
from analysis.certificate.witnessed import claimed
from analysis.cli.certifying import read_linked
from analysis.cli.check import run
from analysis.cli.command_options import Asked
from analysis.cli.main import main
from analysis.cli.witness.replayed import values
from analysis.cli.witness.witness_format import RULES, Waypoint, WitnessError, is_whole, read_witness
from analysis.cli.witness.written import written_witness
from analysis.model.c_types import INT as C_INT
from analysis.model.c_types import LP64
from analysis.model.options import Options
from analysis.model.places import Place, Position, Range
from analysis.model.report import FunctionReport, Report, RuleVerdict, Times, Work
from analysis.rules.plain_yaml import read_plain_yaml
from analysis.smt.logic.smtlib import write
from analysis.smt.logic.term_building import symbol
from analysis.smt.logic.terms import INT

SCHEMA = Path(__file__).parent / "schemas" / "witness-2.0.json"
WRONG = """extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void)
{
    int x = __VERIFIER_nondet_int();
    int y;
    y = __VERIFIER_nondet_int();
    if (x == 7)
        if (y == x + 1)
            reach_error();
    return 0;
}
"""
RIGHT = """extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
static int up(int i)
{
    return i + 1;
}
int main(void)
{
    int n = __VERIFIER_nondet_int(), i = 0;
    while (i < n)
        i = up(i);
    if (n >= 0 && i != n)
        reach_error();
    return 0;
}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.c").write_text(WRONG)
    Path("right.c").write_text(RIGHT)


def entry(kind: str, content: list[Any], file: str, **task: object) -> dict[str, Any]:
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    specification = "CHECK( init(main()), LTL(G ! call(reach_error())) )"
    about = {"input_files": [file], "input_file_hashes": {file: digest}, "specification": specification}
    metadata = {"format_version": "2.0", "task": {**about, "data_model": "LP64", "language": "C", **task}}
    return {"entry_type": kind, "metadata": metadata, "content": content}


def result(value: str, kind: str = "function_return") -> dict[str, Any]:
    location = {"file_name": "wrong.c", "line": 5}
    waypoint = {"type": kind, "action": "follow", "location": location, "constraint": {"value": value}}
    return {"segment": [{"waypoint": waypoint}]}


def proved(rule: str) -> Report:
    """A report that a program is proved for a rule."""
    place = Place("right.c", Range(Position(1, 5), Position(1, 9)))
    function = FunctionReport("main", place, {rule: RuleVerdict("safe", None, (), "value")})
    return Report("safe", (), (function,), (), (), Work(), Times())


def validated(capsys: pytest.CaptureFixture[str], document: object, program: str) -> tuple[int, str, str]:
    Path("w.yml").write_text(document if isinstance(document, str) else yaml.safe_dump(document))
    code = main(["witness", "w.yml", program])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_violation_witness_is_of_the_format_and_leads_to_the_violation(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "wrong.c", "--rule", "assertion", "--store", "none", "--witness", "w.yml"]
    assert main([*arguments, "--engine", "symbolic"]) == 1
    document = yaml.safe_load(Path("w.yml").read_text())
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    waypoints = [one["segment"][0]["waypoint"] for one in document[0]["content"]]
    assert [one["type"] for one in waypoints] == ["function_return", "function_return", "target"]
    assert [one["constraint"]["value"] for one in waypoints[:2]] == ["\\result == 7", "\\result == 8"]
    lines = WRONG.split("\n")
    closing = [lines[one["location"]["line"] - 1][one["location"]["column"] - 1] for one in waypoints[:2]]
    assert closing == [")", ")"]
    capsys.readouterr()
    assert main(["witness", "w.yml", "wrong.c"]) == 0
    assert "accepted: a run violates the specification" in capsys.readouterr().out


def test_a_result_stands_at_its_call_and_is_what_the_function_returns(capsys: pytest.CaptureFixture[str]) -> None:
    """`rand` is no part of `srand`; of two calls of `time`, one has no result that is used; a stream is a pointer."""
    Path("wrong.c").write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\nextern void reach_error(void);\nint main(void)\n{\n"
        '    time(NULL);\n    srand((unsigned)time(NULL));\n    FILE *f = fopen("a", "r");\n    if (!f)\n        return 0;\n'
        "    int x = rand();\n    fclose(f);\n    if (x == 77)\n        reach_error();\n    return 0;\n}\n"
    )
    arguments = ["check", "wrong.c", "--rule", "assertion", "--store", "none", "--witness", "w.yml"]
    assert main([*arguments, "--engine", "symbolic"]) == 1
    waypoints = [one["segment"][0]["waypoint"] for one in yaml.safe_load(Path("w.yml").read_text())[0]["content"]]
    said = [(one["location"]["line"], one.get("constraint", {}).get("value", "")) for one in waypoints]
    assert [line for line, _ in said] == [8, 9, 12, 15]
    assert [value for _, value in said[1:]] == ["\\result != 0", "\\result == 77", ""]
    capsys.readouterr()
    assert main(["witness", "w.yml", "wrong.c"]) == 0


def test_a_witness_without_invariants_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def proved(checker: Checker, asked: Asked) -> Report:
        """The report of a proof that says nothing of loops."""
        report = run(checker, asked)
        safe = {"assertion": RuleVerdict("safe", None, (), "symbolic")}
        functions = tuple(msgspec.structs.replace(function, verdicts=safe) for function in report.functions)
        return msgspec.structs.replace(report, verdict="safe", functions=functions, findings=())

    monkeypatch.setattr("analysis.cli.check.run", proved)
    options = ["--rule", "assertion", "--store", "none", "--engine", "automaton"]
    assert main(["check", "right.c", *options, "--witness", "w.yml"]) == 0
    assert yaml.safe_load(Path("w.yml").read_text())[0]["content"] == []
    assert "note: The witness has no loop invariants" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        ([result("\\result == 7"), result("\\result == 8")], 0, "accepted"),
        ([result("x == 7", "assumption"), result("(y == 8)", "assumption")], 0, "accepted"),
        ([result("\\result == 7"), result("\\result == 9")], 1, "not accepted: the run ended without that violation (Returned)"),
        ([], 1, "not accepted"),
    ],
)
def test_the_violation_witness_of_another_is_run(
    capsys: pytest.CaptureFixture[str], content: list[Any], code: int, said: str
) -> None:
    found = validated(capsys, [entry("violation_sequence", content, "wrong.c")], "wrong.c")
    assert found[0] == code
    assert said in found[1]


def test_it_counts_for_the_same_text_and_specification_only(capsys: pytest.CaptureFixture[str]) -> None:
    content = [result("\\result == 7"), result("\\result == 8")]
    overflow = "CHECK( init(main()), LTL(G ! overflow) )"
    assert validated(capsys, [entry("violation_sequence", content, "wrong.c", specification=overflow)], "wrong.c")[0] == 1
    document = [entry("violation_sequence", content, "wrong.c")]
    Path("wrong.c").write_text(WRONG + "\n")
    code, _, said = validated(capsys, document, "wrong.c")
    assert code == 2
    assert "wrong.c is not the text that it is about" in said


@pytest.mark.parametrize(
    "document",
    [
        "",
        "[]",
        "- 1",
        "- &a [*a]",
        "!!python/object/apply:os.system ['touch hit']",
        "- !!bool x",
        "[" * 10_000,
        "- entry_type: invariant_set\n  content: []\n",
        "- entry_type: [\n",
        "\u0000",
    ],
)
def test_what_is_no_witness_is_one_sentence(capsys: pytest.CaptureFixture[str], document: str) -> None:
    code, out, said = validated(capsys, document, "wrong.c")
    assert (code, out) == (2, "")
    assert len(said.splitlines()) == 1
    assert "cannot be validated" in said
    assert not Path("hit").exists()


def test_a_line_that_no_file_has_and_a_version_that_is_not_known(tmp_path: Path) -> None:
    wrong = entry("violation_sequence", [result("1")], "wrong.c")
    wrong["content"][0]["segment"][0]["waypoint"]["location"]["line"] = 10**30
    Path("w.yml").write_text(yaml.safe_dump([wrong]))
    with pytest.raises(WitnessError, match=r"no witness of version 2\.0"):
        read_witness("w.yml")
    wrong = entry("violation_sequence", [], "wrong.c")
    wrong["metadata"]["format_version"] = "3.0"
    Path("w.yml").write_text(yaml.safe_dump([wrong]))
    with pytest.raises(WitnessError, match=r"version '3\.0'"):
        read_witness("w.yml")


@pytest.mark.parametrize(
    ("text", "accepted"),
    [("i <= n || n < 0", True), ("(n < 0) || (long long)i - 1 < n", True), ("i <= n + 1 || n < 0", False), ("1", False)],
)
def test_invariants_prove_the_program_only_if_the_checker_accepts_them(text: str, accepted: bool) -> None:
    program, places = read_linked(("right.c",), Options())
    proof = claimed(program, places, "assertion", [LoopInvariant("right.c", 9, "main", text)], LP64)
    if accepted:
        assert check(program, proof).questions > 0
    else:
        with pytest.raises(RefusedError):
            check(program, proof)


def test_an_invariant_of_no_loop_or_of_what_is_not_known_is_refused() -> None:
    program, places = read_linked(("right.c",), Options())
    for invariant, why in (
        (LoopInvariant("right.c", 13, "", "1"), "no loop at right.c:13"),
        (LoopInvariant("other.c", 9, "", "1"), "no loop at other.c:9"),
        (LoopInvariant("right.c", 9, "up", "1"), "no loop at right.c:9"),
        (LoopInvariant("right.c", 9, "main", "system(1)"), "`system` is not known"),
        (LoopInvariant("right.c", 9, "main", "i <= m"), "`m` is not known"),
    ):
        with pytest.raises(RefusedError, match=why):
            claimed(program, places, "assertion", [invariant], LP64)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("x < 3 && !(x == 1)", "(and (<= x 2) (not (= x 1)))"),
        ("(unsigned long)x >= -2u", "(>= x (- 2))"),
        ("x", "(not (= x 0))"),
        ("(x < 3) == 1", "(<= x 2)"),
    ],
)
def test_a_condition_of_c_is_read(text: str, formula: str) -> None:
    x = symbol("x", INT)
    assert write(read_condition(text, {x: Name("x", C_INT)})) == formula


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x <",
        "x = 3",
        "x++",
        "f(x)",
        "*x",
        "x & 1",
        "x * x",
        "(x",
        "x)",
        "x y",
        "'a'",
        "0x10",
        "1.5",
        "(" * 5000,
        "-" * 5000 + "x",
    ],
)
def test_what_is_not_understood_in_a_condition_is_refused(text: str) -> None:
    x = symbol("x", INT)
    with pytest.raises(UnreadableConditionError):
        read_condition(text, {x: Name("x", C_INT)})


def test_values_are_those_that_are_followed() -> None:
    kinds = [("function_return", "follow", "\\result==-3"), ("assumption", "avoid", "x==4"), ("assumption", "follow", "x >= 4")]
    kinds += [("function_return", "follow", "\\result != 0"), ("assumption", "follow", "x != 0")]
    location = {"file_name": "a.c", "line": 1}
    rows = [{"type": kind, "action": action, "location": location, "constraint": {"value": of}} for kind, action, of in kinds]
    assert list(values([msgspec.convert(row, Waypoint) for row in rows])) == [-3, 1]


def test_a_proof_of_one_rule_is_none_of_a_specification_that_is_about_several(capsys: pytest.CaptureFixture[str]) -> None:
    Path("right.c").write_text("int main(void)\n{\n    int a[3] = {0};\n    int *p = a;\n    return p[5];\n}\n")
    document = [entry("invariant_set", [], "right.c", specification="CHECK( init(main()), LTL(G valid-deref) )")]
    code, out, said = validated(capsys, document, "right.c")
    assert (code, out) == (2, "")
    assert "correctness witnesses for 'G valid-deref' are not checked" in said
    assert [rule for rule in RULES if is_whole(rule)] == ["assertion", "signed-overflow", "memory-leak"]
    with pytest.raises(WitnessError, match="none of assertion, signed-overflow, memory-leak is proved"):
        written_witness(proved("null-dereference"), "LP64", lambda _: ())


@pytest.mark.parametrize("given", ["abc", "1" * 30])
def test_an_epoch_that_is_no_time_is_one_sentence(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    with pytest.raises(WitnessError, match="SOURCE_DATE_EPOCH"):
        written_witness(proved("assertion"), "LP64", lambda _: ())


def test_a_number_that_would_take_long_is_a_text() -> None:
    """The parser's time for a number to the base 60 grows with the square of its length; digits of 4 MB are no line either."""
    for text in ("1" + ":1" * 400_000, "1:1" + ":1" * 400 + ".0", "0x" + "f" * 5_000):
        assert read_plain_yaml(f"- {text}".encode()) == [text]
    assert read_plain_yaml(b"[12, 0x1f, -1.5]") == [12, 31, -1.5]
