"""What the invariants of a correctness witness claim of a program, as an annotation that the checker of certificates accepts or
refuses like any other.

A witness names loops by file and line [WITNESS]; an invariant goes to the head of the loop that stands there, in every chain of
calls that leads to it from `main`. A loop without one has the assertion that is always true. Where an invariant is put at the
wrong head, or means something else in C, the claim is another one, and is accepted only if it proves the property all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.certificate.annotation import Annotation
from analysis.certificate.c_reading import UnreadableConditionError, read_condition
from analysis.certificate.invariants import names
from analysis.certificate.loop_invariant import LoopInvariant
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Cfa, Places, Program
from analysis.cpa.domains.location import Stack
from analysis.cpa.framework.steps import Step
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.cpa.predicates.violations import Property, violations
from analysis.model import ir
from analysis.model.c_types import DataModel
from analysis.model.spelling import display_name
from analysis.smt.logic.term_building import TRUE, and_
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.vocabulary import Vocabulary

_MOST_CONTEXTS = 500
_ENTRY = "main"


def claimed(
    program: Program, places: Places, property_: Property, invariants: Sequence[LoopInvariant], model: DataModel
) -> Annotation:
    """The annotation of runs from `main` that consists of these invariants. Raises RefusedError."""
    if _ENTRY not in program.functions:
        raise RefusedError("the program has no main")
    stacks = tuple(_stacks(program))
    at = _by_head(program, places, invariants)
    vocabulary = Vocabulary(program, "int", model, exposed(program))
    assertions: dict[tuple[int, int], Term] = {}
    for number, stack in enumerate(stacks):
        function = _ENTRY if stack is None else stack.call.callee
        for head in loop_heads(program.functions[function]):
            texts = at.get((function, head), ())
            known = names(vocabulary, function, f"{number}:")
            try:
                assertions[number, head] = and_(TRUE, *(read_condition(text, known) for text in texts))
            except UnreadableConditionError as error:
                raise RefusedError(f"an invariant in {display_name(function)} cannot be read: {error}") from None
    edges = tuple((violation.function, violation.edge) for violation in violations(program, property_))
    return Annotation(_ENTRY, property_, edges, "int", stacks, assertions)


def _stacks(program: Program) -> Iterator[Stack | None]:
    """All chains of calls of defined functions from `main`, outer calls first. Raises RefusedError where there is no end."""
    yield None
    waiting: list[tuple[Stack | None, frozenset[str]]] = [(None, frozenset((_ENTRY,)))]
    for number, (stack, active) in enumerate(waiting):  # grows on the way
        if number > _MOST_CONTEXTS:
            raise RefusedError(f"more than {_MOST_CONTEXTS} chains of calls lead from main")
        function = _ENTRY if stack is None else stack.call.callee
        for edge in program.functions[function].edges:
            if isinstance(edge.effect, ir.Call):
                for callee in program.targets(edge.effect):
                    if callee in active:
                        raise RefusedError(f"{display_name(callee)} calls itself")
                    if callee in program.functions:
                        step = Step("enter", function, edge, callee)
                        inner = Stack(step, stack, 1 if stack is None else stack.depth + 1)
                        waiting.append((inner, active | {callee}))
                        yield inner


def _by_head(program: Program, places: Places, invariants: Sequence[LoopInvariant]) -> dict[tuple[str, int], list[str]]:
    """The invariants of each head of a loop. Raises RefusedError for one of no loop."""
    heads = [(name, head, *_spot(places, name, cfa, head)) for name, cfa in program.functions.items() for head in loop_heads(cfa)]
    found: dict[tuple[str, int], list[str]] = {}
    for invariant in invariants:
        fits = [
            (line, name, head)
            for name, head, path, line in heads
            if line >= invariant.line
            and invariant.function in ("", display_name(name))
            and (path == invariant.file or path.endswith("/" + invariant.file) or invariant.file.endswith("/" + path))
        ]
        if not fits:
            raise RefusedError(f"there is no loop at {invariant.file}:{invariant.line}")
        _, name, head = min(fits)
        found.setdefault((name, head), []).append(invariant.text)
    return found


def _spot(places: Places, function: str, cfa: Cfa, head: int) -> tuple[str, int]:
    """The file and the line of the head of a loop: of the first edge that leaves it."""
    place = places.place(function, cfa.outgoing[head][0].id)
    return place.path, place.range.start.line
