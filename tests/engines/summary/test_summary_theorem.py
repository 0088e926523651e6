"""[UPPROVER] Theorem 1: after each change the answer is that from scratch, and properties (7) and (8) hold."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.cfa.linking.link import link
from analysis.engines.summary.property_check import broken
from analysis.engines.summary.revision_chain import ChainOptions, RevisionChain
from analysis.engines.summary.tree_interpolation import BySolvers, LiteralsFirst
from analysis.engines.summary.unwound_program import unwound
from analysis.smt.solving.solver import Budget
from tests.support.explorations import program_of
from tests.support.lowered import unit_of
from tests.support.random_revisions import Revisions

SCHEMES = st.sampled_from(["inline", "eager", "lazy"])
program_of(Revisions(Random(0)).text())  # before any test: it raises Python's recursion limit


@given(
    seed=st.integers(0, 10**6),
    bound=st.sampled_from([1, 3]),
    mode=st.sampled_from(["int", "int", "bv"]),
    first=SCHEMES,
    scheme=SCHEMES,
    changes=st.sampled_from(["formula", "text"]),
    weakens=st.booleans(),
)
@settings(max_examples=3, deadline=None, derandomize=True)
def test_answers_after_changes_are_those_from_scratch(seed: int, bound: int, mode: Any, **options: Any) -> None:
    revisions = Revisions(Random(seed))
    chain = RevisionChain(ChainOptions(bound=bound, mode=mode, **options), LiteralsFirst(BySolvers(Budget(200))))
    unit, numbers = None, dict[str, int]()
    for _ in range(3):
        unit = unit_of(revisions.text(), previous=unit)
        program = link([unit]).program
        found = chain.verify(program)
        scratch = RevisionChain(ChainOptions(bound=bound, mode=mode), LiteralsFirst(None)).verify(program)
        note(f"{revisions.text()}\n{found.sentence()}\n{scratch.sentence()}")
        assert (found.status, found.is_complete) == (scratch.status, scratch.is_complete)
        tree = unwound(program, "assertion", bound, mode, numbers).tree
        if found.status == "holds":
            assert broken(tree, chain.summaries, Budget(20_000)) == []
        note(revisions.edit())
