"""A pool of prover processes.

One thread, the supervisor, owns the processes: it deals out tasks, sees to deadlines, and takes in answers. Who uses the pool
never waits for it, unless he asks to (`wait`): `submit` and `cancel` leave an order, `take` gives what has ended so far.

    submit ──> waiting ──> a process that is ready ──> answer, or what its work raised
                 ^            │ dies by itself: tried once more, then `crashed`
                 └────────────┘ out of time or memory, cancelled: asked to give up, terminated, killed

What a task does to its process concerns that task alone. Own code, because what there is does not do it: `concurrent.futures` and
loky give up all tasks when one process dies, and pebble looks for cancellations and time-outs ten times a second, and has no way
to ask a process before it kills it. The processes are multiprocessing's (`process`).
"""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import wait

from analysis.session.provers.outcome import Budget, End, Outcome
from analysis.session.provers.process import ProverProcess, Task
from analysis.session.provers.prover import Ready, Reply, Worked

_TRIES = 2
_STARTS = 4


def _nobody() -> None:
    pass


class Pool:
    """At most `jobs` processes, started when there is something to do, that apply the function `work` (module:function) to tasks.

    Tasks and answers are pickled; no process that runs under another user's control is at either end. `told` is called, in the
    supervisor's thread, when something has ended. Not for several threads at once, but for `take` and `wait`.
    """

    def __init__(self, work: str, jobs: int, told: Callable[[], None] = _nobody) -> None:
        self._work = work
        self._jobs = jobs
        self._told = told
        self._tickets = 0
        self._changed = threading.Condition()
        self._orders: deque[Task | int] = deque()  # a number: the ticket of a task to cancel
        self._ended: deque[Outcome] = deque()
        self._open: set[int] = set()
        self._closing = False
        self._woken = False
        self._thread: threading.Thread | None = None
        self._waiting: deque[Task] = deque()  # from here on the supervisor's own
        self._processes: list[ProverProcess] = []
        self._unstarted = 0  # processes that died before they were ready, since there was one that is
        self._killed: list[ProverProcess] = []  # those that may not be gone yet

    def submit(self, task: object, budget: Budget, rank: int = 0) -> int:
        """Has the work done on a task, which must not change any more, before those that wait and have a higher rank; the ticket
        by which its outcome is known."""
        with self._changed:
            self._tickets += 1
            self._open.add(self._tickets)
            self._order(Task(self._tickets, task, budget, rank))
            return self._tickets

    def cancel(self, ticket: int) -> None:
        """Ends a task, whether it runs or waits, with the outcome `interrupted`; nothing if it has ended."""
        with self._changed:
            if ticket in self._open:
                self._order(ticket)

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
        """Waits until there is an outcome to take, or no task is open; False when the time is over before."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._ended) or not self._open, seconds)

    def pids(self) -> list[int]:
        """The ids of the processes there are, to look at."""
        return [process.process.pid for process in list(self._processes)]

    def close(self) -> None:
        """Ends all tasks without an outcome, and the processes. The pool may be used again."""
        with self._changed:
            thread, self._closing = self._thread, True
            if thread is not None:
                self._wake()
        if thread is not None:
            thread.join()
        self._orders.clear()
        self._waiting.clear()
        self._open.clear()
        self._thread, self._closing = None, False

    def _order(self, order: Task | int) -> None:
        self._orders.append(order)
        if self._thread is None:
            self._listener, self._waker = Pipe(duplex=False)
            self._woken = False
            self._thread = threading.Thread(target=self._supervise, name="provers", daemon=True)
            self._thread.start()
        self._wake()

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            self._waker.send_bytes(b".")

    # the supervisor

    def _supervise(self) -> None:
        try:
            while not self._closing:
                self._take_orders()
                self._deal()
                self._look()
        finally:
            for process in (*self._processes, *self._killed):
                process.end()
            self._processes, self._killed = [], []
            self._listener.close()
            self._waker.close()

    def _take_orders(self) -> None:
        with self._changed:
            if self._woken:
                self._listener.recv_bytes()
                self._woken = False
            orders = list(self._orders)
            self._orders.clear()
        for order in orders:
            if isinstance(order, Task):
                self._wait_for(order)
            else:
                self._cancel(order)

    def _wait_for(self, task: Task) -> None:
        before = sum(other.rank <= task.rank for other in self._waiting)
        self._waiting.insert(before, task)

    def _cancel(self, ticket: int) -> None:
        for process in self._processes:
            if process.task is not None and process.task.ticket == ticket:
                process.stop("interrupted")
        for task in [task for task in self._waiting if task.ticket == ticket]:
            self._waiting.remove(task)
            self._end(Outcome(ticket, "interrupted"))

    def _deal(self) -> None:
        """Gives waiting tasks to idle processes, and starts processes while there may be more."""
        while (
            self._waiting and (process := next((p for p in self._processes if p.is_ready and p.task is None), None)) is not None
        ):
            task = self._waiting.popleft()
            try:
                process.run(task)
            except (OSError, EOFError) as error:  # it has just died
                self._remove(process)
                self._try_again(task, str(error), 0.0)
            except Exception as error:  # it cannot be pickled
                self._end(Outcome(task.ticket, "failed", detail=f"{type(error).__name__}: {error}"))
        while len(self._waiting) > self._starting and len(self._processes) < self._jobs:
            try:
                self._processes.append(ProverProcess(self._work))
            except OSError as error:
                self._try_again(self._waiting.popleft(), str(error), 0.0)

    @property
    def _starting(self) -> int:
        """How many processes will soon take a task."""
        return sum(not process.is_ready for process in self._processes)

    def _look(self) -> None:
        """Waits for news of the processes, for an order, or for a deadline, and does what it asks for."""
        running = [process.deadline for process in self._processes if process.task is not None]
        patience = max(0.0, min(running) - time.monotonic()) if running else None
        ready = set(wait([self._listener, *(process.connection for process in self._processes)], patience))
        for process in [process for process in self._processes if process.connection in ready]:
            reply = process.receive()
            if reply is None:
                self._died(process)
            elif isinstance(reply, Ready):
                process.is_ready, self._unstarted = True, 0
            elif isinstance(reply, Worked):
                if process.task is not None and process.task.ticket == reply.ticket:
                    process.worked = reply.seconds
            else:
                self._answered(process, reply)
        now = time.monotonic()
        for process in list(self._processes):
            process.press(now)
            if process.is_killed:
                self._processes.remove(process)
                self._killed = [*(killed for killed in self._killed if killed.process.is_alive()), process]
                self._ended_from_outside(process)

    def _answered(self, process: ProverProcess, reply: Reply) -> None:
        task, stopped, ms = process.task, process.stopped, (time.monotonic() - process.began) * 1000
        process.finished()
        if reply.spent:
            self._remove(process)
        if task is None or task.ticket != reply.ticket:
            return
        end: End = reply.end if reply.end in ("", "failed") and stopped != "interrupted" else stopped or reply.end
        answer = pickle.loads(reply.answer) if not end else None
        self._end(Outcome(task.ticket, end, answer, reply.detail, ms, process.worked))

    def _died(self, process: ProverProcess) -> None:
        task, ms = process.task, (time.monotonic() - process.began) * 1000
        if process.stopped:
            self._ended_from_outside(process)
        elif task is not None:
            self._try_again(task, "its process ended", ms)
        elif not process.is_ready:
            self._unstarted = 0 if any(other.is_ready for other in self._processes) else self._unstarted + 1
            if self._unstarted >= _STARTS and self._waiting:
                self._end(Outcome(self._waiting.popleft().ticket, "crashed", detail="no process could be started"))
        self._remove(process)

    def _ended_from_outside(self, process: ProverProcess) -> None:
        if process.task is not None:
            ms = (time.monotonic() - process.began) * 1000
            self._end(Outcome(process.task.ticket, process.stopped, ms=ms, worked=process.worked))

    def _try_again(self, task: Task, why: str, ms: float) -> None:
        if task.tries + 1 < _TRIES:
            self._waiting.appendleft(task._replace(tries=task.tries + 1))
        else:
            self._end(Outcome(task.ticket, "crashed", detail=why, ms=ms))

    def _remove(self, process: ProverProcess) -> None:
        self._processes.remove(process)
        process.task = None
        process.end()

    def _end(self, outcome: Outcome) -> None:
        with self._changed:
            self._open.discard(outcome.ticket)
            self._ended.append(outcome)
            self._changed.notify_all()
        with contextlib.suppress(Exception):  # whoever is told must not end the supervisor
            self._told()
