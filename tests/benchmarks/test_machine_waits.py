"""What a wait of the event loop shares with waits of the machine, and that the control processes run and end."""

from __future__ import annotations

import os
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.machine_waits import Controls, shared, united
from benchmarks.typing_load import _loop_rows

_whole = st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def _moments(intervals: list[tuple[float, float]]) -> Counter[int]:
    """The unit steps that intervals with whole ends consist of."""
    return Counter(step for begin, end in intervals for step in range(int(begin), int(end)))


@given(st.lists(_whole), _whole)
def test_what_is_shared_is_counted_once(intervals: list[tuple[int, int]], wait: tuple[int, int]) -> None:
    one = united(intervals)
    assert _moments(one) == Counter(set(_moments(intervals)))
    assert one == sorted(one)
    assert shared(wait, one) == len(set(_moments([wait])) & set(_moments(one)))


def test_what_coincides_with_a_wait_of_the_machine_is_not_ours() -> None:
    waits = [
        {"begin": 1.0, "end": 1.130, "processor": 2.0, "queued": 0.0},
        {"begin": 5.0, "end": 5.040, "processor": 30.0, "queued": 1.0},
    ]
    rows, ours = _loop_rows(waits, [(1.005, 1.125)], 60.0)
    assert round(ours, 3) == 40.0
    assert "130.0 ms; it worked 2.0 ms" in rows[0]
    assert "40.0 ms; it worked 30.0 ms and was queued for a processor 1.0 ms" in rows[1]
    assert rows[2].endswith("| 1, 0 |")
    assert rows[3].endswith("| 1; the longest 120 ms |")


def test_there_is_a_control_process_for_each_core_until_the_end_of_the_block() -> None:
    with Controls() as controls:
        processes = list(controls._processes)
        assert len(processes) == len(os.sched_getaffinity(0))
        assert all(process.poll() is None for process in processes)
    assert [process.returncode for process in processes] == [0] * len(processes)
    assert all(controls.begun <= end for _, end in controls.held_up)
