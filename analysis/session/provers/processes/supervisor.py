"""The thread that owns a pool's desk and its processes. It waits for three things at once, and each
wait has an end: what provers say, what the pool orders, and the next deadline of the desk.

An order is put into a queue, then a byte is sent. The thread takes the bytes first and the orders after them,
so an order whose byte was taken is taken too, and also the order to end is one of them: nothing is looked at
beside the queue. (An earlier version used a flag for the end. When the flag was set after the thread had
looked at it and before it took the byte, the thread waited for ever.)
"""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable

from analysis.session.provers.processes.desk import Desk
from analysis.session.provers.processes.launcher import Launcher
from analysis.session.provers.processes.messages import BreachError
from analysis.session.provers.processes.process import ProverProcess
from analysis.session.provers.processes.seat import Patience, Task
from analysis.session.provers.processes.task_outcome import Outcome

_FAREWELL = 1.0  # seconds that idle provers have to end by themselves, and killed ones to be gone
_STOPPED = 1.0  # seconds: a wait that took so much longer than it was to take means that this process was stopped

_log = logging.getLogger(__name__)


class _Close:
    """The order to end."""


Order = Task | int | _Close
"""A number is the ticket of a task to cancel."""


class Supervisor:
    """`ended` is called in its thread, for each task once, and `failed` if the thread ends by a
    defect of ours."""

    def __init__(
        self,
        launcher: Launcher,
        jobs: int,
        patience: Patience,
        ended: Callable[[Outcome], None],
        failed: Callable[[Supervisor, str], None],
    ) -> None:
        self.rounds = 0  # grows as long as the thread does something
        self._failed = failed
        self._orders: deque[Order] = deque()
        self._listener, self._waker = socket.socketpair()
        self._listener.setblocking(False)
        self._waker.setblocking(False)
        self._desk = Desk(lambda: ProverProcess(launcher), jobs, patience, ended)
        self._thread = threading.Thread(target=self._run, name="provers", daemon=True)
        self._thread.start()

    def order(self, order: Task | int) -> None:
        """Has a task done, or cancelled. Does not wait."""
        self._orders.append(order)
        self.wake()

    def wake(self) -> None:
        """Has the thread look at its orders."""
        with contextlib.suppress(OSError):  # enough bytes wait there, or the thread has ended
            self._waker.send(b".")

    def pids(self) -> list[int]:
        """The ids of the processes there are, as far as they are known."""
        return [peer.pid for peer in self._desk.peers if peer.pid is not None]

    def close(self, seconds: float) -> None:
        """Ends the processes and the thread; waits so long for it at most, and leaves it alone
        then."""
        self._orders.append(_Close())
        self.wake()
        self._thread.join(seconds)

    def _run(self) -> None:
        why = ""
        try:
            while self._take_orders():
                self._desk.deal(time.monotonic())
                self._look()
                self.rounds += 1
        except Exception as error:
            _log.exception("The provers' supervisor failed")
            why = f"{type(error).__name__}: {error}"
        finally:
            self._end_processes()
            self._listener.close()
            self._waker.close()
        if why:
            self._failed(self, why)

    def _take_orders(self) -> bool:
        """Whether the thread is to go on."""
        with contextlib.suppress(BlockingIOError):
            while self._listener.recv(4096):
                pass
        while self._orders:
            order = self._orders.popleft()
            if isinstance(order, _Close):
                return False
            if isinstance(order, Task):
                self._desk.submit(order)
            else:
                self._desk.cancel(order, time.monotonic())
        return True

    def _look(self) -> None:
        """Waits for news, for an order, or for a deadline, and takes in what is new."""
        began, due = time.monotonic(), self._desk.due
        patience = None if due is None else max(0.0, due - began)
        ready = self._select(self._desk.peers, patience)
        now = time.monotonic()
        if patience is not None and now - began - patience > _STOPPED:
            self._desk.shift(now - began - patience)
        for peer, events in ready.items():
            if events & selectors.EVENT_WRITE:
                peer.channel.push()
            if events & selectors.EVENT_READ:
                self._listen(peer, now)
        self._desk.tick(now)

    def _select(self, peers: list[ProverProcess], patience: float | None) -> dict[ProverProcess, int]:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            for peer in peers:
                writing = selectors.EVENT_WRITE if peer.channel.has_unsent else 0
                selector.register(peer.channel, selectors.EVENT_READ | writing, peer)
            return {key.data: events for key, events in selector.select(patience) if key.data is not None}

    def _listen(self, peer: ProverProcess, now: float) -> None:
        try:
            self._desk.receive(peer, peer.receive(), now)
        except BreachError as breach:
            self._desk.lose(peer, str(breach), now)
        if not peer.channel.is_open:
            self._desk.lose(peer, "its process ended", now)

    def _end_processes(self) -> None:
        """Idle provers end when nothing more can come for them; the others are killed. What is not
        gone in time is killed again, and waited for once more: only the system can hold up that."""
        peers, idle = self._desk.peers, self._desk.idle
        for peer in peers:
            peer.finish() if peer in idle else peer.kill()
        for _ in range(2):
            until = time.monotonic() + _FAREWELL
            for peer in peers:
                peer.join(until)
                peer.kill()
        for peer in peers:
            peer.close()
