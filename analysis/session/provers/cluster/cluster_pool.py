"""A pool whose provers are workers of a Dask scheduler (`processes.task_pool` says what a pool is)."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial

from distributed import Client, Future, KilledWorker

from analysis.model.digest import digest_text
from analysis.session.provers.asking.question import Question
from analysis.session.provers.cluster import cluster_worker
from analysis.session.provers.cluster.cluster_messages import MessageError, order_of, read_reply
from analysis.session.provers.cluster.question_packing import pack_question
from analysis.session.provers.cluster.tool_version import tool_version
from analysis.session.provers.processes.task_outcome import Budget, Outcome

_LOOK = 5.0  # seconds of waiting between two looks whether there are workers
_LOOKS = 12  # in vain, until what is open is given up


class ClusterPool:
    """Questions for the workers of a client's scheduler. `notify` is called in a thread of the client's when something has ended.
    Not for several threads at once, but for `take` and `wait`."""

    def __init__(self, client: Client, notify: Callable[[], None] = lambda: None) -> None:
        self._client = client
        self._notify = notify
        self._tickets = 0
        self._changed = threading.Condition()
        self._ended: deque[Outcome] = deque()
        self._open: dict[int, Future[bytes]] = {}

    @property
    def open(self) -> int:
        """How many tasks have not ended."""
        return len(self._open)

    def submit(self, task: object, budget: Budget, rank: int = 0) -> int:
        """Has a question answered, before those that wait and have a higher rank; the ticket by which its outcome is known."""
        assert isinstance(task, Question)
        order = order_of(tool_version(), pack_question(task), budget)
        self._tickets += 1
        ticket = self._tickets
        future = self._client.submit(
            cluster_worker.answer, order, key=f"everproof-{digest_text(order)}", priority=-rank, pure=True
        )
        with self._changed:
            self._open[ticket] = future
        future.add_done_callback(partial(self._done, ticket, task))
        return ticket

    def cancel(self, ticket: int) -> None:
        """Ends a task with the outcome `interrupted`; nothing if it has ended. The scheduler forgets a task that nobody waits
        for, and a worker that is at it gives up."""
        future = self._open.get(ticket)
        if future is not None:
            self._end(Outcome(ticket, "interrupted"))
            future.release()

    def take(self) -> list[Outcome]:
        """The outcomes since this was last asked, in the order in which they came."""
        with self._changed:
            taken = list(self._ended)
            self._ended.clear()
            return taken

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until there is an outcome to take, or no task is open; False when the time is used up before."""
        until = None if seconds is None else time.monotonic() + seconds
        looks = 0
        while True:
            left = _LOOK if until is None else min(_LOOK, until - time.monotonic())
            with self._changed:
                if self._changed.wait_for(lambda: self._ended or not self._open, max(left, 0.0)):
                    return True
            if left < _LOOK:
                return False
            looks = 0 if self._has_workers() else looks + 1
            if looks >= _LOOKS:
                for ticket in list(self._open):
                    self._end(Outcome(ticket, "lost", detail="the scheduler has had no workers for a minute"))

    def close(self) -> None:
        """Ends all tasks without an outcome. The pool may be used again, as long as its client is connected."""
        with self._changed:
            futures, self._open = list(self._open.values()), {}
        for future in futures:
            future.release()

    def _has_workers(self) -> bool:
        with contextlib.suppress(OSError, TimeoutError, RuntimeError, ValueError):
            return bool(self._client.nthreads())
        return False

    def _done(self, ticket: int, question: Question, future: Future[bytes]) -> None:
        if ticket in self._open:
            self._end(_outcome(ticket, question, future))

    def _end(self, outcome: Outcome) -> None:
        with self._changed:
            if self._open.pop(outcome.ticket, None) is None:
                return
            self._ended.append(outcome)
            self._changed.notify_all()
        self._notify()


def _outcome(ticket: int, question: Question, future: Future[bytes]) -> Outcome:
    """What became of a task whose future is done."""
    if future.status == "finished":
        try:
            return read_reply(future.result(), ticket, question)
        except MessageError as error:
            return Outcome(ticket, "refused", detail=f"a worker has sent what is no answer ({error})")
        except Exception as error:  # its worker, and with it the result, is gone, and the scheduler too
            return Outcome(ticket, "lost", detail=f"the answer was lost with the scheduler ({type(error).__name__})")
    if future.status == "error":
        raised = future.exception()
        if isinstance(raised, KilledWorker):
            return Outcome(ticket, "crashed")
        return Outcome(ticket, "refused", detail=f"a worker failed ({raised})")
    return Outcome(ticket, "lost", detail="the connection to the scheduler was lost")
