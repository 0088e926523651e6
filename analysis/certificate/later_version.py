"""A certificate of one version of a program as a claim about a later one. What comes out is checked as any other claim, so
that nothing here is trusted: what is mapped badly is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

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
from analysis.model import ir
from analysis.model.c_types import LP64, DataModel
from analysis.model.spelling import display_name
from analysis.smt.logic.term_building import TRUE
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
    return claimed(AnnotationMap(pair, annotation, system, Contexts()))


def claimed(known: AnnotationMap, ends: Callable[[Cfa], Iterable[int]] = loop_heads) -> Annotation:
    """The same, of an annotation in the terms of the later program; at other locations than the heads of loops, if `ends` says
    so. What a change concerns comes first: if it does not hold any more, that is found soon."""
    pair, annotation, contexts = known.pair, known.annotation, known.new_contexts
    entry, later = _now(pair, annotation.entry), pair.new
    for stack in known.contexts():
        contexts.number(stack)
    heads = {name: sorted(ends(cfa)) for name, cfa in later.functions.items()}
    suspects, first, others = _suspects(pair, heads), list[tuple[int, Location]](), list[tuple[int, Location]]()
    for number, stack in contexts.rows():
        function = entry if stack is None else stack.call.callee
        for head in heads.get(function, ()):
            (first if (function, head) in suspects else others).append((number, Location(function, head, stack)))
    whole = {(number, place.location): known.whole(place) for number, place in (*first, *others)}
    assertions = {point: TRUE if asserted is None else asserted for point, asserted in whole.items()}
    edges = tuple((violation.function, violation.edge) for violation in violations(later, annotation.property))
    return Annotation(entry, annotation.property, edges, annotation.mode, tuple(s for _, s in contexts.rows()), assertions)


def _suspects(pair: ProgramMap, heads: Mapping[str, Collection[int]]) -> set[tuple[str, int]]:
    """The heads of loops from where the program goes to code that differs, about: where it returns from a function on the way,
    all heads of that."""
    found: set[tuple[str, int]] = set()
    waiting = [(name, at) for name, mapped in pair.functions.items() for at in mapped.changed_at]
    waiting += [(name, head) for name in heads.keys() - pair.functions.keys() for head in heads[name]]
    while waiting:
        name, at = waiting.pop()
        if (name, at) not in found:
            found.add((name, at))
            for edge in () if at in heads[name] else pair.new.functions[name].incoming.get(at, ()):
                waiting.append((name, edge.source))
                called = pair.new.targets(edge.effect) if isinstance(edge.effect, ir.Call) else ()
                waiting += [(other, head) for other in called for head in heads.get(other, ())]
    return found


def _now(pair: ProgramMap, name: str) -> str:
    return next((mine for mine, theirs in pair.linked.items() if theirs == name), name)
