"""[ORION] Theorems 2 and 3 as properties: after any chain of edits of a random program, its automaton and its entries, IncrFwd's
graph is the one that Full makes, and IncrBack's has the same errors (invariant I11).

What is compared is in `support.repairs`. Both algorithms go on with their own graph over the whole chain, so that what a repair
leaves behind shows. `python -m benchmarks.incremental_theorems` runs the same over many more edits.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.repairs import Chain

EXAMPLES, STEPS = 250, 10


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.randoms(use_true_random=False), st.booleans())
def test_repaired_graphs_are_those_from_scratch(random: Random, stretches: bool) -> None:
    chain = Chain(random, stretches)
    for _ in range(STEPS):
        chain.step()


@pytest.mark.parametrize("seed", range(75))
def test_repaired_graphs_are_those_from_scratch_over_long_chains(seed: int) -> None:
    chain = Chain(Random(seed), stretches=seed % 4 != 0)
    for _ in range(100):
        chain.step()
