"""A derivation graph that was written and read is the same graph, in every order: random graphs, and graphs after repairs."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.facts import Fact, FactTable
from analysis.engines.automaton.feasibility.error_paths import ErrorPath, Searched
from analysis.engines.automaton.feasibility.kept_searches import EVERYWHERE, bits
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import DIRECT, DerivationGraph, Full, FunctionGraph, pack
from analysis.engines.automaton.solver.incr_back import incr_back
from analysis.engines.automaton.solver.packed import pack_graph, unpack_graph
from analysis.model.intervals import Interval
from analysis.store.packing import PackingError
from tests.support.machines import MachineDelta, changes_between, edge_of, edited, random_machine

LIMIT = 100_000
FUNCTIONS = ("main", "f", "file.c::g", "gone")
EDGES = {(name, number): edge_of(number, 0, 1, name) for name in FUNCTIONS for number in range(4)}


def assert_same(one: DerivationGraph, other: DerivationGraph) -> None:
    counted = {"_sizes"}  # again, when it is asked for; what else there is must be packed, too
    assert vars(one).keys() - counted == {"functions", "initial", "cut_off", "stale"}
    assert one.sizes == other.sizes
    assert (one.cut_off, one.stale) == (other.cut_off, other.stale)
    assert list(one.initial.items()) == list(other.initial.items())
    assert list(one.functions) == list(other.functions)
    for name, part in one.functions.items():
        again = other.functions[name]
        assert vars(part) == vars(again)
        for field, value in vars(part).items():
            if isinstance(value, dict):
                assert list(value) == list(getattr(again, field))


def there_and_back(graph: DerivationGraph, facts: FactTable, edges: dict[tuple[str, int], Edge]) -> DerivationGraph:
    read = unpack_graph(pack_graph(graph, facts, {}), lambda name, number: edges[name, number])
    assert list(read.facts) == [facts[number] for number in range(len(facts))]
    assert_same(graph, read.graph)
    return read.graph


configurations = st.builds(pack, st.integers(0, 2**20 - 1), st.integers(0, 2**26 - 1), st.integers(0, 2**26 - 1))
names, states, numbers = st.sampled_from(FUNCTIONS), st.integers(0, 2**26 - 1), st.integers(0, 3)
supports = st.lists(st.one_of(st.just(DIRECT), st.tuples(names, states, states)), max_size=3)
paths = st.lists(st.lists(st.text(max_size=4), min_size=1, max_size=3).map(tuple), max_size=3).map(tuple)
intervals = st.builds(Interval, st.none() | st.integers(), st.none() | st.integers(), st.booleans())
facts_ = st.builds(
    Fact,
    st.integers(0, 9),
    st.text(max_size=5),
    paths,
    st.lists(st.tuples(st.one_of(st.integers(0, 9), st.text(max_size=3)), intervals), max_size=2).map(tuple),
    st.integers(-1, 3),
    st.integers(-1, 9),
)
taken = st.builds(Taken, st.sampled_from(("edge", "call")), names, st.integers(0, 9), numbers, states, states)
searched = st.builds(
    Searched,
    names,
    st.none() | st.frozensets(configurations, max_size=2),
    st.integers(0, 3),
    st.lists(st.tuples(names, numbers, numbers), max_size=2).map(tuple),
    st.text(max_size=5),
)
error_paths = st.builds(
    ErrorPath,
    st.none() | st.lists(taken, max_size=4).map(tuple),
    st.none() | st.tuples(names, states),
    st.booleans(),
    st.frozensets(names),
    st.none() | st.dictionaries(names, st.dictionaries(numbers, st.frozensets(names, max_size=2), max_size=2), max_size=2),
    slices=st.lists(searched, max_size=2).map(tuple),
)


@st.composite
def function_graphs(draw: st.DrawFn) -> FunctionGraph:
    part = FunctionGraph()
    rows = st.lists(st.tuples(numbers, configurations), max_size=3)
    for configuration in draw(st.lists(configurations, max_size=5, unique=True)):
        parent = draw(st.one_of(st.just((-1, -1)), st.tuples(numbers, configurations)))
        part.derived[configuration] = [*parent, *(value for pair in draw(rows) for value in pair)]
    part.via = draw(st.dictionaries(st.tuples(configurations, numbers, configurations), supports, max_size=3))
    part.summaries = draw(st.dictionaries(states, st.lists(states, max_size=3), max_size=3))
    for entry in draw(st.lists(states, max_size=3, unique=True)):
        sites = draw(st.lists(st.tuples(names, configurations, numbers), max_size=3))
        part.sites[entry] = [(name, configuration, EDGES[name, number]) for name, configuration, number in sites]
    part.errors = draw(st.lists(configurations, max_size=3))
    part.callers = draw(st.dictionaries(names, st.integers(1, 9), max_size=3))
    part.size = draw(st.integers(0, 99))
    return part


@st.composite
def graphs(draw: st.DrawFn) -> DerivationGraph:
    graph = DerivationGraph()
    for name in draw(st.lists(names, unique=True)):
        part = graph.functions[name] = draw(function_graphs())
        for configuration in draw(st.lists(configurations, max_size=3, unique=True)):
            calls = draw(st.lists(st.tuples(numbers, names, states), max_size=3))
            part.calls[configuration] = [(EDGES[name, number], callee, entry) for number, callee, entry in calls]
    graph.initial = draw(st.dictionaries(names, st.lists(states, max_size=2), max_size=2))
    graph.cut_off, graph.stale = draw(st.frozensets(names, max_size=2)), draw(st.booleans())
    return graph


def table_of(facts: list[Fact]) -> FactTable:
    table = FactTable()
    for fact in facts:
        table.number(fact)
    return table


@settings(max_examples=150, deadline=None)
@given(graphs(), st.lists(facts_, max_size=4).map(table_of))
def test_any_graph_is_the_same_again(graph: DerivationGraph, facts: FactTable) -> None:
    there_and_back(graph, facts, EDGES)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.tuples(names, st.frozensets(configurations, max_size=3)), error_paths, max_size=3))
def test_error_paths_are_the_same_again(found: dict[tuple[str, frozenset[int]], ErrorPath]) -> None:
    data = pack_graph(DerivationGraph(), FactTable(), found)
    assert unpack_graph(data, lambda name, number: EDGES[name, number]).error_paths == found


def test_edges_that_a_search_passed_are_left_out() -> None:
    """Of each edge of the functions, it counts then whether it writes what was asked for anywhere."""
    cells = {"main": {1: frozenset("ab"), EVERYWHERE: frozenset("c")}, "f": {2: frozenset("a")}}
    path = ErrorPath(None, functions=frozenset(("main", "f")), cells=cells, edges={"main": bits((1,)), "f": bits((2,))})
    data = pack_graph(DerivationGraph(), FactTable(), {("main", frozenset((1,))): path})
    (read,) = unpack_graph(data, lambda name, number: EDGES[name, number]).error_paths.values()
    assert read.edges is None
    assert read.cells == {"main": {EVERYWHERE: frozenset("abc")}, "f": {EVERYWHERE: frozenset("a")}}


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_a_graph_that_was_read_is_repaired_like_the_one_that_was_written(random: Random, stretches: bool) -> None:
    machine = random_machine(random, stretches)
    delta = MachineDelta(machine)
    kept = Full(delta, LIMIT).analyse(machine.initial)
    for _ in range(4):
        edges = {(name, edge.id): edge for name, body in machine.functions.items() for edge in body.edges}
        read = there_and_back(kept, FactTable(), edges)
        machine = edited(random, machine)
        following = MachineDelta(machine)
        changes = changes_between(delta, following)
        for graph in (kept, read):
            incr_back(MachineDelta(machine), graph, changes, LIMIT)
        assert_same(kept, read)
        delta = following


def test_a_graph_that_does_not_fit_the_cfas_is_refused() -> None:
    machine = random_machine(Random(3))
    graph = Full(MachineDelta(machine), LIMIT).analyse(machine.initial)
    assert any(part.calls for part in graph.functions.values())
    with pytest.raises(PackingError):
        unpack_graph(pack_graph(graph, FactTable(), {}), lambda name, number: EDGES[name, number + 99])


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=80))
def test_bytes_that_mean_nothing_are_refused(data: bytes) -> None:
    with pytest.raises(PackingError):
        unpack_graph(data, lambda name, number: EDGES[name, number])
