"""The annotation that a new program begins with: what is left of the old one, each triple of it validated ([IPA] Algorithm 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from analysis.cpa.domains.location import Location
from analysis.engines.predicate.reuse.triples import Triples
from analysis.engines.predicate.stretches import Stretches
from analysis.smt.logic.term_building import TRUE, or_
from analysis.smt.logic.terms import Term

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
    found: dict[Location, Cubes] = {}
    waiting: list[Location | None] = [None]
    is_certified, flawed = True, set[Location | None]()
    while waiting:
        source = waiting.pop(0)
        arrivals = stretches.after(source) if goes_on() else None
        if arrivals is None:
            return ReusedAnnotation({place: cubes for place, cubes in found.items() if cubes}, False)
        known = TRUE if source is None else or_(*found[source])
        for state, after in arrivals:
            if after is None:
                if triples.is_possible(known, state):
                    is_certified = False
                    flawed.add(source)
                    if source is not None:
                        found[source] = ()
                continue
            is_new = after not in found
            cubes = strengthened(after) if is_new else found[after]
            found[after] = cubes if not cubes or triples.holds(known, state, or_(*cubes)) else ()
            if is_new and found[after]:
                waiting.append(after)
    left = {place: cubes for place, cubes in found.items() if cubes}
    if is_certified and len(left) == len(found):
        return ReusedAnnotation(left, True)
    left = {place: cubes for place, cubes in left.items() if or_(*cubes) is not TRUE}
    closed = frozenset(source for source in (None, *left) if source not in flawed and _stays(stretches, source, left))
    return ReusedAnnotation(left, False, closed)


def _stays(stretches: Stretches, source: Location | None, left: Mapping[Location, Cubes]) -> bool:
    return all(after is None or after in left for _, after in stretches.after(source) or ())
