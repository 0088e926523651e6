"""Full: automaton checking from scratch, with summaries, call sites and the derivation graph ([ORION] Fig. 3).

A configuration (f, n, r, q) says that some run of the automaton reaches location n of function f in state q, having entered
f in state r. `DerivationGraph` records them per function, packed into integers, together with what IncrFwd and IncrBack
need: which configurations were derived from which (the derivation relation, section 3; a derivation can stand for a stretch
of edges on which nothing happens), the summaries <r, q> and, for every entry state, the call sites that asked for it.

Differences from the figure, all within its meaning: the automaton reacts to calls and returns (`Delta.call`, `Delta.leave`),
as ORION's implementation did; call sites are kept per entry state, so that a new summary wakes only the callers that it
concerns; and a work list in order of discovery makes the first derivation of a configuration a short one.

What a `Delta` answers depends on its arguments alone (invariant I7). Theorem 1 (a configuration in a
rejecting state is found if and only if some execution leads there) is tested against brute-force enumeration
of paths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Protocol

from analysis.cfa.graph import Edge

LOCATION_BITS = 20
FACT_BITS = 26
LOCATION_MASK = (1 << LOCATION_BITS) - 1
FACT_MASK = (1 << FACT_BITS) - 1

Entry = tuple[str, int]
Via = tuple[str, int, int]
"""A summary: a function, an entry state, and an exit state in which it is left then."""
DIRECT = ("", -1, -1)


def pack(location: int, entry: int, fact: int) -> int:
    """Location, entry state and state as one integer."""
    return ((entry << FACT_BITS) | fact) << LOCATION_BITS | location


def unpack(configuration: int) -> tuple[int, int, int]:
    """Location, entry state and state of a packed configuration."""
    states = configuration >> LOCATION_BITS
    return configuration & LOCATION_MASK, states >> FACT_BITS, states & FACT_MASK


class Delta(Protocol):
    """The transition relation of the automaton over a program, as Full needs it. All answers depend on the arguments alone."""

    def outgoing(self, function: str, location: int) -> Sequence[tuple[Edge, bool]]:
        """The edges that leave a location, each with whether it is a call."""

    def exit(self, function: str) -> int:
        """The exit location of a function."""

    def entry(self, function: str) -> int:
        """The entry location of a function."""

    def quiet(self, function: str, edge: Edge, state: int) -> Sequence[int] | None:
        """The locations at which something can happen to the state next, when nothing happens to it on the edge; else None.

        Between the edge and these locations lie only locations with one path in and edges on which nothing happens either:
        they have the same configurations, up to the location, and are left out of the graph.
        """

    def step(self, function: str, edge: Edge, state: int) -> Sequence[int]:
        """The states after an edge that is no call."""

    def call(self, function: str, edge: Edge, state: int) -> tuple[Sequence[int], Sequence[Entry]]:
        """For a call: the states after it that need no callee's summary, and the functions entered with their entry states."""

    def leave(self, function: str, edge: Edge, state: int, callee: Entry, exit_: int) -> Sequence[int]:
        """The states after a call for one summary of an entered callee."""

    def rejecting(self, state: int) -> bool:
        """Whether the state is an error."""

    def depends(self, state: int, names: frozenset[str]) -> bool:
        """Whether a change that concerns these names can matter to the state (see `changes.EdgeChanges`)."""


