"""Ends checks of a solver that take more memory than their budget has, or do not end when their work is done.

z3 counts its work itself, and ends by that; but not in all of its phases. Then time ends it, which is the last resort. z3
looks at its memory only in some of its phases, too, and makes a thread for every check that has a time limit, which takes
longer than most checks.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from typing import Protocol

from analysis.model import clock
from analysis.smt.solving.solver import Budget, Reason

_PATIENCE = 8  # times the seconds of the budget, or of what is left of the clock's, which are of work
_LEAST = 10.0  # seconds: small questions have costs that do not count as work
_LOOK_AGAIN = 0.005  # seconds between two looks at running checks
_LINGER = 10  # looks at nothing, until the next check has to wake the thread


def last_resort(budget: Budget) -> float:
    """How many seconds of the processor a check may take that begins now."""
    return max(_LEAST, _PATIENCE * min(budget.seconds, clock.left() / clock.SECOND))


class Watched(Protocol):
    """A check that runs."""

    def run_out(self, reason: Reason) -> None:
        """Ends it: its budget is spent."""


class Watch:
    """One thread for all checks of a process. `used` says how many bytes the solver has taken in all.

    After `end` returns, no check is interrupted any more. So its owner can free the solver; interrupting a freed solver
    would crash the process. Nor does the thread hold the check any more: when a solver is freed depends on its owner alone, and
    not on the clock. (What z3 does next depends on what it has freed.)"""

    def __init__(self, used: Callable[[], int]) -> None:
        self._used = used
        self._start()
        os.register_at_fork(after_in_child=self._start)  # the thread is not in the new process

    def _start(self) -> None:
        self._running: dict[int, Watched] = {}  # by identity
        self._bounds: dict[int, tuple[float, float]] = {}  # until when, and with how many bytes
        self._wake = threading.Event()
        self._interrupting = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self, check: Watched, budget: Budget) -> None:
        """Looks after a check from now on."""
        deadline = time.process_time() + last_resort(budget)
        with self._interrupting:
            self._running[id(check)] = check
            self._bounds[id(check)] = deadline, math.inf if budget.megabytes is None else budget.megabytes * 2**20
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, name="budgets", daemon=True)
            self._thread.start()
        if not self._wake.is_set():
            self._wake.set()

    def end(self, check: Watched) -> None:
        """Ends the watch of a check."""
        with self._interrupting:
            self._bounds.pop(id(check), None)
            self._running.pop(id(check), None)

    def _look(self) -> None:
        while self._wake.wait():
            idle = 0
            while idle < _LINGER:  # to wake for every check takes longer than most checks
                time.sleep(_LOOK_AGAIN)  # z3 tells nobody when its memory grows: it can only be looked at
                idle = 0 if self._running else idle + 1
                for number, reason in self._over():
                    self._interrupt(number, reason)
            self._wake.clear()
            if self._running:  # of a check that began meanwhile
                self._wake.set()

    def _over(self) -> list[tuple[int, Reason]]:
        """The checks whose budgets are spent. While Python collects garbage, which it may do at any time, other threads can go
        on: none of them may begin a check meanwhile."""
        with self._interrupting:
            now, used = time.process_time(), self._used()
            bounds = self._bounds.items()
            return [(check, "memory" if used > most else "time") for check, (end, most) in bounds if used > most or now > end]

    def _interrupt(self, number: int, reason: Reason) -> None:
        with self._interrupting:
            if number in self._running:
                self._running[number].run_out(reason)
