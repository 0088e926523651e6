"""What is lost between the pool and its processes is noticed, and every wait has an end: processes
and their launcher are stopped and killed, and the pool's own thread fails. The class: a wait for
a process that will never answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.prover_work import Factor, Slow, Spin, Weigh

from analysis.session.provers import Budget, Outcome, Pool
from analysis.session.provers.processes import prover_pool as pool_module
from analysis.session.provers.processes.desk import Desk
from analysis.session.provers.processes.seat import Patience, Task
from analysis.session.provers.processes.supervisor import Supervisor

WORK = "support.prover_work:do"
LONG = Budget(seconds=600.0)
PATIENCE = Patience(start=60.0, beat=0.1, silence=6.0)
IMPATIENT = Patience(start=5.0, beat=0.1, silence=6.0)  # with its launcher


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(WORK, jobs=2, patience=PATIENCE)
    yield pool
    pool.close()


def outcome(pool: Pool, ticket: int) -> Outcome:
    assert pool.wait(60)
    (ended,) = pool.take()
    assert ended.ticket == ticket
    return ended


def until(holds: Callable[[], object]) -> None:
    never = threading.Event()
    while not holds():
        never.wait(0.005)


def announced(file: Path) -> int:
    until(file.exists)
    return int(file.read_text())


def supervising() -> set[threading.Thread]:
    """The threads of pools: other tests of this process may have left some that are about to end."""
    return {thread for thread in threading.enumerate() if thread.name == "provers"}


def is_there(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_pool_can_be_closed_at_any_moment() -> None:
    """The supervisor is on its way from one outcome to its next wait: an order to end must not be
    lost there."""
    others, before = supervising(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(150):
            pool = Pool(WORK, jobs=1)
            outcome(pool, pool.submit(Factor(15), LONG))
            pool.close()
    finally:
        sys.setswitchinterval(before)
    assert supervising() <= others


def test_the_order_to_end_is_received_wherever_the_supervisor_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread stands between its look at what is ordered and its wait when the order to end
    comes."""
    others, stands, goes_on = supervising(), threading.Event(), threading.Event()
    deal = Desk.deal

    def stand(desk: Desk, now: float) -> None:
        deal(desk, now)
        if stands.is_set() is False:
            stands.set()
            goes_on.wait()

    monkeypatch.setattr(Desk, "deal", stand)
    supervisor = Supervisor(Pool(WORK, 1)._launcher, 1, PATIENCE, lambda _: None, lambda _, __: None)
    stands.wait()
    supervisor.close(0.0)  # gives the order, and does not wait
    goes_on.set()
    supervisor.close(60.0)
    assert supervising() <= others


def test_a_stopped_prover_is_noticed_and_its_task_is_done_by_another(pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    ticket = pool.submit(Slow(str(file), str(tmp_path / "go")), LONG)
    first = announced(file)
    os.kill(first, signal.SIGSTOP)
    (tmp_path / "go").touch()
    ended = outcome(pool, ticket)
    assert (ended.end, ended.answer) == ("", "went")
    until(lambda: not is_there(first))


def test_a_task_whose_provers_are_stopped_twice_is_given_up(pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    ticket = pool.submit(Spin(str(file)), LONG)
    for _ in range(2):
        pid = announced(file)
        file.unlink()
        os.kill(pid, signal.SIGSTOP)
        until(lambda pid=pid: not is_there(pid))
    ended = outcome(pool, ticket)
    assert (ended.end, ended.detail) == ("crashed", "its process gave no sign of life")


def test_time_that_a_prover_was_stopped_is_not_the_tasks(tmp_path: Path) -> None:
    pool = Pool(WORK, jobs=1, patience=PATIENCE)
    file = tmp_path / "pid"
    ticket = pool.submit(Slow(str(file), str(tmp_path / "go")), Budget(seconds=0.5))
    os.kill(announced(file), signal.SIGSTOP)
    (tmp_path / "go").touch()
    assert outcome(pool, ticket).answer == "went"
    pool.close()


def test_a_stopped_prover_does_not_hold_up_the_pool(pool: Pool, tmp_path: Path) -> None:
    """The stopped prover does not read the large order that was sent to it."""
    outcome(pool, pool.submit(Factor(15), LONG))
    (stopped,) = pool.pids()
    os.kill(stopped, signal.SIGSTOP)
    large = pool.submit(Weigh(b"x" * 3_000_000, 4_000_000), LONG)
    small = {pool.submit(Factor(number), LONG) for number in (21, 33, 91)}
    answers: list[Outcome] = []
    while pool.open:
        assert pool.wait(60)
        answers.extend(pool.take())
    assert {ended.ticket for ended in answers} == {large, *small}
    assert all(ended.end == "" for ended in answers)
    assert next(ended.answer for ended in answers if ended.ticket == large) == (3_000_000, b"y" * 4_000_000)
    until(lambda: not is_there(stopped))


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_launcher_that_is_stopped_or_killed_is_replaced(number: int) -> None:
    pool = Pool(WORK, jobs=1, patience=IMPATIENT)
    outcome(pool, pool.submit(Factor(15), LONG))
    first = pool.launcher_pid
    assert first is not None
    os.kill(pool.pids()[0], signal.SIGKILL)
    until(lambda: not pool.pids())
    os.kill(first, number)
    ticket = pool.submit(Factor(91), LONG)
    assert outcome(pool, ticket).answer == 7
    assert pool.launcher_pid != first
    until(lambda: not is_there(first))
    pool.close()


def test_closing_ends_stopped_processes(tmp_path: Path) -> None:
    pool = Pool(WORK, jobs=2)
    for number in (1, 2):
        file = tmp_path / str(number)
        pool.submit(Spin(str(file)), LONG)
        announced(file)
    pids = pool.pids()
    assert len(pids) == 2
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    pool.close()
    assert not any(map(is_there, pids))


def test_a_supervisor_that_fails_fails_the_tasks_and_the_next_one_is_new(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pool = Pool(WORK, jobs=1)
    submit = Desk.submit

    def fail(desk: Desk, task: Task) -> None:
        submit(desk, task)
        raise RuntimeError("a defect")

    with monkeypatch.context() as patch:
        patch.setattr(Desk, "submit", fail)
        ended = outcome(pool, pool.submit(Factor(15), LONG))
    assert (ended.end, ended.detail) == ("failed", "RuntimeError: a defect")
    assert "a defect" in caplog.text
    assert outcome(pool, pool.submit(Factor(15), LONG)).answer == 3
    pool.close()


def test_a_thread_that_waits_for_a_stuck_supervisor_is_notified(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, stuck = Pool(WORK, jobs=1), threading.Event()
    monkeypatch.setattr(pool_module, "_LOOK", 0.01)
    with monkeypatch.context() as patch:
        patch.setattr(Desk, "submit", lambda _desk, _task: stuck.wait())
        ended = outcome(pool, pool.submit(Factor(15), LONG))
        assert (ended.end, ended.detail) == ("failed", "the thread that watches the provers does not turn")
    assert outcome(pool, pool.submit(Factor(15), LONG)).answer == 3
    stuck.set()
    pool.close()


def test_tasks_under_random_signals_each_end_once() -> None:
    """A short run of `benchmarks.struck`; its docstring says what it checks."""
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.struck", "--tasks", "150", "--every", "4"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "\n0 wrong\n" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == 0
