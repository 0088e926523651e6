"""Repairs of proofs around an edit: they cost what the edit changes, leave the rest as it was, and are proofs only where the
checker says so."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
import pytest

from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.certificate.checker import check
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.engines.predicate.reuse import earlier_proofs
from analysis.engines.predicate.reuse.earlier_proofs import EarlierProofs
from analysis.model import clock
from analysis.smt.logic.linear import at_most
from analysis.smt.logic.term_building import FALSE, and_, integer, symbol
from analysis.smt.logic.terms import INT
from analysis.smt.solving.z3_backend import Z3Solver
from tests.support.edited_loops import EditedLoops, Part
from tests.support.explorations import program_of

KINDS = ("together", "window", "phases", "count")


def of(parts: Sequence[Part]) -> Program:
    edited = EditedLoops(Random(0))
    edited._parts = list(parts)
    return program_of(edited.text())


def others(count: int) -> list[Part]:
    return [Part(KINDS[number % len(KINDS)], f"o{number}") for number in range(count)]


def proof(program: Program, earlier: EarlierProofs | None = None) -> Proved | Unproved:
    return prove(program, violations(program, "assertion"), options=PredicateOptions(seconds=20.0), earlier=earlier)


def first(program: Program) -> EarlierProofs:
    found = proof(program)
    assert isinstance(found, Proved)
    assert isinstance(found.annotation, Annotation)
    read = earlier_proofs.read(earlier_proofs.write(program, [found.annotation], "LP64") or b"")
    assert read is not None
    return read


MOVED = Part("together", "a"), Part("together", "a", called=True)
RAISED = Part("window", "a", most=5), Part("window", "a", most=8)
ADDED = None, Part("together", "a")
BROKEN = Part("window", "a", most=5), Part("window", "a", first=7, most=5)


@pytest.mark.parametrize(
    ("edit", "how"), [(MOVED, "lemmas"), (RAISED, "search"), (ADDED, "search")], ids=["lemmas", "search", "new"]
)
def test_a_repair_costs_the_same_however_many_loops_there_are_beside(edit: tuple[Part | None, Part], how: str) -> None:
    """Beyond what the checker asks about the proof. That includes what it asked before it refused the earlier one."""
    before, after = edit
    asked = list[int]()
    for count in (3, 9):
        earlier = first(of([*filter(None, [before]), *others(count)]))
        later = of([after, *others(count)])
        began = Z3Solver.checks
        found = proof(later, earlier)
        assert isinstance(found, Proved)
        assert (found.work.reuse.how, found.work.states) == (how, 0)
        asked.append(Z3Solver.checks - began - found.work.questions)
        assert check(later, found.annotation).questions == found.work.questions
    assert asked[0] == asked[1]


def test_an_edit_that_plainly_breaks_a_program_costs_no_more_than_from_scratch() -> None:
    """Where the proof took long, it pays to look for a violation before the proof is repaired."""
    before, after = BROKEN
    earlier, later = first(of([*others(3), before])), of([*others(3), after])
    spent = list[float]()
    for proofs in (None, msgspec.structs.replace(earlier, worked=100.0), earlier):
        began = clock.spent()
        found = proof(later, proofs)
        assert isinstance(found, Unproved)
        assert found.may_violate
        spent.append(clock.spent() - began)
    scratch, soon, late = spent
    assert soon <= 1.1 * scratch
    assert late > soon  # it was looked for less long than it takes


def test_what_is_asserted_elsewhere_stays_as_it_was() -> None:
    before, after = RAISED
    earlier = first(of([*others(4), before]))
    found = proof(of([*others(4), after]), earlier)
    assert isinstance(found, Proved)
    (known,) = earlier.annotations
    same = set(known.assertions.values()) & set(found.annotation.assertions.values())
    assert len(set(known.assertions.values()) - same) == 1
    assert found.work.reuse.kept == found.work.reuse.asserted - 1 > 0


def test_what_only_types_say_is_no_part_of_a_repair() -> None:
    """The checker need not know the types of variables that a stretch does not name."""
    before, after = RAISED
    program = of([*others(2), before])
    (known,) = first(program).annotations
    ranges = at_most(symbol("0:i_o1", INT), integer(2**31 - 1))
    said = {point: FALSE if term is FALSE else and_(ranges, term) for point, term in known.assertions.items()}
    earlier = EarlierProofs(program, (msgspec.structs.replace(known, assertions=said),))
    found = proof(of([*others(2), after]), earlier)
    assert isinstance(found, Proved)
    assert found.work.reuse.how == "search"
    assert not any(ranges in (term, *term.args) for term in found.annotation.assertions.values())


def test_what_a_change_takes_from_the_loops_behind_is_found_again_there() -> None:
    """The second loop needs what the first one leaves behind, and nothing is changed in it."""
    text = (
        "void reach_error(void); int __VERIFIER_nondet_int(void);"
        "int main(void) {{ int x = 0, y = 0, n = 0; while (__VERIFIER_nondet_int()) {{ x += {0}; y += {0}; }} n = {1};"
        "while (__VERIFIER_nondet_int()) {{ x += 2; y += 2; if (n > {2}) n = 0; }}"
        "if (x != y || n > 9) reach_error(); return 0; }}"
    )
    earlier = first(program_of(text.format(1, 0, 3)))
    for numbers in ((2, 1, 3), (3, 4, 5), (1, 9, 8)):
        later = program_of(text.format(*numbers))
        found = proof(later, earlier)
        assert isinstance(found, Proved)
        assert found.work.reuse.how
        check(later, found.annotation)


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("changed", [{"most": 4, "less": "<="}, {"first": 9}, {"step": 2}])
def test_a_violation_in_one_loop_is_not_proved_by_what_holds_in_the_others(changed: dict[str, Any], called: bool) -> None:
    before = Part("count", "a", most=5, called=called)
    earlier = first(of([*others(2), before]))
    after = Part(**{"kind": "count", "name": "a", "most": 5, "called": called, **changed})
    found = proof(of([*others(2), after]), earlier)
    assert isinstance(found, Unproved)
    assert found.may_violate
