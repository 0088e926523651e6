"""A derivation graph as bytes, and back, with its facts and the paths that were found: what a later process goes on from.

Configurations are numbered per function, in the order in which they were derived, and everything else refers
to them by number. Each table of a function is one flat list of small integers, in which a count precedes what
there can be several of. Edges are written as their ids: the reader takes them from the CFAs, which keep them
(analysis.session.keeping.stored_units). What is read back is the same graph, in every order that means something:
parents before children, the first support.

Tests: tests/engines/test_packed.py, with random graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.facts import Fact, FactTable
from analysis.engines.automaton.feasibility.error_paths import ErrorPath
from analysis.engines.automaton.feasibility.kept_searches import EVERYWHERE
from analysis.engines.automaton.solver.full import DerivationGraph, FunctionGraph, pack, unpack
from analysis.store.packing import Codec, PackingError

ErrorPaths = Mapping[tuple[str, frozenset[int]], ErrorPath]


class Unpacked(NamedTuple):
    """What was packed; `facts` by number."""

    graph: DerivationGraph
    facts: tuple[Fact, ...]
    error_paths: dict[tuple[str, frozenset[int]], ErrorPath]


class _Function(msgspec.Struct):
    """One function. `locations`, `entries` and `facts` say for each number what its configuration is; the first `count` are in
    the graph, others are only named in it. Functions are numbers in `_Packed.names`."""

    count: int
    locations: list[int]
    entries: list[int]
    facts: list[int]
    derived: list[int]
    via: list[int]
    summaries: list[int]
    sites: list[int]
    errors: list[int]
    calls: list[int]
    callers: list[int]
    size: int


class _Packed(msgspec.Struct):
    names: list[str]
    functions: list[_Function]
    in_graph: int
    initial: list[tuple[str, list[int]]]
    cut_off: list[str]
    stale: bool
    facts: list[Fact]
    error_paths: list[tuple[str, list[int], ErrorPath]]


@cache
def _codec() -> Codec[_Packed]:
    """Made when it is first needed."""
    return Codec(_Packed)


class _Numbers(dict[int, int]):
    """The numbers of the configurations of one function; -1 is none. A new one gets the next number."""

    def __init__(self, known: Sequence[int]) -> None:
        super().__init__({configuration: number for number, configuration in enumerate(known)})
        self[-1] = -1
        self.configurations = list(known)

    def __missing__(self, configuration: int) -> int:
        number = self[configuration] = len(self.configurations)
        self.configurations.append(configuration)
        return number


class _Names(dict[str, int]):
    """The numbers of functions; a new one gets the next number."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


def pack_graph(graph: DerivationGraph, facts: FactTable, error_paths: ErrorPaths) -> bytes:
    """The graph as bytes."""
    names = _Names()
    numbers: dict[str, _Numbers] = {}
    for name, part in graph.functions.items():
        numbers[name] = _Numbers(tuple(part.derived))
        _ = names[name]

    def numbers_in(name: str) -> _Numbers:
        found = numbers.get(name)
        if found is None:
            found = numbers[name] = _Numbers(())
        return found

    tables = {name: _tables(part, numbers[name], names, numbers_in) for name, part in graph.functions.items()}
    for name in names:
        _ = numbers_in(name)
    packed = _Packed(
        names=list(names),
        functions=[_function(graph.functions.get(name), tables.get(name), numbers[name]) for name in names],
        in_graph=len(graph.functions),
        initial=[(name, list(states)) for name, states in graph.initial.items()],
        cut_off=sorted(graph.cut_off),
        stale=graph.stale,
        facts=[facts[number] for number in range(len(facts))],
        error_paths=[(name, _triples(sorted(errors)), _without_edges(path)) for (name, errors), path in error_paths.items()],
    )
    return _codec().encode(packed)


def _without_edges(path: ErrorPath) -> ErrorPath:
    """The path without the edges that were passed, and at which cells were asked for: it is searched again after an edit of one
    of its functions."""
    if path.edges is None or path.cells is None:
        return msgspec.structs.replace(path, edges=None)
    cells = {name: {EVERYWHERE: frozenset[str]().union(*at.values())} for name, at in path.cells.items()}
    return msgspec.structs.replace(path, edges=None, cells=cells)


class _Tables(NamedTuple):
    derived: list[int]
    via: list[int]
    summaries: list[int]
    sites: list[int]
    errors: list[int]
    calls: list[int]
    callers: list[int]


