"""The watch over running checks: a check that has ended is not interrupted, as its solver may be gone."""

from __future__ import annotations

import threading
import weakref

from analysis.smt.solving.budget_watch import Watch
from analysis.smt.solving.solver import Budget, Reason

_PATIENCE = 60  # seconds, for what happens at once
_SHORT = 0.3  # seconds in which a check that need not wait would have ended


class _Check:
    """A check that somebody ends while it is being interrupted."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.was_interrupted = threading.Event()
        self.has_ended = threading.Event()
        self.ended_meanwhile = False

    def run_out(self, reason: Reason) -> None:
        threading.Thread(target=self._end).start()
        self.ended_meanwhile = self.has_ended.wait(_SHORT)
        self.was_interrupted.set()

    def _end(self) -> None:
        self._watch.end(self)
        self.has_ended.set()


def test_a_check_does_not_end_while_it_is_interrupted() -> None:
    watch = Watch(lambda: 1)
    check = _Check(watch)
    watch.begin(check, Budget(None, megabytes=0))
    assert check.was_interrupted.wait(_PATIENCE)
    assert not check.ended_meanwhile
    assert check.has_ended.wait(_PATIENCE)


def test_a_check_that_has_ended_is_held_no_longer() -> None:
    """Its solver is freed at once, whenever the thread looks next: z3 goes on from there, and must not depend on the clock."""
    looks = threading.Semaphore(0)

    def used() -> int:
        looks.release()
        return 0

    watch = Watch(used)
    check = _Check(watch)
    watch.begin(check, Budget(None))
    for _ in range(3):
        assert looks.acquire(timeout=_PATIENCE)
    gone = weakref.ref(check)
    watch.end(check)
    del check
    assert gone() is None


def test_no_check_begins_while_the_budgets_of_the_others_are_looked_at() -> None:
    """Python can go on with another thread there, if it collects garbage that z3 has to do with."""
    has_begun, seen = threading.Event(), list[bool]()

    def begin() -> None:
        watch.begin(check, Budget(None))
        has_begun.set()

    def used() -> int:
        if not seen:
            seen.append(True)
            threading.Thread(target=begin).start()
            seen.append(has_begun.wait(_SHORT))
        return 1

    watch = Watch(used)
    check = _Check(watch)
    assert watch._over() == []
    assert seen == [True, False]
    assert has_begun.wait(_PATIENCE)
    watch.end(check)
