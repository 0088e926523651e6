"""Counterexample traces: the edges from the program's entry to an error (`chains`, `feasibility.path_search`), as they are
reported.

A trace shows what matters for the finding: entered calls, returns, branches, and the edges at which the tracked value
changes its state or its paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Cfa, Edge, Places
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.facts.spelled import spell_step
from analysis.model import ir
from analysis.model.places import Place
from analysis.model.report import StepKind, TraceStep
from analysis.model.spelling import display_name

_BEGINNINGS = {
    "entry": "",
    "beginning": "; the calls that lead here are not shown",
    "within": "; what leads to the next step is not shown, and may not be possible",
}


class Taken(msgspec.Struct, frozen=True):
    """An edge of a path: taken in `function`, `depth` calls below the entry, from state `before` to state `after`.

    `event`: "edge", or "call" and "return" around an opened callee, "descent" into a call that the path does not come back from,
    or "entry" (then there is no edge); "beginning" is the entry of a function with nothing said of how the program gets there,
    "within" the same of the next step."""

    event: str
    function: str
    depth: int
    edge: int
    before: int
    after: int


class Spelled(NamedTuple):
    """A step as it was reported (None: it is not shown), with its edge and its place; and its function, if the text rests on
    other edges of it."""

    edge: Edge | None
    place: Place | None
    step: TraceStep | None
    cfa: Cfa | None = None


class Tracer:
    """Turns paths into trace steps. `spelled` are steps as they were reported in a revision before; those
    reported now are added to `respelled`. A trace has no more than `limit` steps."""

    def __init__(
        self,
        delta: ProgramDelta,
        places: Places,
        limit: int,
        spelled: Mapping[Taken, Spelled],
        respelled: dict[Taken, Spelled],
    ) -> None:
        self._spelled = spelled
        self._respelled = respelled
        self._delta = delta
        self._places = places
        self._limit = limit

    def steps(self, path: list[Taken], message: str) -> tuple[TraceStep, ...]:
        """The trace for a path to an error, ending with the violation."""
        shown = [step for taken in path[:-1] if (step := self._step(taken)) is not None]
        last = path[-1]
        shown.append(
            TraceStep(self._places.place(last.function, last.edge), self._name(last.function), last.depth, "error", message)
        )
        if len(shown) > self._limit:
            shown = [*shown[:1], *shown[len(shown) - self._limit + 1 :]]
        return tuple(shown)

    def _step(self, taken: Taken) -> TraceStep | None:
        """What is shown of a step, reported anew if its edge or its place is another one now."""
        if taken.event in _BEGINNINGS:
            place = self._places.name_place(taken.function)
            text = f"{self._name(taken.function)} is entered{_BEGINNINGS[taken.event]}"
            return TraceStep(place, self._name(taken.function), 0, "entry", text)
        cfa = self._delta.program.functions[taken.function]
        edge = cfa.by_id[taken.edge]
        spelled = self._spelled.get(taken)
        if (
            spelled is None
            or spelled.edge is not edge
            or (spelled.cfa is not None and spelled.cfa is not cfa)
            or (spelled.place is not None and spelled.place is not self._places.place(taken.function, edge.id))
        ):
            spelled = self._spell(taken, edge, cfa)
        self._respelled[taken] = spelled
        return spelled.step

    def _spell(self, taken: Taken, edge: Edge, cfa: Cfa) -> Spelled:
        kind = self._kind(taken, edge)
        if kind is None:
            return Spelled(edge, None, None)
        text, rests = spell_step(edge.effect, cfa)
        if taken.event == "return":
            text = f"{text} returns"
        place = self._places.place(taken.function, edge.id)
        return Spelled(edge, place, TraceStep(place, self._name(taken.function), taken.depth, kind, text), cfa if rests else None)

    def _kind(self, taken: Taken, edge: Edge) -> StepKind | None:
        if taken.event != "edge":
            return "return" if taken.event == "return" else "call"
        match edge.effect:
            case ir.Assume(condition):
                return None if isinstance(condition, ir.IntConst) else "branch"
            case ir.Return():
                return "return" if taken.depth or self._changed(taken) else None
        if not self._changed(taken):
            return None
        return "call" if isinstance(edge.effect, ir.Call) else "assign"

    def _changed(self, taken: Taken) -> bool:
        before, after = self._delta.facts[taken.before], self._delta.facts[taken.after]
        return (before.rule, before.state, before.paths) != (after.rule, after.state, after.paths)

    def _name(self, function: str) -> str:
        return display_name(function)
