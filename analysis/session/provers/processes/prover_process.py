"""What runs in a prover process: one task after the other, each within its memory. `messages` says
what is spoken.

A thread of its own reads orders. While there is one it also sends the signs of life, whatever the
main thread is busy with, so the pool can tell a long computation from a process that was stopped or
has lost its order. A cancellation makes it say once more how long the task has had the processor,
which nobody could say after the process was killed; then a signal raises `_Cancelled` in the main
thread, as soon as that is in Python. A solver's C code may take longer; the caller that cancels does not
wait for it (`seat`). The same thread sees the pool go, and ends this process at once: no prover
outlives its owner. And if the thread itself fails, the process ends, since nothing would read the
next order.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import queue
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from analysis.session.provers.processes.messages import Beat, Cancel, Order, Ready, Reply, ToPool, receive_order, say

_FRAMES = 20_000  # expressions nest deeply
_NICE = 10  # typing comes first
_REST = 0.1  # seconds without an order, after which something is prepared for the next ones


class _Cancelled(BaseException):
    """Not an `Exception`, so that nothing in the work mistakes it for a failure of its own."""


class _Current:
    """The order that this process has, from when it is read until its reply is sent. `running`,
    `handle` and `answer` are for the main thread, the rest for the reading thread."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._sending = threading.Lock()
        self._main = threading.get_ident()
        self._turn: int | None = None
        self._running: int | None = None
        self._cancelled: int | None = None
        self._began = 0.0
        self.beat: float | None = None  # seconds; None while there is no order
        signal.signal(signal.SIGUSR1, self._handle)

    def send(self, message: ToPool) -> None:
        """Says something to the pool."""
        with self._sending, contextlib.suppress(OSError):  # nobody there: the reading thread ends the process
            say(self._end, message)

    def accept(self, order: Order) -> None:
        """There is an order."""
        self._began, self._turn, self.beat = time.process_time(), order.turn, order.beat
        self.send_beat()

    def send_beat(self) -> None:
        """Sends a sign of life, if there is an order."""
        turn = self._turn
        if turn is not None:
            with contextlib.suppress(MemoryError):  # the task may have taken all; the next sign tries again
                self.send(Beat(turn, time.process_time() - self._began))

    def answer(self, reply: Reply) -> None:
        """The order is done."""
        self._turn = self.beat = None
        self.send(reply)

    @contextlib.contextmanager
    def running(self, turn: int) -> Iterator[None]:
        """Marks the time in which the order may be cancelled."""
        self._running = turn
        try:
            if self._cancelled == turn:
                raise _Cancelled
            yield
        finally:
            self._running = None

    def cancel(self, turn: int) -> None:
        """Cancels the order, if it runs, or as soon as it does."""
        self._cancelled = turn
        signal.pthread_kill(self._main, signal.SIGUSR1)

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        if self._running is not None and self._running == self._cancelled:
            self._running = None
            raise _Cancelled


def work_of(name: str) -> Callable[[Any], Any]:
    """The function `name`, given as module:function."""
    module, _, function = name.partition(":")
    found: Callable[[Any], Any] = getattr(importlib.import_module(module), function)
    return found


def preparation_of(name: str) -> Callable[[], bool]:
    """What the module of the function `name` does for tasks to come while there are none: its function `prepare`, if it has one,
    which does a little, and says whether there is more to do."""
    found: Callable[[], bool] = getattr(importlib.import_module(name.partition(":")[0]), "prepare", lambda: False)
    return found


def serve(end: socket.socket, name: str) -> None:
    """Does what the pool orders, with the function `name`, until there is nobody at the other end
    of the socket."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the user means the process that waits for this one
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.nice(_NICE)
    sys.unraisablehook = lambda _: None  # what a cancelled task leaves half made complains when it is freed
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES))
    work, prepare = work_of(name), preparation_of(name)
    gc.freeze()  # what is loaded stays, and is not copied from the process that forked this one
    current = _Current(end)
    orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(end, orders, current), name="orders", daemon=True).start()
    current.send(Ready(os.getpid()))
    while True:
        reply = _reply(work, _next(orders, prepare), current)
        current.answer(reply)
        if reply.spent:
            return


def _next(orders: queue.SimpleQueue[Order], prepare: Callable[[], bool]) -> Order:
    is_more = True
    while is_more:
        try:
            return orders.get(timeout=_REST)
        except queue.Empty:
            is_more = prepare()
    return orders.get()


def _read(end: socket.socket, orders: queue.SimpleQueue[Order], current: _Current) -> None:
    try:
        news = select.poll()
        news.register(end, select.POLLIN)
        while True:
            beat = current.beat
            if not news.poll(None if beat is None else beat * 1000):
                current.send_beat()
                continue
            message = receive_order(end)
            if isinstance(message, Cancel):
                current.send_beat()
                current.cancel(message.turn)
            else:
                current.accept(message)
                orders.put(message)
    finally:
        os._exit(0)  # the main thread may be deep in a solver


def _reply(work: Callable[[Any], Any], order: Order, current: _Current) -> Reply:
    try:
        # the bound comes first: it is lifted when no cancellation can come any more, so that nothing keeps it from being lifted
        with memory_bound(order.megabytes), current.running(order.turn):
            return Reply(order.turn, "", pickle.dumps(work(pickle.loads(order.payload)), pickle.HIGHEST_PROTOCOL))
    except _Cancelled:
        return Reply(order.turn, "interrupted")
    except MemoryError:
        return Reply(order.turn, "memory", spent=True)
    except Exception as error:  # a defect of ours in one task must not end the others
        return Reply(order.turn, "failed", detail=f"{type(error).__name__}: {error}")


@contextlib.contextmanager
def memory_bound(megabytes: int) -> Iterator[None]:
    """Lets the process take this many megabytes more than it has; beyond it there is MemoryError
    (or what a library makes of it).

    It bounds the address space, which is what Linux bounds reliably; on other systems nothing is
    bounded."""
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
