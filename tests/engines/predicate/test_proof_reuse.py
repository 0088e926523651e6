"""Proofs from the proof of an earlier revision ([IPA] section 4): what is reused, that verdicts are those of a proof from
scratch, and that nothing which is kept is believed."""

from __future__ import annotations

import math
import re
import zlib
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved, Unproved
from analysis.certificate.checker import check
from analysis.cfa.graph import Program
from analysis.cpa.predicates.adjustable_blocks import BlockEnds
from analysis.cpa.predicates.violations import Property, violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.engines.predicate.reuse import earlier_proofs
from analysis.engines.predicate.reuse.earlier_proofs import EarlierProofs
from analysis.engines.predicate.reuse.reusing import Reuse
from analysis.smt.logic import smtlib_reading
from analysis.smt.logic.term_building import FALSE, TRUE, symbol
from analysis.smt.logic.terms import INT, Term
from analysis.smt.solving.z3_backend import Z3Solver
from tests.support.explorations import errs, program_of, runs
from tests.support.random_c import program
from tests.support.revised_c import revised

PAPERS = Path(__file__).parents[3] / "fixtures" / "programs" / "papers"
HEAD = "void reach_error(void); int __VERIFIER_nondet_int(void);\n"
JOINS: dict[str, Any] = {"ends": BlockEnds(joins=True), "clauses": 0.0}
program_of(program(Random(0)))  # before any test: it raises Python's recursion limit


def paper(name: str) -> str:
    text = (PAPERS / f"{name}.c").read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("#define")).replace("N", "4")


def proof(
    what: Program, earlier: EarlierProofs | None = None, about: Property = "assertion", **options: Any
) -> Proved | Unproved:
    given = PredicateOptions(**{"seconds": 300.0, "query_milliseconds": 30_000, **options})
    return prove(what, violations(what, about), options=given, earlier=earlier)


def kept(what: Program, found: Proved | Unproved) -> EarlierProofs:
    """The proof after it was kept and read again."""
    assert isinstance(found, Proved), found
    assert isinstance(found.annotation, Annotation)
    data = earlier_proofs.write(what, [found.annotation], "LP64")
    assert data is not None
    read = earlier_proofs.read(data)
    assert read is not None
    return read


def of(body: str) -> Program:
    return program_of(HEAD + body)


def said(found: Proved) -> set[str]:
    """What the assertions of a proof consist of, apart from `true` and `false`."""
    return {str(part) for term in found.annotation.assertions.values() for part in _parts(term)}


def _parts(term: Term) -> list[Term]:
    if term.op in ("and", "or", "not"):
        return [part for argument in term.args for part in _parts(argument)]
    return [term] if term.op != "value" else []


# -- the paper's example --------------------------------------------------------------------------------------------

SECOND = paper("ipa-fig2-second")
LATER = SECOND.replace("i--;", "i = i - 2;")
assert LATER != SECOND


@pytest.mark.parametrize("options", [JOINS, {"clauses": 0.0}, {}], ids=["joins", "loops", "spacer"])
def test_figure_2_is_proved_again_by_what_it_was_proved_by(options: dict[str, Any]) -> None:
    before = proof(program_of(SECOND), **options)
    what = program_of(LATER)
    found = proof(what, kept(program_of(SECOND), before), revalidates=False, **options)
    assert isinstance(found, Proved)
    assert (found.work.states, found.work.abstractions, found.work.refinements) == (0, 0, 0)
    assert found.work.reuse.how == "lemmas"
    assert found.work.reuse.asserted > found.work.reuse.kept  # `i` is impacted
    assert any(term is not TRUE for term in found.annotation.assertions.values())
    if options is JOINS:
        assert {"(<= |0:i| 3)", "(= |0:new| |0:old|)"} <= said(found)
    assert check(what, found.annotation).questions == found.work.questions


@pytest.mark.parametrize("options", [JOINS, {}], ids=["joins", "spacer"])
def test_figure_2_as_it_was_annotated_asks_the_checker_alone(options: dict[str, Any]) -> None:
    before, what = proof(program_of(SECOND), **options), program_of(LATER)
    earlier, asked = kept(program_of(SECOND), before), Z3Solver.checks
    found = proof(what, earlier, **options)
    assert isinstance(found, Proved)
    work = found.work.reuse
    assert (work.how, work.lemmas, found.work.states) == ("annotation", 0, 0)
    assert work.asserted == work.kept == work.valid > 0
    assert {"(<= |0:i| 3)", "(= |0:new| |0:old|)"} <= said(found) or options is not JOINS
    assert any(term is not TRUE and term is not FALSE for term in found.annotation.assertions.values())
    assert Z3Solver.checks - asked == found.work.questions
    assert check(what, found.annotation).questions == found.work.questions


