"""Functions, names, parameters, types, globals and declarations that come, go and change: the answers are those from scratch,
found by repair."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.program_edits import Chain

from analysis.engines.automaton import Algorithm

_STEPS = 6


@pytest.mark.parametrize("algorithm", ["incr-back", "incr-fwd"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_program_under_edit_is_repaired(seed: int, algorithm: Algorithm, tmp_path: Path) -> None:
    chain = Chain(Random(seed), tmp_path, 200, algorithm)
    for _ in range(_STEPS):
        chain.step()
    assert chain.repaired == _STEPS
