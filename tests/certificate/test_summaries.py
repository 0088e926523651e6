"""Proofs by summaries of functions, and what the checker refuses of them."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.certificate import text
from analysis.certificate.annotation import Summaries
from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.certificate.checker import check
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.engines.predicate.procedure_proof import SummaryClauses
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import FALSE, TRUE, and_, distinct, eq, integer, not_, or_, symbol
from analysis.smt.logic.terms import INT, symbols
from analysis.smt.solving.solver import Budget
from analysis.smt.transitions.system import System
from analysis.smt.transitions.vocabulary import TooLargeError
from tests.support.explorations import errs, program_of, runs
from tests.support.random_c import program

HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void);\n"
program_of(program(Random(0)))  # before any test: it raises Python's recursion limit
MCCARTHY = (
    HEAD
    + """
int f(int n) { if (n > 100) return n - 10; return f(f(n + 11)); }
int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x > 1000)
        return 0;
    if (f(x) < 91)
        reach_error();
    return 0;
}
"""
)


def summaries(of: Program, milliseconds: int = 20_000) -> Summaries | None:
    system = System(of, "int", exposed=exposed(of))
    return SummaryClauses(system, violations(of, "assertion"), "main").solution(Budget(milliseconds))


@pytest.fixture(scope="module")
def mccarthy() -> tuple[Program, Summaries]:
    of = program_of(MCCARTHY)
    found = summaries(of)
    assert found is not None
    return of, found


def test_mccarthys_function_for_all_numbers(mccarthy: tuple[Program, Summaries]) -> None:
    of, _ = mccarthy
    found = prove(of, violations(of, "assertion"), options=PredicateOptions(seconds=300.0))
    assert isinstance(found, Proved), found
    assert isinstance(found.annotation, Summaries)


def test_each_corrupted_summary_is_refused(mccarthy: tuple[Program, Summaries]) -> None:
    of, proof = mccarthy
    check(of, proof)
    for point, term in proof.assertions.items():
        if term not in (TRUE, FALSE) and point != ("main", of.functions["main"].exit):  # nothing rests on how main ends
            for wrong in (TRUE, not_(term)):
                with pytest.raises(RefusedError):
                    check(of, msgspec.structs.replace(proof, assertions={**proof.assertions, point: wrong}))
    for point in (("main", of.functions["main"].entry), ("f", of.functions["f"].entry), ("f", of.functions["f"].exit)):
        with pytest.raises(RefusedError):
            check(of, msgspec.structs.replace(proof, assertions={**proof.assertions, point: FALSE}))
    with pytest.raises(RefusedError):
        check(of, msgspec.structs.replace(proof, assertions={}))


def test_a_summary_may_not_speak_of_what_is_gone(mccarthy: tuple[Program, Summaries]) -> None:
    """What a parameter is at the end is nothing that the caller could know."""
    of, proof = mccarthy
    parameter = symbol("1:n", INT)
    assert symbol("1:$result", INT) in symbols(proof.assertions.values())
    at_exit = ("f", of.functions["f"].exit)
    said = and_(proof.assertions[at_exit], or_(eq(parameter, integer(1)), distinct(parameter, integer(1))))
    wrong = and_(proof.assertions[at_exit], or_(linear.at_most(parameter, integer(7)), linear.at_most(integer(3), parameter)))
    assert said is proof.assertions[at_exit], "what is said of nothing is not kept"
    with pytest.raises(RefusedError, match="speaks of 1:n"):
        check(of, msgspec.structs.replace(proof, assertions={**proof.assertions, at_exit: wrong}))


def test_the_text_of_summaries(mccarthy: tuple[Program, Summaries]) -> None:
    of, proof = mccarthy
    (again,) = text.read(text.write([proof], of, "LP64"), of).annotations
    assert isinstance(again, Summaries)
    assert dict(again.assertions) == dict(proof.assertions)
    check(of, again)


HOLDS = {
    "the caller keeps its own": "int f(int n) { int k = n; if (n > 0) f(n - 1); return k; }"
    " int main(void) { if (f(3) != 3) reach_error(); return 0; }",
    "both of two": "int odd(int n); int even(int n) { if (n <= 0) return 1; return odd(n - 1); }"
    " int odd(int n) { if (n <= 0) return 0; return even(n - 1); }"
    " int main(void) { int r = even(__VERIFIER_nondet_int()); if (r < 0 || r > 1) reach_error(); return 0; }",
    "a global": "int g; void set(int n) { g = 1; if (n > 0) set(n - 1); }"
    " int main(void) { set(__VERIFIER_nondet_int()); if (g != 1) reach_error(); return 0; }",
}


@pytest.mark.parametrize("name", HOLDS)
def test_what_holds_is_proved(name: str) -> None:
    of = program_of(HEAD + HOLDS[name])
    found = summaries(of)
    assert found is not None
    check(of, found)


FAILS = {
    "a global that the callee's callee changes": "int g; void h(int n) { if (n > 0) { h(n - 1); g = n; } }"
    " void f(int n) { h(n); }"
    " int main(void) { g = 5; f(2); if (g != 5) reach_error(); return 0; }",
    "a result that goes into a global": "int g; int f(int n) { if (n > 0) return f(n - 1); return 7; } void h(void) { g = f(1); }"
    " int main(void) { g = 5; h(); if (g != 5) reach_error(); return 0; }",
    "memory that the callee writes": "void f(int *p, int n) { if (n > 0) f(p, n - 1); else *p = 3; }"
    " int main(void) { int x = 1; f(&x, 2); if (x != 1) reach_error(); return 0; }",
    "a parameter that the callee changes": "int f(int n) { int k = n; n = 0; if (k > 0) return f(k - 1) + n + 1; return n; }"
    " int main(void) { if (f(2) == 2) reach_error(); return 0; }",
    "an array": "int a[4]; void f(int i) { if (i < 4) { a[i] = 1; f(i + 1); } }"
    " int main(void) { f(0); if (a[3] == 1) reach_error(); return 0; }",
}


@pytest.mark.parametrize("name", FAILS)
def test_what_fails_has_no_proof(name: str) -> None:
    of = program_of(HEAD + FAILS[name])
    found = summaries(of, 3_000)
    if found is not None:
        with pytest.raises(RefusedError):
            check(of, found)
    program_points = [(function, at) for function, cfa in of.functions.items() for at in cfa.locations]
    edges = tuple((v.function, v.edge) for v in violations(of, "assertion"))
    with pytest.raises(RefusedError):
        check(of, Summaries("main", "assertion", edges, "int", dict.fromkeys(program_points, TRUE)))


def test_objects_in_memory_of_what_can_be_active_twice_are_too_much() -> None:
    of = program_of(
        HEAD + "void set(int *p) { *p = 1; } int f(int n) { int x = 0; set(&x); if (n > 0) f(n - 1); return x; }"
        " int main(void) { if (f(3) != 1) reach_error(); return 0; }"
    )
    with pytest.raises(TooLargeError, match="calls itself, and has"):
        summaries(of)
    found = prove(of, violations(of, "assertion"))
    assert isinstance(found, Unproved)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 100_000))
def test_no_run_contradicts_summaries(seed: int) -> None:
    source = program(Random(seed), indices=False)
    note(source)
    of = program_of(source)
    if not violations(of, "assertion"):
        return
    found = summaries(of, 1_500)
    if found is not None and any(errs(of, run) for run in runs(of, 2_000)):
        with pytest.raises(RefusedError):
            check(of, found)
