"""Counterexample traces: from an error configuration back through the derivation graph to the program's entry.

Every configuration knows the first configuration that it was derived from, and every entry state the first call site that
asked for it; both were discovered earlier, so the way back ends at an initial state. A call that was passed with a callee's
summary is opened up when the tracked value went through the callee; else it is one step.

A trace shows what matters for the finding: entered calls, returns, branches, and the edges at which the tracked value
changes its state or its paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Edge, Places
from analysis.engines.automaton.delta import ProgramDelta
from analysis.engines.automaton.facts import NOTHING, Fact
from analysis.engines.automaton.full import DIRECT, DerivationGraph, pack, unpack
from analysis.engines.automaton.spelled import without_temporaries
from analysis.model import ir
from analysis.model.places import Place
from analysis.model.report import StepKind, TraceStep
from analysis.model.spelling import display_name, spell_effect


class Taken(msgspec.Struct, frozen=True):
    """An edge on the way: taken in `function`, `depth` calls below the entry, from state `before` to state `after`.

    `event`: "edge", or "call" and "return" around an opened callee, "descent" into a call that the way does not come back from,
    or "entry" (then there is no edge)."""

    event: str
    function: str
    depth: int
    edge: int
    before: int
    after: int


class Spelled(NamedTuple):
    """A step as it was told (None: it is not shown), with the edge and the place that it tells of."""

    edge: Edge | None
    place: Place | None
    step: TraceStep | None


class Tracer:
    """Reads traces off one derivation graph. `spelled` are steps as they were told in a revision before; those told now are
    added to `told`."""

    def __init__(
        self,
        graph: DerivationGraph,
        delta: ProgramDelta,
        places: Places,
        limit: int,
        spelled: Mapping[Taken, Spelled],
        told: dict[Taken, Spelled],
    ) -> None:
        self._spelled = spelled
        self._told = told
        self._graph = graph
        self._delta = delta
        self._places = places
        self._limit = limit

    def way(self, function: str, configuration: int) -> list[Taken]:
        """All edges from the program's entry to a configuration."""
        chain: list[list[Taken]] = []
        while True:
            inside = self._inside(function, configuration)
            _, entry, _ = unpack(configuration)
            chain.append(inside)
            if entry in self._graph.initial.get(function, ()):
                break
            caller, site, edge = self._graph.functions[function].sites[entry][0]
            _, _, state = unpack(site)
            chain.append([Taken("call", caller, 0, edge.id, state, entry)])
            function, configuration = caller, site
        steps = [Taken("entry", function, 0, -1, NOTHING, NOTHING)]
        depth = 0
        for part in reversed(chain):
            steps.extend(msgspec.structs.replace(taken, depth=taken.depth + depth) for taken in part)
            depth += bool(part) and part[0].event == "call" and len(part) == 1
        return steps

    def _inside(self, function: str, configuration: int) -> list[Taken]:
        """The edges inside a function from its entry to a configuration; opened callees are one deeper."""
        graph = self._graph.functions[function]
        backwards: list[list[Taken]] = []
        while (parent := graph.parent(configuration)) is not None:
            edge, before = parent
            taken = Taken("edge", function, 0, edge, unpack(before)[2], unpack(configuration)[2])
            via = graph.via.get((before, edge, configuration))
            opened = None if via is None or via[0] == DIRECT else self._opened(via[0], taken)
            backwards.append(opened if opened is not None else [taken, *self._stretch(taken, unpack(configuration)[0])])
            configuration = before
        return [taken for part in reversed(backwards) for taken in part]

    def _stretch(self, taken: Taken, place: int) -> list[Taken]:
        """The edges on which nothing happens between an edge and the place to which its derivation leads."""
        first = self._delta.program.functions[taken.function].by_id[taken.edge]
        if first.target == place:
            return []
        ways = self._delta.stretches(taken.function, first, taken.before, place)
        return [msgspec.structs.replace(taken, edge=edge.id, before=taken.after) for edge in min(ways, key=len)[1:]]

    def _opened(self, via: tuple[str, int, int], taken: Taken) -> list[Taken] | None:
        callee, entry, exit_ = via
        if entry == NOTHING and (exit_ == NOTHING or taken.before != NOTHING):
            return None
        inside = self._inside(callee, pack(self._delta.exit(callee), entry, exit_))
        if not inside or len(inside) > self._limit:
            return None
        return [
            msgspec.structs.replace(taken, event="call", after=entry),
            *(msgspec.structs.replace(step, depth=step.depth + 1) for step in inside),
            msgspec.structs.replace(taken, event="return", before=exit_),
        ]

    def joined(self, function: str, entry: int, steps: tuple[Taken, ...]) -> list[Taken]:
        """All edges from the program's entry, by way of `function` entered in state `entry`, and then over the given steps."""
        before = self.way(function, pack(self._delta.entry(function), entry, entry))
        depth = max(taken.depth + (taken.event == "call") for taken in before[-1:])
        return before + [msgspec.structs.replace(taken, depth=taken.depth + depth) for taken in steps]

    def steps(self, way: list[Taken], message: str) -> tuple[TraceStep, ...]:
        """The trace for a way to an error, ending with the violation."""
        shown = [step for taken in way[:-1] if (step := self._step(taken)) is not None]
        last = way[-1]
        shown.append(
            TraceStep(self._places.place(last.function, last.edge), self._name(last.function), last.depth, "error", message)
        )
        if len(shown) > self._limit:
            shown = [*shown[:1], *shown[len(shown) - self._limit + 1 :]]
        return tuple(shown)

    def _step(self, taken: Taken) -> TraceStep | None:
        """What is shown of a step, told anew if its edge or its place is another one now."""
        if taken.event == "entry":
            place = self._places.name_place(taken.function)
            return TraceStep(place, self._name(taken.function), 0, "entry", f"{self._name(taken.function)} is entered")
        edge = self._delta.program.functions[taken.function].by_id[taken.edge]
        spelled = self._spelled.get(taken)
        if (
            spelled is None
            or spelled.edge is not edge
            or (spelled.place is not None and spelled.place is not self._places.place(taken.function, edge.id))
        ):
            spelled = self._spell(taken, edge)
        self._told[taken] = spelled
        return spelled.step

    def _spell(self, taken: Taken, edge: Edge) -> Spelled:
        kind = self._kind(taken, edge)
        if kind is None:
            return Spelled(edge, None, None)
        text = without_temporaries(spell_effect(edge.effect))
        if taken.event == "return":
            text = f"{text} returns"
        place = self._places.place(taken.function, edge.id)
        return Spelled(edge, place, TraceStep(place, self._name(taken.function), taken.depth, kind, text))

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

    def error(self, configuration: int) -> Fact:
        """The rejecting fact of an error configuration."""
        return self._delta.facts[unpack(configuration)[2]]
