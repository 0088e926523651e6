"""One function's part of the derivation graph as data that a client can draw (`analysis.model.derivation`)."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cfa.cfa_text import effect_text
from analysis.cfa.graph import Places
from analysis.engines.automaton.engine import Analysis
from analysis.engines.automaton.report.derivations import spell_fact
from analysis.engines.automaton.solver.full import DIRECT, FunctionGraph, unpack
from analysis.model.derivation import Configuration, Derivation, EntryState, FunctionDerivations
from analysis.model.places import Place
from analysis.model.spelling import display_name

MOST = 400  # configurations: more would not be a picture any more


def draw(analysis: Analysis, name: str, places: Places, most: int = MOST) -> FunctionDerivations | None:
    """What was derived in the function of this linkage name, in the order in which it was found; None if it was not reached."""
    graph = analysis.graph.functions.get(name)
    if graph is None:
        return None
    drawing = _Drawing(analysis, name, graph, places)
    shown = list(graph.derived)[:most]
    index = {configuration: number for number, configuration in enumerate(shown)}
    return FunctionDerivations(
        display_name(name),
        tuple(drawing.entry(fact, exits) for fact, exits in graph.summaries.items()),
        tuple(drawing.configuration(configuration) for configuration in shown),
        tuple(found for configuration in shown for found in drawing.derivations(configuration, index)),
        len(graph.derived) - len(shown),
    )


class _Drawing:
    def __init__(self, analysis: Analysis, name: str, graph: FunctionGraph, places: Places) -> None:
        self._analysis = analysis
        self._name = name
        self._graph = graph
        self._cfa = analysis.delta.program.functions[name]
        self._places = places
        self._entries = {fact: number for number, fact in enumerate(graph.summaries)}

    def entry(self, fact: int, exits: Sequence[int]) -> EntryState:
        callers = [f"{display_name(caller)}: {effect_text(edge.effect)}" for caller, _, edge in self._graph.sites[fact]]
        start = fact in self._analysis.graph.initial.get(self._name, ())
        return EntryState(self._fact(fact), start, tuple(dict.fromkeys(callers)), tuple(self._fact(exit_) for exit_ in exits))

    def configuration(self, configuration: int) -> Configuration:
        location, entry, fact = unpack(configuration)
        error = self._analysis.facts[fact].transition >= 0
        return Configuration(location, self._entries[entry], self._fact(fact), error, self._place(configuration, location, error))

    def derivations(self, configuration: int, index: dict[int, int]) -> list[Derivation]:
        found = []
        for edge, derived in self._graph.derivations(configuration):
            if derived in index:
                via = self._graph.via.get((configuration, edge, derived), ())
                by = tuple(dict.fromkeys(display_name(support[0]) for support in via if support != DIRECT))
                again = self._graph.parent(derived) != (edge, configuration)
                effect = effect_text(self._cfa.by_id[edge].effect)
                found.append(Derivation(index[configuration], index[derived], effect, by, again))
        return found

    def _place(self, configuration: int, location: int, error: bool) -> Place:
        """An error is where its edge is; else it is the first edge that goes on from here, or the function's end."""
        parent = self._graph.parent(configuration)
        if error and parent is not None:
            return self._places.place(self._name, parent[0])
        leaving = next((edge for edge in self._cfa.edges if edge.source == location), None)
        return self._places.end_place(self._name) if leaving is None else self._places.place(self._name, leaving.id)

    def _fact(self, number: int) -> str:
        return spell_fact(self._analysis.facts[number], self._analysis.rules)
