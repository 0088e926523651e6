"""The annotation that a new program begins with: what is left of the old one, each triple of it validated ([IPA] Algorithm 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from analysis.cpa.domains.location import Location
from analysis.engines.predicate.reuse.triples import Triples
from analysis.engines.predicate.stretches import Stretches
from analysis.smt.logic.term_building import TRUE, or_
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.transition_state import State

Cubes = tuple[Term, ...]


class ReusedAnnotation(msgspec.Struct, frozen=True):
    """The cubes at heads that are left; where there are none, all is to be found again. `is_certified`: each head that is reached
    has some, and from there nothing that must not happen is possible, so that the program is safe if this is so. `closed`: from
    these heads, and from the start if None is among them, all that follows is in the cubes. Cubes that are `true` do not count:
    where a search begins, they would hide all that it could find."""

    cubes: Mapping[Location, Cubes]
    is_certified: bool
    closed: frozenset[Location | None] = frozenset()


def reuse_annotation(
    stretches: Stretches, triples: Triples, strengthened: Callable[[Location], Cubes], goes_on: Callable[[], bool]
) -> ReusedAnnotation:
    """Goes from the start over all stretches, as long as something is left where they lead. `strengthened` gives the candidates
    (Algorithm 6). Beyond the paper, what is left at a head goes if it would lead to what must not happen: a search that begins
    there could only find that."""
    return _Reusing(stretches, triples, strengthened).run(goes_on)


class _Reusing:
    def __init__(self, stretches: Stretches, triples: Triples, strengthened: Callable[[Location], Cubes]) -> None:
        self._stretches, self._triples, self._strengthened = stretches, triples, strengthened
        self._found: dict[Location, Cubes] = {}
        self._flawed: set[Location | None] = set()  # from where what must not happen may be possible
        self._waiting: list[Location | None] = [None]

    def run(self, goes_on: Callable[[], bool]) -> ReusedAnnotation:
        while self._waiting:
            source = self._waiting.pop(0)
            arrivals = self._stretches.after(source) if goes_on() else None
            if arrivals is None:
                return ReusedAnnotation({place: cubes for place, cubes in self._found.items() if cubes}, False)
            known = TRUE if source is None else or_(*self._found[source])
            for state, after in arrivals:
                if after is not None:
                    self._arrive(known, state, after)
                elif self._triples.is_possible(known, state):
                    self._flawed.add(source)
        return self._left()

    def _arrive(self, known: Term, state: State, after: Location) -> None:
        is_new = after not in self._found
        cubes = self._strengthened(after) if is_new else self._found[after]
        if not cubes or not self._triples.holds(known, state, or_(*cubes)):
            cubes = ()
        self._found[after] = cubes
        if is_new and cubes:
            self._waiting.append(after)

    def _left(self) -> ReusedAnnotation:
        left = {place: cubes for place, cubes in self._found.items() if cubes and place not in self._flawed}
        if not self._flawed and len(left) == len(self._found):
            return ReusedAnnotation(left, True)
        left = {place: cubes for place, cubes in left.items() if or_(*cubes) is not TRUE}
        closed = frozenset(source for source in (None, *left) if source not in self._flawed and self._stays(source, left))
        return ReusedAnnotation(left, False, closed)

    def _stays(self, source: Location | None, left: Mapping[Location, Cubes]) -> bool:
        return all(after is None or after in left for _, after in self._stretches.after(source) or ())
