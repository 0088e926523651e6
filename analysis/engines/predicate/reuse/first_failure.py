"""Where an earlier proof breaks: the first step after which an assertion of it does not hold any more, in words.

The triples of the old annotation are asked about in the new program, as they were asserted, from the start on. In the first
stretch with one that does not hold, the step is looked for that is the last one before which the assertion still holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.certificate.annotation_map import AnnotationMap
from analysis.certificate.c_syntax import Conditions, joined
from analysis.certificate.invariants import names
from analysis.cfa.marks import marked
from analysis.cpa.domains.location import Location
from analysis.cpa.framework.steps import Step
from analysis.engines.predicate.reuse.triples import Triples
from analysis.engines.predicate.stretches import Stretches, Taken
from analysis.smt.logic.term_building import FALSE, TRUE, or_
from analysis.smt.logic.terms import Term

_MOST = 200  # questions


class FirstFailure:
    """Looks for the first triple of an earlier proof that fails."""

    def __init__(self, stretches: Stretches, triples: Triples, earlier: AnnotationMap, goes_on: Callable[[], bool]) -> None:
        self._stretches, self._triples, self._earlier, self._goes_on = stretches, triples, earlier, goes_on
        self._until = triples.asked + _MOST

    def said(self) -> str:
        """What does not hold, and after which edge, which is marked; empty if that is not found."""
        seen: set[Location] = set()
        waiting: list[Location | None] = [None]
        while waiting:
            source = waiting.pop(0)
            known = TRUE if source is None else self._asserted(source)
            for state, after in self._stretches.after(source) or ():
                if not self._is_left():
                    return ""
                if after is None:
                    if self._triples.is_possible(known, state):
                        return self._violation(source, known)
                    continue
                broken = next((part for part in self._parts(after) if not self._triples.holds(known, state, part)), None)
                if broken is not None:
                    return self._breaking(source, known, after, broken)
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        return ""

    def _is_left(self) -> bool:
        return self._goes_on() and self._triples.asked < self._until

    def _asserted(self, place: Location) -> Term:
        """What was asserted at a place; where nothing can be said of it, nothing is known."""
        disjuncts = self._earlier.disjuncts(place)
        return TRUE if disjuncts is None or not disjuncts else or_(*disjuncts)

    def _parts(self, place: Location) -> tuple[Term, ...]:
        asserted = self._asserted(place)
        return () if asserted is FALSE else asserted.args if asserted.op == "and" else (asserted,)

    def _violation(self, source: Location | None, known: Term) -> str:
        """Where the assertions hold as before, and do not exclude what must not happen."""
        for taken in self._taken(source):
            if any(self._triples.is_possible(known, failing) for failing in taken.failing):
                return f"the assertions of the last proof do not rule it out at {self._marked(taken.step)}"
        return ""

    def _breaking(self, source: Location | None, known: Term, head: Location, broken: Term) -> str:
        """The last step before which the assertion holds, of those after which it does not."""
        found = None
        for taken in self._leading(source, head):
            if not self._is_left():
                return ""
            is_kept = taken.following is None or self._triples.holds(known, taken.following, broken)
            if not is_kept and (found is None or self._triples.holds(known, taken.here, broken)):
                found = taken.step
        conditions = Conditions(names(self._stretches.system.vocabulary, head.function, f"{self._number(head)}:"))
        text = joined([conditions.said(broken)])
        said = f"`{text}`" if text and text != "0" else "an assertion of the last proof"
        return "" if found is None else f"after {self._marked(found)} {said} does not hold"

    def _leading(self, source: Location | None, head: Location) -> list[Taken]:
        """The steps that lead to the head, in order."""
        found, leading = list[Taken](), {head}
        for taken in reversed(tuple(self._stretches.steps(source))):
            if taken.following is not None and taken.after in leading:
                leading.add(taken.before)
                found.append(taken)
        return found[::-1]

    def _taken(self, source: Location | None) -> Iterator[Taken]:
        for taken in self._stretches.steps(source):
            if not self._is_left():
                return
            yield taken

    def _number(self, place: Location) -> int:
        return self._stretches.contexts.number(place.stack)

    def _marked(self, step: Step) -> str:
        return marked(self._stretches.system.program, step.function, step.edge.id)
