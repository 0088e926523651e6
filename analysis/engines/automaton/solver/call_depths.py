"""How many calls there are at least from where the program begins to an entry state of a function, repaired with the graph.

Traces follow the shortest chain of calls. The order in which a graph lists call sites would not do instead: after edits it is
another one than from scratch.

After a repair, the entry states whose call sites may be others are looked at. A number that no call site bears out any more is
forgotten, with those that rest on it, and found again from the call sites that are left (as in Ramalingam and Reps, 1996, for
shortest paths).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush

from analysis.engines.automaton.solver.changes import Repaired
from analysis.engines.automaton.solver.full import DerivationGraph, Entry, unpack


class CallDepths:
    """The numbers for one graph, from repair to repair."""

    def __init__(self, graph: DerivationGraph) -> None:
        self._graph = graph
        self._depths: dict[Entry, int] | None = None  # None until somebody asks
        self._states: dict[str, set[int]] = {}  # those of `_depths`, by function
        self._calls: dict[str, dict[int, tuple[Entry, ...]]] = {}  # what an entry state of a function enters, made on demand

    def of(self, entry: Entry) -> int | None:
        """The number for an entry state; None if no execution leads to it."""
        if self._depths is None:
            self._depths = {}
            self._relax((name, state) for name, states in self._graph.initial.items() for state in states)
        return self._depths.get(entry)

    def revise(self, repaired: Repaired) -> None:
        """Takes in that the graph was repaired."""
        if self._depths is None:
            return
        concerned = {*repaired.changed, *repaired.checked, *repaired.recalled, *(name for name, _ in repaired.fewer_sites)}
        concerned.update(name for name in self._states if name not in self._graph.functions)
        for name in concerned:
            self._calls.pop(name, None)
        gone = self._forget((name, state) for name in concerned for state in self._states.get(name, ()))
        there = self._graph.functions
        new = ((name, state) for name in concerned if name in there for state in there[name].sites)
        self._relax((*gone, *new))

    def _forget(self, doubted: Iterable[Entry]) -> list[Entry]:
        """Forgets the numbers that nothing bears out, of these and of what they enter, least first: so what bears out a number is
        certain when it is looked at. Returns the entry states that are still there."""
        assert self._depths is not None
        waiting = [(self._depths[entry], entry) for entry in doubted]
        heapify(waiting)
        gone = dict[Entry, None]()
        while waiting:
            depth, entry = heappop(waiting)
            if self._depths.get(entry) == depth and not self._holds(entry, depth):
                del self._depths[entry]
                self._states[entry[0]].discard(entry[1])
                gone[entry] = None
                for below in self._entered(entry):
                    if self._depths.get(below) == depth + 1:
                        heappush(waiting, (depth + 1, below))
        return [entry for entry in gone if self._is_there(entry)]

    def _holds(self, entry: Entry, depth: int) -> bool:
        if not self._is_there(entry):
            return False
        return self._is_first(entry) if depth == 0 else depth - 1 in self._above(entry)

    def _relax(self, entries: Iterable[Entry]) -> None:
        """Finds the numbers of these entry states, and of what they enter, where these are less than known (Dijkstra 1959)."""
        assert self._depths is not None
        waiting = [(depth, entry) for entry in entries if (depth := self._least(entry)) is not None]
        heapify(waiting)
        while waiting:
            depth, entry = heappop(waiting)
            if depth >= self._depths.get(entry, depth + 1):
                continue
            self._depths[entry] = depth
            self._states.setdefault(entry[0], set()).add(entry[1])
            for below in self._entered(entry):
                if depth + 1 < self._depths.get(below, depth + 2):
                    heappush(waiting, (depth + 1, below))

    def _least(self, entry: Entry) -> int | None:
        if self._is_first(entry):
            return 0
        least = min(self._above(entry), default=None)
        return None if least is None else least + 1

    def _is_first(self, entry: Entry) -> bool:
        return entry[1] in self._graph.initial.get(entry[0], ())

    def _is_there(self, entry: Entry) -> bool:
        part = self._graph.functions.get(entry[0])
        return part is not None and entry[1] in part.sites

    def _above(self, entry: Entry) -> Iterator[int]:
        """The numbers of the entry states that the call sites of one follow from."""
        assert self._depths is not None
        for caller, site, _ in self._graph.functions[entry[0]].sites[entry[1]]:
            depth = self._depths.get((caller, unpack(site)[1]))
            if depth is not None:
                yield depth

    def _entered(self, entry: Entry) -> tuple[Entry, ...]:
        """The entry states that calls enter from one."""
        name, state = entry
        known = self._calls.get(name)
        if known is None:
            found: dict[int, dict[Entry, None]] = {}
            part = self._graph.functions.get(name)
            for configuration, calls in part.calls.items() if part is not None else ():
                entered = found.setdefault(unpack(configuration)[1], {})
                entered.update(((callee, below), None) for _, callee, below in calls)
            known = self._calls[name] = {one: tuple(entered) for one, entered in found.items()}
        return known.get(state, ())
