"""The stretches of a program between the ends of blocks: where it goes from the start, and from each of them, with the calls
inlined.

Between two of them, all paths are one formula. A stretch also ends at what must not happen: a violation, or an obstacle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from analysis.cpa.domains.location import CUT, END, Bounds, Location, LocationTransfer
from analysis.cpa.framework.steps import Step
from analysis.cpa.predicates.adjustable_blocks import BlockEnds, block_ends
from analysis.cpa.predicates.step_formulas import Contexts, departures, moved, obstacle
from analysis.cpa.predicates.violations import Violation, condition
from analysis.model import clock
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import START, State

_MOST_STRETCH = 20_000  # locations between two heads of loops

Arrival = tuple[State, Location | None]
"""A state, and the end of a block that it has come to; None: what must not happen."""


class Taken(NamedTuple):
    """One step of a stretch: from a location and the state there to another location. `following` is the state there, None if no
    run goes on; `failing` are the states in which the step does what must not happen."""

    step: Step
    before: Location
    here: State
    after: Location
    following: State | None
    failing: tuple[State, ...]


class Stretches:
    """The stretches of the program of a `system` that runs from `entry`. `contexts` numbers the chains of calls; `heads` are
    where blocks end and begin, by function: the heads of loops, if `ends` says no more."""

    def __init__(
        self,
        system: System,
        violations: Iterable[Violation],
        entry: str,
        bounds: Bounds,
        contexts: Contexts | None = None,
        ends: BlockEnds = BlockEnds(),  # noqa: B008 - an immutable value
    ) -> None:
        self.system = system
        self._violations = {(v.function, v.edge): v for v in violations}
        self.entry = entry
        self._locations = LocationTransfer(system.program, bounds)
        self.contexts = Contexts() if contexts is None else contexts
        self.heads = {name: block_ends(cfa, ends) for name, cfa in system.program.functions.items()}
        self._known: dict[Location | None, list[Arrival] | None] = {}

    def all(self) -> list[tuple[Location | None, list[Arrival]]] | None:
        """From the start (None) and from each head that is reached: where the program goes from there; None if a
        stretch is too long."""
        found: list[tuple[Location | None, list[Arrival]]] = []
        waiting: list[Location | None] = [None]
        seen: set[Location] = set()
        while waiting:
            source = waiting.pop()
            arrivals = self.after(source)
            if arrivals is None:
                return None
            found.append((source, arrivals))
            for _, after in arrivals:
                if after is not None and after not in seen:
                    seen.add(after)
                    self.after(after)
                    waiting.append(after)
        return found

    def after(self, source: Location | None) -> list[Arrival] | None:
        """Where the program goes from a head, or from the start (None); None if the stretch is too long."""
        if source not in self._known:
            self._known[source] = self._begun() if source is None else self._from(source, START)
        return self._known[source]

    def outline(self, source: Location | None) -> tuple[list[Location], list[Location]] | None:
        """The locations that are passed from a head, or from the start (None), and the ends of blocks that are come to; None if
        there are too many. All contexts on the way have a number then."""
        start = self._locations.initial(self.entry) if source is None else source
        if source is None and self._is_head(start):
            return [], [start]
        order = self._order(start)
        if order is None:
            return None
        for place in order:
            self.contexts.number(place.stack)
        following = dict.fromkeys(after for place in order for _, after in self._locations.moves(place))
        return order, [after for after in following if after.location not in (CUT, END) and self._is_head(after)]

    def _begun(self) -> list[Arrival] | None:
        entry, first = self._locations.initial(self.entry), self.system.start(self.entry)
        return [(first, entry)] if self._is_head(entry) else self._from(entry, first)

    def _is_head(self, location: Location) -> bool:
        return location.location in self.heads[location.function]

    def _from(self, source: Location, state: State) -> list[Arrival] | None:
        order = self._order(source)
        if order is None:
            return None
        found: list[Arrival] = []
        for taken in self._taken(order, source, state):
            found += [(failing, None) for failing in taken.failing]
            if taken.following is not None and self._is_head(taken.after):
                found.append((taken.following, taken.after))
        return found

    def steps(self, source: Location | None) -> Iterator[Taken]:
        """The steps of the stretches from a head, or from the start (None), each after those that lead to it; none if the stretch
        is too long."""
        start, first = (source, START) if source is not None else (self._locations.initial(self.entry), None)
        order = None if source is None and self._is_head(start) else self._order(start)
        if order is not None:
            yield from self._taken(order, start, self.system.start(self.entry) if first is None else first)

    def _taken(self, order: list[Location], source: Location, state: State) -> Iterator[Taken]:
        arrived: dict[Location, State] = {source: state}
        for location in order:
            here = arrived.pop(location, None)
            if here is None:
                continue
            for step, after in self._locations.moves(location):
                clock.work(clock.STATE)
                failing = tuple(self._failures(here, step, location, after))
                goes_on = after.location not in (CUT, END) and obstacle(self.system.program, step, after) is None
                following = moved(self.system, self.contexts, here, step, location, after) if goes_on else None
                if following is not None and not self._is_head(after):
                    known = arrived.get(after)
                    arrived[after] = following if known is None else self.system.merged(known, following)
                yield Taken(step, location, here, after, following, failing)

    def _failures(self, state: State, step: Step, before: Location, after: Location) -> Iterator[State]:
        violation = self._violations.get((step.function, step.edge.id)) if step.kind != "leave" else None
        if violation is not None:
            failing = condition(self.system, state, step, self.contexts.number(before.stack), violation)
            if failing is not None:
                yield failing
        if obstacle(self.system.program, step, after) is not None:
            yield state
        is_about_bounds = violation is not None and violation.property == "array-bounds"
        context = self.contexts.number(before.stack)
        for departing, _ in departures(self.system, state, step, context, bounds=not is_about_bounds):
            yield departing

    def _order(self, source: Location) -> list[Location] | None:
        """The locations up to the next heads of loops, each after all that lead to it; None if there are too many."""
        done: list[Location] = []
        seen = {source}
        stack = [(source, iter(self._following(source)))]
        while stack:
            location, rest = stack[-1]
            after = next((place for place in rest if place not in seen), None)
            if after is None:
                done.append(location)
                stack.pop()
            else:
                seen.add(after)
                stack.append((after, iter(self._following(after))))
                if len(seen) > _MOST_STRETCH:
                    return None
        done.reverse()
        return done

    def _following(self, location: Location) -> Iterator[Location]:
        for _, after in self._locations.moves(location):
            if after.location not in (CUT, END) and not self._is_head(after):
                yield after