class FunctionGraph:
    """The part of the derivation graph inside one function.

    `derived[c]` holds for configuration c the edge id and configuration that it was first derived from (-1 and -1 for an
    entry), and then what was derived from it, in order, as edge id, configuration, edge id, and so on (flat, because there
    are millions). `via` says, for a derivation over a call of a function with a body, by which callees, entry states and exit
    states it came (`DIRECT` for the one that needs no summary). `summaries[r]` are the exit states for entry state r;
    `sites[r]` the call sites that entered the function in state r, as (function, configuration, edge). Its keys are those of
    `summaries`: the entry states.

    For repair there are the same sites seen from the other end: `calls[c]` are the calls at configuration c, as (edge, callee,
    entry state), and `callers` counts the sites by the function that they are in. `size` is the number of derivations.
    """

    def __init__(self) -> None:
        self.derived: dict[int, list[int]] = {}
        self.via: dict[tuple[int, int, int], list[tuple[str, int, int]]] = {}
        self.summaries: dict[int, list[int]] = {}
        self.sites: dict[int, list[tuple[str, int, Edge]]] = {}
        self.errors: list[int] = []
        self.calls: dict[int, list[tuple[Edge, str, int]]] = {}
        self.callers: dict[str, int] = {}
        self.size = 0

    def derivations(self, configuration: int) -> Iterator[tuple[int, int]]:
        """What was derived from a configuration, in order, as (edge id, configuration)."""
        flat = self.derived[configuration]
        return zip(flat[2::2], flat[3::2], strict=True)

    def reached(self, locations: Set[int], entries: Set[int]) -> set[int]:
        """Which of the locations configurations are at, with one of these entry states."""
        return {at for c in self.derived if (at := c & LOCATION_MASK) in locations and c >> LOCATION_BITS + FACT_BITS in entries}

    def parent(self, configuration: int) -> tuple[int, int] | None:
        """The (edge id, configuration) that a configuration was first derived from, None for an entry.

        All that the first derivation rests on (for one over a call, the callee's summary) was found before, so that going from
        parent to parent, and into the callees, ends, in recursive functions too.
        """
        edge, parent = self.derived[configuration][:2]
        return None if edge < 0 else (edge, parent)


