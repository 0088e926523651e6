"""[UPPROVER] Theorem 1: after each change the answer is that from scratch, and properties (7) and (8) hold."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cfa.linking.link import link
from analysis.engines.summary.property_check import broken
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.tree_interpolation import BySolvers, LiteralsFirst
from analysis.engines.summary.unwound_program import in_theory, unwound
from analysis.smt.solving.solver import Budget
from tests.support.explorations import program_of
from tests.support.lowered import unit_of
from tests.support.random_revisions import Revisions

SCHEMES = st.sampled_from(["inline", "eager", "lazy"])
program_of(Revisions(Random(0)).text())  # before any test: it raises Python's recursion limit


@given(
    seed=st.integers(0, 10**6),
    bound=st.sampled_from([1, 3]),
    level=st.sampled_from(["int", "bv", "lra", "euf"]),
    first=SCHEMES,
    scheme=SCHEMES,
    changes=st.sampled_from(["formula", "text"]),
    weakens=st.booleans(),
    flaws=st.booleans(),
)
@settings(max_examples=3, deadline=None, derandomize=True)
def test_answers_after_changes_are_those_from_scratch(seed: int, bound: int, level: Any, flaws: bool, **options: Any) -> None:
    check_chain(Revisions(Random(seed), flaws=flaws), bound, level, **options)


# the answers about three revisions: h that no run violates within the bound, and hc that there are no other runs; p that one may;
# u that one may come to code that is not understood
@pytest.mark.parametrize("level", ["int", "bv", "lra"])
@pytest.mark.parametrize(
    ("seed", "answers"),
    [
        (8, "h h hc"),
        (11, "hc p hc"),
        (15, "p hc hc"),
        (21, "h h p"),
        (26, "hc u u"),
        (29, "u p p"),
        (39, "u hc p"),
        (52, "u u h"),
    ],
)
def test_answers_that_change(seed: int, answers: str, level: Any) -> None:
    expected = answers.replace("p", "u") if level == "lra" else answers
    assert check_chain(Revisions(Random(seed), flaws=True), 2, level) == expected


def check_chain(revisions: Revisions, bound: int, level: Any, **options: Any) -> str:
    """Checks three revisions against answers from scratch; what the answers are."""
    make = None if level in ("lra", "euf") else LiteralsFirst(BySolvers(Budget(200)))
    answers = []
    chain = RevisionChain(ChainOptions(bound=bound, level=level, **options), make)
    unit, numbers = None, dict[str, int]()
    for _ in range(3):
        unit = unit_of(revisions.text(), previous=unit)
        program = link([unit]).program
        found = chain.verify(program)
        scratch = RevisionChain(ChainOptions(bound=bound, level=level), LiteralsFirst(None)).verify(program)
        said = f"{revisions.text()}\n{found.sentence()}\n{scratch.sentence()}"
        assert (found.status, found.is_complete) == (scratch.status, scratch.is_complete), said
        unrolled = unwound(program, "assertion", bound, "bv" if level == "bv" else "int", numbers)
        if found.status == "holds":
            tree = in_theory(unrolled, level, {}).tree if level in ("lra", "euf") else unrolled.tree
            assert broken(tree, chain.summaries, Budget(20_000)) == []
            exact = RevisionChain(ChainOptions(bound=bound), LiteralsFirst(None)).verify(program)
            assert exact.status == "holds"
            assert exact.is_complete or not found.is_complete
        revisions.edit()
        answers.append(found.status[0] + ("c" if found.is_complete else ""))
    return " ".join(answers)
