"""How far a place in the program is from the nearest of some locations: the least number of edges, over CFAs and the call graph.

A priority for the exploration, and the reason to leave a state out: from a place that has no distance the location cannot be
reached. (Jumps over functions are not edges; `completeness` knows of them.)
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from math import inf

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cpa.domains.location import CUT, Location, Stack
from analysis.model import ir

Costs = dict[int, float]


class Distance:
    """Distances to the nearest of some locations, by function, of a program."""

    def __init__(self, program: Program, locations: Mapping[str, Iterable[int]]) -> None:
        self._program = program
        self._targets: dict[int, tuple[str, ...]] = {}
        self._through: dict[str, float] = {}
        self._to_exit = self._exits()
        self._down = self._downs(locations)
        self._above: dict[Stack | None, float] = {None: inf}

    def of(self, place: Location) -> float:
        """The distance from a place, through its open calls too; infinite if there is no path."""
        if place.location == CUT:
            return inf
        here = self._down[place.function].get(place.location, inf)
        return min(here, self._to_exit[place.function].get(place.location, inf) + self._after(place.stack))

    def enters(self, function: str) -> bool:
        """Whether one of the locations can be reached from the entry of the function."""
        return self._program.functions[function].entry in self._down[function]

    def _after(self, stack: Stack | None) -> float:
        """The distance after the return from the innermost of the open calls."""
        waiting = []
        while stack not in self._above:
            assert stack is not None
            waiting.append(stack)
            stack = stack.below
        for call in reversed(waiting):
            function, location = call.call.function, call.call.edge.target
            here = self._down[function].get(location, inf)
            after = self._to_exit[function].get(location, inf) + self._above[call.below]
            self._above[call] = min(here, after)
        return self._above[waiting[0] if waiting else stack]

    def _callees(self, edge: Edge) -> tuple[str, ...]:
        effect = edge.effect
        if not isinstance(effect, ir.Call):
            return ()
        found = self._targets.get(id(edge))
        if found is None:
            found = self._targets[id(edge)] = self._program.targets(effect)
        return found

    def _cost(self, edge: Edge) -> float:
        """The least number of steps over an edge."""
        callees = self._callees(edge)
        if not callees:
            return 1
        functions, externals = self._program.functions, self._program.externals
        least = inf
        for callee in callees:
            if callee in functions:
                least = min(least, 2 + self._through.get(callee, inf))
            elif callee not in externals or not externals[callee].noreturn:
                least = min(least, 1)
        return least

    def _exits(self) -> dict[str, Costs]:
        """For each function the distances to its exit; `_through` is that from its entry (the least solution, from above)."""
        functions = self._program.functions
        found: dict[str, Costs] = {}
        changed = True
        while changed:
            changed = False
            for name, cfa in functions.items():
                found[name] = self._backwards(cfa, {cfa.exit: 0.0})
                through = found[name].get(cfa.entry, inf)
                if through < self._through.get(name, inf):
                    self._through[name] = through
                    changed = True
        return found

    def _downs(self, locations: Mapping[str, Iterable[int]]) -> dict[str, Costs]:
        """For each function the distances to a location within it, or within what it calls."""
        functions = self._program.functions
        found: dict[str, Costs] = {name: {} for name in functions}
        entries: dict[str, float] = {}
        changed = True
        while changed:
            changed = False
            for name, cfa in functions.items():
                seeds: Costs = dict.fromkeys(locations.get(name, ()), 0.0)
                for edge in cfa.calls:
                    into = min((1 + entries.get(callee, inf) for callee in self._callees(edge)), default=inf)
                    if into < seeds.get(edge.source, inf):
                        seeds[edge.source] = into
                if not seeds:
                    continue
                found[name] = self._backwards(cfa, seeds)
                least = found[name].get(cfa.entry, inf)
                if least < entries.get(name, inf):
                    entries[name] = least
                    changed = True
        return found

    def _backwards(self, cfa: Cfa, seeds: Mapping[int, float]) -> Costs:
        """Dijkstra's algorithm against the edges of one function."""
        best: Costs = dict(seeds)
        heap = [(cost, location) for location, cost in seeds.items()]
        heapq.heapify(heap)
        while heap:
            cost, location = heapq.heappop(heap)
            if cost > best[location]:
                continue
            for edge in cfa.incoming.get(location, ()):
                further = cost + self._cost(edge)
                if further < best.get(edge.source, inf):
                    best[edge.source] = further
                    heapq.heappush(heap, (further, edge.source))
        return best
