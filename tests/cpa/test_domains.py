"""The contract of abstract domains, over every domain: order, join, rank, transfer relation.

The states are those that explorations of small programs come upon, with their joins.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import product
from random import Random
from typing import Any, NamedTuple

import pytest

from analysis.cpa.domains.location import Bounds
from analysis.cpa.framework.algorithm import Budget
from analysis.cpa.framework.composite import Composite, State
from analysis.cpa.framework.interface import Cpa
from tests.support.explorations import explored, program_of, symbolic_execution, value_analysis
from tests.support.random_c import program

SEEDS = (3, 7, 11)
MOST = 14  # states of a domain that are compared with each other


class Claims(NamedTuple):
    """What a domain promises besides being a preorder with upper bounds."""

    antisymmetric: bool = True
    least: bool = True  # joins are least upper bounds
    monotone: bool = True  # the transfer relation


class Sample(NamedTuple):
    """A domain with states of it, and composite states in which they were."""

    cpa: Cpa[Any, Any]
    states: list[Any]
    composite: Composite
    index: int
    around: dict[Any, State]


CASES: dict[str, tuple[dict[str, Any] | None, int, Claims]] = {
    "location": (None, 0, Claims()),
    "assumptions": (None, 1, Claims()),
    "value": (None, 2, Claims()),
    "constraints-subset": ({"less_or_equal": "subset"}, 2, Claims()),
    "constraints-aliased": ({"less_or_equal": "aliased"}, 2, Claims(antisymmetric=False, least=False)),
    "constraints-implication": ({"less_or_equal": "implication"}, 2, Claims(antisymmetric=False, least=False)),
    "symbolic-subset": ({"less_or_equal": "subset"}, 3, Claims(monotone=False)),  # names of what is unknown differ
    "symbolic-aliased": ({"less_or_equal": "aliased"}, 3, Claims(antisymmetric=False, least=False, monotone=False)),
}
EXTRA = """int nondet(void); int (*hidden)(int); void other(void); int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
    int x = nondet(); int y = nondet(); if (x > 3) other(); if (x == y) y = hidden(x);
    while (y > x) y = y - fib(x); __asm__("nop"); return x; }"""


LOCKS = """int pthread_mutex_lock(int *); int pthread_mutex_unlock(int *); void free(void *); int nondet(void); int l, m;
int main(void) { char *p = (char *)nondet(), *q = (char *)nondet(); if (nondet()) pthread_mutex_lock(&l);
if (nondet()) { free(p); pthread_mutex_lock(&m); } if (nondet()) free(q); if (nondet()) pthread_mutex_unlock(&l); return 0; }"""


def _joinable(one: Any, other: Any) -> bool:
    """Whether the states can stand at one place of a program (others have no upper bound in the domain)."""
    flat = hasattr(one, "location") or hasattr(one, "facts")
    return getattr(one, "depth", None) == getattr(other, "depth", None) and (not flat or one == other)


def _sample(name: str) -> Sample:
    options, index, _ = CASES[name]
    samples = []
    for text in (EXTRA, LOCKS, *(program(Random(seed)) for seed in SEEDS)):
        of = program_of(text)
        if options is None:
            composite, state = value_analysis(of, bounds=Bounds(recursion=2))
        else:
            execution, state = symbolic_execution(of, bounds=Bounds(recursion=2), **dict(options))
            composite = execution.composite
        outcome = explored(composite, state, of, Budget(states=120), stop_at_target=False)
        found: dict[Any, State] = {}
        for node in outcome.reached:
            found.setdefault(node.state[index], node.state)
        samples.append((len(found), composite, found))
    _, composite, found = max(samples, key=lambda sample: sample[0])  # states of different programs are not compared
    cpa = composite.components[index]
    states = list(found)[:: max(1, len(found) // MOST)][:MOST]
    joins = [cpa.domain.join(a, b) for a, b in product(states[:5], states[5:9]) if _joinable(a, b)]
    return Sample(cpa, list(dict.fromkeys([*states, *joins])), composite, index, found)


@pytest.fixture(params=CASES, scope="module")
def case(request: pytest.FixtureRequest) -> tuple[Sample, Claims]:
    return _sample(request.param), CASES[request.param][2]


Order = Callable[[Any, Any], bool]


def test_there_is_something_to_compare(case: tuple[Sample, Claims]) -> None:
    sample, _ = case
    assert len(sample.states) >= (3 if sample.cpa.name == "assumptions" else 5)


def test_the_order_is_reflexive_and_transitive(case: tuple[Sample, Claims]) -> None:
    (cpa, states, *_), _ = case
    less: Order = cpa.domain.less_or_equal
    below = {(i, j) for (i, a), (j, b) in product(enumerate(states), repeat=2) if less(a, b)}
    assert all((i, i) in below for i in range(len(states)))
    for (i, j), (k, m) in product(below, repeat=2):
        assert j != k or (i, m) in below


def test_the_order_is_antisymmetric_where_claimed(case: tuple[Sample, Claims]) -> None:
    (cpa, states, *_), claims = case
    less: Order = cpa.domain.less_or_equal
    for a, b in product(states, repeat=2):
        if claims.antisymmetric and less(a, b) and less(b, a):
            assert a == b


def test_a_join_is_an_upper_bound_and_least_where_claimed(case: tuple[Sample, Claims]) -> None:
    (cpa, states, *_), claims = case
    less: Order = cpa.domain.less_or_equal
    for a, b in product(states, repeat=2):
        if not _joinable(a, b):
            continue
        bound = cpa.domain.join(a, b)
        assert less(a, bound)
        assert less(b, bound)
        if claims.least:
            assert all(less(bound, c) for c in states if less(a, c) and less(b, c))


def test_equal_states_have_equal_hashes(case: tuple[Sample, Claims]) -> None:
    (_, states, *_), _ = case
    for a, b in product(states, repeat=2):
        assert isinstance(a, Hashable)
        if a == b:
            assert hash(a) == hash(b)


def test_only_states_of_smaller_rank_cover_others(case: tuple[Sample, Claims]) -> None:
    (cpa, states, *_), _ = case
    if cpa.rank is None:
        assert not cpa.flat or all(a == b or not cpa.domain.less_or_equal(a, b) for a, b in product(states, repeat=2))
        return
    for a, b in product(states, repeat=2):
        if a != b and cpa.domain.less_or_equal(a, b):
            assert cpa.rank(b) < cpa.rank(a)


def test_merging_weakens_and_stopping_means_covered(case: tuple[Sample, Claims]) -> None:
    (cpa, states, *_), _ = case
    for a, b in product(states, repeat=2):
        assert cpa.domain.less_or_equal(b, cpa.merge.merge(a, b, cpa.precision))
        if cpa.stop.stop(a, (b,), cpa.precision):
            assert cpa.domain.less_or_equal(a, b)


def test_adjusting_weakens(case: tuple[Sample, Claims]) -> None:
    sample, _ = case
    for state, around in sample.around.items():
        adjusted, _ = sample.cpa.adjustment.adjust(state, sample.cpa.precision, around)
        assert sample.cpa.domain.less_or_equal(state, adjusted)


def test_the_transfer_relation_is_monotone_where_claimed(case: tuple[Sample, Claims]) -> None:
    sample, claims = case
    cpa, less = sample.cpa, sample.cpa.domain.less_or_equal
    if not claims.monotone:
        return
    for a, b in product(sample.states, repeat=2):
        if a == b or not less(a, b) or a not in sample.around:
            continue
        for step, _ in sample.composite.moves(sample.around[a], sample.composite.precision):
            above = cpa.transfer.successors(b, step, cpa.precision)
            for state in cpa.transfer.successors(a, step, cpa.precision):
                assert any(less(state, other) for other in above)


def test_a_step_has_the_same_successors_each_time(case: tuple[Sample, Claims]) -> None:
    sample, _ = case
    for around in sample.around.values():
        moves = sample.composite.moves(around, sample.composite.precision)
        assert moves == sample.composite.moves(around, sample.composite.precision)