def _tables(part: FunctionGraph, number: _Numbers, names: _Names, numbers_in: Callable[[str], _Numbers]) -> _Tables:
    derived: list[int] = []
    for flat in part.derived.values():
        derived.append(len(flat))
        numbered = flat.copy()
        numbered[1::2] = [number[configuration] for configuration in flat[1::2]]
        derived += numbered
    via: list[int] = []
    for (configuration, edge, after), supports in part.via.items():
        via += (number[configuration], edge, number[after], len(supports))
        for callee, entry, exit_ in supports:
            via += (names[callee], entry, exit_)
    summaries: list[int] = []
    for entry, exits in part.summaries.items():
        summaries += (entry, len(exits), *exits)
    sites: list[int] = []
    for entry, callers in part.sites.items():
        sites += (entry, len(callers))
        for caller, configuration, at in callers:
            sites += (names[caller], numbers_in(caller)[configuration], at.id)
    calls: list[int] = []
    for configuration, called in part.calls.items():
        calls += (number[configuration], len(called))
        for at, callee, entry in called:
            calls += (at.id, names[callee], entry)
    callers_ = [value for caller, count in part.callers.items() for value in (names[caller], count)]
    return _Tables(derived, via, summaries, sites, [number[error] for error in part.errors], calls, callers_)


def _function(part: FunctionGraph | None, tables: _Tables | None, numbers: _Numbers) -> _Function:
    """The packed function, when all numbers of its configurations have been given."""
    states = [unpack(configuration) for configuration in numbers.configurations]
    columns = [location for location, _, _ in states], [entry for _, entry, _ in states], [fact for _, _, fact in states]
    if part is None or tables is None:
        tables, count, size = _Tables([], [], [], [], [], [], []), 0, 0
    else:
        count, size = len(part.derived), part.size
    derived, via, summaries, sites, errors, calls, callers = tables
    return _Function(count, *columns, derived, via, summaries, sites, errors, calls, callers, size)


def _triples(configurations: Sequence[int]) -> list[int]:
    return [number for configuration in configurations for number in unpack(configuration)]


def unpack_graph(data: bytes, edge: Callable[[str, int], Edge]) -> Unpacked:
    """What was packed; `edge` gives a function's edge by its id. Raises PackingError for bytes that are not of `pack_graph`, and
    for a graph that does not fit the CFAs."""
    packed = _codec().decode(data)
    try:
        return _unpacked(packed, edge)
    except (ValueError, TypeError, LookupError, RuntimeError) as error:  # RuntimeError: a generator ran out of numbers
        raise PackingError(f"{type(error).__name__}: {error}") from None


def _unpacked(packed: _Packed, edge: Callable[[str, int], Edge]) -> Unpacked:
    names = packed.names
    configurations = [
        [*map(pack, function.locations, function.entries, function.facts), -1] for function in packed.functions
    ]  # -1 is the last one: no parent
    graph = DerivationGraph()
    graph.initial = dict(packed.initial)
    graph.cut_off, graph.stale = frozenset(packed.cut_off), packed.stale
    for index in range(packed.in_graph):
        function, own = packed.functions[index], configurations[index]
        part = graph.functions[names[index]] = FunctionGraph()
        part.derived = _derived(function, own)
        part.size = function.size
        part.errors = [own[number] for number in function.errors]
        part.callers = {names[caller]: count for caller, count in zip(function.callers[::2], function.callers[1::2], strict=True)}
        part.summaries = dict(_counted(iter(function.summaries), 1))
        part.via = {
            (own[at], edge_id, own[after]): [(names[callee], entry, exit_) for callee, entry, exit_ in _in_threes(supports)]
            for at, edge_id, after, supports in _via(iter(function.via))
        }
        part.sites = {
            entry: [
                (names[caller], configurations[caller][number], edge(names[caller], edge_id))
                for caller, number, edge_id in _in_threes(sites)
            ]
            for entry, sites in _counted(iter(function.sites), 3)
        }
        part.calls = {
            own[at]: [(edge(names[index], edge_id), names[callee], entry) for edge_id, callee, entry in _in_threes(called)]
            for at, called in _counted(iter(function.calls), 3)
        }
    error_paths = {}
    for name, triples, error_path in packed.error_paths:
        error_paths[name, frozenset(pack(*triple) for triple in _in_threes(triples))] = error_path
    return Unpacked(graph, tuple(packed.facts), error_paths)


def _derived(function: _Function, own: Sequence[int]) -> dict[int, list[int]]:
    derived: dict[int, list[int]] = {}
    flat, at = function.derived, 0
    for configuration in own[: function.count]:
        length = flat[at]
        at += 1
        row = flat[at : at + length]
        at += length
        row[1::2] = [own[number] for number in row[1::2]]
        derived[configuration] = row
    return derived


def _counted(numbers: Iterator[int], width: int) -> Iterator[tuple[int, list[int]]]:
    """Keys and what belongs to each, out of: key, how many, and so many times `width` numbers, again and again."""
    for key in numbers:
        yield key, [next(numbers) for _ in range(next(numbers) * width)]


def _via(numbers: Iterator[int]) -> Iterator[tuple[int, int, int, list[int]]]:
    for configuration in numbers:
        edge, after, count = next(numbers), next(numbers), next(numbers)
        yield configuration, edge, after, [next(numbers) for _ in range(count * 3)]


def _in_threes(numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    return zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
