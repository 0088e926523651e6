"""A certificate of one version of a program as a claim about a later one. What comes out is checked as any other claim, so
that nothing here is trusted: what is mapped badly is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from analysis.certificate.annotation import Annotation
from analysis.certificate.annotation_map import AnnotationMap
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.revisions.location_map import ProgramMap, program_map
from analysis.cpa.domains.location import Location
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.cpa.predicates.step_formulas import Contexts
from analysis.cpa.predicates.violations import violations
from analysis.model.c_types import LP64, DataModel
from analysis.model.spelling import display_name
from analysis.smt.logic.term_building import FALSE, TRUE, or_
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.system import System


def claimed_of(later: Program, annotation: Annotation, of: Program, model: DataModel = LP64) -> Annotation:
    """What an annotation `of` a program claims of a later one: at the heads of its loops, the same assertions, and nothing where
    there were none; and all places there that could violate the property. What the assertions say of variables that are gone is
    left out. Raises RefusedError if the function that it begins in is gone."""
    pair = program_map(later, of)
    entry = _now(pair, annotation.entry)
    if entry not in later.functions:
        raise RefusedError(f"the later version does not define {display_name(entry)}()")
    system = System(
        later,
        annotation.mode,
        model,
        whole=annotation.entry == "main",
        exposed=exposed(later),
        definedness=annotation.property == "uninitialized-read",
    )
    return claimed(pair, annotation, system)


def claimed(
    pair: ProgramMap, annotation: Annotation, system: System, ends: Callable[[Cfa], Iterable[int]] = loop_heads
) -> Annotation:
    """The same, with the map from the later program, which the `system` is of, to the one before; at other locations than the
    heads of loops, if `ends` says so."""
    entry, later = _now(pair, annotation.entry), pair.new
    contexts = Contexts()
    known = AnnotationMap(pair, annotation, system, contexts)
    for stack in known.contexts():
        contexts.number(stack)
    assertions: dict[tuple[int, int], Term] = {}
    for number, stack in contexts.rows():
        function = entry if stack is None else stack.call.callee
        for head in ends(later.functions[function]) if function in later.functions else ():
            assertions[number, head] = _asserted(known, Location(function, head, stack))
    edges = tuple((violation.function, violation.edge) for violation in violations(later, annotation.property))
    return Annotation(entry, annotation.property, edges, annotation.mode, tuple(s for _, s in contexts.rows()), assertions)


def _asserted(known: AnnotationMap, place: Location) -> Term:
    """What was asserted at a place; of what cannot be said of the later version, and where nothing was asserted, nothing."""
    before = known.asserted(place)
    if before is None:
        return TRUE
    if before is FALSE:
        return FALSE
    disjuncts = known.disjuncts(place) or ()
    return or_(*disjuncts) if len(disjuncts) == len(before.args if before.op == "or" else (before,)) else TRUE


def _now(pair: ProgramMap, name: str) -> str:
    return next((mine for mine, theirs in pair.linked.items() if theirs == name), name)