def test_figure_2_from_its_first_version() -> None:
    """The first version leaves its array, so that nothing is proved of it; without that, `new = old` is what it is proved by."""
    first, second = program_of(paper("ipa-fig2-first").replace("q[i] = new;", "q[0] = new;")), program_of(SECOND)
    before = proof(first, **JOINS)
    scratch, found = proof(second, **JOINS), proof(second, kept(first, before), **JOINS)
    assert isinstance(found, Proved)
    assert isinstance(scratch, Proved)
    assert found.work.reuse.how == "search"
    assert found.work.reuse.kept == found.work.reuse.asserted == 4  # three of them are `true`, and say nothing
    assert found.work.reuse.valid == 1
    assert "(= |0:new| |0:old|)" in said(found)
    assert found.work.refinements < scratch.work.refinements
    assert found.work.states < scratch.work.states


# -- what is reused -------------------------------------------------------------------------------------------------

TWO = (
    "static int run(int n, int step) {{ int i = 0; while (i < n) {{ i++; }} {1} return i; }}"
    "int main(void) {{ int n = __VERIFIER_nondet_int(), x = 0, y = 0, z = {0}; if (n < 0) return 0;"
    "if (run(n, 1) != n) reach_error(); while (__VERIFIER_nondet_int()) {{ x += {2}; y += {2}; }} if (x != y) reach_error();"
    "return z; }}"
)


@pytest.mark.parametrize("options", [{"clauses": 0.0}, {}], ids=["cegar", "spacer"])
def test_a_change_beside_the_proof_costs_no_abstract_state(options: dict[str, Any]) -> None:
    old, new = of(TWO.format(0, "", 1)), of(TWO.format(7, "int unused = step;", 1))
    found = proof(new, kept(old, proof(old, **options)), **options)
    assert isinstance(found, Proved)
    work = found.work.reuse
    assert (found.work.states, work.how) == (0, "annotation")
    assert work.asserted == work.kept == work.valid > 0
    assert work.changed > 0
    assert said(found)


@pytest.mark.parametrize("reuse", ["annotations", "precisions"])
def test_what_is_left_is_where_the_search_begins(reuse: Reuse) -> None:
    """The second loop needs another invariant now, the first keeps its own."""
    old, new = of(TWO.format(0, "", 1)), of(TWO.format(0, "", 1).replace("y += 1", "y += 2").replace("x != y", "x + x != y"))
    before = kept(old, proof(old, clauses=0.0))
    scratch, found = proof(new, clauses=0.0), proof(new, before, clauses=0.0, reuse=reuse)
    assert isinstance(scratch, Proved)
    assert isinstance(found, Proved)
    assert found.work.reuse.how == "search"
    assert found.work.states < scratch.work.states
    assert found.work.refinements < scratch.work.refinements


def test_renamed_variables_keep_the_proof() -> None:
    old = of(TWO.format(0, "", 1))
    new = of(re.sub(r"\by\b", "other", TWO.format(0, "", 1)))
    found = proof(new, kept(old, proof(old, clauses=0.0)), clauses=0.0)
    assert isinstance(found, Proved)
    assert found.work.states == 0


def test_an_edit_that_breaks_the_program_is_not_proved() -> None:
    old, new = of(TWO.format(0, "", 1)), of(TWO.format(0, "", 1).replace("y += 1", "y += 2"))
    found = proof(new, kept(old, proof(old)))
    assert isinstance(found, Unproved)
    assert found.may_violate


def test_a_proof_of_another_rule_says_nothing() -> None:
    text = "int main(void) { int a = __VERIFIER_nondet_int(), i = 0; while (i < 5) i++; return a / i; }"
    old = of(text)
    before = kept(old, proof(old, about="division-by-zero"))
    found = proof(of(text.replace("return", "if (i != 5) reach_error(); return")), before)
    assert isinstance(found, Proved)
    assert found.work.reuse.how == ""


# -- nothing that is kept is believed -------------------------------------------------------------------------------


@cache
def figure(joins: bool) -> tuple[Program, Annotation, Program, Program]:
    """The second version of figure 2 and its proof, a later one that is safe, and one that is not."""
    old, safe, broken = (program_of(text) for text in (SECOND, LATER, SECOND.replace("i == 4 - 1", "i == 4 + 1")))
    first = proof(old, **(JOINS if joins else {"clauses": 0.0}))
    assert isinstance(first, Proved)
    assert isinstance(first.annotation, Annotation)
    return old, first.annotation, safe, broken


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_bytes_that_were_tampered_with(data: st.DataObject) -> None:
    """Whatever the store says: what a run violates is not proved, and what is proved has a certificate. Bytes that are changed
    before they are compressed get past the checksum."""
    old, annotation, safe, broken = figure(joins=False)
    written = earlier_proofs.write(old, [annotation], "LP64")
    assert written is not None
    inside = data.draw(st.booleans())
    changed = bytearray(zlib.decompress(written) if inside else written)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(changed) - 1))
        match data.draw(st.sampled_from(("byte", "cut", "twice"))):
            case "byte":
                changed[at] = data.draw(st.integers(0, 255))
            case "cut":
                del changed[at : at + data.draw(st.integers(1, 40))]
            case _:
                changed[at:at] = changed[at : at + 20]
    read = earlier_proofs.read(zlib.compress(changed) if inside else bytes(changed))
    if read is not None:  # else there is nothing that could do harm
        _is_harmless(read, safe, broken)


