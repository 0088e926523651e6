"""Verdicts on programs with known ones, per category and property: right, unknown, wrong, the time, and why they are unknown.

    python -m benchmarks.verdicts --corpus FOLDER [--engine NAME ...] [--timeout S] [--category NAME ...] [--property NAME ...]
                                  [--sample N] [--show]

FOLDER (or the environment variable EVERPROOF_CORPUS) is described in `benchmarks.corpus`. Each property is decided for the whole
program by each engine that is asked for, in a process of its own: `violated` with a replayed trace, `safe`, or `unknown`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from analysis.engines.symbolic import Effort, ProgramTask
from analysis.model.c_types import ILP32, LP64
from analysis.session.portfolio import ENGINES, Engine, answer
from benchmarks.corpus import Row, program_of, rows

_GRACE = 20.0  # seconds that the front end may take besides
_REASONS = 12  # reasons for unknown verdicts that are listed
_VARYING = re.compile(r"\s*\([^()]*runs[^()]*\)$|\d+|\b\w+(?=\(\))|^\w+(?=:)")


class Outcome(NamedTuple):
    """`verdict`: safe, violated or unknown; `why`, and the seconds."""

    verdict: str
    why: str
    seconds: float
    certified: bool = False


def task_of(row: Row, seconds: float) -> ProgramTask:
    """What the engine is asked about a row."""
    model = LP64 if row.model == "LP64" else ILP32
    return ProgramTask(program_of(row), row.rules, Effort(seconds=seconds), model, row.allocation_fails, outside_writes=False)


def verdict(row: Row, seconds: float, engine: Engine = "symbolic") -> tuple[str, str, bool]:
    """The verdict on one program, why, and whether there is a certificate."""
    if not row.rules:
        return "unknown", f"no rule says what {row.about} means", False
    task = task_of(row, seconds)
    if "main" not in task.program.functions:
        return "unknown", "there is no main", False
    found = answer(task, engine)
    if found.confirmed is not None:
        seen = found.confirmed.observation
        return "violated", "; ".join((f"{seen.kind}: {seen.text}", *found.assumptions)), False
    return found.verdict, found.reason, bool(found.certificates)


def _child(row: Row, seconds: float, engine: Engine, connection: Connection) -> None:
    try:
        connection.send(verdict(row, seconds, engine))
    except Exception as problem:  # a defect, which must not end a long run
        connection.send(("unknown", f"crash: {type(problem).__name__}: {problem}", False))


def decided(row: Row, seconds: float, engine: Engine = "symbolic") -> Outcome:
    """The verdict of a process of its own, which is ended when it takes too long."""
    began = time.monotonic()
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_child, args=(row, seconds, engine, sender))
    process.start()
    sender.close()
    found = ("unknown", "ended from outside", False)
    if receiver.poll(seconds + _GRACE):
        try:
            found = receiver.recv()
        except EOFError:
            found = ("unknown", "the process died", False)
    process.kill()
    process.join()
    return Outcome(found[0], found[1], time.monotonic() - began, found[2])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description="Verdicts on programs with known ones.")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("EVERPROOF_CORPUS"), help="the folder with index.csv")
    parser.add_argument("--engine", action="append", choices=ENGINES, default=[], help="repeatable (default: auto)")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds a program (default: 30)")
    parser.add_argument("--category", action="append", default=[], help="only categories that start so; repeatable")
    parser.add_argument("--property", action="append", default=[], help="only this property; repeatable")
    parser.add_argument("--id", action="append", default=[], help="only this program; repeatable")
    parser.add_argument("--sample", type=int, default=0, help="so many programs, chosen at random but always the same ones")
    parser.add_argument("--show", action="store_true", help="each program with its verdict and the reason")
    given = parser.parse_args(arguments)
    if given.corpus is None or not (Path(given.corpus) / "index.csv").is_file():
        parser.error("there is no corpus: name the folder with index.csv by --corpus or EVERPROOF_CORPUS")
    chosen = [row for row in rows(Path(given.corpus)) if _is_chosen(row, given)]
    if given.sample:
        chosen = sorted(random.Random(1).sample(chosen, min(given.sample, len(chosen))))
    asked: list[Engine] = given.engine or ["auto"]
    by_engine: dict[Engine, list[tuple[Row, Outcome]]] = {engine: [] for engine in asked}
    for row in chosen:
        for engine, outcomes in by_engine.items():
            outcomes.append((row, decided(row, given.timeout, engine)))
            if given.show:
                print(f"{engine:10}{_line(*outcomes[-1])}", file=sys.stderr, flush=True)
    for engine, outcomes in by_engine.items():
        print(f"Engine {engine}:\n\n{table(outcomes, 'category', lambda row: row.category)}\n")
        print(f"{table(outcomes, 'property', lambda row: row.about)}\n\n{reasons(outcomes)}\n")
    print(engines(by_engine))
    return int(any(judged(row, outcome) == "wrong" for outcomes in by_engine.values() for row, outcome in outcomes))


def _is_chosen(row: Row, given: argparse.Namespace) -> bool:
    return (
        (not given.category or row.category.startswith(tuple(given.category)))
        and (not given.property or row.about in given.property)
        and (not given.id or row.id in given.id)
    )


def judged(row: Row, outcome: Outcome) -> str:
    """right, unknown or wrong."""
    if outcome.verdict == "unknown":
        return "unknown"
    return "right" if (outcome.verdict == "safe") == row.is_safe else "wrong"


def _line(row: Row, outcome: Outcome) -> str:
    expected = "safe" if row.is_safe else "violated"
    name = f"{row.id} {row.path.name} {row.about}"
    return f"{judged(row, outcome):8}{name:60} {expected:9}{outcome.verdict:9}{outcome.seconds:6.1f} {outcome.why}"


def table(outcomes: Sequence[tuple[Row, Outcome]], title: str, group: Callable[[Row], str]) -> str:
    """A Markdown table: for safe programs and for those with a defect how many verdicts are right, unknown and wrong."""
    lines = [
        f"| {title} | safe: right | unknown | wrong | defect: right | unknown | wrong | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in [*sorted({group(row) for row, _ in outcomes}), "all"]:
        of = [(row, outcome) for row, outcome in outcomes if name in ("all", group(row))]
        counts = Counter((row.is_safe, judged(row, outcome)) for row, outcome in of)
        cells = [str(counts[expected, judgement]) for expected in (True, False) for judgement in ("right", "unknown", "wrong")]
        lines.append(f"| {name} | {' | '.join(cells)} | {sum(outcome.seconds for _, outcome in of):.1f} |")
    return "\n".join(lines)


def engines(by_engine: Mapping[Engine, Sequence[tuple[Row, Outcome]]]) -> str:
    """What each engine decided: programs that are safe, how many of them with a certificate, and programs with a defect."""
    lines = ["| engine | safe: right | certified | defect: right | unknown | wrong | seconds |", "|---|---|---|---|---|---|---|"]
    for engine, outcomes in by_engine.items():
        counts = Counter((outcome.verdict, judged(row, outcome)) for row, outcome in outcomes)
        certified = sum(outcome.certified for _, outcome in outcomes)
        wrong = counts["safe", "wrong"] + counts["violated", "wrong"]
        cells = (counts["safe", "right"], certified, counts["violated", "right"], counts["unknown", "unknown"], wrong)
        seconds = sum(outcome.seconds for _, outcome in outcomes)
        lines.append(f"| {engine} | {' | '.join(map(str, cells))} | {seconds:.1f} |")
    return "\n".join(lines)


def reasons(outcomes: Sequence[tuple[Row, Outcome]]) -> str:
    """Why verdicts are unknown, the most frequent reasons first; numbers and names left out."""
    counts: Counter[str] = Counter()
    for _, outcome in outcomes:
        if outcome.verdict == "unknown":
            counts[_VARYING.sub("…", outcome.why.split("; ")[0])] += 1
    lines = ["| why unknown | programs |", "|---|---|"]
    lines += [f"| {reason} | {count} |" for reason, count in counts.most_common(_REASONS)]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
