"""The tasks of a pool, and the provers that they are dealt to. Nothing here waits, reads a clock or
starts a thread: the owner of the desk (`supervisor`) says what has happened and when, so that tests can
say it as well, with messages that are lost.

A task is waiting, or with exactly one prover, or has ended; `ended` is called once for each. `seat`
says what a prover may do, and until when. A task whose prover is lost is tried once more, then it
is `crashed`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from analysis.session.provers.processes.messages import BreachError, ToPool
from analysis.session.provers.processes.seat import Lost, Over, Patience, Peer, Seat, State, Task
from analysis.session.provers.processes.task_outcome import Outcome

_TRIES = 2
_STARTS = 4  # in vain, one after the other, until what waits is given up

AnyPeer = TypeVar("AnyPeer", bound=Peer)


class Desk(Generic[AnyPeer]):
    """At most `jobs` provers. `start` has one started, and raises OSError if that is not
    possible."""

    def __init__(self, start: Callable[[], AnyPeer], jobs: int, patience: Patience, ended: Callable[[Outcome], None]) -> None:
        self._start = start
        self._jobs = jobs
        self._patience = patience
        self._ended = ended
        self._waiting: deque[Task] = deque()
        self._seats: dict[AnyPeer, Seat] = {}
        self._turn = 0
        self._unstarted = 0  # provers that were lost before they were ready, since one was

    @property
    def peers(self) -> list[AnyPeer]:
        """The provers there are."""
        return list(self._seats)

    @property
    def idle(self) -> list[AnyPeer]:
        """Those that have nothing to do."""
        return [peer for peer, seat in self._seats.items() if seat.state is State.IDLE]

    @property
    def due(self) -> float | None:
        """When to `tick` at the latest; None: nothing is waited for."""
        return min((due for seat in self._seats.values() if (due := seat.due) is not None), default=None)

    def submit(self, task: Task) -> None:
        """A task to do, before those that wait and have a higher rank."""
        before = sum(other.rank <= task.rank for other in self._waiting)
        self._waiting.insert(before, task)

    def cancel(self, ticket: int, now: float) -> None:
        """Ends a task, if it has not ended."""
        for seat in self._seats.values():
            if seat.task is not None and seat.task.ticket == ticket:
                seat.stop("interrupted", now)
        for task in [task for task in self._waiting if task.ticket == ticket]:
            self._waiting.remove(task)
            self._ended(Outcome(ticket, "interrupted"))

    def deal(self, now: float) -> None:
        """Gives waiting tasks to idle provers, and has provers started while there may be more."""
        for seat in self._seats.values():
            while self._waiting and seat.state is State.IDLE:
                task = self._waiting.popleft()
                self._turn += 1
                try:
                    seat.give(task, self._turn, now)
                except Exception as error:  # it cannot be pickled
                    self._ended(Outcome(task.ticket, "failed", detail=f"{type(error).__name__}: {error}"))
        starting = sum(seat.state is State.STARTING for seat in self._seats.values())
        while len(self._waiting) > starting and len(self._seats) < self._jobs:
            try:
                peer = self._start()
            except OSError as error:
                if self._seats:
                    break  # they will free something, or be lost at a deadline: then this is tried again
                self._not_started(str(error))
            else:
                self._seats[peer] = Seat(peer, self._patience, now)
                starting += 1

    def receive(self, peer: AnyPeer, messages: list[ToPool], now: float) -> None:
        """A prover has said this."""
        for message in messages:
            seat = self._seats.get(peer)
            if seat is None:
                return
            try:
                over = seat.receive(message, now)
            except BreachError as breach:
                self.lose(peer, str(breach), now)
                return
            if seat.state is State.IDLE:
                self._unstarted = 0
            self._after(peer, seat, over)

    def lose(self, peer: AnyPeer, why: str, now: float) -> None:
        """A prover's connection has ended, or it does not keep to the protocol."""
        seat = self._seats.get(peer)
        if seat is not None:
            was_starting = seat.state is State.STARTING
            self._after(peer, seat, seat.lose(why, now), was_starting=was_starting)

    def tick(self, now: float) -> None:
        """Acts on each deadline that has passed."""
        for peer, seat in list(self._seats.items()):
            was_starting = seat.state is State.STARTING
            self._after(peer, seat, seat.tick(now), was_starting=was_starting)

    def shift(self, seconds: float) -> None:
        """The owner was stopped for so long: no deadline counts that time."""
        for seat in self._seats.values():
            seat.shift(seconds)

    def _after(self, peer: AnyPeer, seat: Seat, over: Over, *, was_starting: bool = False) -> None:
        if isinstance(over, Lost):
            task = over.task
            if task.tries + 1 < _TRIES:
                self._waiting.appendleft(task._replace(tries=task.tries + 1))
            else:
                self._ended(Outcome(task.ticket, "crashed", detail=over.why, ms=over.ms))
        elif over is not None:
            self._ended(over)
        if seat.state is State.GONE:
            del self._seats[peer]
            if was_starting:
                self._not_started("it ended before it was ready")

    def _not_started(self, why: str) -> None:
        self._unstarted = 0 if any(s.state is not State.STARTING for s in self._seats.values()) else self._unstarted + 1
        if self._unstarted >= _STARTS:
            self._unstarted = 0
            while self._waiting:
                self._ended(Outcome(self._waiting.popleft().ticket, "crashed", detail=f"no process could be started: {why}"))
