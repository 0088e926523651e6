"""200 random programs, compiled with sanitizers and interpreted: they print the same, and are stopped at the same places."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.interpreted import BATCH, Batch, compare
from benchmarks.random_c import RandomProgram

PROGRAMS = 200


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_programs_agree_with_the_compiler(first: int) -> None:
    counts: Counter[str] = Counter()
    assert compare(Batch(range(first, first + BATCH)), counts) == []
    assert counts["Returned"] > BATCH * 0.7  # most run to their end
    stopped = sum(number for kind, number in counts.items() if "-" in kind)
    assert stopped > 0  # and some violate something
    assert counts["edges"] > 10_000


def test_programs_are_deterministic_by_seed() -> None:
    assert RandomProgram(3, "p_").text == RandomProgram(3, "p_").text
    assert RandomProgram(3, "p_").text != RandomProgram(4, "p_").text
