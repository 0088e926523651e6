"""One prover in the pool, as a state machine; it does nothing but what a message, the clock or a
task asks it to.

    state        may receive     ends by                     and then
    ---------------------------------------------------------------------------------------------------------------
    STARTING     Born, Ready     Ready                       IDLE
                                 `start` seconds             GONE: killed, and its launcher too
    IDLE         Born            an order                    WORKING
    WORKING      Born, Beat,     Reply                       IDLE, the task has ended
                 Reply           the task's budget, cancel   ASKED
                                 `silence` seconds without   GONE: killed; the task is tried again: it was stopped, or an order,
                                 a message of this turn            a sign of life or a reply was lost
    ASKED        Born, Beat,     Reply                       IDLE, the task has ended
                 Reply           `grace` seconds             TERMINATED: SIGTERM was sent
    TERMINATED   Born, Beat,     Reply                       GONE: it may die of the signal at any time; the task has ended
                 Reply           `grace` seconds             GONE: killed; the task has ended
    GONE         nothing

In every state the end of the connection leads to GONE, and so does a message that is not listed
(the process is killed then). A Beat of an earlier turn is late, and says nothing. WORKING that ends
so has its task tried again; in ASKED and TERMINATED the task has ended. So each wait has an end:
IDLE is waited for by nobody, all other states have a deadline, `due`.

A budget of seconds of the processor is over when a Beat says so. A budget of time is only over for a prover that sent a
message within two beats: one that was stopped has not used it.
"""

from __future__ import annotations

import enum
import pickle
from typing import NamedTuple, Protocol

import msgspec

from analysis.session.provers.processes.messages import Beat, Born, BreachError, Cancel, Order, Ready, Reply, ToPool, ToProver
from analysis.session.provers.processes.task_outcome import Budget, End, Outcome

_MISSED = 2.5  # beats


class Patience(msgspec.Struct, frozen=True):
    """Seconds. `start`: until a process is ready, with the launcher's own start; `beat`: from one
    sign of life to the next; `silence`: without one; `grace`: from asking to terminating, and from
    there to killing."""

    start: float = 60.0
    beat: float = 1.0
    silence: float = 6.0
    grace: float = 0.02


class Task(NamedTuple):
    """Something to do. Tasks of lower `rank` come first. `tries` counts processes that were lost on
    it."""

    ticket: int
    content: object
    budget: Budget
    rank: int = 0
    tries: int = 0


class Peer(Protocol):
    """The process, as far as a seat needs it. Nothing here waits or raises OSError."""

    pid: int | None

    def send(self, message: ToProver) -> None:
        """Says something."""

    def terminate(self) -> None:
        """Sends SIGTERM."""

    def kill(self) -> None:
        """Sends SIGKILL."""

    def blame_launcher(self) -> None:
        """Has the next process started by another launcher."""

    def close(self) -> None:
        """Gives up the connection."""


class State(enum.Enum):
    """See the module."""

    STARTING = enum.auto()
    IDLE = enum.auto()
    WORKING = enum.auto()
    ASKED = enum.auto()
    TERMINATED = enum.auto()
    GONE = enum.auto()


class Lost(NamedTuple):
    """A task whose process is gone, though nobody ended the task."""

    task: Task
    why: str
    ms: float


Over = Outcome | Lost | None
"""What became of a task, if something did."""

_AT_WORK = (State.WORKING, State.ASKED, State.TERMINATED)


