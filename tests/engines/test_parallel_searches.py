"""The automaton engine's searches in several processes: the same answers, and an end whatever
happens to a process. The class: a wait for a process that was killed or stopped."""

from __future__ import annotations

import multiprocessing
import os
import signal

import pytest

from analysis.engines.automaton.feasibility import parallel
from analysis.engines.automaton.feasibility.parallel import search_all


@pytest.fixture(autouse=True)
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that runs the tests may have threads; what is searched for here needs none of
    their locks."""
    monkeypatch.setattr(parallel, "can_fork", lambda: True)


def no_child_is_left() -> bool:
    return not multiprocessing.active_children()


def test_the_answers_are_in_their_order() -> None:
    assert search_all(lambda number: number * number, 50, 3) == [number * number for number in range(50)]
    assert no_child_is_left()


def test_few_searches_are_not_worth_it() -> None:
    assert search_all(lambda number: number, 15, 3) is None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_a_process_that_is_killed_or_stopped_ends_the_search(number: int) -> None:
    def search(index: int) -> int:
        if index == 20:
            os.kill(os.getpid(), number)
        return index

    assert search_all(search, 50, 2) is None
    assert no_child_is_left()


def test_what_a_search_raises_is_raised() -> None:
    def search(index: int) -> int:
        return 1 // (30 - index)

    with pytest.raises(ZeroDivisionError):
        search_all(search, 50, 2)
    assert no_child_is_left()


def test_an_interrupted_search_leaves_no_process() -> None:
    class OutOfTime(BaseException):
        pass

    def ring(_signal: int, _frame: object) -> None:
        raise OutOfTime

    def search(number: int) -> None:
        if number == 0:  # all processes are there: Python drops what is raised while one is forked
            os.kill(os.getppid(), signal.SIGALRM)
        while True:
            signal.pause()

    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(OutOfTime):
            search_all(search, 50, 2)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert no_child_is_left()
