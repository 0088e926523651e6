"""Difference verification against complete verification ([DIFFDP] section 4): `python -m benchmarks.difference --corpus FOLDER`.

    python -m benchmarks.difference --corpus FOLDER [--cbmc COMMAND] [--limit S] [--every N] [--jobs N] [--scatter FILE]

The tasks are those of `benchmarks.difference_tasks` and `benchmarks.larger_edits`: pairs of versions of which at most the new one
has a defect, in an order by chance: Ctrl-C ends early, and tells of those that are done. The three runs of a task come one after
the other. Each verifier (predicate, value, symbolic; CBMC with `--cbmc`) is asked three times: about the new version
(`complete`), and about what the conditions of diffCond and diffDP leave of it; the engines natively, CBMC by residual programs
(`benchmarks.difference_runs`).

The first table is the paper's Tables 1 and 2: right proofs, right alarms, and what was wrong, for each category and verifier. The
second one has the seconds of the processor: of the extraction, with reading the old version (mean, greatest, and how many were
not done in the limit), and of all that each way of verification takes. A task that is not solved counts with the limit, as in the
paper; one in which nothing could violate the rules is left out. `faster`: the share of the tasks for which difference
verification takes less than complete verification, all of it counted; `faster, long`: the same of tasks for which complete
verification takes half a second and more. `--scatter` writes the points of figures 4 to 6.

The exit code is 1 if an answer is wrong, or diffCond solves what diffDP does not.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import shlex
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import mean
from typing import NamedTuple, get_args

from benchmarks import cbmc
from benchmarks.difference_runs import NOTHING, How, Run, Verifier, run
from benchmarks.difference_tasks import Task, corpus_tasks
from benchmarks.larger_edits import larger_tasks

_HOWS: tuple[How, ...] = get_args(How)
_CATEGORIES = (
    *("pair", "combination", "regressing", "fixing", "neutral"),
    *("large regressing", "large fixing", "large neutral"),
)
_LONG = 0.5  # seconds


class _Asked(NamedTuple):
    task: Task
    verifier: Verifier
    limit: float
    command: tuple[str, ...]


class Found(NamedTuple):
    """What a verifier said of a task, in each way."""

    category: str
    name: str
    verifier: Verifier
    is_safe: bool
    limit: float
    runs: Mapping[How, Run]

    def is_right(self, how: How) -> bool:
        """Whether it is solved."""
        return self.runs[how].said == ("proof" if self.is_safe else "alarm")

    def is_wrong(self, how: How) -> bool:
        """Whether the answer is wrong."""
        return self.runs[how].said == ("alarm" if self.is_safe else "proof")

    def seconds(self, how: How) -> float:
        """All seconds of the processor; the limit where it is not solved."""
        return min(self.limit, self.runs[how].seconds) if self.is_right(how) else self.limit


def _found(asked: _Asked) -> Found:
    task = asked.task
    runs = {how: run(task, asked.verifier, how, asked.limit, asked.command) for how in _HOWS}
    return Found(task.category, task.name, asked.verifier, task.is_safe, asked.limit, runs)


def asked_of(tasks: Iterable[Task], limit: float, command: Sequence[str]) -> Iterator[_Asked]:
    """What is asked: CBMC only about assertions, and in the order of the tasks."""
    for task in tasks:
        for verifier in get_args(Verifier):
            if verifier != "cbmc" or (command and task.goal == "assertions"):
                yield _Asked(task, verifier, limit, tuple(command))


# -- tables --------------------------------------------------------------------------------------------------------


def tables(found: Sequence[Found]) -> Iterator[str]:
    """The lines of both tables."""
    yield "| category | verifier | tasks | " + " | ".join(f"{how}: proofs | alarms | wrong" for how in _HOWS) + " |"
    yield "|---" * (3 + 3 * len(_HOWS)) + "|"
    for category, verifier, group in _groups(found):
        cells = [str(n) for how in _HOWS for n in _counts(group, how)]
        yield f"| {category} | {verifier} | {len(group)} | {' | '.join(cells)} |"
    yield ""
    heads = ("extraction: mean, s", "greatest", "time-outs", "left, %")
    ways = tuple(f"{how}, s" for how in _HOWS)
    faster = ("faster: diffCond, %", "diffDP", "faster, long: diffCond, %", "diffDP", "long")
    yield f"| category | verifier | {' | '.join((*heads, *ways, *faster))} |"
    yield "|---" * (2 + len(heads) + len(ways) + len(faster)) + "|"
    for category, verifier, group in _groups(found):
        extracted = [one.runs["diffDP"] for one in group]
        times = [run.extraction for run in extracted]
        out = sum(not run.extracted for run in extracted)
        left = mean(run.left or 0.0 for run in extracted)
        cells = [f"{mean(times):.3f}", f"{max(times):.3f}", str(out), f"{100 * left:.0f}"]
        cells += [f"{sum(one.seconds(how) for one in group):.1f}" for how in _HOWS]
        long = [one for one in group if one.seconds("complete") >= _LONG]
        cells += [_faster(group, "diffCond"), _faster(group, "diffDP"), _faster(long, "diffCond"), _faster(long, "diffDP")]
        yield f"| {category} | {verifier} | {' | '.join(cells)} | {len(long)} |"


def _groups(found: Sequence[Found]) -> Iterator[tuple[str, str, list[Found]]]:
    for verifier in (*get_args(Verifier), "all"):
        for category in (*_CATEGORIES, "all"):
            group = [one for one in found if verifier in (one.verifier, "all") and category in (one.category, "all")]
            if group:
                yield category, verifier, group


def _counts(group: Sequence[Found], how: How) -> tuple[int, int, int]:
    right = [one for one in group if one.is_right(how)]
    return sum(one.is_safe for one in right), sum(not one.is_safe for one in right), sum(one.is_wrong(how) for one in group)


def _faster(group: Sequence[Found], how: How) -> str:
    """Of the tasks that one of both ways solves, the share for which difference verification takes less."""
    solved = [one for one in group if one.is_right(how) or one.is_right("complete")]
    if not solved:
        return ""
    return f"{100 * sum(one.seconds(how) < one.seconds('complete') for one in solved) / len(solved):.0f}"


def problems(found: Iterable[Found]) -> Iterator[str]:
    """What must not be: wrong answers, and what diffCond alone solves."""
    for one in found:
        for how in _HOWS:
            if one.is_wrong(how):
                yield f"wrong: {one.verifier}, {how}, says {one.runs[how].said} of {one.category} {one.name}"
        if one.is_right("diffCond") and not one.is_right("diffDP"):
            yield f"only diffCond: {one.verifier}, {one.category} {one.name}: {one.runs['diffDP'].why}"


def write_scatter(found: Iterable[Found], path: Path) -> None:
    """The points of the scatter plots, as CSV: a row for each task, verifier and way."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ("category", "task", "verifier", "way", "said", "right", "reading", "extraction", "verification", "left", "why")
        )
        for one in found:
            for how, at in one.runs.items():
                times = (f"{seconds:.3f}" for seconds in (at.reading, at.extraction, at.verification))
                left = "" if at.left is None else f"{at.left:.3f}"
                table.writerow((one.category, one.name, one.verifier, how, at.said, int(one.is_right(how)), *times, left, at.why))


