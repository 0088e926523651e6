"""A pool of prover processes.

Users of the pool never wait for it, unless they call `wait`: `submit` and `cancel` leave an order, `take`
gives what has ended so far. Every task ends with exactly one outcome, whatever happens to its process.

    pool        what others see: tickets and outcomes                          one thread, that of its user
    supervisor  the thread that waits: for provers, for orders, for deadlines
    desk        which task is where; pure                                      supervisor's thread
    seat        what one prover may do, and until when: the protocol; pure     supervisor's thread
    process     a channel to the process, and signals                          supervisor's thread
    launcher    forks provers                                                  a process
    prover      does tasks                                                     a process

What a task does to its process concerns that task alone. This is our own code, because no library does it:
`concurrent.futures` and loky give up all tasks when one process dies, `multiprocessing.Pool` waits for ever
then, and pebble looks for cancellations and time-outs ten times a second, and has no way to ask a process
before it kills it.

Each wait ends. The supervisor waits until the deadlines that `seat` sets. A thread that waits for an outcome checks
from time to time whether the supervisor still runs; if it does not, the open tasks have failed.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable

from analysis.session.provers.processes.launcher import launcher_of
from analysis.session.provers.processes.seat import Patience, Task
from analysis.session.provers.processes.supervisor import Supervisor
from analysis.session.provers.processes.task_outcome import Budget, Outcome

_LOOK = 5.0  # seconds of waiting between two looks whether the supervisor turns; it does, while a task is open
_LOOKS = 12  # in vain, until it counts as stuck
_FAREWELL = 10.0  # seconds for the supervisor to end


def _nobody() -> None:
    pass


class Pool:
    """At most `jobs` processes, started when there is something to do, that apply the function
    `work` (module:function) to tasks.

    Tasks and answers are pickled; no process that runs under another user's control is at either
    end. `notify` is called, in the supervisor's thread, when something has ended. Not for several
    threads at once, but for `take` and `wait`.
    """

    def __init__(self, work: str, jobs: int, notify: Callable[[], None] = _nobody, patience: Patience | None = None) -> None:
        self._launcher = launcher_of(work)
        self._jobs = jobs
        self._notify = notify
        self._patience = patience or Patience()
        self._tickets = 0
        self._changed = threading.Condition()
        self._ended: deque[Outcome] = deque()
        self._open: set[int] = set()
        self._supervisor: Supervisor | None = None

    def submit(self, task: object, budget: Budget, rank: int = 0) -> int:
        """Has the work done on a task, which must not change any more, before those that wait and
        have a higher rank; the ticket by which its outcome is known."""
        with self._changed:
            self._tickets += 1
            if self._supervisor is None:
                self._supervisor = Supervisor(self._launcher, self._jobs, self._patience, self._end, self._fail)
            self._open.add(self._tickets)
            self._supervisor.order(Task(self._tickets, task, budget, rank))
            return self._tickets

    def cancel(self, ticket: int) -> None:
        """Ends a task, whether it runs or waits, with the outcome `interrupted`; nothing if it has
        ended."""
        with self._changed:
            if ticket in self._open and self._supervisor is not None:
                self._supervisor.order(ticket)

    @property
    def open(self) -> int:
        """How many tasks have not ended."""
        return len(self._open)

    def take(self) -> list[Outcome]:
        """The outcomes since this was last asked, in the order in which they came."""
        with self._changed:
            taken = list(self._ended)
            self._ended.clear()
            return taken

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until there is an outcome to take, or no task is open; False when the time is used up
        before."""
        until = None if seconds is None else time.monotonic() + seconds
        rounds, looks = -1, 0
        with self._changed:
            while not (self._ended or not self._open):
                left = _LOOK if until is None else min(_LOOK, until - time.monotonic())
                if left <= 0:
                    return False
                if not self._changed.wait(left) and left == _LOOK and self._supervisor is not None:
                    looks = looks + 1 if self._supervisor.rounds == rounds else 0
                    rounds = self._supervisor.rounds
                    self._supervisor.wake()
                    if looks >= _LOOKS:
                        self._fail(self._supervisor, "the thread that watches the provers does not turn")
            return True

    def pids(self) -> list[int]:
        """The ids of the processes there are, to look at."""
        return [] if self._supervisor is None else self._supervisor.pids()

    @property
    def launcher_pid(self) -> int | None:
        """The id of the process that starts the others, to look at."""
        return self._launcher.pid

    def close(self) -> None:
        """Ends all tasks without an outcome, and the processes. The pool may be used again."""
        with self._changed:
            self._open.clear()
            supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            supervisor.close(_FAREWELL)

    def _end(self, outcome: Outcome) -> None:
        with self._changed:
            if outcome.ticket not in self._open:
                return  # the pool was closed
            self._open.discard(outcome.ticket)
            self._ended.append(outcome)
            self._changed.notify_all()
        with contextlib.suppress(Exception):  # a failure of the callback must not end the supervisor
            self._notify()

    def _fail(self, supervisor: Supervisor, why: str) -> None:
        """The supervisor is of no use any more: what is open has failed, and the next task has a
        new one."""
        with self._changed:
            if self._supervisor is not supervisor:
                return  # nobody uses it
            self._supervisor = None
            tickets = sorted(self._open)
        for ticket in tickets:
            self._end(Outcome(ticket, "failed", detail=why))
