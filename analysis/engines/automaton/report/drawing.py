"""One function's part of the derivation graph as data that a client can draw (`analysis.model.derivation`).

A large function has thousands of configurations. So what is drawn can lead to a line: the errors there that are reported as
findings, else what holds before the line, with the first derivation of each back to the entry, as far as the nearest `SLICE` of
them go.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cfa.cfa_text import effect_text
from analysis.cfa.graph import Places
from analysis.cfa.written_steps import written_step
from analysis.engines.automaton.engine import Analysis
from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.report.derivations import spell_fact
from analysis.engines.automaton.solver.full import DIRECT, FunctionGraph, unpack
from analysis.model import ir
from analysis.model.derivation import Configuration, Derivation, EntryState, FunctionDerivations
from analysis.model.places import Place
from analysis.model.spelling import display_name

MOST = 400  # configurations: more would not be a picture any more
SLICE = 60  # configurations that lead to a line
_ENDS = 12  # configurations at a line


def draw(analysis: Analysis, name: str, places: Places, line: int | None = None, most: int = MOST) -> FunctionDerivations | None:
    """What was derived in the function of this linkage name, in the order in which it was found; None if it was not reached.
    With a `line` of its file, what leads there; to its findings if nothing holds there; all if there is neither."""
    graph = analysis.graph.functions.get(name)
    if graph is None:
        return None
    drawing = _Drawing(analysis, name, graph, places)
    ends = [] if line is None else drawing.at(line)
    shown = drawing.leading_to(ends) if ends else list(graph.derived)[:most]
    index = {configuration: number for number, configuration in enumerate(shown)}
    return FunctionDerivations(
        display_name(name),
        tuple(drawing.entry(fact, exits) for fact, exits in graph.summaries.items()),
        tuple(drawing.configuration(configuration) for configuration in shown),
        tuple(found for configuration in shown for found in drawing.derivations(configuration, index)),
        len(graph.derived) - len(shown),
        tuple(index[end] for end in ends),
    )


class _Drawing:
    def __init__(self, analysis: Analysis, name: str, graph: FunctionGraph, places: Places) -> None:
        self._analysis = analysis
        self._name = name
        self._graph = graph
        self._cfa = analysis.delta.program.functions[name]
        self._places = places
        self._entries = {fact: number for number, fact in enumerate(graph.summaries)}
        self._reported = frozenset(analysis.errors().values())
        self._known_places: dict[tuple[int, int | None], Place] = {}

    def at(self, line: int) -> list[int]:
        """What a picture of this line leads to: findings there, else what holds there, else all findings; a few of them."""
        path, found = self._places.name_place(self._name).path, list(self._graph.derived)
        here = [one for one in found if _covers(self._place(one), path, line)]
        reported = [one for one in here if self._is_reported(one)]
        held = [one for one in here if not self._is_error(one) and unpack(one)[2] != NOTHING]
        others = [one for one in found if self._is_reported(one)]
        return (reported or held or here or others)[:_ENDS]

    def leading_to(self, ends: Sequence[int]) -> list[int]:
        """These configurations, and what each was first derived from, the nearest ones, in the order in which all were found."""
        chosen, last = dict.fromkeys(ends), list(ends)
        while last and len(chosen) < SLICE:
            parents = [parent[1] for one in last if (parent := self._graph.parent(one)) is not None]
            last = [one for one in dict.fromkeys(parents) if one not in chosen]
            chosen.update(dict.fromkeys(last))
        return [one for one in self._graph.derived if one in chosen]

    def entry(self, fact: int, exits: Sequence[int]) -> EntryState:
        callers = [f"{display_name(caller)}: {effect_text(edge.effect)}" for caller, _, edge in self._graph.sites[fact]]
        start = fact in self._analysis.graph.initial.get(self._name, ())
        return EntryState(self._fact(fact), start, tuple(dict.fromkeys(callers)), tuple(self._fact(exit_) for exit_ in exits))

    def configuration(self, configuration: int) -> Configuration:
        location, entry, fact = unpack(configuration)
        error, place = self._is_error(configuration), self._place(configuration)
        return Configuration(location, self._entries[entry], self._fact(fact), error, place, self._is_reported(configuration))

    def derivations(self, configuration: int, index: dict[int, int]) -> list[Derivation]:
        found = []
        for edge, derived in self._graph.derivations(configuration):
            if derived in index:
                via = self._graph.via.get((configuration, edge, derived), ())
                by = tuple(dict.fromkeys(display_name(support[0]) for support in via if support != DIRECT))
                again = self._graph.parent(derived) != (edge, configuration)
                found.append(Derivation(index[configuration], index[derived], self._effect(edge), by, again))
        return found

    def _is_error(self, configuration: int) -> bool:
        return self._analysis.facts[unpack(configuration)[2]].transition >= 0

    def _is_reported(self, configuration: int) -> bool:
        """Whether it is an error that a finding of the last report is about."""
        return (self._name, self._analysis.facts[unpack(configuration)[2]]) in self._reported

    def _place(self, configuration: int) -> Place:
        """An error is where its edge is; else it is the first edge that goes on from here, or the function's end."""
        location, parent = unpack(configuration)[0], self._graph.parent(configuration)
        edge = parent[0] if parent is not None and self._is_error(configuration) else None
        known = self._known_places.get((location, edge))
        if known is None:
            known = self._known_places[location, edge] = self._place_of(location, edge)
        return known

    def _place_of(self, location: int, edge: int | None) -> Place:
        if edge is not None:
            return self._places.place(self._name, edge)
        leaving = next((edge for edge in self._cfa.edges if edge.source == location), None)
        return self._places.end_place(self._name) if leaving is None else self._places.place(self._name, leaving.id)

    def _effect(self, edge: int) -> str:
        """What an edge does, as it is written where that can be shown."""
        effect = self._cfa.by_id[edge].effect
        text = written_step(effect, self._places.written(self._cfa.name, edge), self._cfa)[0]
        return f"[{text}]" if isinstance(effect, ir.Assume) else text

    def _fact(self, number: int) -> str:
        return spell_fact(self._analysis.facts[number], self._analysis.rules)


def _covers(place: Place, path: str, line: int) -> bool:
    return place.path == path and place.range.start.line <= line <= place.range.end.line
