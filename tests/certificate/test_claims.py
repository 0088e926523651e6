"""A certificate says what it claims, and the checker finds out itself what there is to claim.

The class: certificates that are accepted though they prove less than they seem to. Places left out, named twice, or of other
functions; rules spelled twice; symbols that capture what the checker makes up on its way; places that no run reaches; text that
is no certificate at all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from analysis.certificate import text
from analysis.certificate.annotation import Annotation, Proof, Summaries
from analysis.certificate.checked_outcome import Proved
from analysis.certificate.checker import check
from analysis.certificate.claimed import coverage, reachable, unreached
from analysis.certificate.refusal import RefusedError
from analysis.certificate.unwinding import check_unwinding, unwind
from analysis.certificate.unwinding_tree import Unwinding
from analysis.cfa.graph import Program
from analysis.cli.certifying import judged, read_program
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.model import ir
from analysis.model.c_types import LP64
from analysis.model.options import Options
from analysis.smt.logic.term_building import eq, integer, or_, symbol
from analysis.smt.logic.terms import INT
from tests.support.explorations import program_of

HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void); void __VERIFIER_assume(int); extern void abort(void);\n"
TWO = """
#include <assert.h>
int __VERIFIER_nondet_int(void);
static void f(int n) { assert(n > 0); }
static int unused(int n) { assert(n); return 0; }
int main(void) { int n = __VERIFIER_nondet_int(); if (n < 1) return 0; f(n); assert(n != 0); return 0; }
"""


def everproof(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "analysis.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:  # type: ignore[type-arg]  # what JSON holds
    program = tmp_path_factory.mktemp("claims") / "p.c"
    program.write_text(TWO)
    of = read_program((str(program),), Options())
    there = reachable(of, "main")
    wanted = tuple(place for place in violations(of, "assertion") if place.function in there)
    found = prove(of, wanted, options=PredicateOptions(seconds=300.0))
    assert isinstance(found, Proved), found
    return program, json.loads(text.write([found.annotation], of, "LP64"))


@pytest.fixture(scope="module")
def of_two(two) -> Program:  # type: ignore[no-untyped-def]
    return read_program((str(two[0]),), Options())


@pytest.fixture
def certified(of_two: Program, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Exit code and words for a certificate of the program."""

    def judge(content: object, options: Options = Options()) -> tuple[int, str]:  # noqa: B008 - an immutable value
        data = content if isinstance(content, str) else json.dumps(content)
        return judged(of_two, options, data.encode()), capsys.readouterr().out

    return judge


def with_proof(content: dict, **changes: object) -> dict:  # type: ignore[type-arg]
    return {**content, "proofs": [{**content["proofs"][0], **changes}, *content["proofs"][1:]]}


def test_all_places_are_reported_and_those_in_functions_that_nothing_leads_to(two, certified) -> None:  # type: ignore[no-untyped-def]
    code, said = certified(two[1])
    assert code == 0
    assert "(at any of 2 places; 1 more in functions that it does not lead to)" in said


def test_a_certificate_of_one_of_two_places_says_so(two, certified) -> None:  # type: ignore[no-untyped-def]
    edges = two[1]["proofs"][0]["edges"]
    for left in (edges[:1], edges[1:]):
        code, said = certified(with_proof(two[1], edges=left))
        assert (code, "covers 1 of 2 places" in said) == (3, True)


def test_the_command_says_so_too(two) -> None:  # type: ignore[no-untyped-def]
    program, content = two
    for left, code, said in ((1, 3, "covers 1 of 2 places"), (0, 1, "refused: it claims nothing")):
        changed = program.with_name("changed.json")
        changed.write_text(json.dumps(with_proof(content, edges=content["proofs"][0]["edges"][:left])))
        done = everproof("certify", changed, program)
        assert (done.returncode, said in done.stdout, done.stderr) == (code, True, "")


