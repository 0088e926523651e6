"""One prover process as the checker process sees it: started, given a task, cancelled, terminated, killed.

Processes are forks of a *fork server* (multiprocessing's), which has loaded the work and with it z3, and nothing else: no
program, no thread, no open file of the checker's. So one is there soon when it is needed, and again when one
was killed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from types import ModuleType
from typing import Any, NamedTuple

from analysis.session.provers.outcome import Budget, End
from analysis.session.provers.prover import Cancel, Order, Ready, Reply, Worked, serve

GRACE = 0.02  # seconds from asking a process to give up its task to terminating it, and from there to killing it

_starting = threading.Lock()


class Task(NamedTuple):
    """Something to do. Tasks of lower `rank` come first. `tries` counts processes that died on it."""

    ticket: int
    content: object
    budget: Budget
    rank: int = 0
    tries: int = 0


class ProverProcess:
    """A process that is being started (until it `is_ready`), is idle, has a `task`, or is to end. Only the thread that made it
    uses it."""

    def __init__(self, work: str) -> None:
        context = _context(work)
        here, there = context.Pipe()
        self.connection: Connection = here
        self.process: Any = context.Process(target=serve, args=(there, work), name="everproof prover", daemon=True)  # type: ignore[attr-defined]  # BaseContext does not declare it
        self.task: Task | None = None
        self.began = 0.0
        self.deadline = 0.0
        self.stopped: End = ""  # why its task was ended from outside
        self.worked = 0.0  # the seconds of the processor that a task which is ended from outside has had, if it could say so
        self.is_ready = False
        self.is_killed = False  # it does nothing any more, though it may take its time to be gone
        self._stage = 0
        with _starting, _apart():
            self.process.start()
        there.close()

    def run(self, task: Task) -> None:
        """Gives a process that is ready and idle a task; its time begins. OSError if it is gone; what pickle raises, if the task
        cannot be pickled."""
        payload = pickle.dumps(task.content, pickle.HIGHEST_PROTOCOL)
        self.task, self.began, self.stopped, self.worked, self._stage = task, time.monotonic(), "", 0.0, 0
        self.deadline = self.began + task.budget.seconds
        self.connection.send(Order(task.ticket, payload, task.budget.megabytes))

    def stop(self, why: End) -> None:
        """Asks it to give up its task; `press` then sees to it."""
        if self.task is not None and not self.stopped:
            self.stopped, self.deadline = why, time.monotonic() + GRACE
            with contextlib.suppress(OSError):
                self.connection.send(Cancel(self.task.ticket))

    def press(self, now: float) -> None:
        """What the deadline asks for, if it is over: cancel, then terminate, then kill."""
        if self.task is None or now < self.deadline:
            return
        if not self.stopped:
            self.stop("time")
            return
        self.deadline = now + GRACE
        self._stage += 1
        if self._stage == 1:
            self.process.terminate()
        else:
            self.process.kill()
            self.is_killed = True

    def finished(self) -> None:
        """Its task is over."""
        self.task = None

    def receive(self) -> Reply | Ready | Worked | None:
        """What it says; None when it has ended."""
        try:
            reply = self.connection.recv()
        except (EOFError, OSError):
            return None
        return reply if isinstance(reply, Reply | Ready | Worked) else None

    def end(self) -> None:
        """Ends the process, whatever it does, and frees what it takes."""
        self.connection.close()  # an idle one ends by this
        if self.task is not None:
            self.process.kill()
        self.process.join(1)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()


def _context(work: str) -> BaseContext:
    """The context that starts provers. What the fork server loads is settled when it starts: with the first prover."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.partition(":")[0]])
    return context


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """For starting processes that have nothing of this one's surroundings.

    As multiprocessing starts Python, it looks for modules in the current folder first, which may be one that the user has only
    opened (DESIGN.md, section 13); and it runs the main module of this process in each new one, which provers do not need."""
    before, main = os.environ.get("PYTHONSAFEPATH"), sys.modules["__main__"]
    os.environ["PYTHONSAFEPATH"] = "1"
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before
