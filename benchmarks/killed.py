"""The corpus decided in prover processes, once undisturbed and once while processes are killed at random: no verdict may differ.

    python -m benchmarks.killed --corpus FOLDER [--timeout S] [--every S] [--sample N] [--seed N]

Each program (see `benchmarks.corpus`) is a task of `analysis.session.provers.Pool`. `--every` is the mean time between two kills.
A task whose process is killed is tried once more by the pool; if that one is killed, too, it ends as `crashed` and is asked
again. Programs that are unknown because time ran out can come out otherwise on a busy machine; they are counted apart.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.engines.symbolic import Confirmed, Decision, ProgramTask, Refuted, decide_program
from analysis.session.provers import Budget, Pool
from benchmarks.corpus import Row, rows
from benchmarks.verdicts import task_of

_JOBS = 2
_GRACE = 60.0  # seconds that a prover may take besides its task's own
_LOOK = 0.02  # seconds between two looks at what has ended


class Round(NamedTuple):
    """What came of all programs, by id; how many processes were killed, how many tasks crashed and were asked again, seconds."""

    verdicts: dict[str, str]
    killed: int
    crashed: int
    seconds: float


def work(task: ProgramTask) -> Decision:
    """What a prover does."""
    return decide_program(task)


def verdict(decision: object) -> str:
    """The decision in a word."""
    return "violated" if isinstance(decision, Confirmed) else "safe" if isinstance(decision, Refuted) else "unknown"


def decide_all(tasks: dict[str, ProgramTask], every: float, draw: random.Random) -> Round:
    """Decides all tasks, killing a process every so often; 0: never."""
    pool = Pool("benchmarks.killed:work", _JOBS)
    began = time.monotonic()
    tickets = {pool.submit(task, _budget(task)): name for name, task in tasks.items()}
    verdicts: dict[str, str] = {}
    killed = crashed = 0
    following = began + draw.expovariate(1 / every) if every else float("inf")
    while tickets:
        pool.wait(_LOOK)
        for outcome in pool.take():
            name = tickets.pop(outcome.ticket)
            if outcome.end == "crashed":
                crashed += 1
                tickets[pool.submit(tasks[name], _budget(tasks[name]))] = name
            else:
                verdicts[name] = verdict(outcome.answer) if not outcome.end else outcome.end
        if time.monotonic() >= following:
            following = time.monotonic() + draw.expovariate(1 / every)
            killed += _kill_one(pool, draw)
    pool.close()
    return Round(verdicts, killed, crashed, time.monotonic() - began)


def _budget(task: ProgramTask) -> Budget:
    return Budget(seconds=task.effort.seconds + _GRACE)


def _kill_one(pool: Pool, draw: random.Random) -> int:
    pids = pool.pids()
    if not pids:
        return 0
    with contextlib.suppress(ProcessLookupError):
        os.kill(draw.choice(pids), signal.SIGKILL)
        return 1
    return 0


def tasks_of(chosen: Sequence[Row], seconds: float) -> dict[str, ProgramTask]:
    """The tasks of rows that have a property in our rules' words, and a `main`."""
    found = {row.id: task_of(row, seconds) for row in chosen if row.rules}
    return {name: task for name, task in found.items() if "main" in task.program.functions}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.killed", description="Verdicts while provers are killed.")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("EVERPROOF_CORPUS"), help="the folder with index.csv")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds a program (default: 10)")
    parser.add_argument("--every", type=float, default=4.0, help="seconds between two kills, on average (default: 4)")
    parser.add_argument("--sample", type=int, default=0, help="so many programs, chosen at random but always the same ones")
    parser.add_argument("--seed", type=int, default=1, help="of the kills (default: 1)")
    given = parser.parse_args(arguments)
    if given.corpus is None or not (Path(given.corpus) / "index.csv").is_file():
        parser.error("there is no corpus: name the folder with index.csv by --corpus or EVERPROOF_CORPUS")
    chosen = list(rows(Path(given.corpus)))
    if given.sample:
        chosen = random.Random(1).sample(chosen, min(given.sample, len(chosen)))
    tasks = tasks_of(chosen, given.timeout)
    calm = decide_all(tasks, 0.0, random.Random(given.seed))
    wild = decide_all(tasks, given.every, random.Random(given.seed))
    differences = {
        name: (calm.verdicts[name], wild.verdicts[name]) for name in tasks if calm.verdicts[name] != wild.verdicts[name]
    }
    for name, (before, after) in differences.items():
        print(f"{name}: {before} undisturbed, {after} with kills")
    wrong = sum("unknown" not in pair for pair in differences.values())
    print("| | programs | safe | violated | unknown | killed | crashed twice | seconds |\n|---|---|---|---|---|---|---|---|")
    for title, one in (("undisturbed", calm), ("with kills", wild)):
        counts = Counter(one.verdicts.values())
        cells = [len(one.verdicts), counts["safe"], counts["violated"], counts["unknown"], one.killed, one.crashed]
        print(f"| {title} | {' | '.join(map(str, cells))} | {one.seconds:.0f} |")
    print(f"\n{wrong} verdicts differ; {len(differences) - wrong} ran out of time in one of the rounds only")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
