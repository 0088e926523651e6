"""Random programs of several units, with linkage and initialisers: the interpreter prints what the compiled
program prints, and no engine confirms or proves a wrong sum."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.asked_programs import ENGINES, Engine
from benchmarks.linked import BATCH, Batch, asked, compare, sum_of
from benchmarks.random_c.units import RandomUnits


@pytest.mark.parametrize("first", [0, BATCH])
def test_programs_agree_with_the_compiler(first: int) -> None:
    counts: Counter[str] = Counter()
    assert compare(Batch(range(first, first + BATCH)), counts) == []
    assert counts["interpreted: Returned"] >= BATCH - 3
    assert counts["lines printed"] > 50 * BATCH


@pytest.mark.parametrize("engine", ENGINES)
def test_no_engine_is_wrong_about_a_sum(engine: Engine) -> None:
    counts: Counter[str] = Counter()
    assert compare(Batch(range(1)), counts, [engine], seconds=0.3) == []
    assert sum(number for what, number in counts.items() if what.startswith(engine)) == 2


def test_a_wrong_verdict_would_be_seen() -> None:
    program, counts = RandomUnits(5, "p_"), Counter[str]()
    assert "right sum: violated" in asked(program, "x=1\n", "auto", 2.0, counts)
    assert sum_of("x=1\ny=-1\n") == (5 ^ (2**64 - 1)) * 5 % 2**64


def test_programs_are_deterministic_by_seed() -> None:
    assert RandomUnits(3, "p_").texts == RandomUnits(3, "p_").texts != RandomUnits(4, "p_").texts
