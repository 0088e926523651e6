"""The watch of the event loop, on a loop whose clock the test sets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from server import loop_watch
from server.loop_watch import LoopWatch


class Loop:
    """As much of an event loop as the watch uses."""

    def __init__(self) -> None:
        self.now = 100.0
        self.later: list[Callable[[], None]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, _: float, callback: Callable[[], None]) -> None:
        self.later.append(callback)

    def turn(self, seconds: float) -> None:
        """The next beat comes after these seconds."""
        self.now += seconds
        self.later.pop()()


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    loop = Loop()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    return loop


def test_only_long_times_without_a_beat_are_reported_and_each_once(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    worked, queued = iter((0.0, 0.0, 0.004, 0.034, 0.034)), iter((0.0, 0.0, 0.0, 0.002, 0.002))
    monkeypatch.setattr(loop_watch.time, "thread_time", lambda: next(worked))
    monkeypatch.setattr(loop_watch, "_queued", lambda: next(queued))
    watch = LoopWatch()
    loop.turn(0.010)
    loop.turn(0.050)
    loop.turn(0.005)
    (pause,) = watch.take()
    assert pause == {"begin": pytest.approx(100.01), "end": pytest.approx(100.06), "processor": 30.0, "queued": 2.0}
    assert watch.take() == []


def test_the_system_reports_how_long_a_thread_waited_for_a_processor() -> None:
    before = loop_watch._queued()
    assert 0.0 <= before <= loop_watch._queued()