def _answers(asked: Sequence[_Asked], jobs: int) -> Iterator[Found]:
    """What was found of tasks in which something could be violated, until Ctrl-C."""
    with multiprocessing.get_context("fork").Pool(jobs, _ignore_interrupts) as pool:
        try:
            for number, one in enumerate(pool.imap(_found, asked), 1):
                if one.runs["complete"].why != NOTHING:
                    yield one
                print(f"\r{number} of {len(asked)}", end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pool.terminate()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.difference", description="Difference verification, measured.")
    parser.add_argument("--corpus", type=Path, required=True, help="the folder with index.csv and incremental.csv")
    parser.add_argument("--cbmc", default="", metavar="COMMAND", help="CBMC's command; without it, CBMC is left out")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of the processor for one run (default: 10)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth task of each category")
    parser.add_argument("--jobs", type=int, default=2, help="how many runs at a time (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="of the edits and combinations (default: 0)")
    parser.add_argument("--scatter", type=Path, metavar="FILE", help="write the points of the scatter plots")
    given = parser.parse_args(arguments)
    tasks = [*corpus_tasks(given.corpus, given.seed), *larger_tasks(given.corpus, given.seed)]
    tasks = [task for name in _CATEGORIES for task in [one for one in tasks if one.category == name][:: given.every]]
    Random(given.seed).shuffle(tasks)
    command = shlex.split(given.cbmc)
    if command:
        cbmc.version(tuple(command))  # once, before the processes that ask
    asked = list(asked_of(tasks, given.limit, command))
    found = list(_answers(asked, given.jobs))
    print(f"\n{len({(one.category, one.name) for one in found})} tasks, of {len(tasks)}\n")
    print("\n".join(tables(found)))
    wrong = list(problems(found))
    print("".join(f"{line}\n" for line in wrong), end="", file=sys.stderr)
    if given.scatter is not None:
        write_scatter(found, given.scatter)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
