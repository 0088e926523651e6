"""The predicate CPA: its order, its join, and that it stands for every run whatever its predicates are."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Program
from analysis.cpa.domains.location import Bounds, LocationTransfer, location_cpa, reverse_postorder
from analysis.cpa.domains.predicate import Predicated, PredicateDomain, PredicatePrecision, predicate_cpa
from analysis.cpa.framework.algorithm import Budget, explore, start
from analysis.cpa.framework.composite import Composite
from analysis.cpa.framework.reachability import ReachabilityGraph
from analysis.cpa.framework.waitlist import PriorityWaitlist
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.abstraction import Abstraction, Kind
from analysis.cpa.predicates.adjustable_blocks import BlockEnds
from analysis.cpa.predicates.step_formulas import Contexts
from analysis.cpa.predicates.violations import violations
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import eq, integer, not_, symbol
from analysis.smt.logic.terms import INT, Term
from analysis.smt.solving.z3_backend import Z3Solver
from analysis.smt.transitions.system import System
from tests.support.explorations import errs, program_of, runs
from tests.support.random_c import program

program_of(program(Random(0)))  # before any test: it raises Python's recursion limit
BLOCKS = BlockEnds()
G, A = symbol("@g", INT), symbol("0:a", INT)
PREDICATES = [linear.at_most(G, integer(1)), eq(A, G), linear.at_most(integer(2), A), eq(A, integer(0))]
LOOP = """int nondet(void); void reach_error(void); int g;
int main(void) { int a = 0; while (nondet()) { if (nondet()) a++; else a = 0; g = a; } if (g < -5) reach_error(); return a; }"""


class Everywhere(dict[Any, tuple[Term, ...]]):
    """The same predicates at every point."""

    def __init__(self, terms: Iterable[Term]) -> None:
        super().__init__()
        self._terms = tuple(terms)

    def get(self, _: object, __: object = None) -> tuple[Term, ...]:  # type: ignore[override]  # there is always an answer
        return self._terms


def reached_of(
    of: Program, predicates: Iterable[Term], kind: Kind = "boolean", ends: BlockEnds = BLOCKS, budget: int = 600
) -> tuple[ReachabilityGraph[Any, Any], Abstraction, str]:
    system = System(of, exposed=exposed(of))
    abstraction = Abstraction(system, Z3Solver(), kind)
    locations = LocationTransfer(of, Bounds(recursion=8))
    precision = PredicatePrecision(Everywhere(predicates))
    component, transfer = predicate_cpa(abstraction, Contexts(), violations(of, "assertion"), precision, ends=ends)
    composite: Any = Composite([location_cpa(locations), component], locations, merge="agree")
    initial = locations.initial("main")
    state = (initial, transfer.initial(initial))
    reached, frontier = start(composite, state, composite.precision, PriorityWaitlist(reverse_postorder(of)))
    outcome = explore(composite, reached, frontier, budget=Budget(budget), stop_at_target=False)
    return reached, abstraction, outcome.ending


def abstracted(reached: ReachabilityGraph[Any, Any]) -> list[Predicated]:
    return [node.state[1] for node in reached if node.state[1].is_abstracted]


@pytest.mark.parametrize("kind", ["boolean", "cartesian"])
def test_an_exploration_with_any_predicates_comes_to_an_end(kind: Kind) -> None:
    reached, _, ending = reached_of(program_of(LOOP), PREDICATES, kind)
    assert ending == "finished"
    assert len(abstracted(reached)) > 1


def test_the_order_is_implication() -> None:
    reached, abstraction, _ = reached_of(program_of(LOOP), PREDICATES)
    domain = PredicateDomain(abstraction)
    states = [state for state in abstracted(reached) if state.came is not None]
    assert states
    solver = Z3Solver()
    for one in states:
        assert domain.less_or_equal(one, one)
        for other in states:
            if domain.less_or_equal(one, other):
                solver.push()
                solver.add(one.abstraction, not_(other.abstraction))
                assert solver.check().status == "unsat"
                solver.pop()


def test_states_of_different_blocks_have_no_join() -> None:
    reached, abstraction, _ = reached_of(program_of(LOOP), PREDICATES)
    one, other, *_ = abstracted(reached)
    with pytest.raises(ValueError, match="one block"):
        PredicateDomain(abstraction).join(one, other)


def test_paths_that_meet_within_a_block_are_one_state() -> None:
    of = program_of("int nondet(void); int main(void) { int x = 0; if (nondet()) x = 1; if (nondet()) x = 2; return x; }")
    reached, abstraction, _ = reached_of(of, [])
    at_exit = [node for node in reached if node.state[0].location == of.functions["main"].exit]
    assert len(at_exit) == 1
    assert any(len(node.state[1].parts) > 1 for node in reached)
    domain = PredicateDomain(abstraction)
    assert all(domain.less_or_equal(node.state[1], node.state[1]) for node in reached)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 100_000), st.sets(st.sampled_from(PREDICATES)), st.sampled_from(["boolean", "cartesian"]), st.booleans())
def test_every_error_is_reached(seed: int, predicates: set[Term], kind: Kind, joins: bool) -> None:
    text = program(Random(seed))
    note(text)
    of = program_of(text)
    reached, _, ending = reached_of(of, sorted(predicates, key=repr), kind, BlockEnds(joins=joins), budget=300)
    if ending == "finished" and any(errs(of, run) for run in runs(of, 1_000)):
        assert any(not isinstance(node.state[1].flaw, str) for node in reached.targets())
