"""Certificates that are carried over to a later version: accepted only if what they claim holds there."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.certificate import text
from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved
from analysis.certificate.checker import check
from analysis.certificate.later_version import claimed_of
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cli.certifying import ACCEPTED, REFUSED, judged
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.cpa.predicates.violations import violations
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_proof import prove
from analysis.model.options import Options
from analysis.smt.logic import smtlib_reading
from analysis.smt.logic.term_building import symbol
from analysis.smt.logic.terms import INT
from tests.support.explorations import errs, program_of, runs
from tests.support.random_c import program
from tests.support.revised_c import revised

TEXT = """void reach_error(void); int __VERIFIER_nondet_int(void);
static int next(int i) { return i + 1; }
int main(void)
{
    int n = __VERIFIER_nondet_int(), i = 0;
    if (n < 0)
        return 0;
    while (i < n)
        i = next(i);
    if (i != n)
        reach_error();
    return 0;
}
"""


def annotation_of(what: Program) -> Annotation:
    found = prove(what, violations(what, "assertion"), options=PredicateOptions(seconds=20.0))
    assert isinstance(found, Proved), found
    assert isinstance(found.annotation, Annotation)
    return found.annotation


@pytest.fixture(scope="module")
def first() -> tuple[Program, Annotation]:
    what = program_of(TEXT)
    return what, annotation_of(what)


LATER = {
    "as it was": TEXT,
    "a statement before the loop": TEXT.replace("    while", "    int seen = 0;\n    seen = n;\n    while"),
    "a statement in the loop": TEXT.replace("i = next(i);", "{ int old = i; i = next(i); old++; }"),
    "code behind": TEXT.replace("    return 0;\n}", "    n = 7;\n    return n;\n}"),
}
LATER["a variable with another name"] = re.sub(r"\bn\b", "most", TEXT)


@pytest.mark.parametrize("change", LATER)
def test_a_certificate_is_accepted_for_a_version_where_its_assertions_hold(
    change: str, first: tuple[Program, Annotation], capsys: pytest.CaptureFixture[str]
) -> None:
    before, annotation = first
    data = text.write([annotation], before, "LP64").encode()
    assert judged(program_of(LATER[change]), Options(), data, before) == ACCEPTED
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "The certificate is about an earlier version. Its assertions are checked in this one."
    assert said[1] == "accepted: no run from main violates assertion (at the only place)"


@pytest.mark.parametrize(
    ("old", "new"), [("i + 1", "i + 2"), ("n < 0", "n < -9"), ("i = 0", "i = 1"), ("i != n", "i != n - 1"), ("i < n", "i <= n")]
)
def test_it_is_refused_where_they_do_not(old: str, new: str, first: tuple[Program, Annotation]) -> None:
    before, annotation = first
    later = program_of(TEXT.replace(old, new))
    assert judged(later, Options(), text.write([annotation], before, "LP64").encode(), before) == REFUSED


def test_a_place_that_is_new_is_claimed_as_well(first: tuple[Program, Annotation]) -> None:
    before, annotation = first
    later = program_of(TEXT.replace("    return 0;\n}", "    if (n == 7)\n        reach_error();\n    return 0;\n}"))
    claimed = claimed_of(later, annotation, before)
    assert len(claimed.edges) == 2
    with pytest.raises(RefusedError):
        check(later, claimed)


def test_a_certificate_of_yet_another_version_is_refused(
    first: tuple[Program, Annotation], capsys: pytest.CaptureFixture[str]
) -> None:
    before, annotation = first
    other = program_of(LATER["code behind"])
    assert judged(other, Options(), text.write([annotation], before, "LP64").encode(), other) == REFUSED
    assert "another program" in capsys.readouterr().out


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1_000_000), st.sampled_from(("true", "false", "(<= |0:a| 4)", "(= |0:i| 0)")))
def test_what_is_accepted_is_true(seed: int, said: str) -> None:
    """Over random edits, of certificates that were made up."""
    random = Random(seed)
    written = program(random, indices=False)
    before, later = program_of(written), program_of(revised(written, random))
    term = smtlib_reading.read(said, {name: symbol(name, INT) for name in ("0:a", "0:i")})
    heads = {(0, head): term for head in loop_heads(before.functions["main"])}
    edges = tuple((violation.function, violation.edge) for violation in violations(before, "assertion"))
    made_up = Annotation("main", "assertion", edges, "int", (None,), heads)
    try:
        check(later, claimed_of(later, made_up, before))
    except RefusedError:
        return
    assert not any(errs(later, run) for run in runs(later, 40))


def test_a_version_without_the_function_that_it_is_about_is_refused(first: tuple[Program, Annotation]) -> None:
    of, annotation = first
    later = program_of("int other(void)\n{\n    return 0;\n}\n")
    with pytest.raises(RefusedError, match=r"the later version does not define main\(\)"):
        claimed_of(later, annotation, of)
