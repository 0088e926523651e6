"""What an earlier proof gives to the search for a new one ([IPA] Algorithm 7, line 1 to 3): the differences between the programs,
what they impact, and what of the annotation is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Literal

import msgspec

from analysis.certificate.annotation import Annotation
from analysis.certificate.annotation_map import AnnotationMap
from analysis.certificate.checked_outcome import ReuseWork
from analysis.cfa.revisions.location_map import ProgramMap, program_map
from analysis.cfa.revisions.match import Align, by_order
from analysis.cpa.domains.location import Location
from analysis.cpa.domains.predicate import Point
from analysis.cpa.impact.impacted_variables import Impact
from analysis.cpa.predicates.violations import Property, Violation
from analysis.engines.predicate.clauses import solved
from analysis.engines.predicate.reuse.annotation_reuse import Cubes, reuse_annotation
from analysis.engines.predicate.reuse.earlier_proofs import EarlierProofs
from analysis.engines.predicate.reuse.first_failure import FirstFailure
from analysis.engines.predicate.reuse.local_repair import LocalRepair
from analysis.engines.predicate.reuse.revalidation import MappedProof
from analysis.engines.predicate.reuse.strengthening import Strengthening
from analysis.engines.predicate.reuse.surviving_lemmas import Lemmas, inductive, is_certified
from analysis.engines.predicate.reuse.triples import Triples
from analysis.engines.predicate.stretches import Stretches
from analysis.smt.logic.term_building import FALSE, and_, or_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver

Reuse = Literal["annotations", "precisions"]
"""What of an earlier proof is reused: its assertions and their predicates, or the predicates alone (the rival of [IPA])."""
_MOST_PREDICATES = 24  # at one point; more of them cost more than they save


class Reused(msgspec.Struct, frozen=True):
    """Where the search begins. `whole`: an annotation that should be a proof, and `how` it was made. Else the `seeds` at heads of
    loops, of which nothing leads from those that are `closed` but to others (from the start, if None is among them); the
    predicates at points; and the `lemmas` that hold at heads of loops, which are not enough."""

    how: Literal["", "annotation", "lemmas", "search"] = ""
    whole: Annotation | None = None
    seeds: Mapping[Location, Cubes] = {}
    closed: frozenset[Location | None] = frozenset()
    predicates: Mapping[Point, tuple[Term, ...]] = {}
    lemmas: Mapping[Location, Term] = {}
    work: ReuseWork = ReuseWork()


class Reusing:
    """The reuse of earlier proofs for one question. `stretches` are those of the new program."""

    def __init__(self, stretches: Stretches, violations: Iterable[Violation], property_: Property, budget: Budget) -> None:
        self.stretches, self._system, self._contexts = stretches, stretches.system, stretches.contexts
        self._property, self._entry = property_, stretches.entry
        self._edges = tuple((violation.function, violation.edge) for violation in violations)
        self._budget = budget
        self._known: AnnotationMap | None = None
        self._repairing = 0.0  # seconds of the processor

    @cached_property
    def _triples(self) -> Triples:
        """Made when it is first needed: a solver takes longer to make than most questions."""
        return Triples(self._system, Z3Solver(), self._budget)

    def mapped(self, earlier: EarlierProofs, align: Align = by_order) -> MappedProof | None:
        """The earlier proof that is about the same question; None if none is. Raises what `earlier_proofs.UNREADABLE` names if
        they are about a program that no front end has made; so do the others."""
        began = time.process_time()
        renamed = {self._entry: earlier.of} if earlier.of else {}
        pair = program_map(self._system.program, earlier.program, align, renamed)
        before = pair.linked.get(self._entry, self._entry)
        question = (before, self._property, self._system.vocabulary.mode)
        annotation = next((one for one in earlier.annotations if (one.entry, one.property, one.mode) == question), None)
        return None if annotation is None else MappedProof(pair, annotation, time.process_time() - began)

    def repaired(self, earlier: MappedProof, goes_on: Callable[[], bool], searching: Budget) -> Reused:
        """An earlier proof, with what a change breaks found again around there: of lemmas, or else by a search among the heads
        concerned (`searching`; with no seconds, there is none). Nothing, if that does not give a proof."""
        began = time.process_time()
        known = self.translated(earlier)
        repair = LocalRepair(self.stretches, self._triples, known, earlier.pair, Lemmas(known, self.stretches).at)
        found = repair.run(goes_on)
        self._repairing = time.process_time() - began
        if found is None or (found.weak and not searching.seconds):
            return Reused()
        kept = sum(_cubes(term) for head, term in found.assertions.items() if head not in found.found)
        work = ReuseWork(
            asserted=kept + len(found.found),
            kept=kept,
            valid=kept,
            lemmas=sum(found.found.values()),
            changed=earlier.pair.changed_edges,
            differing=earlier.differing,
            annotating=self._repairing,
        )
        if not found.weak:
            return Reused("lemmas" if found.found else "annotation", self._annotation(found.assertions), work=work)
        lemmas = {head: found.assertions[head] for head in found.found}
        more = solved(self._system.vocabulary, repair.unsolved(), lemmas, searching, guidance=True)
        if more is None:
            return Reused()
        return Reused("search", self._annotation({**found.assertions, **more}), work=work)

    def translated(self, earlier: MappedProof) -> AnnotationMap:
        """Says an earlier proof in the terms of the new program."""
        if self._known is None:
            self._known = AnnotationMap(earlier.pair, earlier.annotation, self._system, self._contexts)
        return self._known

    def of(self, earlier: MappedProof, reuse: Reuse, goes_on: Callable[[], bool]) -> Reused:
        """What an earlier proof gives."""
        began, pair = time.process_time(), earlier.pair
        known = self.translated(earlier)
        found = Reused(work=ReuseWork(changed=pair.changed_edges, differing=earlier.differing))
        if reuse == "annotations":
            found = self._left(pair, known, found.work, goes_on)
        predicates = {} if found.whole else self._predicates(known)
        work = msgspec.structs.replace(found.work, annotating=self._repairing + time.process_time() - began)
        return msgspec.structs.replace(found, predicates=predicates, work=work)

    def broken(self, goes_on: Callable[[], bool]) -> str:
        """What of the proof that `of` has found does not hold any more, and where, for people; empty if that is not known."""
        return "" if self._known is None else FirstFailure(self.stretches, self._triples, self._known, goes_on).said()

    def _left(self, pair: ProgramMap, known: AnnotationMap, work: ReuseWork, goes_on: Callable[[], bool]) -> Reused:
        """The assertions that are left; where they are no proof, the lemmas that are."""
        impact = Impact(pair, is_whole=self._system.whole)
        strengthening = Strengthening(self._system.program, self._system.vocabulary.objects, impact, known)
        left = reuse_annotation(self.stretches, self._triples, strengthening.at, goes_on)
        work = msgspec.structs.replace(
            work, asserted=strengthening.asserted, kept=strengthening.kept, valid=sum(map(len, left.cubes.values()))
        )
        if left.is_certified:
            whole = self._annotation({place: or_(*cubes) for place, cubes in left.cubes.items()})
            return Reused("annotation", whole, left.cubes, left.closed, work=work)
        found = inductive(self.stretches, self._triples, Lemmas(known, self.stretches).at, goes_on)
        if found is None:
            return Reused(seeds=left.cubes, closed=left.closed, work=work)
        work = msgspec.structs.replace(work, lemmas=sum(map(len, found.values())))
        holding = {place: and_(*lemmas) for place, lemmas in found.items()}
        if not is_certified(self.stretches, self._triples, found):
            return Reused(seeds=left.cubes, closed=left.closed, lemmas=holding, work=work)
        whole = self._annotation(holding)
        return Reused("lemmas", whole, left.cubes, left.closed, work=work)

    def _annotation(self, found: Mapping[Location, Term]) -> Annotation:
        """With `false` at the heads that are not reached."""
        assertions: dict[Point, Term] = {}
        for number, stack in self._contexts.rows():
            function = self._entry if stack is None else stack.call.callee
            assertions.update({(number, head): FALSE for head in self.stretches.heads[function]})
        for place, term in found.items():
            assertions[self._contexts.number(place.stack), place.location] = term
        stacks = tuple(stack for _, stack in self._contexts.rows())
        return Annotation(self._entry, self._property, self._edges, self._system.vocabulary.mode, stacks, assertions)

    def _predicates(self, known: AnnotationMap) -> dict[Point, tuple[Term, ...]]:
        """The atoms of what was asserted, at the points that they were asserted at."""
        found: dict[Point, tuple[Term, ...]] = {}
        for stack in known.contexts():
            number = self._contexts.number(stack)
            function = self._entry if stack is None else stack.call.callee
            for location in self._system.program.functions[function].locations:
                atoms = known.atoms(Location(function, location, stack))
                if atoms:
                    found[number, location] = atoms[:_MOST_PREDICATES]
        return found


def _cubes(assertion: Term) -> int:
    """How many cubes an assertion has."""
    return len(assertion.args) if assertion.op == "or" else int(assertion is not FALSE)