class Seat:
    """A prover and what it does. All times are of one clock, in seconds."""

    def __init__(self, peer: Peer, patience: Patience, now: float) -> None:
        self.peer = peer
        self.state = State.STARTING
        self.task: Task | None = None
        self._patience = patience
        self._until = now + patience.start  # when the state ends, but for WORKING's silence
        self._turn = 0
        self._began = self._last_message = now
        self._stopped: End = ""  # why the task was ended from outside
        self._worked = 0.0

    @property
    def due(self) -> float | None:
        """When `tick` has something to do, if nothing is said before; None: never."""
        if self.state in (State.IDLE, State.GONE):
            return None
        if self.state is not State.WORKING:
            return self._until
        silence = self._last_message + self._patience.silence
        return silence if self._until > self._last_message + _MISSED * self._patience.beat else self._until

    def shift(self, seconds: float) -> None:
        """The pool itself was stopped for so long: it is nobody's fault."""
        self._until += seconds
        self._last_message += seconds
        self._began += seconds

    def give(self, task: Task, turn: int, now: float) -> None:
        """Gives an idle prover a task; its time begins. Raises what pickle raises if that cannot be
        sent: then nothing has changed."""
        assert self.state is State.IDLE
        payload = pickle.dumps(task.content, pickle.HIGHEST_PROTOCOL)
        self.peer.send(Order(turn, payload, task.budget.megabytes, self._patience.beat))
        self.state, self.task, self._turn = State.WORKING, task, turn
        self._began = self._last_message = now
        self._stopped, self._worked = "", 0.0
        self._until = now + task.budget.seconds

    def stop(self, why: End, now: float) -> None:
        """Ends the task that is worked at; nothing if it is being ended already."""
        if self.state is State.WORKING:
            self.state, self._stopped, self._until = State.ASKED, why, now + self._patience.grace
            self.peer.send(Cancel(self._turn))

    def receive(self, message: ToPool, now: float) -> Over:
        """Takes in a message. Raises BreachError if it may not come now: then the prover is to be
        given up (`lose`)."""
        match message:
            case Born(pid) | Ready(pid) if self.peer.pid not in (None, pid):
                raise BreachError("a process has sent the id of another one")
            case Born(pid):
                self.peer.pid = pid
            case Ready(pid) if self.state is State.STARTING:
                self.peer.pid = pid
                self.state = State.IDLE
            case Beat(turn, worked) if turn <= self._turn:
                if turn == self._turn and self.state in _AT_WORK:
                    self._last_message, self._worked = now, worked
                    if self.task is not None and worked > self.task.budget.processor:
                        self.stop("time", now)
            case Reply(turn) if turn == self._turn and self.state in _AT_WORK:
                return self._answered(message, now)
            case _:
                raise BreachError(f"{type(message).__name__} came when the prover was {self.state.name.lower()}")
        return None

    def tick(self, now: float) -> Over:
        """Takes the step that the deadline asks for, if the deadline has passed."""
        due = self.due
        if due is None or now < due:
            return None
        match self.state:
            case State.STARTING:
                self.peer.blame_launcher()
                return self.lose("it did not start", now)
            case State.WORKING if due == self._until:
                self.stop("time", now)
            case State.WORKING:
                return self.lose("its process gave no sign of life", now)
            case State.ASKED:
                self.state, self._until = State.TERMINATED, now + self._patience.grace
                self.peer.terminate()
            case State.TERMINATED:
                return self.lose("", now)
        return None

    def lose(self, why: str, now: float) -> Over:
        """Gives up the prover, which has ended or must end."""
        task, state = self.task, self.state
        self.task, self.state = None, State.GONE
        self.peer.kill()
        self.peer.close()
        if task is None:
            return None
        ms = (now - self._began) * 1000
        if state is State.WORKING:
            return Lost(task, why, ms)
        return Outcome(task.ticket, self._stopped, ms=ms, worked=self._worked)

    def _answered(self, reply: Reply, now: float) -> Over:
        task, stopped = self.task, self._stopped
        assert task is not None
        self.task = None
        if reply.spent or self.state is State.TERMINATED:
            self.lose("", now)
        else:
            self.state = State.IDLE
        end: End = reply.end if reply.end in ("", "failed") and stopped != "interrupted" else stopped or reply.end
        answer, detail = None, reply.detail
        if not end:
            try:
                answer = pickle.loads(reply.answer)
            except Exception as error:
                end, detail = "failed", f"{type(error).__name__}: {error}"
        return Outcome(task.ticket, end, answer, detail, (now - self._began) * 1000, self._worked)