def test_what_is_kept_says_how_much_work_the_first_proof_took() -> None:
    old, annotation, safe, _ = figure(joins=False)
    for worked in (0.0, 2.5):
        read = earlier_proofs.read(earlier_proofs.write(old, [annotation], "LP64", worked) or b"")
        assert read is not None
        assert read.worked == worked
    for strange in (-1.0, math.inf, math.nan):
        assert earlier_proofs.read(earlier_proofs.write(old, [annotation], "LP64", strange) or b"") is None
    later = proof(safe, EarlierProofs(old, (annotation,), worked=77.0), clauses=0.0)
    assert isinstance(later, Proved)
    assert later.work.worked == 77.0


WRONG = ("false", "true", "(<= |0:i| 2)", "(= |0:i| 0)", "(<= |0:i| 100)", "(= |0:new| |0:old|)", "(or (= |0:i| 1) (<= |0:i| 3))")


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(WRONG), min_size=1, max_size=3), st.booleans())
def test_assertions_that_were_made_up(terms: list[str], joins: bool) -> None:
    old, annotation, safe, broken = figure(joins)
    known = {name: symbol(name, INT) for name in ("0:i", "0:new", "0:old")}
    made = {
        point: smtlib_reading.read(terms[number % len(terms)], known)
        for number, point in enumerate(sorted(annotation.assertions))
    }
    forged = msgspec.structs.replace(annotation, assertions=made)
    _is_harmless(EarlierProofs(old, (forged,)), safe, broken)


def _is_harmless(earlier: EarlierProofs, safe: Program, broken: Program) -> None:
    options: dict[str, Any] = {"seconds": 20.0, "query_milliseconds": 2_000}
    found = proof(safe, earlier, **options)
    assert isinstance(found, Proved), found
    assert check(safe, found.annotation).questions == found.work.questions
    assert isinstance(proof(broken, earlier, **options), Unproved)


def test_a_proof_of_a_foreign_program() -> None:
    foreign = of(TWO.format(0, "", 1))
    before = kept(foreign, proof(foreign))
    _, _, safe, broken = figure(joins=False)
    _is_harmless(before, safe, broken)


@pytest.mark.parametrize("data", [b"", b"{}", b"\x00" * 100])
def test_bytes_that_are_no_proof(data: bytes) -> None:
    assert earlier_proofs.read(data) is None


# -- chains of random edits -----------------------------------------------------------------------------------------


def fewer_errors(text: str) -> str:
    """A random program with its last check only, so that some are safe, and without recursion, which takes summaries."""
    head, _, rest = text.replace("return 1 + down(n - 1);", "return n & 1;").rpartition("if (")
    return head.replace("reach_error();\n", "g = 1;\n") + "if (" + rest


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1_000_000), st.sampled_from(("annotations", "precisions")))
def test_random_edits_reuse_never_contradicts_and_never_proves_less(seed: int, reuse: Reuse) -> None:
    """Goes through revisions of a random program, each proved from scratch and with reuse. The two never contradict each
    other: what is proved in one way has, in the other way too, no path to a violation. What is proved from scratch is proved with
    reuse. Reuse may prove more, since it has predicates that the search does not find; as any proof, that has an accepted
    certificate, and no run contradicts it."""
    random = Random(seed)
    text, earlier = fewer_errors(program(random, indices=False)), None
    for _ in range(4):
        what = program_of(text)
        scratch = proof(what, seconds=2.0)
        found = scratch if earlier is None else proof(what, earlier, seconds=4.0, reuse=reuse)
        if isinstance(found, Proved):
            assert not any(errs(what, run) for run in runs(what, 60))
            assert check(what, found.annotation).questions == found.work.questions
            assert isinstance(scratch, Proved) or not scratch.may_violate
            if isinstance(found.annotation, Annotation):
                earlier = kept(what, found)
        else:
            assert isinstance(scratch, Unproved), (found, scratch)
        text = revised(text, random)


def test_what_the_search_from_scratch_has_no_predicates_for_is_proved_by_earlier_ones() -> None:
    """Here interpolation finds no conditions that exclude a violation, and the earlier proof has them."""
    random = Random(2788)
    text = fewer_errors(program(random, indices=False))
    before, what = program_of(text), program_of(revised(text, random))
    earlier = kept(before, proof(before, seconds=5.0, clauses=0.0))
    scratch, found = proof(what, seconds=1.0), proof(what, earlier, seconds=5.0)
    assert isinstance(scratch, Unproved)
    assert not scratch.may_violate
    assert isinstance(found, Proved)
    assert check(what, found.annotation).questions == found.work.questions
    assert not any(errs(what, run) for run in runs(what, 60))