class DerivationGraph:
    """All configurations of a program, by function.

    `cut_off` are the functions of which the limit left something out; if there are any, the graph is not `complete`, and cannot
    be repaired. `stale` says that there may be entry states that no execution leads to any more, which IncrBack leaves behind
    (section 4): see `retrace`.
    """

    def __init__(self) -> None:
        self.functions: dict[str, FunctionGraph] = {}
        self.initial: dict[str, list[int]] = {}
        self.cut_off: frozenset[str] = frozenset()
        self.stale = False
        self._sizes: tuple[int, int] | None = None  # how many configurations and derivations there are, where that was counted

    @property
    def complete(self) -> bool:
        """Whether the limit left nothing out."""
        return not self.cut_off

    @property
    def configurations(self) -> int:
        """The number of configurations."""
        return self.sizes[0]

    @property
    def derivations(self) -> int:
        """The number of derivation edges."""
        return self.sizes[1]

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of configurations and derivations. A repair knows by how much they differ, and sets them; None has them
        counted again."""
        if self._sizes is None:
            parts = self.functions.values()
            self._sizes = sum(len(part.derived) for part in parts), sum(part.size for part in parts)
        return self._sizes

    @sizes.setter
    def sizes(self, now: tuple[int, int] | None) -> None:
        self._sizes = now


class Explorer:
    """Adds to a graph everything that follows from a work list. Full uses it, and so do the additions of the
    incremental algorithms. The methods carry the names of Fig. 3.

    A configuration on the work list is in the graph and nothing was derived from it yet. `limit` bounds the configurations; a
    function can have a third of them, so that one whose facts are too many to be told apart does not take the room of others.
    """

    def __init__(self, delta: Delta, graph: DerivationGraph, limit: int) -> None:
        self._delta = delta
        self._limit = limit
        self._share = max(limit // 3, 1)
        self._cut_off: set[str] = set()
        self._count = graph.configurations
        graph.sizes = None  # until this is done
        self._work: deque[tuple[str, FunctionGraph, int]] = deque()
        self.graph = graph

    def _explore(self) -> None:
        work = self._work
        while work:
            if self._count > self._limit:
                self._cut_off.update(name for name, _, _ in work)
                break
            name, graph, configuration = work.popleft()
            if len(graph.derived) > self._share:
                self._cut_off.add(name)
            else:
                self._step(name, graph, configuration)
        if self._cut_off:
            self.graph.cut_off = frozenset(self._cut_off)

    def _function(self, name: str) -> FunctionGraph:
        graph = self.graph.functions.get(name)
        if graph is None:
            graph = self.graph.functions[name] = FunctionGraph()
        return graph

    def _enter(self, function: str, state: int) -> FunctionGraph:
        graph = self._function(function)
        if state not in graph.summaries:
            graph.summaries[state] = []
            graph.sites[state] = []
            self._add_to_workset(function, graph, pack(self._delta.entry(function), state, state))
        return graph

    def _add_to_workset(self, function: str, graph: FunctionGraph, configuration: int, edge: int = -1, parent: int = -1) -> None:
        if configuration not in graph.derived:
            graph.derived[configuration] = [edge, parent]
            self._count += 1
            self._work.append((function, graph, configuration))

    def _step(self, function: str, graph: FunctionGraph, configuration: int) -> None:
        location, entry, state = unpack(configuration)
        delta = self._delta
        if delta.rejecting(state):
            graph.errors.append(configuration)
            return
        if location == delta.exit(function):
            self._summarise(graph, function, entry, state)
            return
        for edge, is_call in delta.outgoing(function, location):
            places = delta.quiet(function, edge, state)
            if places is not None:
                for place in places:
                    self._derive(function, graph, configuration, edge, pack(place, entry, state))
            elif is_call:
                self._follow_call(function, graph, configuration, entry, state, edge)
            else:
                for after in delta.step(function, edge, state):
                    self._derive(function, graph, configuration, edge, pack(edge.target, entry, after))

    def _derive(self, function: str, graph: FunctionGraph, configuration: int, edge: Edge, derived: int) -> None:
        graph.derived[configuration] += (edge.id, derived)
        graph.size += 1
        self._add_to_workset(function, graph, derived, edge.id, configuration)

    def _follow_call(self, function: str, graph: FunctionGraph, configuration: int, entry: int, state: int, edge: Edge) -> None:
        direct, entered = self._delta.call(function, edge, state)
        for after in direct:
            self._derive(function, graph, configuration, edge, pack(edge.target, entry, after))
        for callee in entered:
            self._add_site(function, graph, configuration, edge, callee)

    def _add_site(self, function: str, graph: FunctionGraph, configuration: int, edge: Edge, entered: Entry) -> None:
        callee, entry = entered
        callee_graph = self._enter(callee, entry)
        callee_graph.sites[entry].append((function, configuration, edge))
        callee_graph.callers[function] = callee_graph.callers.get(function, 0) + 1
        graph.calls.setdefault(configuration, []).append((edge, callee, entry))
        for exit_ in tuple(callee_graph.summaries[entry]):
            self._return_to(function, graph, configuration, edge, entered, exit_)

    def _summarise(self, graph: FunctionGraph, function: str, entry: int, state: int) -> None:
        if state in graph.summaries[entry]:
            return
        graph.summaries[entry].append(state)
        entered = function, entry
        for caller, configuration, edge in tuple(graph.sites[entry]):
            self._return_to(caller, self.graph.functions[caller], configuration, edge, entered, state)

    def _return_to(self, function: str, graph: FunctionGraph, configuration: int, edge: Edge, callee: Entry, exit_: int) -> None:
        """Derives what follows from a summary at a call site; what is recorded already stays as it is."""
        _, entry, state = unpack(configuration)
        support = (*callee, exit_)
        for after in self._delta.leave(function, edge, state, callee, exit_):
            derived = pack(edge.target, entry, after)
            via = graph.via.get((configuration, edge.id, derived))
            if via is not None:
                if support not in via:
                    via.append(support)
            elif derived in graph.derived and (edge.id, derived) in graph.derivations(configuration):
                graph.via[configuration, edge.id, derived] = [DIRECT, support]
            else:
                graph.via[configuration, edge.id, derived] = [support]
                self._derive(function, graph, configuration, edge, derived)


class Full(Explorer):
    """One run of the algorithm; `analyse` is ANALYZE of Fig. 3."""

    def __init__(self, delta: Delta, limit: int) -> None:
        super().__init__(delta, DerivationGraph(), limit)

    def analyse(self, initial: Iterable[Entry]) -> DerivationGraph:
        """Explores everything reachable from the entry states, given as (function, state)."""
        for function, state in initial:
            self.graph.initial.setdefault(function, []).append(state)
            self._enter(function, state)
        self._explore()
        return self.graph
