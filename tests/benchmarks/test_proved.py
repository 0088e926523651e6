"""What is proved of random programs, the compiler's code keeps to (benchmarks.proved has more of them, and all engines)."""

from __future__ import annotations

from benchmarks.proved import by_paths, run


def test_the_compilers_code_keeps_to_what_is_proved() -> None:
    contradictions, counts = run(100, 40_000, by_paths(80))
    assert contradictions == 0
    assert counts["assertion: proved"] > 20, counts
    assert counts["runs of compiled programs"] > 20 * 20, counts
