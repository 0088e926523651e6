"""A function that looks like one that was proved begins with that proof: what this saves, and that nothing of it is believed."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cfa.graph import Program
from analysis.model import clock
from analysis.model.report import ProofReuse
from analysis.session.portfolio.asking import ask
from analysis.session.portfolio.request import Proved, Request, Unknown
from analysis.session.portfolio.request_terms import About, Kept, Terms
from analysis.session.provers.asking.claim import Claim
from analysis.session.provers.asking.siblings import Siblings
from tests.session.test_live_proofs import TEXT, Editor
from tests.support.explorations import program_of

HEAD = "void reach_error(void);\n"
BOTH = """int NAME(int n, int step)
{
    int VAR = 0, other = 0;
    while (VAR < n) {
        VAR++;
        other++;
        if (step > LIMIT)
            step--;
    }
    if (VAR != other)
        reach_error();
    return VAR;
}
"""


def text_of(name: str, variable: str = "i", limit: int = 3) -> str:
    return BOTH.replace("NAME", name).replace("VAR", variable).replace("LIMIT", str(limit))


def request(program: Program, name: str, kept: Kept = Kept()) -> Request:  # noqa: B008 - an immutable value
    about = About("values", ("assertion",), name)
    return Request(program, (name,), about, False, Terms(encoding="int"), kept)


@pytest.fixture(scope="module")
def kept() -> Kept:
    found = ask(request(program_of(HEAD + text_of("first")), "first"), 10.0).by_rule["assertion"]
    assert isinstance(found, Proved)
    assert found.kept is not None
    return Kept(found.kept, are_believed=True, of="first")


@pytest.mark.parametrize("copy", [text_of("copied"), text_of("copied", "k"), text_of("copied", "k", 7)])
def test_the_proof_of_a_copy_takes_a_part_of_the_work(kept: Kept, copy: str) -> None:
    program = program_of(HEAD + copy)
    before = clock.spent()
    scratch = ask(request(program, "copied"), 10.0)
    between = clock.spent()
    found = ask(request(program, "copied", kept), 10.0).by_rule["assertion"]
    assert isinstance(scratch.by_rule["assertion"], Proved)
    assert isinstance(found, Proved)
    assert found.reuse == ProofReuse(1, found.reuse.asserted, found.reuse.asserted, 0, of="first")
    assert found.reuse.asserted > 0
    assert found.states == 0
    assert 2 * (clock.spent() - between) <= between - before


def test_a_copy_that_is_wrong_is_not_proved_and_loses_nothing(kept: Kept) -> None:
    program = program_of(HEAD + text_of("copied").replace("other++", "other += 2"))
    found = ask(request(program, "copied", kept), 0.5).by_rule["assertion"]
    assert isinstance(found, Unknown)
    assert not found.broken


def test_a_copy_begins_with_the_proof_of_its_sibling(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    editor.types(TEXT)
    _, report = editor.types(TEXT + TEXT.partition("int other")[0].replace("upto", "again"))
    (again,) = (one for one in report.functions if one.name == "again")
    verdict = again.verdicts["array-bounds"]
    assert verdict.verdict == "safe"
    assert verdict.reused == ProofReuse(1, 1, 1, 0, of="upto")
    editor.checker.close()


# -- what looks alike -----------------------------------------------------------------------------------------------

OTHERS = HEAD + text_of("first") + text_of("second", "k", 9) + "int divided(int n, int step) { return n / step; }\n"


def claim(name: str, rule: str = "assertion") -> Claim:
    return Claim("function", name, rule, False)


@pytest.fixture
def siblings() -> Siblings:
    program, found = program_of(OTHERS), Siblings()
    for name in ("first", "second", "divided"):
        found.proved(claim(name), program.functions[name])
    return found


@pytest.mark.parametrize(
    ("text", "like"),
    [
        (text_of("new", "x", 1), "second"),
        (text_of("new").replace("step--;", "step = step - 2;"), "second"),
        (text_of("new").replace("int step", "long step"), None),
        ("int new(int n, int step) { while (n > step) n--; return n; }", None),
        ("int new(int n, int step) { return step / n; }", "divided"),
    ],
)
def test_what_looks_alike(siblings: Siblings, text: str, like: str | None) -> None:
    program = program_of(HEAD + text)
    assert siblings.like(claim("new"), program.functions["new"]) == (like and claim(like))
    assert siblings.like(claim("new", "null-dereference"), program.functions["new"]) is None


def test_a_function_is_not_its_own_sibling(siblings: Siblings) -> None:
    program = program_of(OTHERS)
    assert siblings.like(claim("second"), program.functions["second"]) == claim("first")


def test_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.session.provers.asking.siblings._MOST", 1)
    program, found = program_of(OTHERS), Siblings()
    for name in ("second", "first", "second", "divided"):
        found.proved(claim(name), program.functions[name])
    assert found.like(claim("first"), program.functions["first"]) is None
