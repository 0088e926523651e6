"""Repairs an earlier annotation where a change breaks it: what the change does not concern stays as it was asserted.

Triples are asked about where the code of a stretch is another one, or what is asserted at one of its ends. Where an assertion
fails, the lemmas of its head take its place, and those that a triple refutes go [HOUDINI]; then the triples of its neighbours are
asked about, too. That the rest still holds is left to the certificate checker, which asks about all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from analysis.certificate.annotation_map import AnnotationMap
from analysis.cfa.revisions.location_map import ProgramMap
from analysis.cpa.domains.location import Location
from analysis.engines.predicate.reuse.triples import Triples
from analysis.engines.predicate.stretches import Arrival, Stretches
from analysis.smt.logic.term_building import FALSE, TRUE, and_
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.transition_state import State


class Repaired(msgspec.Struct, frozen=True):
    """What is asserted now at the heads of loops. `found`: those of them whose assertions were found again, with how many lemmas;
    `weak`: those of these whose lemmas do not exclude what must not happen, or do not imply what is asserted behind."""

    assertions: Mapping[Location, Term]
    found: Mapping[Location, int]
    weak: frozenset[Location]


class LocalRepair:
    """The repair of one annotation. `lemmas` gives the candidates at a head."""

    def __init__(
        self,
        stretches: Stretches,
        triples: Triples,
        earlier: AnnotationMap,
        pair: ProgramMap,
        lemmas: Callable[[Location], Iterable[Term]],
    ) -> None:
        self._stretches, self._triples = stretches, triples
        self._earlier, self._pair, self._lemmas = earlier, pair, lemmas
        self._places: dict[Location | None, list[Location]] = {}
        self._before: dict[Location, list[Location | None]] = {}  # from where heads are come to
        self._asserted: dict[Location, Term] = {}
        self._found: dict[Location, tuple[Term, ...] | None] = {}  # None: no run comes there, as far as is known
        self._waiting: dict[Location | None, None] = {}

    def run(self, goes_on: Callable[[], bool]) -> Repaired | None:
        """The repaired annotation; None if too much has changed, or it takes too long."""
        if not self._pair.records or self._pair.new.externals.keys() != self._pair.old.externals.keys() or not self._explored():
            return None
        changed = {name: mapped.changed_at for name, mapped in self._pair.functions.items()}
        for source, places in self._places.items():
            if any(place.location in changed.get(place.function, (place.location,)) for place in places):
                self._waiting[source] = None
        if self._pair.globals:
            self._waiting[None] = None
        for head in self._before:
            asserted = self._earlier.whole(head)
            if asserted is None:
                self._give_up(head)
            else:
                self._asserted[head] = asserted
        return self._repaired(goes_on)

    def _repaired(self, goes_on: Callable[[], bool]) -> Repaired | None:
        weak: frozenset[Location] = frozenset()
        looked_at: set[Location | None] = set()
        while self._waiting:
            while self._waiting:
                source = next(iter(self._waiting))
                del self._waiting[source]
                looked_at.add(source)
                if not goes_on() or not self._follow(source):
                    return None
            flawed = [source for source in looked_at if self._is_flawed(source)]
            if None in flawed:
                return None
            weak = frozenset(head for head in flawed if head in self._found)
            for head in flawed:
                if head is not None and head not in self._found:
                    self._give_up(head)
        found = {head: len(lemmas or ()) for head, lemmas in self._found.items()}
        return Repaired({head: self._at(head) for head in self._before}, found, weak)

    def unsolved(self) -> list[tuple[Location | None, list[Arrival]]]:
        """The stretches from and to heads whose assertions were given up, as clauses whose solution gives assertions there: those
        that come from elsewhere come from the start (None), and where an assertion fails, that must not happen."""
        open_ = [head for head, lemmas in self._found.items() if lemmas is not None]
        begun: list[Arrival] = []
        for source in dict.fromkeys(source for head in open_ for source in self._before[head]):
            if source not in open_:
                states = ((state.constrained(self._at(source)), after) for state, after in self._stretches.after(source) or ())
                begun += [(state, after) for state, after in states if state is not None and after in open_]
        return [(None, begun), *((head, list(self._ending(head, open_))) for head in open_)]

    def _ending(self, head: Location, open_: Collection[Location]) -> Iterator[Arrival]:
        for state, after in self._stretches.after(head) or ():
            if after is None or after in open_:
                yield state, after
            else:
                failing = self._triples.failing(state, self._at(after))
                if failing is not None:
                    yield failing, None

    def _explored(self) -> bool:
        """Finds the heads that are come to, without following what happens in between."""
        waiting: list[Location | None] = [None]
        while waiting:
            source = waiting.pop()
            outline = self._stretches.outline(source)
            if outline is None:
                return False
            self._places[source], heads = outline
            for head in heads:
                if head not in self._before:
                    self._before[head] = []
                    waiting.append(head)
                self._before[head].append(source)
        return True

    def _at(self, source: Location | None) -> Term:
        if source is None:
            return TRUE
        if source not in self._found:
            return self._asserted[source]
        lemmas = self._found[source]
        return FALSE if lemmas is None else and_(*lemmas)

    def _give_up(self, head: Location) -> None:
        """Lemmas take the place of what was asserted; those of them that hold are found from what comes before."""
        self._found[head] = None
        self._waiting.update(dict.fromkeys((*self._before[head], head)))

    def _follow(self, source: Location | None) -> bool:
        """Asks about the triples from a head. False if a stretch is too long."""
        known = self._at(source)
        arrivals: list[Arrival] | None = [] if known is FALSE else self._stretches.after(source)
        if arrivals is None:
            return False
        for state, after in arrivals:
            if after is None:
                continue
            if after in self._found:
                self._arrive(known, state, after)
            elif not self._triples.holds(known, state, self._asserted[after]):
                self._give_up(after)
        return True

    def _arrive(self, known: Term, state: State, after: Location) -> None:
        before = self._found[after]
        if before is None:
            if not self._triples.is_possible(known, state):
                return
            lemmas = tuple(self._lemmas(after))
        else:
            lemmas = before
        left = self._triples.surviving(known, state, lemmas) if lemmas else ()
        if before is None or len(left) < len(before):
            self._found[after] = left
            self._waiting[after] = None

    def _is_flawed(self, source: Location | None) -> bool:
        """Whether what must not happen may be possible from a head that was looked at."""
        known = self._at(source)
        arrivals = () if known is FALSE else self._stretches.after(source) or ()
        return any(after is None and self._triples.is_possible(known, state) for state, after in arrivals)
