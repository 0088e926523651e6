"""What runs in a prover process: one task after the other, each within its memory.

A thread of its own reads orders, so that a cancellation is seen while a task runs: the thread says how long the task has had the
processor, which nobody could say after the process was killed, and a signal then raises `_Cancelled` in the main thread, as soon
as that is in Python. A solver's C code may take longer; whoever cancels does not wait for it (`process`).
The same thread sees the checker process end, and ends this one at once: no prover outlives its owner.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, NamedTuple

from analysis.session.provers.outcome import End

_FRAMES = 20_000  # expressions nest deeply
_NICE = 10  # typing comes first


class Order(NamedTuple):
    """A task to do: `payload` is pickled, for the work to take."""

    ticket: int
    payload: bytes
    megabytes: int


class Ready(NamedTuple):
    """The process has loaded what it needs, and reads orders."""


class Cancel(NamedTuple):
    """The task is not wanted any more."""

    ticket: int


class Reply(NamedTuple):
    """How a task ended; `answer` is what the work gave, pickled. `spent`: the process ends now, it has used up its memory."""

    ticket: int
    end: End
    answer: bytes = b""
    detail: str = ""
    spent: bool = False


class Worked(NamedTuple):
    """The seconds of the processor that a task has had when it is cancelled."""

    ticket: int
    seconds: float


class _Cancelled(BaseException):
    """Not an `Exception`, so that nothing in the work mistakes it for a failure of its own."""


class _Current:
    """The task that runs. `cancel` is for the reading thread, `handle` for the signal that it sends."""

    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._ticket: int | None = None
        self._began = 0.0
        self._cancelled: int | None = None
        signal.signal(signal.SIGUSR1, self._handle)

    @contextlib.contextmanager
    def running(self, ticket: int) -> Iterator[None]:
        """Marks the time in which the task may be cancelled."""
        self._began = time.process_time()
        self._ticket = ticket
        try:
            if self._cancelled == ticket:
                raise _Cancelled
            yield
        finally:
            self._ticket = None

    def worked(self, ticket: int) -> Worked | None:
        """What the task has had, if it runs."""
        return Worked(ticket, time.process_time() - self._began) if ticket == self._ticket else None

    def cancel(self, ticket: int) -> None:
        """Cancels the task, if it runs, or as soon as it does."""
        self._cancelled = ticket
        signal.pthread_kill(self._main, signal.SIGUSR1)

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        if self._ticket is not None and self._ticket == self._cancelled:
            self._ticket = None
            raise _Cancelled


def work_of(name: str) -> Callable[[Any], Any]:
    """The function `name`, given as module:function."""
    module, _, function = name.partition(":")
    found: Callable[[Any], Any] = getattr(importlib.import_module(module), function)
    return found


def serve(connection: Connection, name: str) -> None:
    """Does what the other end of the connection orders, with the function `name`, until there is nobody at the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the user means the process that waits for this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(_NICE)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES))
    work = work_of(name)
    gc.freeze()  # what is loaded stays, and is not copied from the process that forked this one
    current = _Current()
    orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
    sending = threading.Lock()

    def send(message: Ready | Worked | Reply) -> None:
        with sending, contextlib.suppress(OSError):  # nobody there: the reading thread ends the process
            connection.send(message)

    threading.Thread(target=_read, args=(connection, orders, current, send), name="orders", daemon=True).start()
    send(Ready())
    while True:
        reply = _reply(work, orders.get(), current)
        send(reply)
        if reply.spent:
            return


def _read(connection: Connection, orders: queue.SimpleQueue[Order], current: _Current, send: Callable[[Worked], None]) -> None:
    try:
        while True:
            order = connection.recv()
            if isinstance(order, Cancel):
                worked = current.worked(order.ticket)
                if worked is not None:
                    with contextlib.suppress(MemoryError):
                        send(worked)
                current.cancel(order.ticket)
            else:
                orders.put(order)
    except (EOFError, OSError):
        os._exit(0)  # the main thread may be deep in a solver


def _reply(work: Callable[[Any], Any], order: Order, current: _Current) -> Reply:
    try:
        with current.running(order.ticket), memory_bound(order.megabytes):
            return Reply(order.ticket, "", pickle.dumps(work(pickle.loads(order.payload)), pickle.HIGHEST_PROTOCOL))
    except _Cancelled:
        return Reply(order.ticket, "interrupted")
    except MemoryError:
        return Reply(order.ticket, "memory", spent=True)
    except Exception as error:  # a defect of ours in one task must not end the others
        return Reply(order.ticket, "failed", detail=f"{type(error).__name__}: {error}")


@contextlib.contextmanager
def memory_bound(megabytes: int) -> Iterator[None]:
    """Lets the process take this many megabytes more than it has; beyond it there is MemoryError (or what a library makes of it).

    It bounds the address space, which is what Linux bounds reliably; on other systems nothing is bounded."""
    try:
        with open("/proc/self/statm", "rb") as file:
            present = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        yield
        return
    import resource  # there is none where there is no /proc

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = present + megabytes * 1_000_000
    bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
