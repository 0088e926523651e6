"""The pool of prover processes: what a task does to its process concerns that task alone."""

from __future__ import annotations

import os
import pickle
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support.prover_work import Deaf, Die, DieOnce, Eat, Factor, Raise, Solve, Spin

from analysis.session.provers import Budget, Outcome, Pool
from analysis.session.provers.processes import prover_process
from analysis.session.provers.processes.launcher import launcher_of
from analysis.session.provers.processes.messages import Beat, Born, Cancel, Order, Ready, ToPool
from analysis.session.provers.processes.process import ProverProcess

WORK = "support.prover_work:do"
LONG = Budget(seconds=600.0)  # nothing here takes so long, unless it is not ended
HARD = 1_000_000_016_000_000_063  # two primes of 30 bits each


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool(WORK, jobs=2)
    yield pool
    pool.close()
    assert pool.pids() == []


def outcome(pool: Pool, ticket: int) -> Outcome:
    """The outcome of the only task that is open."""
    assert pool.wait(60)
    (ended,) = pool.take()
    assert ended.ticket == ticket
    return ended


def until(holds: Callable[[], bool]) -> None:
    """Waits for something that another process does, however long that takes."""
    never = threading.Event()
    while not holds():
        never.wait(0.005)


def is_there(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def announced(file: Path) -> int:
    """The id of the process that does the task, once it does."""
    until(file.exists)
    return int(file.read_text())


def test_answers_are_those_of_the_work(pool: Pool) -> None:
    numbers = [91, 97, 8, 9, 10403, 2, 1_000_003]
    tickets = {pool.submit(Factor(number), LONG): number for number in numbers}
    found: dict[int, object] = {}
    while pool.open:
        assert pool.wait(60)
        for ended in pool.take():
            assert ended.end == ""
            found[tickets[ended.ticket]] = ended.answer
    assert found == {91: 7, 97: 97, 8: 2, 9: 3, 10403: 101, 2: 2, 1_000_003: 1_000_003}


def test_nothing_is_started_before_there_is_a_task() -> None:
    threads = threading.active_count()
    pool = Pool(WORK, jobs=2)
    assert pool.pids() == []
    assert pool.wait(0)  # nothing is open
    assert pool.take() == []
    pool.close()
    assert threading.active_count() == threads


def test_a_process_is_kept_for_the_next_task(pool: Pool) -> None:
    outcome(pool, pool.submit(Factor(15), LONG))
    pids = pool.pids()
    assert len(pids) == 1
    outcome(pool, pool.submit(Factor(21), LONG))
    assert pool.pids() == pids


def test_an_exception_is_a_value_and_ends_no_process(pool: Pool) -> None:
    ended = outcome(pool, pool.submit(Raise("what is wrong"), LONG))
    assert (ended.end, ended.detail) == ("failed", "ValueError: what is wrong")
    pids = pool.pids()
    assert outcome(pool, pool.submit(Factor(15), LONG)).answer == 3
    assert pool.pids() == pids


def test_a_task_whose_process_dies_is_tried_once_more(pool: Pool, tmp_path: Path) -> None:
    ended = outcome(pool, pool.submit(DieOnce(str(tmp_path / "died")), LONG))
    assert (ended.end, ended.answer) == ("", "the second time")


def test_a_task_on_which_two_processes_die_is_given_up_and_no_other(pool: Pool) -> None:
    tickets = [pool.submit(Factor(91), LONG), pool.submit(Die(), LONG), pool.submit(Factor(77), LONG)]
    ends: dict[int, str] = {}
    while pool.open:
        assert pool.wait(60)
        ends.update((ended.ticket, ended.end) for ended in pool.take())
    assert [ends[ticket] for ticket in tickets] == ["", "crashed", ""]


def test_a_task_out_of_time_ends_and_the_next_is_done(pool: Pool, tmp_path: Path) -> None:
    assert outcome(pool, pool.submit(Spin(str(tmp_path / "pid")), Budget(seconds=0.05))).end == "time"
    assert outcome(pool, pool.submit(Deaf(str(tmp_path / "pid")), Budget(seconds=0.05))).end == "time"
    assert outcome(pool, pool.submit(Factor(15), LONG)).answer == 3


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is bounded on Linux only")
def test_a_task_that_eats_memory_ends_by_its_budget(pool: Pool) -> None:
    assert outcome(pool, pool.submit(Eat(), Budget(seconds=600.0, megabytes=100))).end == "memory"
    assert outcome(pool, pool.submit(Factor(15), Budget(seconds=600.0, megabytes=100))).answer == 3


def test_a_cancelled_task_in_python_leaves_its_process_for_the_next(pool: Pool, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    ticket = pool.submit(Spin(str(file)), LONG)
    announced(file)
    pool.cancel(ticket)
    assert outcome(pool, ticket).end == "interrupted"
    assert outcome(pool, pool.submit(Factor(15), LONG)).answer == 3


@pytest.mark.parametrize("kind", ["deaf", "solver"])
def test_a_process_that_does_not_react_is_ended(pool: Pool, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "pid"
    ticket = pool.submit(Deaf(str(file)) if kind == "deaf" else Solve(HARD, 30, str(file)), LONG)
    pid = announced(file)
    pool.cancel(ticket)
    assert outcome(pool, ticket).end == "interrupted"
    until(lambda: not is_there(pid) or kind == "solver")  # z3 may have come to its end just then
    assert outcome(pool, pool.submit(Factor(15), LONG)).answer == 3


def test_the_solver_itself_answers(pool: Pool, tmp_path: Path) -> None:
    assert outcome(pool, pool.submit(Solve(143, 6, str(tmp_path / "pid")), LONG)).answer == (11, 13)


@pytest.mark.parametrize("kind", ["spin", "solver"])
def test_a_process_says_how_long_a_task_had_the_processor_before_it_gives_up(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "pid"
    process = ProverProcess(launcher_of(WORK))
    received: list[ToPool] = []

    def has_said(kind: type, times: int = 1) -> bool:
        received.extend(process.receive())
        return sum(isinstance(message, kind) for message in received) >= times

    until(lambda: has_said(Ready) and has_said(Born))
    assert len({message.pid for message in received if isinstance(message, Born | Ready)}) == 1
    process.pid = next(message.pid for message in received if isinstance(message, Born))
    task = Spin(str(file)) if kind == "spin" else Solve(HARD, 30, str(file))
    process.send(Order(7, pickle.dumps(task), 1_000, beat=600.0))
    assert announced(file) == process.pid
    until(lambda: has_said(Beat))  # it has the order
    process.send(Cancel(7))
    until(lambda: has_said(Beat, 2))  # though z3 does not return
    worked = received[-1] if isinstance(received[-1], Beat) else received[-2]
    assert isinstance(worked, Beat)
    assert worked.turn == 7
    assert worked.worked > 0
    process.kill()
    process.join(time.monotonic() + 60)
    process.close()
    assert not is_there(process.pid)


def test_a_task_that_waits_can_be_cancelled_and_the_others_go_on(tmp_path: Path) -> None:
    pool = Pool(WORK, jobs=1)
    file = tmp_path / "pid"
    running = pool.submit(Spin(str(file)), LONG)
    pid = announced(file)
    waiting, last = pool.submit(Factor(15), LONG), pool.submit(Factor(91), LONG)
    pool.cancel(waiting)
    assert outcome(pool, waiting).end == "interrupted"
    assert is_there(pid)
    pool.cancel(running)
    ended: dict[int, Outcome] = {}
    while len(ended) < 2:  # the last task may have ended before this process looks
        assert pool.wait(60)
        ended |= {one.ticket: one for one in pool.take()}
    assert ended[running].end == "interrupted"
    assert ended[last].answer == 7
    pool.close()


def test_cancelling_what_has_ended_does_nothing(pool: Pool) -> None:
    ticket = pool.submit(Factor(15), LONG)
    assert outcome(pool, ticket).answer == 3
    pool.cancel(ticket)
    assert pool.open == 0
    assert outcome(pool, pool.submit(Factor(35), LONG)).answer == 5


def test_killing_provers_at_random_changes_no_answer(pool: Pool) -> None:
    chance = random.Random(4)
    killed: set[int] = set()
    for _ in range(8):  # one in each round: a task that is struck twice is given up
        numbers = [chance.randrange(2, 10**6) for _ in range(12)]
        tickets = {pool.submit(Factor(number), LONG): number for number in numbers}
        found: dict[int, Outcome] = {}
        victim = chance.randrange(2)
        after: int | None = chance.randrange(10)
        while pool.open:
            assert pool.wait(60)
            found.update((tickets[ended.ticket], ended) for ended in pool.take())
            pids = pool.pids()
            if after is not None and len(found) >= after and pids:
                after = None
                pid = pids[min(victim, len(pids) - 1)]
                killed.add(pid)
                with suppress(ProcessLookupError):  # killed in the round before when it was idle, and nobody has noticed
                    os.kill(pid, signal.SIGKILL)
        assert all(ended.end == "" and number % ended.answer == 0 for number, ended in found.items())
        assert found.keys() == set(numbers)
    assert len(killed) > 4


def test_closing_ends_what_runs_and_the_pool_can_be_used_again(tmp_path: Path) -> None:
    pool = Pool(WORK, jobs=2)
    files = [tmp_path / "spins", tmp_path / "hears nothing"]
    pool.submit(Spin(str(files[0])), LONG)
    pool.submit(Deaf(str(files[1])), LONG)
    pids = [announced(file) for file in files]
    pool.close()
    assert not any(map(is_there, pids))
    assert pool.open == 0
    assert outcome(pool, pool.submit(Factor(15), LONG)).answer == 3
    pool.close()


PARENT = """
import sys
sys.path[:] = {path!r}
from analysis.session.provers import Budget, Pool
from support.prover_work import Deaf, Solve, Spin
if __name__ == "__main__":
    pool = Pool({work!r}, 3)
    for task in (Deaf({files[0]!r}), Spin({files[1]!r}), Solve({hard}, 30, {files[2]!r})):
        pool.submit(task, Budget(seconds=600.0))
    pool.wait()
"""


def test_no_prover_outlives_its_owner(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("deaf", "spin", "solve")]
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(path=sys.path, work=WORK, files=list(map(str, files)), hard=HARD * 1_000_000_007))
    with subprocess.Popen([sys.executable, str(script)]) as parent:
        pids = [announced(file) for file in files]
        parent.kill()
    until(lambda: not any(map(is_there, pids)))


def test_the_current_folder_is_not_where_provers_find_their_modules(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    for name in ("multiprocessing", "z3", "socket", "pickle", "analysis"):
        (tmp_path / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\n")
    script = tmp_path / "elsewhere" / "parent.py"
    script.parent.mkdir()
    script.write_text(
        f"import sys\nsys.path[:] = {sys.path!r}\n"
        "from analysis.session.provers import Budget, Pool\nfrom support.prover_work import Factor\n"
        "if __name__ == '__main__':\n"
        f"    pool = Pool({WORK!r}, 1)\n    pool.submit(Factor(91), Budget())\n    pool.wait()\n"
        "    print(pool.take()[0].answer)\n    pool.close()\n"
    )
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("7\n", "")
    assert not mark.exists()


def test_a_prover_prepares_for_what_comes_while_nothing_is_ordered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover_process, "_REST", 0.0)
    orders, order, prepared = queue.SimpleQueue[Order](), Order(1, b"", 1, 1.0), list[int]()

    def prepare() -> bool:
        prepared.append(len(prepared))
        if len(prepared) == 2:
            orders.put(order)
        return True

    assert prover_process._next(orders, prepare) is order
    assert prepared == [0, 1]
    orders.put(order)
    assert prover_process._next(orders, prepare) is order
    assert prepared == [0, 1]  # an order comes first


def test_who_answers_questions_prepares_and_others_need_not() -> None:
    assert prover_process.preparation_of("support.prover_work:do")() is False
    prepare = prover_process.preparation_of("analysis.session.provers.asking.answering:answer")
    while prepare():
        pass
    assert not prepare()
