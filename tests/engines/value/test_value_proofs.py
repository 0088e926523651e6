"""Proofs by explicit values: the interpolants of the paper's algorithms, and what they prove."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.certificate.checker import check
from analysis.cfa.graph import Program
from analysis.cpa.domains.location import LocationTransfer
from analysis.cpa.domains.value import ExplicitTransfer
from analysis.cpa.framework.steps import Step
from analysis.cpa.predicates.violations import violations
from analysis.engines.value.value_interpolation import ValueInterpolation
from analysis.engines.value.value_proof import prove
from tests.support.explorations import errs, program_of, runs
from tests.support.random_c import program

HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void);\n"
program_of(program(Random(0)))  # before any test: it raises Python's recursion limit

SAFE = {
    "a counter": "int main(void) { int i = 0; while (i < 20) i++; if (i != 20) reach_error(); return 0; }",
    "a member": "struct s { int a; int b; } g; int f(int n) { g.a = n; return g.a + 1; }"
    " int main(void) { g.b = 2; int k = f(3); if (k != 4 || g.b != 2) reach_error(); return 0; }",
    "a loop without end": "int x; int main(void) { int n = __VERIFIER_nondet_int(), z = 0; while (n != z) z++;"
    " if (x) reach_error(); return 0; }",
}


def of(body: str) -> Program:
    return program_of(HEAD + body)


@pytest.mark.parametrize("name", SAFE)
def test_what_few_values_exclude_is_proved(name: str) -> None:
    what = of(SAFE[name])
    found = prove(what, violations(what, "assertion"))
    assert isinstance(found, Proved), found
    assert found.work.refinements > 0
    check(what, found.annotation)


def test_what_is_not_needed_is_not_tracked() -> None:
    """Two counters, one of which does not matter: it would make a state of each of its values."""
    what = of("int main(void) { int i = 0, j = 0; while (j < 100000) { j++; } if (i) reach_error(); return 0; }")
    found = prove(what, violations(what, "assertion"))
    assert isinstance(found, Proved), found
    assert found.work.states < 50


@pytest.mark.parametrize("body", ["int main(void) { reach_error(); return 0; }", SAFE["a counter"].replace("i != 20", "i == 20")])
def test_what_happens_is_not_proved(body: str) -> None:
    what = of(body)
    found = prove(what, violations(what, "assertion"))
    assert isinstance(found, Unproved)
    assert found.may_violate


def test_an_interpolant_holds_what_the_rest_of_the_path_needs() -> None:
    what = of("int main(void) { int a = 1, b = 2; b = b + 1; if (a == 5) reach_error(); return b; }")
    locations = LocationTransfer(what)
    state, steps = locations.initial("main"), list[Step]()
    while True:
        moves = locations.moves(state)
        step, state = next((move for move in moves if getattr(move[0].edge.effect, "truth", True)), moves[0])
        if step.kind == "external":
            break
        steps.append(step)
    interpolation = ValueInterpolation(ExplicitTransfer(what))
    (prefix,) = interpolation.prefixes(steps, 5)
    assert prefix == list(range(len(steps))), "the last branch is what contradicts"
    known = [set(found.store.map) for found in interpolation.interpolants(steps)]
    assert known[-1] == {"main#0:a"}
    assert not any("main#0:b" in names for names in known)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000))
def test_no_run_contradicts_a_proof(seed: int) -> None:
    text = program(Random(seed))
    note(text)
    what = program_of(text)
    if isinstance(prove(what, violations(what, "assertion"), states=1_000), Proved):
        assert not any(errs(what, run) for run in runs(what, 2_000))
