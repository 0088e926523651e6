"""What is confirmed or refuted of random programs agrees with the compiler's code (benchmarks.confirmed has more of them)."""

from __future__ import annotations

from analysis.engines.symbolic import Effort
from benchmarks.confirmed import run_batches


def test_confirmed_violations_happen_and_refuted_ones_do_not() -> None:
    differences, counts = run_batches(200, 20_000, Effort(seconds=60, states=15, runs=3, run_steps=5_000))
    assert differences == 0
    confirmed = sum(number for what, number in counts.items() if what.startswith("confirmed"))
    assert confirmed > 40, counts
    assert counts["refuted"] > 40, counts
    assert len([what for what in counts if what.startswith("confirmed")]) >= 7, counts
