"""All engines agree about the values of random expressions, with each other and with gcc. `python -m benchmarks.agreement` runs
more of them; docs/benchmarks.md says how many were compared, and when."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import example, given, note, settings
from hypothesis import strategies as st

from benchmarks.agreement import expression, judged, values


@settings(max_examples=8)
@example(1012)  # divides by a `_Bool` that is zero, which gcc's code does not notice
@given(st.integers(0, 2**32))
def test_no_engine_contradicts_another_one_or_gcc(seed: int) -> None:
    of = expression(Random(seed))
    with TemporaryDirectory() as folder:
        (value,) = values([of], Path(folder))
    note(f"{of} = {value}")
    found = judged(of, value, 1.0)
    assert found.wrong == ()
    assert sum(found.counts.values()) == 2 * 8
