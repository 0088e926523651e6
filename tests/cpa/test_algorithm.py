"""The CPA algorithm on a toy analysis whose reached set can be computed by hand, and on random programs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from random import Random
from typing import Any

import pytest

from analysis.cfa.graph import Edge
from analysis.cpa.framework.algorithm import UNBOUNDED, Budget, Cancellation, Outcome, explore, start
from analysis.cpa.framework.reachability import ReachabilityGraph
from analysis.cpa.framework.steps import Step
from analysis.cpa.framework.waitlist import PriorityWaitlist, SequentialWaitlist
from analysis.model import ir
from analysis.model.clock import COMPARISON, SECOND, spent
from tests.support.explorations import explored, program_of, symbolic_execution, value_analysis
from tests.support.random_c import program

program_of(program(Random(0)))  # before any test: it raises Python's recursion limit


def step(name: str) -> Step:
    return Step("edge", "f", Edge(0, 0, 0, ir.Unsupported(name)))


class Numbers:
    """States (place, low, high): from a place to others, the interval moved. A state covers those of its place inside it."""

    def __init__(self, edges: dict[str, list[tuple[str, int]]], joins: bool = False, targets: Iterable[str] = ()) -> None:
        self.edges = edges
        self.joins = joins
        self.targets = set(targets)
        self.asked: list[Any] = []

    def moves(self, state: Any, precision: int) -> Sequence[tuple[Step, Any]]:
        place, low, high = state
        self.asked.append(state)
        return [(step(f"{place}{to}"), (to, low + by, high + by)) for to, by in self.edges.get(place, []) if high + by < 20]

    def adjust(self, state: Any, precision: int) -> tuple[Any, int]:
        place, low, high = state
        return (place, low - low % precision, high), precision

    def is_target(self, state: Any) -> bool:
        return state[0] in self.targets

    def merge(self, state: Any, reached: Any, precision: int) -> Any:
        return (reached[0], min(state[1], reached[1]), max(state[2], reached[2])) if self.joins else reached

    def merges(self) -> bool:
        return self.joins

    def stop(self, state: Any, reached: Iterable[Any], precision: int) -> bool:
        return any(low <= state[1] and state[2] <= high for _, low, high in reached)

    def partition(self, state: Any) -> Hashable:
        return state[0]

    def rank(self, state: Any) -> int | None:
        return -(state[2] - state[1])


def run(analysis: Numbers, state: Any = ("a", 0, 0), precision: int = 1, **options: Any) -> Outcome[Any, Any]:
    reached, waitlist = start(analysis, state, precision)
    return explore(analysis, reached, waitlist, **options)


def states(reached: ReachabilityGraph[Any, Any]) -> list[Any]:
    return [node.state for node in reached]


def test_all_states_are_reached() -> None:
    outcome = run(Numbers({"a": [("b", 1), ("c", 2)], "b": [("c", 1)], "c": []}))
    assert outcome.ending == "finished"
    assert states(outcome.reached) == [("a", 0, 0), ("b", 1, 1), ("c", 2, 2)]
    assert not outcome.waitlist


def test_a_loop_ends_where_its_states_are_covered() -> None:
    outcome = run(Numbers({"a": [("a", 0)]}), ("a", 0, 5))
    assert states(outcome.reached) == [("a", 0, 5)]
    assert run(Numbers({"a": [("b", 0)], "b": [("a", 1)]}), ("a", 0, 0)).steps == 39


def test_precision_adjustment_comes_before_everything_else() -> None:
    outcome = run(Numbers({"a": [("a", 1)]}), precision=30)
    assert states(outcome.reached) == [("a", 0, high) for high in range(20)]


def test_merged_states_take_the_place_of_what_they_weaken() -> None:
    outcome = run(Numbers({"a": [("b", 0), ("b", 3)], "b": [("c", 0)]}, joins=True))
    assert states(outcome.reached) == [("a", 0, 0), ("b", 0, 3), ("c", 0, 3)]
    merged = outcome.reached.find(("b", 0, 3))
    assert merged is not None
    assert len(merged.parents) == 2


def test_a_merged_state_is_explored_again() -> None:
    analysis = Numbers({"a": [("b", 0)], "b": [("c", 0), ("a", 1)]}, joins=True)
    outcome = run(analysis)
    assert outcome.ending == "finished"
    assert states(outcome.reached) == [("a", 0, 19), ("b", 0, 19), ("c", 0, 19)]


def test_the_target_ends_the_exploration_and_has_a_path() -> None:
    outcome = run(Numbers({"a": [("b", 1)], "b": [("t", 1), ("c", 0)], "c": [("t", 7)]}, targets="t"))
    assert outcome.ending == "target"
    (target,) = outcome.found
    assert [p.step.effect for p in outcome.reached.path(target)] == [ir.Unsupported("ab"), ir.Unsupported("bt")]
    assert [p.node.state for p in outcome.reached.path(target)] == [("b", 1, 1), ("t", 2, 2)]


def test_going_on_after_a_target_finds_the_others() -> None:
    analysis = Numbers({"a": [("b", 1)], "b": [("t", 1), ("c", 0)], "c": [("t", 7)]}, targets="t")
    first = run(analysis)
    second = explore(analysis, first.reached, first.waitlist)
    assert [node.state for node in (*first.found, *second.found)] == [("t", 2, 2), ("t", 8, 8)]
    third = explore(analysis, first.reached, first.waitlist)
    assert third.ending == "finished"
    assert third.found == ()
    at_once = run(analysis, stop_at_target=False)
    assert states(at_once.reached) == states(first.reached)


def test_targets_cover_nothing() -> None:
    outcome = run(Numbers({"a": [("t", 0), ("b", 0)], "b": [("t", 0)]}, targets="t"), ("a", 0, 3), stop_at_target=False)
    assert [node.state for node in outcome.reached.targets()] == [("t", 0, 3)]
    other = Numbers({"a": [("t", 0)], "t": []}, targets="t")
    reached, waitlist = start(other, ("a", 1, 2), 1)
    reached.add(("t", 0, 9), 1, None, None, True)
    assert [node.state for node in explore(other, reached, waitlist).found] == [("t", 1, 2)]


# -- interruption -----------------------------------------------------------------------------------------------------


def test_a_cancelled_exploration_loses_nothing() -> None:
    token = Cancellation()

    class Cancelling(Numbers):
        def moves(self, state: Any, precision: int) -> Sequence[tuple[Step, Any]]:
            if len(self.asked) == 3:
                token.cancel()
            return super().moves(state, precision)

    analysis = Cancelling({"a": [("b", 1)], "b": [("a", 1), ("c", 0)]})
    cut = run(analysis, cancellation=token)
    assert cut.ending == "cancelled"
    rest = explore(analysis, cut.reached, cut.waitlist)
    assert rest.ending == "finished"
    assert states(rest.reached) == states(run(Numbers(analysis.edges)).reached)


def test_time_is_a_budget() -> None:
    clock = iter(range(100))
    outcome = run(Numbers({"a": [("a", 1)]}), budget=Budget(seconds=5), clock=lambda: float(next(clock)))
    assert outcome.ending == "seconds"
    assert len(outcome.reached) == 5


def test_comparisons_are_work() -> None:
    """Twenty states at `a`, each compared with those that are there: 0 + 1 + ... + 19 of them; without ranks, which save it."""

    class Unranked(Numbers):
        def rank(self, state: Any) -> int | None:
            return None

    def worked(analysis: Numbers) -> int:
        before = spent()
        run(analysis)
        return round((spent() - before) * SECOND)

    edges = {"a": [("a", 1)]}
    assert worked(Unranked(edges)) - worked(Numbers(edges)) == 190 * COMPARISON


def test_a_finished_exploration_is_not_out_of_budget() -> None:
    assert run(Numbers({"a": []}), budget=Budget(states=1)).ending == "finished"
    assert run(Numbers({"a": []}), budget=Budget(states=0)).ending == "states"


@pytest.mark.parametrize("seed", range(6))
def test_a_resumed_exploration_reaches_the_same_set(seed: int) -> None:
    of = program_of(program(Random(seed)))
    for make in (lambda: value_analysis(of), lambda: _symbolic(of)):
        composite, state = make()
        whole = explored(composite, state, of, waitlist=SequentialWaitlist("depth-first"), stop_at_target=False)
        composite, state = make()
        reached, waitlist = start(composite, state, composite.precision, SequentialWaitlist("depth-first"))
        pieces = 0
        while explore(composite, reached, waitlist, budget=Budget(states=7), stop_at_target=False).ending != "finished":
            pieces += 1
        assert pieces > 0
        assert states(reached) == states(whole.reached)


def _symbolic(of: Any) -> tuple[Any, Any]:
    execution, state = symbolic_execution(of)
    return execution.composite, state


@pytest.mark.parametrize("seed", range(6))
def test_the_same_exploration_twice_is_the_same(seed: int) -> None:
    of = program_of(program(Random(seed)))
    for make in (lambda: value_analysis(of, merge="join"), lambda: _symbolic(of)):
        one, other = (explored(*make(), of, stop_at_target=False).reached for _ in range(2))
        assert states(one) == states(other)
        assert [[(p.number, s) for p, s in n.parents] for n in one] == [[(p.number, s) for p, s in n.parents] for n in other]


# -- orders -----------------------------------------------------------------------------------------------------------


TREE = {"a": [("b", 0), ("c", 0)], "b": [("d", 0), ("e", 0)], "c": [("f", 0)]}


@pytest.mark.parametrize(
    ("waitlist", "order"),
    [
        (SequentialWaitlist("breadth-first"), "abcdef"),
        (SequentialWaitlist("depth-first"), "acfbed"),
        (PriorityWaitlist(lambda node: -ord(node.state[0])), "acfbed"),
        (PriorityWaitlist(lambda node: "afcdbe".index(node.state[0])), "acfbde"),
    ],
)
def test_orders(waitlist: Any, order: str) -> None:
    analysis = Numbers(TREE)
    reached, frontier = start(analysis, ("a", 0, 0), 1, waitlist)
    explore(analysis, reached, frontier)
    assert "".join(state[0] for state in analysis.asked) == order


def test_callees_come_before_what_follows_their_call() -> None:
    of = program_of("int f(int x) { return x + 1; } int main(void) { int a = f(1); if (a) a = f(a); return a; }")
    composite, state = value_analysis(of)
    outcome = explored(composite, state, of)
    numbers = {(n.state[0].function, n.state[0].stack is not None, n.state[0].location): n.number for n in outcome.reached}
    assert max(number for (f, *_), number in numbers.items() if f == "f") < numbers["main", False, of.functions["main"].exit]


# -- lazy refinement --------------------------------------------------------------------------------------------------


def test_a_removed_subtree_is_explored_again_with_the_new_precision() -> None:
    analysis = Numbers({"a": [("b", 1), ("c", 2)], "b": [("d", 1)], "d": [("e", 1)], "c": [("f", 1)]})
    outcome = run(analysis)
    before = states(outcome.reached)
    node = outcome.reached.find(("b", 1, 1))
    assert node is not None
    again = outcome.reached.remove_subtree(node, lambda precision: precision * 2)
    assert states(outcome.reached) == [("a", 0, 0), ("c", 2, 2), ("f", 3, 3)]
    assert [n.state for n in again] == [("a", 0, 0)]
    for n in again:
        outcome.waitlist.push(n)
    explore(analysis, outcome.reached, outcome.waitlist)
    assert sorted(states(outcome.reached)) != sorted(before)
    assert ("b", 0, 1) in states(outcome.reached)


def test_what_a_removed_state_covered_is_looked_at_again() -> None:
    analysis = Numbers({"a": [("b", 0), ("c", 0)], "b": [("d", 0)], "c": [("d", 0)]})
    outcome = run(analysis)
    covering = outcome.reached.find(("d", 0, 0))
    assert covering is not None
    again = outcome.reached.remove_subtree(covering)
    assert sorted(n.state[0] for n in again) == ["b", "c"]


def test_removing_everything_leaves_the_initial_state() -> None:
    analysis = Numbers({"a": [("b", 0)], "b": [("a", 1)]}, joins=True)
    outcome = run(analysis)
    assert states(outcome.reached) == [("a", 0, 19), ("b", 0, 19)]
    again = outcome.reached.remove_subtree(next(iter(outcome.reached)))
    assert [n.state for n in again] == states(outcome.reached) == [("a", 0, 0)]
    outcome.waitlist.push(again[0])
    explore(analysis, outcome.reached, outcome.waitlist, budget=UNBOUNDED)
    assert states(outcome.reached) == [("a", 0, 19), ("b", 0, 19)]


@pytest.mark.parametrize("seed", range(4))
def test_removing_any_subtree_and_going_on_reaches_no_less(seed: int) -> None:
    of = program_of(program(Random(seed)))
    composite, state = value_analysis(of)
    outcome = explored(composite, state, of, stop_at_target=False)
    before = set(states(outcome.reached))
    random = Random(seed)
    for _ in range(10):
        chosen = random.choice(list(outcome.reached))
        for node in outcome.reached.remove_subtree(chosen):
            outcome.waitlist.push(node)
        explore(composite, outcome.reached, outcome.waitlist, stop_at_target=False)
        after = states(outcome.reached)
        for old in before:
            same = [new for new in after if composite.partition(new) == composite.partition(old)]
            assert old in same or composite.stop(old, same, composite.precision)
