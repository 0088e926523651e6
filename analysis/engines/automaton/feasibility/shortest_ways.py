"""The shortest ways through called functions, from an entry state to an exit state, whatever the values are.

A search that follows nothing in a callee learns nothing there: each way through it leaves the same store in the caller. So the
search needs one of them, a shortest, and no states on the others. Of these there are as many as there are paths of calls to the
callee and to what it calls.

Which ways there are follows from the derivation graph alone. As ways lead through ways of other callees, those of all callees are
found at once, in the order of their lengths (Knuth 1977, which generalizes Dijkstra's algorithm).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from heapq import heappop, heappush
from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Edge
from analysis.engines.automaton.feasibility.graph_view import CROSSED, GraphView
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import Via, pack, unpack


class Way(NamedTuple):
    """A shortest way through a callee: its number of steps, and the callees, itself first, on which it depends."""

    source: ShortestWays
    length: int
    callees: tuple[Via, ...]

    def steps(self, depth: int) -> Iterator[Taken]:
        """The steps in the callee, which is entered at a depth of calls."""
        return self.source.steps(self.callees[0], depth)


class Rest(NamedTuple):
    """The least numbers of steps from configurations in a callee to its end, and the callees on which they depend."""

    steps: Mapping[int, int]
    callees: tuple[Via, ...]


class _Before(NamedTuple):
    """How a configuration is reached: from another one over an edge, by a stretch or through a callee."""

    configuration: int
    edge: int
    through: Via | None


class _Ways:
    """The configurations of a callee that are reached from its entry state: the least number of steps, and how, in all ways that
    are as short. `calls` are those that the ways to its end may lead through, each with the number of steps before it; `inner`
    are all that lead to its end."""

    __slots__ = ("calls", "end", "inner", "inside", "length", "reached")

    def __init__(self, end: int, inside: set[int]) -> None:
        self.end = end
        self.inside = inside
        self.length: int | None = None
        self.reached: dict[int, tuple[int, list[_Before]]] = {}
        self.inner: set[Via] = set()
        self.calls: list[tuple[int, Via]] = []


_Step = tuple[int, int, _Before]
"""The number of steps, those in callees aside, to a configuration, and how it is reached."""
_Waiting = tuple[int, int, Via, int, _Before | None]
"""The steps, a number, and where a way of the callee leads."""


class ShortestWays:
    """The shortest ways through the callees of one derivation graph, made on demand, and kept from revision to revision."""

    def __init__(self, view: GraphView) -> None:
        self._view = view
        self._ways: dict[Via, _Ways] = {}
        self._rests: dict[Via, Rest] = {}
        self._known: dict[Via, Way | None] = {}
        self._steps: dict[Via, tuple[Taken, ...]] = {}
        self._onward: dict[str, dict[int, tuple[_Step, ...]]] = {}
        self._callers: dict[Via, set[Via]] = {}  # of each callee, those in `_ways` whose ways may lead through it

    def forget(self, functions: Set[str]) -> None:
        """The graph or the Delta differs in these functions."""
        for name in functions:
            self._onward.pop(name, None)
        gone = {via for via in self._ways if via[0] in functions}
        work = list(gone)
        for one in work:  # grows while it is read
            above = self._callers.get(one, set()) - gone
            gone.update(above)
            work.extend(above)
        for via in gone:
            for inner in self._ways.pop(via).inner:
                self._callers[inner].discard(via)
            for known in (self._rests, self._known, self._steps):
                known.pop(via, None)

    def way(self, via: Via) -> Way | None:
        """The shortest way through a callee; None if there is none."""
        if via not in self._known:
            if via not in self._ways:
                self._find(self._reachable(via))
            length = self._ways[via].length
            self._known[via] = None if length is None else Way(self, length, self._callees((via,)))
        return self._known[via]

    def steps(self, via: Via, depth: int) -> Iterator[Taken]:
        """The steps of the shortest way, in a callee that is entered at a depth of calls."""
        return (msgspec.structs.replace(taken, depth=taken.depth + depth) for taken in self._at_top(via))

    def rest(self, via: Via) -> Rest:
        """How far it is from the configurations in a callee to its end."""
        found = self._rests.get(via)
        if found is None:
            found = self._rests[via] = self._back(via)
        return found

    def _back(self, via: Via) -> Rest:
        """The least numbers of steps to the end of a callee, backwards (Dijkstra 1959)."""
        self.way(via)
        ways = self._ways[via]
        into: dict[int, list[tuple[int, int]]] = {}
        callees: dict[Via, None] = {via: None}
        for configuration in ways.inside:
            for steps, derived, passed in self._steps_inside(via, configuration, ways):
                inner = None if passed.through is None else self._ways[passed.through].length
                if passed.through is not None and inner is not None:
                    callees[passed.through] = None
                    steps += CROSSED + inner
                if inner is not None or passed.through is None:
                    into.setdefault(derived, []).append((steps, configuration))
        found: dict[int, int] = {}
        waiting = [(0, ways.end)]
        while waiting:
            steps, configuration = heappop(waiting)
            if configuration in found:
                continue
            found[configuration] = steps
            for more, before in into.get(configuration, ()):
                heappush(waiting, (steps + more, before))
        return Rest(found, self._callees(callees))

    def _reachable(self, via: Via) -> list[Via]:
        """A callee and those that ways through it may lead through, as far as their ways are not known."""
        found = {via: None}
        work = [via]
        for one in work:  # grows while it is read
            ways = self._ways[one] = _Ways(self._view.end(one), self._view.inside(one))
            for configuration in ways.inside:
                for _, _, step in self._steps_inside(one, configuration, ways):
                    inner = step.through
                    if inner is None or inner in ways.inner:
                        continue
                    ways.inner.add(inner)
                    self._callers.setdefault(inner, set()).add(one)
                    if inner not in self._ways and inner not in found:
                        found[inner] = None
                        work.append(inner)
        return work

    def _find(self, callees: list[Via]) -> None:
        """Finds the shortest ways through callees, where those through all others are known."""
        waiting: list[_Waiting] = []
        callers: dict[Via, list[tuple[int, Via, int, _Before]]] = {}
        number = 0

        def put(steps: int, via: Via, configuration: int, before: _Before | None) -> None:
            nonlocal number
            number += 1
            heappush(waiting, (steps, number, via, configuration, before))

        for via in callees:
            entry = self._view.delta.entry(via[0])
            put(0, via, pack(entry, via[1], via[1]), None)
        while waiting:
            steps, _, via, configuration, before = heappop(waiting)
            ways = self._ways[via]
            known = ways.reached.get(configuration)
            if known is not None:
                if known[0] == steps and before is not None:
                    known[1].append(before)
                continue
            if ways.length is not None:
                continue
            ways.reached[configuration] = steps, [] if before is None else [before]
            if configuration == ways.end:
                ways.length = steps
                for so_far, caller, derived, passed in callers.pop(via, ()):
                    put(so_far + CROSSED + steps, caller, derived, passed)
                continue
            for length, derived, passed in self._steps_inside(via, configuration, ways):
                inner = None if passed.through is None else self._ways[passed.through].length
                if passed.through is None:
                    put(steps + length, via, derived, passed)
                    continue
                ways.calls.append((steps, passed.through))
                if inner is None:
                    callers.setdefault(passed.through, []).append((steps, via, derived, passed))
                else:
                    put(steps + CROSSED + inner, via, derived, passed)

    def _steps_inside(self, via: Via, configuration: int, ways: _Ways) -> Iterator[_Step]:
        """Where ways to the end of a callee lead from a configuration."""
        known = self._onward.setdefault(via[0], {})
        steps = known.get(configuration)
        if steps is None:
            steps = known[configuration] = tuple(self._look(via[0], configuration))
        return (step for step in steps if step[1] in ways.inside)

    def _look(self, function: str, configuration: int) -> Iterator[_Step]:
        state = unpack(configuration)[2]
        for edge, derived, through, passed in self._view.derivations(function, configuration):
            stretches = self._view.stretches(function, edge, state, unpack(derived)[0]) if passed else ()
            if stretches:
                yield min(len(one.edges) for one in stretches), derived, _Before(configuration, edge, None)
            for inner in through:
                yield 0, derived, _Before(configuration, edge, inner)

    def _callees(self, vias: Iterable[Via]) -> tuple[Via, ...]:
        """The callees that can make the ways through some shorter or longer, these first."""
        found = dict.fromkeys(vias)
        work = list(found)
        for one in work:  # grows while it is read
            ways = self._ways[one]
            for steps, inner in ways.calls:
                if inner not in found and (ways.length is None or steps + CROSSED <= ways.length):
                    found[inner] = None
                    work.append(inner)
        return tuple(found)

    def _at_top(self, via: Via) -> tuple[Taken, ...]:
        """The steps of the shortest way, with the depth of the callee as 0."""
        found = self._steps.get(via)
        if found is not None:
            return found
        ways = self._ways[via]
        parts: list[tuple[Taken, ...]] = []
        configuration = ways.end
        while some := ways.reached[configuration][1]:
            before = self._first(via[0], some)
            entered, left = unpack(before.configuration)[2], unpack(configuration)[2]
            if before.through is None:
                stretches = self._view.stretches(via[0], before.edge, entered, unpack(configuration)[0])
                parts.append(edges_taken(via[0], 0, min((one.edges for one in stretches), key=len), entered, left))
            else:
                _, entry, exit_ = before.through
                called = Taken("call", via[0], 0, before.edge, entered, entry)
                parts.append((called, *self.steps(before.through, 1), Taken("return", via[0], 0, before.edge, exit_, left)))
            configuration = before.configuration
        found = self._steps[via] = tuple(taken for part in reversed(parts) for taken in part)
        return found

    def _first(self, function: str, some: list[_Before]) -> _Before:
        """The first in the text of several that are equally short."""
        order = self._view.order
        edge, configuration = order.derivations(function, dict.fromkeys((one.edge, one.configuration) for one in some))[0]
        there = [one for one in some if (one.edge, one.configuration) == (edge, configuration)]
        through = [one.through for one in there if one.through is not None]
        chosen = order.summaries(through)[0] if len(through) == len(there) else None
        return next(one for one in there if one.through == chosen)


def edges_taken(function: str, depth: int, stretch: tuple[Edge, ...], entered: int, left: int) -> tuple[Taken, ...]:
    """The steps over the edges of a stretch; what happens to the fact happens on the first."""
    return tuple(Taken("edge", function, depth, edge.id, left if index else entered, left) for index, edge in enumerate(stretch))