def test_proofs_of_one_place_each_cover_both_together(two, certified) -> None:  # type: ignore[no-untyped-def]
    (proof,) = two[1]["proofs"]
    code, said = certified({**two[1], "proofs": [{**proof, "edges": [edge]} for edge in proof["edges"]]})
    assert (code, said.count("covers 1 of 2 places")) == (0, 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"edges": []},
        {"edges": [["main", 0], ["main", 0]]},
        {"edges": [["nobody", 0]]},
        {"edges": [["main", 99]]},
        {"edges": [["main", -1]]},
        {"entry": "nobody"},
        {"property": "no-such-rule"},
        {"encoding": "float"},
        {"calls": "summaries"},
        {"contexts": [[-1, "main", 0, "f"]]},
        {"contexts": [[0, "main", 0, "f"]]},
        {"contexts": [[5, "main", 0, "f"]]},
        {"contexts": []},
        {"symbols": {"0:n": "Nonsense"}},
        {"assertions": [{"context": 0, "location": 0, "formula": "(= 1"}]},
        {"assertions": [{"context": 0, "location": 0, "formula": "(and 1 2)"}]},
        {"assertions": [{"context": 0, "location": 0, "formula": "17"}]},
        {"assertions": [{"context": 0, "location": 0, "formula": "true"}] * 2},
        {"assertions": [{"context": 0, "location": 9999, "formula": "true"}]},
        {"assertions": [{"context": 77, "location": 0, "formula": "true"}]},
        {"assertions": [{"context": 0, "location": 0, "formula": "(not " * 5_000 + "true" + ")" * 5_000}]},
        {"more": 1},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_what_is_no_proof_is_refused_in_one_sentence(two, certified, changes: dict) -> None:  # type: ignore[no-untyped-def, type-arg]
    code, said = certified(with_proof(two[1], **changes))
    assert code == 1
    assert said.startswith("refused: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "\0", "{}", '{"format": 1}', "9" * 10_000, "[" * 100_000])
def test_what_is_no_certificate_is_refused(certified, content: str) -> None:  # type: ignore[no-untyped-def]
    code, said = certified(content)
    assert (code, said.count("\n")) == (1, 1)


def test_a_certificate_that_is_cut_off_is_refused(two, certified) -> None:  # type: ignore[no-untyped-def]
    whole = json.dumps(two[1])
    assert all(certified(whole[:length])[0] == 1 for length in range(len(whole)))


def test_a_pipe_is_no_certificate(two) -> None:  # type: ignore[no-untyped-def]
    program, _ = two
    pipe = program.with_name("pipe.json")
    os.mkfifo(pipe)
    done = everproof("certify", pipe, program)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_other_data_model_and_other_entries_are_noticed(two, certified) -> None:  # type: ignore[no-untyped-def]
    assert certified({**two[1], "data_model": "ILP32"})[0] == 1
    assert certified({**two[1], "version": 2})[0] == 1
    code, said = certified(two[1], Options(entries=("unused",)))
    assert (code, "in runs from unused, it covers 0 of 1 places" in said) == (3, True)


# -- symbols ------------------------------------------------------------------------------------------------------------

CAPTURING = (
    HEAD
    + """
int main(void) {
    int first = 1, last = 0, now;
    while (1) {
        now = __VERIFIER_nondet_int();
        if (!first && now != last)
            reach_error();
        last = now;
        first = 0;
    }
}
"""
)


def test_an_assertion_cannot_name_an_input_of_later() -> None:
    """`last` is what the last round's input was. If an assertion could say that it is the next round's, all inputs were equal."""
    of = program_of(CAPTURING)
    (head,) = loop_heads(of.functions["main"])
    places = tuple((place.function, place.edge) for place in violations(of, "assertion"))
    first, last = symbol("0:first", INT), symbol("0:last", INT)
    for number in range(60):
        for name in (f"input!{number}", f"value!{number}", f"content!{number}", f"choice!{number}", f"and:{number}"):
            said = or_(eq(first, integer(1)), eq(last, symbol(name, INT)))
            with pytest.raises(RefusedError, match="not part of the state"):
                check(of, Annotation("main", "assertion", places, "int", (None,), {(0, head): said}))
    with pytest.raises(RefusedError):
        check(of, Annotation("main", "assertion", places, "int", (None,), {(0, head): eq(first, integer(1))}))


# -- what runs beside -----------------------------------------------------------------------------------------------------

HANDLED = """
typedef void (*handler)(int); handler signal(int, handler);
int shared, own;
static void clear(int number) { shared = own = 0; }
int divided(void) { shared = 1; return 10 / shared; }
int aside(int n) { return n ? 10 / n : 0; }
int main(void) { %s return divided() + aside(2); }
"""


@pytest.mark.parametrize(("function", "holds"), [("divided", False), ("aside", True)])
def test_what_runs_beside_a_function_is_no_part_of_its_proof(function: str, holds: bool) -> None:
    """A proof of a function by itself says nothing where a handler of signals changes what the function reads."""
    alone, interrupted = program_of(HANDLED % ""), program_of(HANDLED % "signal(2, clear);")
    wanted = tuple(place for place in violations(alone, "division-by-zero") if place.function == function)
    proof = prove(alone, wanted, function, LP64, PredicateOptions())
    assert isinstance(proof, Proved), proof
    assert check(alone, proof.annotation)
    if holds:
        assert check(interrupted, proof.annotation)
    else:
        with pytest.raises(RefusedError, match="shared"):
            check(interrupted, proof.annotation)


# -- places that no run reaches -------------------------------------------------------------------------------------------

NEVER = {
    "dead function": ("static int f(int n) { return 10 / n; }", "int n = __VERIFIER_nondet_int(); if (n > 5 && n < 3) f(n);", 1),
    "all paths cut": ("", "int n = __VERIFIER_nondet_int(); __VERIFIER_assume(n > 3 && n < 2); n = 10 / n;", 1),
    "one of two": ("", "int n = __VERIFIER_nondet_int(); if (n == 0) { n = 1; if (n == 2) n = 5 / n; } n = 10 / n;", 1),
    "none": ("", "int n = __VERIFIER_nondet_int(); if (n == 0) n = 1; n = 10 / n;", 0),
}


def proof_of(of: Program, rule: str) -> tuple[Proof, tuple[tuple[str, int], ...]]:
    found = prove(of, violations(of, rule), options=PredicateOptions(mode="int", seconds=60.0))  # type: ignore[arg-type]
    assert isinstance(found, Proved), found
    assert check(of, found.annotation).unreached == found.unreached
    return found.annotation, found.unreached


@pytest.mark.parametrize("name", NEVER)
def test_places_that_no_run_reaches_are_reported(name: str) -> None:
    before, body, missed = NEVER[name]
    of = program_of(f"{HEAD}{before}\nint main(void) {{ {body} return 0; }}")
    annotation, unreached_ = proof_of(of, "division-by-zero")
    assert len(unreached_) == missed
    assert bool(unreached(unreached_, annotation.edges)) == bool(missed)


def test_a_check_that_never_fails_is_reached_and_one_behind_a_cut_is_not() -> None:
    """A proof says of an error call that no run reaches it. So the branch in front of it is what must be
    reached."""
    body = "int n = __VERIFIER_nondet_int(); if (n < 0) n = 0; if (n < 0 || n == -5) reach_error(); return 0;"
    assert proof_of(program_of(f"{HEAD}int main(void) {{ {body} }}"), "assertion")[1] == ()
    cut = body.replace("if (n < 0) n", "__VERIFIER_assume(n > 3 && n < 2); if (n < 0) n")
    assert len(proof_of(program_of(f"{HEAD}int main(void) {{ {cut} }}"), "assertion")[1]) == 1


def test_summaries_report_unreached_places_too() -> None:
    recursive = "int g; static void f(int n) { if (n > 9 || n == 0) return; g = 10 / n; f(n + 1); }\n"
    for guard, missed in (("n < 5", 0), ("n < 5 && n > 6", 1)):
        of = program_of(f"{HEAD}{recursive}int main(void) {{ int n = __VERIFIER_nondet_int(); if ({guard}) f(n); return 0; }}")
        annotation, _ = proof_of(of, "division-by-zero")
        assert isinstance(annotation, Summaries)
        (call,) = (e.source for e in of.functions["main"].edges if isinstance(e.effect, ir.Call) and e.effect.arguments)
        kept = {*of.functions["main"].locations} - {call}
        of_main = {(name, at): term for (name, at), term in annotation.assertions.items() if name == "main" and at in kept}
        least = msgspec.structs.replace(annotation, assertions=annotation.assertions if missed == 0 else of_main)
        assert len(check(of, least).unreached) == missed


def test_a_tree_of_paths_reports_unreached_places_too() -> None:
    for name, (before, body, missed) in NEVER.items():
        of = program_of(f"{HEAD}{before}\nint main(void) {{ {body} return 0; }}")
        made = unwind(of, Unwinding("main", ("division-by-zero",), (), 0), LP64, 10_000, lambda: True)
        assert len(check_unwinding(of, made).unreached) == missed, name


def test_the_report_names_unreached_places(tmp_path: Path) -> None:
    program, certificate = tmp_path / "p.c", tmp_path / "p.json"
    before, body, _ = NEVER["dead function"]
    program.write_text(f"{HEAD}{before}\nint main(void) {{ {body} return 0; }}")
    words = ("check", "--store", "none", "--rule", "division-by-zero", "--certificate", certificate, program)
    sentence = "no run reaches 1 of the places in it where it could be violated"
    assert sentence in everproof(*words).stdout
    report = json.loads(everproof(*words, "--format", "json").stdout)
    known = {function["name"]: function["verdicts"]["division-by-zero"] for function in report["functions"]}
    assert (known["f"]["verdict"], known["f"]["reason"]) == ("safe", sentence)
    assert "note: no run reaches" in everproof("certify", certificate, program).stdout


# -- trees of paths --------------------------------------------------------------------------------------------------------


def test_a_tree_of_paths_that_claims_oddly_is_refused() -> None:
    of = program_of(HEAD + "int main(void) { int n = __VERIFIER_nondet_int(); if (n > 3) n = 10 / n; return 0; }")
    made = unwind(of, Unwinding("main", ("division-by-zero",), (), 0), LP64, 10_000, lambda: True)
    check_unwinding(of, made)
    changes: list[dict[str, object]] = [
        {"rules": ()},
        {"rules": ("division-by-zero",) * 2},
        {"rules": ("no-such-rule",)},
        {"rules": ("lock-discipline",)},
        {"taken": ()},
        {"taken": (0,) * len(made.taken)},
        {"taken": (*made.taken, 1)},
        {"edges": 0},
        {"edges": made.edges - 1},
        {"edges": 1 << 62},
        {"entry": "nobody"},
    ]
    for change in changes:
        with pytest.raises((RefusedError, KeyError)):
            check_unwinding(of, msgspec.structs.replace(made, **change))
    with pytest.raises(RefusedError):
        text.read(text.write((msgspec.structs.replace(made, entry="nobody"),), of, "LP64"), of)


def test_coverage_counts_what_calls_lead_to() -> None:
    of = program_of(TWO.replace("#include <assert.h>", "void __VERIFIER_assert(int);").replace("assert(", "__VERIFIER_assert("))
    places = violations(of, "assertion")
    of_main = {(place.function, place.edge) for place in places if place.function == "main"}
    found = coverage(of, "main", places, of_main)
    assert (found.claimed, found.places, found.elsewhere, found.is_whole) == (1, 2, 1, False)
