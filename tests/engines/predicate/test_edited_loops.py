"""Random edits of programs whose proofs need invariants: reuse never contradicts a proof from scratch, nor proves less."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.certificate.checker import check
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.engines.predicate.reuse import earlier_proofs
from analysis.engines.predicate.reuse.earlier_proofs import EarlierProofs
from tests.support.edited_loops import EditedLoops, Part
from tests.support.explorations import errs, program_of, runs


def proof(program: Program, earlier: EarlierProofs | None = None) -> Proved | Unproved:
    return prove(program, violations(program, "assertion"), options=PredicateOptions(seconds=2.0), earlier=earlier)


def kept(program: Program, found: Proved) -> EarlierProofs | None:
    assert isinstance(found.annotation, Annotation)
    return earlier_proofs.read(earlier_proofs.write(program, [found.annotation], "LP64") or b"")


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1_000_000))
def test_random_edits_of_loops(seed: int) -> None:
    edited, earlier = EditedLoops(Random(seed)), None
    for _ in range(3):
        program = program_of(edited.text())
        scratch, found = proof(program), proof(program, earlier)
        if isinstance(found, Proved):
            assert isinstance(scratch, Proved) or not scratch.may_violate
            assert not any(errs(program, run) for run in runs(program, 10))
            earlier = kept(program, found)
        else:
            assert isinstance(scratch, Unproved)
        edited.edit()


def of(part: Part, *, called: bool) -> Program:
    edited = EditedLoops(Random(0))
    edited._parts = [Part(part.kind, part.name, more=part.more, called=called)]
    return program_of(edited.text())


def test_a_loop_that_moves_into_a_function_and_back_takes_its_invariant_along() -> None:
    part = Part("together", "a")
    inside, outside = of(part, called=True), of(part, called=False)
    for before, after in ((outside, inside), (inside, outside)):
        first = proof(before)
        assert isinstance(first, Proved)
        found = proof(after, kept(before, first))
        assert isinstance(found, Proved)
        assert (found.work.reuse.how, found.work.states) == ("lemmas", 0)
        assert any(term.op not in ("value",) for term in found.annotation.assertions.values())


def test_what_is_known_of_other_loops_need_not_be_found_again() -> None:
    """A loop is added: its invariant alone is looked for, by the clauses, with what is known of the others."""
    edited, more = EditedLoops(Random(0)), EditedLoops(Random(0))
    edited._parts = [Part("window", "a"), Part("together", "b")]
    more._parts = [Part("window", "a"), Part("count", "c"), Part("together", "b")]
    before, after = program_of(edited.text()), program_of(more.text())
    first = proof(before)
    assert isinstance(first, Proved)
    found = proof(after, kept(before, first))
    assert isinstance(found, Proved)
    assert found.work.reuse.how == "search"
    assert found.work.states == 0
    assert found.work.reuse.kept == found.work.reuse.asserted - 1 == 2
    assert check(after, found.annotation).questions == found.work.questions


def test_a_program_that_an_edit_breaks_is_said_to_be_violated_as_from_scratch() -> None:
    """What is left of a proof leads nowhere then; the search from scratch that follows needs all of its time."""
    edited, earlier = EditedLoops(Random(500_003)), None
    for _ in range(4):
        program = program_of(edited.text())
        found = proof(program, earlier)
        earlier = kept(program, found) if isinstance(found, Proved) else earlier
        edited.edit()
    assert earlier is not None
    broken = proof(program_of(edited.text()), earlier)
    assert isinstance(broken, Unproved)
    assert broken.may_violate
