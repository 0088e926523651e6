"""The edges that one derivation stands for: from one on which nothing happens to a fact to where something can (`full.Delta`).

One edge alone leads to each location between. So these edges are trees, one set of trees for each set of names that facts have.
A path is found backwards, from each edge that leads to its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.cfa.graph import Edge
from analysis.engines.automaton.functions.function_model import FunctionModel


class _InTree(NamedTuple):
    """Where an edge is in a tree: below which edge, how deep, below which root, and which of the edges of its location it is."""

    above: Edge | None
    depth: int
    root: int
    number: int


class Stretches:
    """The paths in one function, of which `outgoing` are the feasible edges by location."""

    def __init__(self, model: FunctionModel, outgoing: Mapping[int, Sequence[tuple[Edge, bool]]]) -> None:
        self._model = model
        self._outgoing = outgoing
        self._trees: dict[frozenset[str], dict[int, _InTree]] = {}

    def between(self, edge: Edge, place: int, names: frozenset[str]) -> list[tuple[Edge, ...]]:
        """The paths from an edge to a place that it does not lead to itself, over edges on which nothing happens to facts with
        these names, in the order of the text."""
        top = self._in_tree(edge, names)
        found: list[tuple[list[int], tuple[Edge, ...]]] = []
        for last in self._model.cfa.incoming.get(place, ()):
            path = self._up(last, edge, top, names)
            if path is not None:
                found.append(path)
        found.sort(key=lambda path: path[0])
        return [edges for _, edges in found]

    def _up(self, last: Edge, first: Edge, top: _InTree, names: frozenset[str]) -> tuple[list[int], tuple[Edge, ...]] | None:
        """The path from the first edge to the last one, and the numbers of its edges; None if the last is not below the first."""
        at = self._in_tree(last, names)
        if at.root != top.root or at.depth <= top.depth:
            return None
        edges, numbers, trees = [last], [at.number], self._trees[names]
        while at.depth > top.depth + 1:
            assert at.above is not None
            edges.append(at.above)
            at = trees[at.above.id]
            numbers.append(at.number)
        if at.above is None or at.above.id != first.id:
            return None
        return numbers[::-1], (first, *reversed(edges))

    def _in_tree(self, edge: Edge, names: frozenset[str]) -> _InTree:
        known = self._trees.get(names)
        if known is None:
            known = self._trees[names] = {}
        waiting: list[tuple[Edge, Edge, int]] = []
        at = known.get(edge.id)
        while at is None:
            above = self._above(edge, names)
            if above is None or len(waiting) > len(self._model.cfa.edges):  # in a loop, which nothing leads to
                at = known[edge.id] = _InTree(None, 0, edge.id, 0)
            else:
                waiting.append((edge, *above))
                edge = above[0]
                at = known.get(edge.id)
        for below, above_it, number in reversed(waiting):
            at = known[below.id] = _InTree(above_it, at.depth + 1, at.root, number)
        return at

    def _above(self, edge: Edge, names: frozenset[str]) -> tuple[Edge, int] | None:
        """The one edge that leads to an edge, and which of the edges behind it that is; None if something can happen between."""
        here, model = edge.source, self._model
        if not model.single_entry(here) or not model.cases.passes(edge):
            return None
        following = self._outgoing.get(here, ())
        number = next((number for number, (one, _) in enumerate(following) if one.id == edge.id), None)
        if number is None or not model.all_still(following, names):
            return None
        return model.cfa.incoming[here][0], number
