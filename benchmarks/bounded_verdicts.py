"""Answers within a bound on programs with known verdicts, by bound and theory.

    python -m benchmarks.bounded_verdicts --corpus FOLDER [--unwind K ...] [--encoding NAME ...] [--cbmc COMMAND]
                                          [--at-once N] [--show]

FOLDER is described in `benchmarks.corpus`. Each row about assertions is asked of the command, as a user asks it: `everproof check
--engine summary`. An answer is wrong if a run is confirmed in a program without a defect, or if no run violates the rule in one
with a defect though the bound leaves out none. `--cbmc COMMAND` adds a row of CBMC for each bound (`benchmarks.cbmc`);
`--encoding none` leaves out all others.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import cbmc
from benchmarks.cbmc import Answer
from benchmarks.corpus import Row, rows, text_of
from benchmarks.verdicts import command

_MOST = 300.0  # seconds, after which a command is ended from outside
_ENCODINGS = ("auto", "euf", "lra", "int", "bv")


class Outcome(NamedTuple):
    """`complete`: no run violates the rule. `holds`: none within the bound. `level`: the theory that settled it."""

    answer: Answer
    level: str
    why: str
    seconds: float


def within(report: Any) -> tuple[Answer, str, str]:
    """What a report says of the program as a whole: the answer, the theory, and why."""
    for finding in report["findings"]:
        if finding["status"] == "confirmed":
            return "violated", "", finding["message"]
    verdicts = [verdict for function in report["functions"] for verdict in function["verdicts"].values()]
    found = next((verdict["within"] for verdict in verdicts if verdict["within"] is not None), None)
    if found is not None and found["holds"]:
        return "complete" if found["complete"] else "holds", found["level"], ""
    reasons = [finding["reason"] for finding in report["findings"]] + [verdict["reason"] for verdict in verdicts]
    return "unknown", "", "; ".join(dict.fromkeys(filter(None, reasons)))


def asked(row: Row, bound: int, encoding: str) -> Outcome:
    """The answer of the command."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        words = command(row, "auto", (), Path(folder))
        words[words.index("--engine") + 1] = "summary"
        words += ["--unwind", str(bound), "--encoding", encoding]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
        try:
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=_MOST, check=False)
            answer, level, why = within(json.loads(done.stdout))
        except subprocess.TimeoutExpired:
            answer, level, why = "unknown", "", "ended from outside"
        except ValueError:
            answer, level, why = "unknown", "", f"no report: {done.stderr.strip()[-200:]}"
    return Outcome(answer, level, why, time.monotonic() - began)


def asked_cbmc(row: Row, bound: int, words: Sequence[str]) -> Outcome:
    """The answer of CBMC, the command of which is these words."""
    question = cbmc.Question((row.path, *row.more), text_of(row), row.flags.include_dirs, row.flags.defines, row.model)
    said = cbmc.ask(words, question, bound)
    return Outcome(said.answer, "", said.why, said.seconds)


def is_wrong(row: Row, outcome: Outcome) -> bool:
    """Whether the answer contradicts what is known of the program."""
    return outcome.answer == ("violated" if row.is_safe else "complete")


def line(name: str, bound: int, outcomes: Sequence[tuple[Row, Outcome]]) -> str:
    """A row of the table."""
    counts = Counter((row.is_safe, outcome.answer) for row, outcome in outcomes)
    levels = Counter(outcome.level for _, outcome in outcomes if outcome.level)
    cells = [counts[True, answer] for answer in ("complete", "holds", "unknown")]
    cells += [counts[False, answer] for answer in ("violated", "holds", "unknown")]
    cells.append(sum(is_wrong(row, outcome) for row, outcome in outcomes))
    said = ", ".join(f"{level} {number}" for level, number in sorted(levels.items()))
    seconds = sum(outcome.seconds for _, outcome in outcomes)
    return f"| {name} | {bound} | {' | '.join(map(str, cells))} | {said} | {seconds:.0f} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bounded_verdicts", description="Answers within a bound.")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("EVERPROOF_CORPUS"), help="the folder with index.csv")
    parser.add_argument("--unwind", type=int, action="append", default=[], help="a bound, repeatable (default: 5, 10, 20)")
    parser.add_argument(
        "--encoding", choices=(*_ENCODINGS, "none"), action="append", default=[], help="repeatable (default: all)"
    )
    parser.add_argument("--cbmc", type=shlex.split, help="the command of CBMC, to be asked as well")
    parser.add_argument("--at-once", type=int, default=1, help="programs at the same time (default: 1)")
    parser.add_argument("--show", action="store_true", help="each program with its answer")
    given = parser.parse_args(arguments)
    if given.corpus is None or not (Path(given.corpus) / "index.csv").is_file():
        parser.error("there is no corpus: name the folder with index.csv by --corpus or EVERPROOF_CORPUS")
    chosen = [row for row in rows(Path(given.corpus)) if row.rules == frozenset({"assertion"})]
    print("| theory | bound | safe: complete | within the bound | unknown | defect: run | within | unknown | wrong | by | s |")
    print("|---" * 11 + "|", flush=True)
    wrong = 0
    for bound in given.unwind or (5, 10, 20):
        questions: dict[str, Callable[[Row], Outcome]] = {
            name: partial(asked, bound=bound, encoding=name) for name in given.encoding or _ENCODINGS if name != "none"
        }
        if given.cbmc:
            questions["CBMC"] = partial(asked_cbmc, bound=bound, words=given.cbmc)
        for name, question in questions.items():
            with ThreadPoolExecutor(given.at_once) as executor:
                found = executor.map(question, chosen)
                outcomes = list(zip(chosen, found, strict=True))
            print(line(name, bound, outcomes), flush=True)
            for row, outcome in outcomes if given.show else [one for one in outcomes if is_wrong(*one)]:
                print(f"{name} {bound} {row.id} {row.is_safe} {outcome}", file=sys.stderr, flush=True)
            wrong += sum(is_wrong(*one) for one in outcomes)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
