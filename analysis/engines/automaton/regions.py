"""What a branch decides: the cells touched between a branch and the place where its ways meet again.

A fact need remember which way it took at a branch only if something happens to its value on one of the ways; that keeps
environments, and with them the number of configurations, small (in the spirit of ESP's property simulation, Das, Lerner and
Seigle, PLDI 2002). The ways meet at the immediate postdominator of the branch; locations without successors count as leading
to the exit.
"""

from __future__ import annotations

from collections.abc import Callable

import networkx

from analysis.cfa.graph import Cfa, Edge


class BranchRegions:
    """The names touched on each way from the branch locations of one function; computed on demand."""

    def __init__(self, cfa: Cfa, touched: Callable[[Edge], frozenset[str]]) -> None:
        self._cfa = cfa
        self._touched = touched
        self._meets: dict[int, int] | None = None
        self._decides: dict[int, frozenset[str]] = {}

    def decides(self, location: int) -> frozenset[str]:
        """The names touched on some way from the location before all ways meet again."""
        found = self._decides.get(location)
        if found is None:
            found = self._decides[location] = self._collect(location)
        return found

    def _collect(self, location: int) -> frozenset[str]:
        if self._meets is None:
            self._meets = self._postdominators()
        end = self._meets.get(location)
        names: set[str] = set()
        seen = {location, end}
        work = [edge.target for edge in self._cfa.outgoing.get(location, ())]
        while work:
            current = work.pop()
            if current in seen:
                continue
            seen.add(current)
            for edge in self._cfa.outgoing.get(current, ()):
                names |= self._touched(edge)
                work.append(edge.target)
        return frozenset(names)

    def _postdominators(self) -> dict[int, int]:
        graph: networkx.DiGraph[int] = networkx.DiGraph()
        cfa = self._cfa
        graph.add_node(cfa.exit)
        for location in cfa.locations:
            edges = cfa.outgoing.get(location, ())
            if not edges and location != cfa.exit:
                graph.add_edge(cfa.exit, location)
            for edge in edges:
                graph.add_edge(edge.target, location)
        found: dict[int, int] = networkx.immediate_dominators(graph, cfa.exit)
        return found
