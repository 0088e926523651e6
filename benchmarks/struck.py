"""Tasks in a pool of provers while provers and their launcher are killed, terminated, stopped and
continued at random, and tasks are cancelled: each must have exactly one outcome, and the right
answer if it has one.

    python -m benchmarks.struck [--tasks N] [--seed N] [--every N]

Tasks compute a little, send and return up to a megabyte, raise an error, or use up their time. Signals go to
any process of the pool, every `--every` outcomes on average: SIGKILL, SIGTERM, SIGSTOP (a part is
continued later) and SIGCONT. A task on which two processes are lost ends as `crashed`, as
documented, and is asked again. The command fails if an outcome is missing, twice there, wrong, or
of a kind that nobody caused, if nothing ends for two minutes, or if a process is left at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from analysis.session.provers import Budget, Outcome, Pool
from analysis.session.provers.processes.seat import Patience

_JOBS = 3
_AHEAD = 12  # tasks that are open at once
_STUCK = 120.0  # seconds without an outcome
_LOOK = 1.0  # seconds
_PATIENCE = Patience(start=10.0, beat=0.05, silence=0.5)
_CANCELLED = 0.05  # of the tasks
_CONTINUED = 0.5  # of the stopped processes
_LAUNCHER = 0.02  # of the signals go there
_GONE = 5.0  # seconds that the system has to forget killed processes


class Sum(NamedTuple):
    """The sum of the numbers below `number`, and so many bytes to be sent there and back."""

    number: int
    ballast: bytes


class Fail(NamedTuple):
    """Raises."""


class Endless(NamedTuple):
    """Uses up its time."""


Work = Sum | Fail | Endless


def work(task: Work) -> tuple[int, bytes]:
    """What a prover does."""
    match task:
        case Sum(number, ballast):
            return sum(range(number)), ballast
        case Fail():
            raise ValueError("as it should")
        case Endless():
            while True:
                pass


def some_task(chance: random.Random) -> tuple[Work, Budget]:
    """A task and its budget."""
    kind = chance.random()
    if kind < 0.02:
        return Fail(), Budget(seconds=600.0)
    if kind < 0.03:
        return Endless(), Budget(seconds=0.05)
    size = 1 << 20 if kind < 0.10 else chance.randrange(100)
    return Sum(chance.randrange(200_000), chance.randbytes(size)), Budget(seconds=600.0)


class Struck(NamedTuple):
    """What came of it: tasks that ended, outcomes by their end, signals by name, what was wrong,
    and seconds."""

    tasks: int
    ends: Counter[str]
    signals: Counter[str]
    wrong: list[str]
    seconds: float


class _Blows:
    """Signals to the processes of a pool."""

    def __init__(self, pool: Pool, chance: random.Random) -> None:
        self._pool, self._chance = pool, chance
        self._stopped: list[int] = []
        self.count: Counter[str] = Counter()

    def strike(self) -> None:
        """Sends a signal to some process."""
        launcher = self._pool.launcher_pid
        pids = self._pool.pids()
        if launcher is not None and self._chance.random() < _LAUNCHER:
            pids = [launcher]
        if not pids:
            return
        number = self._chance.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGSTOP, signal.SIGCONT))
        pid = self._chance.choice(pids)
        if number is signal.SIGCONT and self._stopped:
            pid = self._stopped.pop()
        if _group_of(pid) != os.getpgrp():
            return  # it has ended, and its id may be another's
        os.kill(pid, number)
        self.count[number.name + (" of the launcher" if pid == launcher else "")] += 1
        if number is signal.SIGSTOP and self._chance.random() < _CONTINUED:
            self._stopped.append(pid)


def strike(tasks: int, seed: int, every: float) -> Struck:
    """Has so many tasks done. This process must lead a process group of its own."""
    chance = random.Random(seed)
    pool = Pool("benchmarks.struck:work", _JOBS, patience=_PATIENCE)
    blows = _Blows(pool, chance)
    asked: dict[int, Work] = {}
    cancelled: set[int] = set()
    ended: set[int] = set()
    ends: Counter[str] = Counter()
    wrong: list[str] = []
    again: list[tuple[Work, Budget]] = []
    done, begun, began = 0, 0, time.monotonic()
    last = began
    while done < tasks and time.monotonic() - last < _STUCK:
        while len(asked) < _AHEAD and (again or begun < tasks):
            if again:
                task, budget = again.pop()
            else:
                task, budget = some_task(chance)
                begun += 1
            ticket = pool.submit(task, budget)
            asked[ticket] = task
            if chance.random() < _CANCELLED:
                victim = chance.choice(list(asked))
                cancelled.add(victim)
                pool.cancel(victim)
        pool.wait(_LOOK)
        for outcome in pool.take():
            last = time.monotonic()
            ends[outcome.end or "answer"] += 1
            if outcome.ticket in ended:
                wrong.append(f"task {outcome.ticket} ended twice")
                continue
            ended.add(outcome.ticket)
            task = asked.pop(outcome.ticket)
            fault = _fault(task, outcome, outcome.ticket in cancelled)
            if fault is not None:
                wrong.append(f"task {outcome.ticket}: {fault}")
            if outcome.end == "crashed":
                again.append((task, Budget(seconds=0.05 if isinstance(task, Endless) else 600.0)))
            else:
                done += 1
            if chance.random() < 1 / every:
                blows.strike()
    if done < tasks:
        wrong.append(f"nothing has ended for {_STUCK:g} s, with {len(asked)} tasks open")
    pool.close()
    wrong.extend(f"process {pid} was left" for pid in _left(pool))
    return Struck(done, ends, blows.count, wrong, time.monotonic() - began)


def _fault(task: Work, outcome: Outcome, was_cancelled: bool) -> str | None:
    """What is wrong with an outcome."""
    match outcome.end, task:
        case "", Sum(number, ballast) if outcome.answer == (number * (number - 1) // 2, ballast):
            return None
        case "failed", Fail() if outcome.detail == "ValueError: as it should":
            return None
        case ("time", Endless()) | ("crashed", _):
            return None
        case "interrupted", _ if was_cancelled:
            return None
    return f"{type(task).__name__} ended as {outcome.end or 'a wrong answer'} {outcome.detail}"


def _group_of(pid: int) -> int | None:
    """The process group of a process that has not ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as file:
        state, _, group = file.read().rpartition(")")[2].split()[:3]
        return None if state in "ZX" else int(group)
    return None


