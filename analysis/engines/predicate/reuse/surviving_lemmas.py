"""Houdini over the parts of an earlier proof: the largest set of lemmas that is inductive in the new program [HOUDINI].

The lemmas at a head of a loop are the conjuncts of what was asserted there, its atoms, and their negations; at a head that is
new, those of the other heads of its function, and of all heads as far as they speak of variables with the names that its own
have: the loop may have been in another function. What a triple refutes goes, until all triples hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from analysis.certificate.annotation_map import AnnotationMap, atoms_of
from analysis.cpa.domains.location import Location
from analysis.engines.predicate.reuse.triples import Triples
from analysis.engines.predicate.stretches import Stretches
from analysis.smt.logic.term_building import FALSE, TRUE, and_, not_, or_
from analysis.smt.logic.terms import Term

_MOST = 48  # lemmas at one head


class Lemmas:
    """The lemmas of one earlier proof, for the heads of one new program."""

    def __init__(self, earlier: AnnotationMap, stretches: Stretches) -> None:
        self._earlier = earlier
        self._stretches = stretches

    def at(self, place: Location) -> tuple[Term, ...]:
        """The candidates at a head of a loop: of all there could be, the first."""
        own = dict.fromkeys(self._own(place))
        said = map(self._stretches.system.vocabulary.without_ranges, own or self._others(place))
        found: dict[Term, None] = {}
        for lemma in said:
            if lemma is not TRUE and lemma is not FALSE:
                found[lemma] = None
                if len(found) == _MOST:
                    break
        return tuple(found)

    def _others(self, place: Location) -> Iterator[Term]:
        """Those of other heads of the function, and then of all."""
        for other in sorted(self._stretches.heads[place.function]):
            if other != place.location:
                yield from self._own(Location(place.function, other, place.stack))
        for assertion in self._earlier.named_alike(place):
            yield from _parts(assertion)

    def _own(self, place: Location) -> Iterator[Term]:
        disjuncts = self._earlier.disjuncts(place)
        if disjuncts:
            whole = or_(*disjuncts)
            yield from whole.args if whole.op == "and" else (whole,)
        atoms = self._earlier.atoms(place)
        yield from atoms
        yield from map(not_, atoms)


def _parts(assertion: Term) -> Iterator[Term]:
    yield from assertion.args if assertion.op == "and" else (assertion,)
    for atom in atoms_of(assertion):
        yield from (atom, not_(atom))


def inductive(
    stretches: Stretches, triples: Triples, lemmas: Callable[[Location], Iterable[Term]], goes_on: Callable[[], bool]
) -> Mapping[Location, tuple[Term, ...]] | None:
    """The lemmas that are left at each head that is reached, the conjunction of which is a valid annotation; None if it takes too
    long."""
    found: dict[Location, tuple[Term, ...]] = {}
    waiting: dict[Location | None, None] = {None: None}
    while waiting:
        source = next(iter(waiting))
        del waiting[source]
        arrivals = stretches.after(source) if goes_on() else None
        if arrivals is None:
            return None
        known = TRUE if source is None else and_(*found[source])
        for state, after in arrivals:
            if after is None or (after not in found and not triples.is_possible(known, state)):
                continue
            before = found[after] if after in found else tuple(lemmas(after))
            left = triples.surviving(known, state, before) if before else ()
            if after not in found or len(left) < len(before):
                found[after] = left
                waiting[after] = None
    return found


def is_certified(stretches: Stretches, triples: Triples, found: Mapping[Location, tuple[Term, ...]]) -> bool:
    """Whether nothing that must not happen is possible from where the lemmas hold."""
    for source in (None, *found):
        known = TRUE if source is None else and_(*found[source])
        for state, after in stretches.after(source) or ():
            if after is None and triples.is_possible(known, state):
                return False
    return True
