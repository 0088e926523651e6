"""Verdicts on programs with known ones, per category and property: right, unknown, wrong, the time, and why they are unknown.

    python -m benchmarks.verdicts --corpus FOLDER [--engine NAME ...] [--timeout S] [--category NAME ...] [--property NAME ...]
                                  [--sample N] [--show]

FOLDER (or the environment variable EVERPROOF_CORPUS) is described in `benchmarks.corpus`. Each row is asked of the command, as a
user asks it: `everproof check --format json --entry main` with the rules that its property means, and what its note takes for
granted. The known verdicts are about runs from `main`, so what else the files define does not count. It is
`violated` if a finding is confirmed by a run, `safe` if the report says so, every proof certified, and else `unknown`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, get_args

from analysis.engines.symbolic import Effort, ProgramTask
from analysis.model.budgets import BudgetName
from analysis.model.c_types import ILP32, LP64
from benchmarks.asked_programs import ENGINES, Engine
from benchmarks.corpus import Row, program_of, rows, text_of

_MOST = 1800.0  # seconds, after which the command is ended from outside: its budget counts work, so load does not end it
_REASONS = 12  # reasons for unknown verdicts that are listed
_VARYING = re.compile(r"\s*\([^()]*runs[^()]*\)$|\d+|\b\w+(?=\(\))|^\w+(?=:)")


class Outcome(NamedTuple):
    """`verdict`: safe, violated or unknown; `why`, and the seconds."""

    verdict: str
    why: str
    seconds: float
    certified: bool = False


def task_of(row: Row, seconds: float) -> ProgramTask:
    """The question to a single engine about a row."""
    model = LP64 if row.model == "LP64" else ILP32
    return ProgramTask(program_of(row), row.rules, Effort(seconds=seconds), model, row.allocation_fails, outside_writes=False)


def command(row: Row, engine: Engine, more: Sequence[str], folder: Path) -> list[str]:
    """The command that checks a row. A text that must be another one than that of its file is written to the folder."""
    text, file = text_of(row), row.path
    words = [sys.executable, "-m", "analysis.cli", "check", "--format", "json", "--store", "none", "--engine", engine]
    words += ["--data-model", row.model, "--assume", "externals-keep-globals", "--entry", "main"]
    words += [] if row.allocation_fails else ["--assume", "allocations-succeed"]
    for rule in sorted(row.rules):
        words += ["--rule", rule]
    words += [f"-D{define}" for define in row.flags.defines]
    for include in row.flags.include_dirs:
        words += ["-I", include]
    if text is not None:
        file = folder / row.path.name
        file.write_text(text)
        words += ["-I", str(row.path.parent)]
    return [*words, *more, str(file), *(str(path) for path in row.more)]


def verdict(report: Mapping[str, Any]) -> tuple[str, str, bool]:
    """What a report says of the program as a whole, why, and whether every proof has a certificate."""
    for finding in report["findings"]:
        if finding["status"] == "confirmed":
            return "violated", "; ".join((f"{finding['rule']}: {finding['message']}", *finding["assumptions"])), False
    verdicts = [verdict for function in report["functions"] for verdict in function["verdicts"].values()]
    if report["verdict"] == "safe":
        return "safe", "", all(verdict["certified"] for verdict in verdicts if verdict["verdict"] == "safe")
    reasons = [f"{finding['rule']} is possible: {finding['reason']}" for finding in report["findings"]]
    reasons += [f"{message['text']}" for message in report["messages"] if message["severity"] == "error"]
    reasons += [verdict["reason"] for verdict in verdicts if verdict["verdict"] == "unknown"]
    return "unknown", "; ".join(dict.fromkeys(reasons)), False


def decided(row: Row, engine: Engine = "auto", more: Sequence[str] = ()) -> Outcome:
    """The verdict of the command; `more` are options for it."""
    began = time.monotonic()
    if not row.rules:
        return Outcome("unknown", f"no rule says what {row.about} means", 0.0)
    with tempfile.TemporaryDirectory() as folder:
        root = str(Path(__file__).resolve().parents[1])
        environment = {**os.environ, "PYTHONPATH": root}
        words = command(row, engine, more, Path(folder))
        try:
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=_MOST, check=False)
        except subprocess.TimeoutExpired:
            return Outcome("unknown", "ended from outside", time.monotonic() - began)
    seconds = time.monotonic() - began
    try:
        said, why, certified = verdict(json.loads(done.stdout))
    except ValueError:
        return Outcome("unknown", f"no report: {done.stderr.strip()[-200:]}", seconds)
    return Outcome(said, why, seconds, certified)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description="Verdicts on programs with known ones.")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("EVERPROOF_CORPUS"), help="the folder with index.csv")
    parser.add_argument("--engine", action="append", choices=ENGINES, default=[], help="repeatable (default: auto)")
    parser.add_argument("--timeout", type=float, help="seconds a program (default: what the budget says)")
    parser.add_argument("--budget", choices=get_args(BudgetName), default="full", help="of the command (default: full)")
    parser.add_argument("--at-once", type=int, default=1, help="programs at the same time (default: 1)")
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
    more = ["--budget", given.budget, *(["--timeout", str(given.timeout)] if given.timeout else [])]

    def ask(asked: tuple[Row, Engine]) -> tuple[Row, Engine, Outcome]:
        row, engine = asked
        outcome = decided(row, engine, more)
        if given.show:
            print(f"{engine:10}{_line(row, outcome)}", file=sys.stderr, flush=True)
        return row, engine, outcome

    with ThreadPoolExecutor(given.at_once) as executor:
        for row, engine, outcome in executor.map(ask, [(row, engine) for row in chosen for engine in asked]):
            by_engine[engine].append((row, outcome))
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
