"""What searches for paths see of the derivation graph, in the order of the text. It follows from the graph and the Delta alone.
Most of it is kept from revision to revision, until these differ in a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

from analysis.cfa.callgraph import called
from analysis.cfa.graph import Edge
from analysis.cfa.live_variables import live
from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.graph_slices import GraphSteps, Steps, opened
from analysis.engines.automaton.feasibility.kept_searches import bits
from analysis.engines.automaton.feasibility.text_order import TextOrder
from analysis.engines.automaton.solver.full import Via, pack, unpack
from analysis.model import ir

CROSSED = 2  # steps over a call that is opened, besides those in the callee: to enter it, and to leave it
_Onward = tuple[int, int, frozenset[str] | None]
"""The id of an edge, the location to which a derivation over it leads, and the names that its fact depends on."""


class Stretch(NamedTuple):
    """Edges that are one derivation, and their ids."""

    edges: tuple[Edge, ...]
    ids: tuple[int, ...]  # of long stretches there are many, and sets would be large


class Derivation(NamedTuple):
    """What was derived over an edge: `through` which summaries, and whether also without one (`graph_slices.opened`)."""

    edge: int
    derived: int
    through: tuple[Via, ...]
    passed: bool


class GraphView:
    """The derivation graph of one program, revision by revision; `order` is that of the text."""

    def __init__(self, steps: GraphSteps, delta: ProgramDelta) -> None:
        self.steps = steps
        self._derivations: dict[str, dict[int, tuple[Derivation, ...]]] = {}
        self._passed: dict[str, dict[int, int]] = {}
        self._inside: dict[str, dict[Via, set[int]]] = {}
        self._live: dict[str, Mapping[int, frozenset[str]]] = {}
        self.order = TextOrder(steps.graph, delta)
        self.revise(delta)

    def revise(self, delta: ProgramDelta) -> None:
        """Takes the transition relation of the next revision, for which the graph was repaired."""
        self.delta = delta
        self.order.revise(delta)
        self._returning: dict[str, tuple[str, ...]] = {}
        self._stretches: dict[str, dict[_Onward, tuple[Stretch, ...]]] = {}  # soon found again, and large
        self._singles: dict[str, dict[int, tuple[Stretch, ...]]] = {}

    def forget(self, functions: Set[str]) -> None:
        """The graph or the Delta differs in these functions."""
        by_function: tuple[dict[str, Any], ...] = self._derivations, self._passed, self._inside, self._live
        for known in by_function:
            for name in functions:
                known.pop(name, None)
        self.order.forget(functions)

    def live(self, function: str) -> Mapping[int, frozenset[str]]:
        """The variables of a function that may still be read, by location."""
        found = self._live.get(function)
        if found is None:
            found = self._live[function] = live(self.delta.program.functions[function])
        return found

    def inside(self, via: Via) -> set[int]:
        """The configurations of a callee on paths from its entry to an exit state."""
        known = self._inside.setdefault(via[0], {})
        found = known.get(via)
        if found is None:
            found = known[via] = self.steps.closure(via[0], (self.end(via),))
        return found

    def end(self, via: Via) -> int:
        """The configuration at which a callee that was entered in a state is left in another."""
        callee, entry, exit_ = via
        return pack(self.delta.exit(callee), entry, exit_)

    def derivations(self, function: str, configuration: int) -> tuple[Derivation, ...]:
        """What was derived from a configuration of a function, in the order of the text."""
        known = self._derivations.get(function)
        if known is None:
            known = self._derivations[function] = {}
        found = known.get(configuration)
        if found is None:
            graph = self.steps.graph.functions[function]
            found = tuple(
                Derivation(edge, to, tuple(self.order.summaries(through)), passed)
                for edge, to in self.order.derivations(function, graph.derivations(configuration))
                for through, passed in (opened(graph, configuration, edge, to),)
            )
            known[configuration] = found
        return found

    def passed(self, function: str, configuration: int) -> int:
        """The edges over which something was derived from a configuration, as `kept_searches.bits`."""
        known = self._passed.setdefault(function, {})
        found = known.get(configuration)
        if found is None:
            state, ids = unpack(configuration)[2], set[int]()
            for edge, derived, _, passed in self.derivations(function, configuration):
                ids.add(edge)
                ids.update(*(self.chains(function, edge, state, unpack(derived)[0]) if passed else ()))
            found = known[configuration] = bits(ids)
        return found

    def before(self, function: str, configuration: int) -> tuple[Steps, ...]:
        """What a configuration of a function was derived from, and the least numbers of steps from there."""
        return self.steps.before(function, configuration, lambda one: self._onward(function, one))

    def _onward(self, function: str, configuration: int) -> Iterator[Steps]:
        for derivation in self.derivations(function, configuration):
            passed: Iterable[int] = ()
            if derivation.passed:
                state, place = unpack(configuration)[2], unpack(derivation.derived)[0]
                passed = (len(one.edges) for one in self.stretches(function, derivation.edge, state, place))
            yield derivation.derived, min((*passed, *(CROSSED for _ in derivation.through)), default=1)

    def stretches(self, function: str, edge: int, state: int, place: int) -> tuple[Stretch, ...]:
        """The paths from an edge to the place to which its derivation leads, over locations that are left out of the graph."""
        first = self.delta.program.functions[function].by_id[edge]
        if first.target == place:
            return self._single(function, first)
        known = self._stretches.setdefault(function, {})
        key = (edge, place, self.delta.names_of(state))
        found = known.get(key)
        if found is None:
            found = known[key] = tuple(map(stretch_of, self.delta.stretches(function, first, state, place)))
        return found

    def _single(self, function: str, edge: Edge) -> tuple[Stretch, ...]:
        """A stretch of one edge, which is the same for all states."""
        known = self._singles.get(function)
        if known is None:
            known = self._singles[function] = {}
        found = known.get(edge.id)
        if found is None:
            found = known[edge.id] = (stretch_of((edge,)),)
        return found

    def chains(self, function: str, edge: int, state: int, place: int) -> tuple[tuple[int, ...], ...]:
        """The ids of the edges of each of the `stretches` that has several."""
        if self.delta.program.functions[function].by_id[edge].target == place:
            return ()
        return tuple(stretch.ids for stretch in self.stretches(function, edge, state, place))

    def returning_callee(self, edge: Edge) -> str | None:
        """The one function with a body that is called at the edge, if it was seen to return."""
        name = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
        return name if name is not None and self._is_returning(name) else None

    def returning_callees(self, function: str) -> tuple[str, ...]:
        """The functions with a body that a function calls by their names, and that were seen to return."""
        found = self._returning.get(function)
        if found is None:
            direct, _ = called(self.delta.program.functions[function])
            found = self._returning[function] = tuple(filter(self._is_returning, direct))
        return found

    def _is_returning(self, name: str) -> bool:
        graph = self.steps.graph.functions.get(name)
        return graph is not None and NOTHING in graph.summaries.get(NOTHING, ())


def stretch_of(edges: tuple[Edge, ...]) -> Stretch:
    """The edges as a stretch."""
    return Stretch(edges, tuple([edge.id for edge in edges]))
