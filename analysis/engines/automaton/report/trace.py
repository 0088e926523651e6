"""Counterexample traces: the edges from the program's entry to an error (`chains`, `feasibility.path_search`), as they are
reported.

A trace has entered calls, returns, branches, the edges at which the tracked value changes its state or its paths, and what else
explains the error (`path_following.explanation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Cfa, Edge, Places
from analysis.cfa.written_steps import written_step
from analysis.engines.automaton.facts.facts import NOTHING, Fact
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import path_of
from analysis.model import ir
from analysis.model.report import StepKind, TraceStep
from analysis.model.spelling import display_name
from analysis.path_following.explanation import Step, explained, shortened

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
    """A step as it was reported, with its edge and what is `written` at its place; and its function, if the text rests on other
    edges of it."""

    edge: Edge
    written: str | None
    step: TraceStep
    cfa: Cfa | None = None


class Explained(NamedTuple):
    """The numbers of the steps that explain an error, and the functions that were looked at for that."""

    numbers: frozenset[int]
    looked: frozenset[str]


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

    def explaining(self, path: list[Taken]) -> Explained:
        """The steps of a path to an error that explain it."""
        numbers, first = explained(self._delta.program, self._sliced(path))
        return Explained(frozenset(numbers), frozenset(taken.function for taken in path[first:]))

    def steps(self, path: list[Taken], message: str, explaining: frozenset[int]) -> tuple[tuple[TraceStep, ...], tuple[int, ...]]:
        """The trace for a path to an error, ending with the violation, and which of its steps are those of the path that are
        `explaining` it."""
        shown = [
            (step, number in explaining)
            for number, taken in enumerate(path[:-1])
            if (step := self._step(taken, number in explaining)) is not None
        ]
        last = path[-1]
        place = self._places.place(last.function, last.edge)
        shown.append((TraceStep(place, self._name(last.function), last.depth, "error", message), True))
        shown = shortened(shown, self._limit)
        return tuple(step for step, _ in shown), tuple(number for number, (_, needed) in enumerate(shown) if needed)

    def since(self, path: list[Taken]) -> str:
        """Where the tracked value comes from: the step with which the path begins to track it; empty if there is none."""
        last = path[-1]
        for taken in path[:-1]:
            if taken.event == "edge" and taken.before == NOTHING != taken.after:
                text = self._spelled_step(taken).step.text
                inside = "" if taken.function == last.function else f" in {self._name(taken.function)}"
                return f"`{text}`{inside}"
        return ""

    def _sliced(self, path: list[Taken]) -> list[Step]:
        """The path as it is looked at to explain the error."""
        calls: list[Taken] = []
        found = []
        for taken in path:
            match taken.event:
                case "call":
                    calls.append(taken)
                    is_value = False
                case "return":
                    is_value = self._differ(calls.pop().before, taken.after)
                case "edge":
                    is_value = self._changed(taken)
                case _:
                    is_value = False
            fact = self._delta.facts[taken.before]
            names = frozenset(path[0].removeprefix("@") for path in fact.paths)
            changes = partial(self._is_changed_by, taken.function, fact)
            found.append(Step(taken.function, taken.depth, taken.edge, taken.event == "return", is_value, names, changes))
        return found

    def _is_changed_by(self, function: str, fact: Fact, edge: Edge) -> bool:
        """Whether a call could change the state of a value: one for which the rule has a transition, or, of a value that has an
        owner, one of a function of the program that it is passed to."""
        if not isinstance(edge.effect, ir.Call) or not fact.paths:
            return False
        matches = self._delta.lookup(function).matches(edge)
        if any(
            match.rule == fact.rule and match.source == fact.state != match.target and match.path in fact.paths
            for match in (*matches.before, *matches.after)
        ):
            return True
        is_ours = any(target in self._delta.program.functions for target in self._delta.program.targets(edge.effect))
        return (
            is_ours
            and self._delta.rules[fact.rule].ownership
            and any(map(fact.paths.__contains__, map(path_of, edge.effect.arguments)))
        )

    def _step(self, taken: Taken, is_needed: bool) -> TraceStep | None:
        """What is shown of a step."""
        if taken.event in _BEGINNINGS:
            place = self._places.name_place(taken.function)
            text = f"{self._name(taken.function)} is entered{_BEGINNINGS[taken.event]}"
            return TraceStep(place, self._name(taken.function), 0, "entry", text)
        edge = self._delta.program.functions[taken.function].by_id[taken.edge]
        return self._spelled_step(taken).step if is_needed or self._is_shown(taken, edge) else None

    def _spelled_step(self, taken: Taken) -> Spelled:
        """The step in words, spelled anew if its edge is another one now, or what is written there; elsewhere if only its place
        is another one."""
        cfa = self._delta.program.functions[taken.function]
        edge = cfa.by_id[taken.edge]
        spelled = self._spelled.get(taken)
        if (
            spelled is None
            or spelled.edge is not edge
            or (spelled.cfa is not None and spelled.cfa is not cfa)
            or spelled.written != self._places.written(taken.function, edge.id)
        ):
            spelled = self._spell(taken, edge, cfa)
        place = self._places.place(taken.function, edge.id)
        if spelled.step.place is not place:
            spelled = spelled._replace(step=msgspec.structs.replace(spelled.step, place=place))
        self._respelled[taken] = spelled
        return spelled

    def _spell(self, taken: Taken, edge: Edge, cfa: Cfa) -> Spelled:
        source = self._places.written(taken.function, edge.id)
        text, rests = written_step(edge.effect, source, cfa)
        if taken.event == "return":
            text = f"{text} returns"
        place = self._places.place(taken.function, edge.id)
        step = TraceStep(place, self._name(taken.function), taken.depth, _kind(taken, edge), text)
        return Spelled(edge, source, step, cfa if rests else None)

    def _is_shown(self, taken: Taken, edge: Edge) -> bool:
        """Whether a step is in the trace even where it does not explain the error."""
        if taken.event != "edge":
            return True
        match edge.effect:
            case ir.Assume(condition):
                return not isinstance(condition, ir.IntConst)
            case ir.Return() if taken.depth:
                return True
        return self._changed(taken)

    def _changed(self, taken: Taken) -> bool:
        return self._differ(taken.before, taken.after)

    def _differ(self, one: int, other: int) -> bool:
        before, after = self._delta.facts[one], self._delta.facts[other]
        return (before.rule, before.state, before.paths) != (after.rule, after.state, after.paths)

    def _name(self, function: str) -> str:
        return display_name(function)


def _kind(taken: Taken, edge: Edge) -> StepKind:
    if taken.event != "edge":
        return "return" if taken.event == "return" else "call"
    match edge.effect:
        case ir.Assume():
            return "branch"
        case ir.Return():
            return "return"
        case ir.Call():
            return "call"
    return "assign"
