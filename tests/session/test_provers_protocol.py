"""The protocol between the pool and its provers, played without processes: messages are lost, come
late or come twice, processes stop, die, lie, or can't be started. Whatever happens, each task ends
once, no wait is without an end, and an answer is that of its task. The class: a message that is
lost between pool and prover and that somebody waits for."""

from __future__ import annotations

import pickle
from collections import deque

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from analysis.session.provers.processes.desk import Desk
from analysis.session.provers.processes.messages import Beat, Born, BreachError, Cancel, Order, Ready, Reply, ToPool, ToProver
from analysis.session.provers.processes.seat import Lost, Patience, Seat, State, Task
from analysis.session.provers.processes.task_outcome import Budget, Outcome

PATIENCE = Patience(start=30.0, beat=1.0, silence=5.0, grace=1.0)


class Process:
    """A prover that answers a task with the task, on a line that may lose messages."""

    def __init__(self, pid: int) -> None:
        self.pid: int | None = None
        self.number = pid
        self.to_prover: deque[ToProver] = deque()
        self.to_pool: deque[ToPool] = deque([Born(pid), Ready(pid)])
        self.order: Order | None = None
        self.stopped = False
        self.dead = False
        self.closed = False
        self.blamed = False

    def send(self, message: ToProver) -> None:
        self.to_prover.append(message)

    def terminate(self) -> None:
        self.dead = self.dead or not self.stopped

    def kill(self) -> None:
        self.dead = True

    def blame_launcher(self) -> None:
        self.blamed = True

    def close(self) -> None:
        self.closed = True

    def live(self) -> None:
        """Carries out the order, for a moment."""
        if self.dead or self.stopped:
            return
        while self.to_prover:
            message = self.to_prover.popleft()
            if isinstance(message, Order):
                self.order = message
                self.to_pool.append(Beat(message.turn, 0.0))
            elif self.order is not None and message.turn == self.order.turn:
                self.to_pool.append(Reply(message.turn, "interrupted"))
                self.order = None
        if self.order is not None:
            self.to_pool.append(Beat(self.order.turn, 0.5))

    def finish(self) -> None:
        """Comes to the end of its task."""
        if self.order is not None and not (self.dead or self.stopped):
            self.to_pool.append(Reply(self.order.turn, "", pickle.dumps(("answer", pickle.loads(self.order.payload)))))
            self.order = None


