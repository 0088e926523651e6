"""What of an earlier assertion a change leaves alone, cube by cube ([IPA] Algorithm 6)."""

from __future__ import annotations

from analysis.certificate.annotation_map import AnnotationMap
from analysis.cfa.graph import Program
from analysis.cpa.domains.location import Location
from analysis.cpa.effects.writes import Writes
from analysis.cpa.impact.impacted_variables import NEXT, Impact
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.transitions.object_cells import Objects


class Strengthening:
    """Strengthens the assertions of one annotation. `asserted` counts the cubes that it had, `kept` those that are left."""

    def __init__(self, program: Program, objects: Objects, impact: Impact, earlier: AnnotationMap) -> None:
        self._impact = impact
        self._earlier = earlier
        self._in_memory = {
            *objects.in_memory(""),
            *(f"{function}|{name}" for function in program.functions for name in objects.in_memory(function)),
        }
        self.asserted = self.kept = 0

    def at(self, place: Location) -> tuple[Term, ...]:
        """The cubes that were asserted at a place and speak of nothing that is impacted there; none if nothing was asserted."""
        cubes = self._earlier.disjuncts(place) or ()
        kept = () if self._impact.everything else tuple(cube for cube in cubes if not self._is_impacted(cube, place))
        self.asserted += len(cubes)
        self.kept += len(kept)
        return kept

    def _is_impacted(self, cube: Term, place: Location) -> bool:
        writes = self._impact.at(place.function, place.location)
        return any(self._concerns(writes, symbol) for symbol in symbols((cube,)))

    def _concerns(self, writes: Writes, symbol: Term) -> bool:
        subject = self._earlier.subject(symbol)
        if subject.variable is not None:
            return self._impact.is_impacted(subject.variable, subject.function, writes)
        if subject.name == NEXT:
            return NEXT in writes.variables
        if subject.name.startswith("heap:"):
            written = writes.variables | writes.locals
            return bool(writes.memory) or writes.named or writes.undefined or not written.isdisjoint(self._in_memory)
        return True