def _left(pool: Pool) -> list[int]:
    """The processes of our group that should be gone: all but this one and a launcher."""
    until = time.monotonic() + _GONE
    while True:
        keep = (os.getpid(), pool.launcher_pid)
        found = [int(name) for name in os.listdir("/proc") if name.isdigit() and _group_of(int(name)) == os.getpgrp()]
        left = [pid for pid in found if pid not in keep]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.struck", description="Tasks while provers are struck.")
    parser.add_argument("--tasks", type=int, default=20_000, help="how many (default: 20000)")
    parser.add_argument("--seed", type=int, default=1, help="of the tasks and the signals (default: 1)")
    parser.add_argument("--every", type=float, default=4.0, help="outcomes between two signals, on average (default: 4)")
    given = parser.parse_args(arguments)
    os.setpgid(0, 0)
    found = strike(given.tasks, given.seed, given.every)
    print(f"{found.tasks} tasks in {found.seconds:.0f} s")
    print("outcomes: " + ", ".join(f"{count} {end}" for end, count in sorted(found.ends.items())))
    print("signals: " + ", ".join(f"{count} {name}" for name, count in sorted(found.signals.items())))
    for line in found.wrong[:20]:
        print(f"WRONG: {line}")
    print(f"{len(found.wrong)} wrong")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    from benchmarks import struck  # provers know the tasks by this name

    sys.exit(struck.main())