class Provers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.asked: dict[int, float] = {}
        self.cancelled: set[int] = set()
        self.outcomes: dict[int, Outcome] = {}
        self.processes: list[Process] = []
        self.no_start = False
        self.desk: Desk[Process] = Desk(self.start, 2, PATIENCE, self.ended)

    def start(self) -> Process:
        if self.no_start:
            raise OSError("too many open files")
        self.processes.append(Process(len(self.processes) + 100))
        return self.processes[-1]

    def ended(self, outcome: Outcome) -> None:
        assert outcome.ticket in self.asked
        assert outcome.ticket not in self.outcomes, "a task ends once"
        self.outcomes[outcome.ticket] = outcome
        match outcome.end:
            case "":
                assert outcome.answer == ("answer", outcome.ticket)
            case "interrupted":
                assert outcome.ticket in self.cancelled
            case "time" | "crashed":
                pass
            case other:
                raise AssertionError(other)

    def some(self, number: int) -> Process:
        peers = self.desk.peers
        return peers[number % len(peers)]

    @rule(seconds=st.sampled_from([0.5, 3.0, 20.0]), rank=st.integers(0, 2))
    def submit(self, seconds: float, rank: int) -> None:
        ticket = len(self.asked) + 1
        self.asked[ticket] = self.now
        self.desk.submit(Task(ticket, ticket, Budget(seconds=seconds), rank))
        self.desk.deal(self.now)

    @precondition(lambda self: self.asked)
    @rule(number=st.integers(0, 50))
    def cancel(self, number: int) -> None:
        ticket = number % len(self.asked) + 1
        if ticket not in self.outcomes:
            self.cancelled.add(ticket)
        self.desk.cancel(ticket, self.now)

    # Eighths of a second: a float holds each sum of them exactly, so deadlines compare exactly.
    @rule(seconds=st.sampled_from([0.125, 1.0, 2.0, 6.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.step()

    def step(self) -> None:
        """What the supervisor does in one round."""
        for process in self.desk.peers:
            process.live()
            messages = list(process.to_pool)
            process.to_pool.clear()
            self.desk.receive(process, messages, self.now)
            if process.dead:
                self.desk.lose(process, "its process ended", self.now)
        self.desk.tick(self.now)
        self.desk.deal(self.now)

    @precondition(lambda self: self.desk.peers)
    @rule(number=st.integers(0, 5))
    def come_to_the_end(self, number: int) -> None:
        process = self.some(number)
        process.live()
        process.finish()

    @precondition(lambda self: self.desk.peers)
    @rule(number=st.integers(0, 5), to_pool=st.booleans(), first=st.booleans())
    def lose_a_message(self, number: int, to_pool: bool, first: bool) -> None:
        process = self.some(number)
        line: deque[ToPool] | deque[ToProver] = process.to_pool if to_pool else process.to_prover
        if line:
            line.popleft() if first else line.pop()

    @precondition(lambda self: self.desk.peers)
    @rule(number=st.integers(0, 5))
    def repeat_a_message(self, number: int) -> None:
        process = self.some(number)
        if process.to_pool:
            process.to_pool.append(process.to_pool[-1])

    @precondition(lambda self: self.desk.peers)
    @rule(number=st.integers(0, 5), turn=st.integers(0, 40))
    def lie(self, number: int, turn: int) -> None:
        process = self.some(number)
        if process.order is None or process.order.turn != turn:
            process.to_pool.append(Reply(turn + 1000, "", pickle.dumps("wrong")))

    @precondition(lambda self: self.desk.peers)
    @rule(number=st.integers(0, 5), what=st.sampled_from(["stop", "continue", "kill", "terminate"]))
    def strike(self, number: int, what: str) -> None:
        process = self.some(number)
        match what:
            case "stop":
                process.stopped = True
            case "continue":
                process.stopped = False
            case "kill":
                process.dead = True
            case "terminate":
                process.terminate()

    @rule(fails=st.booleans())
    def starting_fails(self, fails: bool) -> None:
        self.no_start = fails

    @rule(seconds=st.sampled_from([2.0, 60.0]))
    def the_pool_itself_is_stopped(self, seconds: float) -> None:
        self.now += seconds
        self.desk.shift(seconds)

    @invariant()
    def there_are_not_too_many(self) -> None:
        assert len(self.desk.peers) <= 2

    @invariant()
    def no_wait_is_without_an_end(self) -> None:
        """What is open is waited for with a deadline, or the next `deal` has somebody to give it
        to."""
        self.desk.deal(self.now)
        if len(self.outcomes) < len(self.asked):
            due = self.desk.due
            assert due is not None
            assert due - self.now <= max(PATIENCE.start, PATIENCE.silence + 20.0)

    def teardown(self) -> None:
        """Nothing more happens but that time passes, from deadline to deadline: all tasks end, and
        who is gone was killed."""
        self.no_start = False
        for _ in range(10_000):
            if len(self.outcomes) == len(self.asked):
                break
            due = self.desk.due
            assert due is not None
            self.now = max(self.now, due)
            self.step()
        assert self.outcomes.keys() == self.asked.keys()
        for process in self.processes:
            if process not in self.desk.peers:
                assert process.dead
                assert process.closed


Provers.TestCase.settings = settings(deadline=None, max_examples=150, stateful_step_count=60)
TestProvers = Provers.TestCase


def seat() -> tuple[Seat, Process]:
    process = Process(100)
    return Seat(process, PATIENCE, 0.0), process


def working(seconds: float = 20.0) -> tuple[Seat, Process]:
    found, process = seat()
    found.receive(Born(100), 1.0)
    found.receive(Ready(100), 1.0)
    found.give(Task(7, "content", Budget(seconds=seconds)), 1, 1.0)
    return found, process


def test_a_lost_order_is_noticed_by_the_silence() -> None:
    prover, process = working()
    process.to_prover.clear()
    assert prover.due == 1.0 + PATIENCE.silence
    over = prover.tick(6.0)
    assert isinstance(over, Lost)
    assert over.task.ticket == 7
    assert process.dead
    assert prover.state is State.GONE


def test_signs_of_life_keep_a_prover() -> None:
    prover, process = working()
    for second in range(2, 20):
        prover.receive(Beat(1, 0.1), float(second))
        assert prover.tick(float(second)) is None
    assert prover.due == 21.0
    prover.tick(21.0)
    assert prover.state is State.ASKED
    assert isinstance(process.to_prover[-1], Cancel)


def test_a_stopped_prover_does_not_use_up_its_time() -> None:
    prover, _ = working(seconds=3.0)
    assert prover.tick(4.0) is None
    assert prover.state is State.WORKING
    assert isinstance(prover.tick(6.0), Lost)


def test_an_answer_after_the_signal_counts_and_its_process_does_not_go_on() -> None:
    prover, process = working()
    prover.stop("time", 2.0)
    prover.tick(3.0)
    assert prover.state is State.TERMINATED
    over = prover.receive(Reply(1, "", pickle.dumps("answer")), 3.5)
    assert isinstance(over, Outcome)
    assert (over.end, over.answer) == ("", "answer")
    assert prover.state is State.GONE
    assert process.dead


def test_an_answer_to_another_order_is_no_answer() -> None:
    prover, _ = working()
    with pytest.raises(BreachError):
        prover.receive(Reply(2, "", pickle.dumps("wrong")), 2.0)
    assert isinstance(prover.lose("it does not keep to the protocol", 2.0), Lost)


def test_an_answer_that_cannot_be_read_is_a_failure() -> None:
    prover, _ = working()
    over = prover.receive(Reply(1, "", b"no pickle"), 2.0)
    assert isinstance(over, Outcome)
    assert over.end == "failed"
    assert prover.state is State.IDLE


def test_what_does_not_start_is_blamed_on_its_launcher() -> None:
    prover, process = seat()
    prover.receive(Born(100), 1.0)
    assert prover.tick(29.0) is None
    prover.tick(30.0)
    assert prover.state is State.GONE
    assert process.blamed
    assert process.dead
