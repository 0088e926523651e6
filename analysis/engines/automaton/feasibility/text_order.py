"""An order of configurations, calls and summaries that follows from the program alone.

The derivation graph lists them in the order of their discovery, and facts, locations and edges have numbers in such an order.
After edits these orders are others than from scratch. A search that goes by them would find another path, of those that are
equally short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.solver.full import DerivationGraph, Entry, Via, unpack

_Key = tuple[object, ...]
Site = tuple[str, int, Edge]
"""A call: the caller, its configuration there, and the edge."""
_One = TypeVar("_One")


class TextOrder:
    """The order in a program and its graph, revision by revision."""

    def __init__(self, graph: DerivationGraph, delta: ProgramDelta) -> None:
        self.graph = graph
        self._facts: dict[str, dict[int, _Key]] = {}
        self.revise(delta)

    def revise(self, delta: ProgramDelta) -> None:
        """Takes the next revision."""
        self.delta = delta
        self._sites: dict[Entry, list[Site]] = {}

    def forget(self, functions: Iterable[str]) -> None:
        """These functions have other texts."""
        for name in functions:
            self._facts.pop(name, None)

    def configurations(self, function: str, some: Iterable[int]) -> list[int]:
        """Configurations of a function, by where they are and what is known there."""
        return _sorted(some, lambda one: self._configuration(function, one))

    def derivations(self, function: str, some: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Derivations from one configuration, or of one, as (edge id, the other configuration)."""
        return _sorted(some, lambda one: (self._edge(function, one[0]), self._configuration(function, one[1])))

    def summaries(self, some: Iterable[Via]) -> list[Via]:
        """Summaries: functions with a state at the entry, and one at the exit."""
        return _sorted(some, lambda via: (via[0], self._fact(via[0], via[1]), self._fact(via[0], via[2])))

    def sites(self, entry: Entry) -> list[Site]:
        """The calls that enter a function in a state, by the functions that make them, and by where and in which state."""
        found = self._sites.get(entry)
        if found is None:
            some = self.graph.functions[entry[0]].sites[entry[1]]
            found = self._sites[entry] = _sorted(some, self._site)
        return found

    def _site(self, site: Site) -> _Key:
        caller, configuration, edge = site
        return caller, self._edge(caller, edge.id), self._configuration(caller, configuration)

    def _configuration(self, function: str, configuration: int) -> _Key:
        location, entry, fact = unpack(configuration)
        place = self.delta.program.functions[function].reverse_postorder.get(location, -1)
        return place, self._fact(function, fact), self._fact(function, entry)

    def _edge(self, function: str, edge: int) -> int:
        return self.delta.program.functions[function].positions.get(edge, -1)

    def _fact(self, function: str, number: int) -> _Key:
        known = self._facts.setdefault(function, {})
        found = known.get(number)
        if found is None:
            fact = self.delta.facts[number]
            environment = tuple((str(about), str(interval)) for about, interval in fact.environment)
            place = self._edge(function, fact.edge)
            found = known[number] = (fact.rule, fact.state, fact.paths, fact.transition, place, environment)
        return found


def _sorted(some: Iterable[_One], key: Callable[[_One], _Key]) -> list[_One]:
    found = list(some)
    if len(found) > 1:
        found.sort(key=key)
    return found
