"""Verdicts on programs with known ones, per category: right, unknown, wrong, and the time.

    python -m benchmarks.verdicts --corpus FOLDER [--timeout S] [--category NAME ...] [--sample N] [--show]

FOLDER (or the environment variable EVERPROOF_CORPUS) holds `index.csv`, with the columns `id`, `path` (relative to the folder
above), `property`, `expected`, `category`, `kind`, `include_dir`, `cflags`, `data_model` and `note`. Of it, the programs that say
whether an error call can be reached are decided: each such call is a target for the symbolic engine. `violated` if one is
confirmed, `safe` if all are refuted, else `unknown`. Each program has a process of its own.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import random
import re
import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from analysis.api import Checker
from analysis.cfa.graph import Program
from analysis.engines.symbolic import Confirmed, Effort, Refuted, Spent, Target, Task, decide
from analysis.engines.symbolic.conditions import CHECKS
from analysis.model import ir
from analysis.model.c_types import ILP32, LP64
from analysis.model.options import CompilerFlags, Options
from analysis.model.spelling import display_name

_ENDS = frozenset({"reach_error", "__VERIFIER_error", "__assert_fail", "__assert", "__assert_perror_fail"})
_LABEL = re.compile(r"\bERROR\s*:")
_CHECK = re.compile(r"\b(__ESBMC_)?assert\s*\(")
_DEFINED = re.compile(r"define\s+assert|\bassert\s*\([^;{}]*\)\s*\{")
_GRACE = 20.0  # seconds that the front end may take besides


class Row(NamedTuple):
    """One program of the corpus."""

    id: str
    path: Path
    more: tuple[Path, ...]
    expected: bool
    category: str
    flags: CompilerFlags
    model: str
    label: bool


class Outcome(NamedTuple):
    """`verdict`: safe, violated or unknown; `why`, and the seconds."""

    verdict: str
    why: str
    seconds: float


def rows(corpus: Path) -> list[Row]:
    """The programs with a verdict on reaching an error."""
    found = []
    with (corpus / "index.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            if line["kind"] == "verdict" and line["property"] == "reach_error":
                folders = (str(corpus / line["include_dir"]),) if line["include_dir"] else ()
                defines = tuple(word[2:] for word in shlex.split(line["cflags"]) if word.startswith("-D"))
                if "seahorn" in line["include_dir"]:
                    defines += ("__declspec(x)=",)
                if line["data_model"] == "ILP32":
                    defines += ("__LONG_MAX__=2147483647L", "__SIZEOF_LONG__=4", "__SIZEOF_POINTER__=4")
                flags = CompilerFlags(include_dirs=folders, defines=defines)
                path = corpus.parent / line["path"]
                is_safe = line["expected"] == "true"
                label = "label ERROR" in line["note"]
                more = (corpus / line["include_dir"] / "io.c",) if "juliet" in line["include_dir"] else ()
                found.append(Row(line["id"], path, more, is_safe, line["category"], flags, line["data_model"], label))
    return found


def program_of(row: Row) -> Program:
    """The program, as the checker builds it; reaching a label that counts as the error becomes a call."""
    checker = Checker(Options(flags=row.flags, data_model="ILP32" if row.model == "ILP32" else "LP64"))
    checker.open([str(row.path), *(str(path) for path in row.more)])
    text = row.path.read_text(errors="replace")
    if _CHECK.search(text) and "assert.h" not in text and not _DEFINED.search(text):
        checker.change(
            str(row.path), "#define assert(e) __VERIFIER_assert(e)\n#define __ESBMC_assert(e, m) __VERIFIER_assert(e)\n" + text
        )
    if row.label:
        checker.change(str(row.path), "void reach_error(void);\n" + _LABEL.sub("ERROR: reach_error();", text))
    return checker.inspect().program


def targets(program: Program) -> list[Target]:
    """The error calls of the program."""
    found = []
    for name, cfa in program.functions.items():
        if display_name(name) in _ENDS:
            continue
        for edge in cfa.calls:
            callee = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
            is_check = callee in CHECKS and callee not in program.functions
            if callee is not None and (is_check or display_name(callee) in _ENDS):
                found.append(Target(name, edge.id, "assertion"))
    return found


def verdict(row: Row, seconds: float) -> tuple[str, str]:
    """The verdict on one program, and why."""
    program = program_of(row)
    if "main" not in program.functions:
        return "unknown", "there is no main"
    wanted = targets(program)
    deadline = time.monotonic() + seconds
    reasons = [] if wanted else ["no error call was found"]
    for number, target in enumerate(wanted):
        share = (deadline - time.monotonic()) / (len(wanted) - number)
        effort = Effort(seconds=max(0.1, share))
        model = ILP32 if row.model == "ILP32" else LP64
        decision = decide(Task(program, target, ("main",), (), effort, model))
        if isinstance(decision, Confirmed):
            return "violated", "; ".join(decision.assumptions)
        if not isinstance(decision, Refuted):
            reasons.append(f"{decision.reason} ({_spent(decision.spent)})")
    return ("unknown", reasons[0]) if reasons else ("safe", "")


def _spent(spent: Spent) -> str:
    return f"{spent.runs} runs, {spent.states} states, {spent.paths} ways"


def _child(row: Row, seconds: float, answer: Connection) -> None:
    try:
        answer.send(verdict(row, seconds))
    except Exception as problem:  # a defect, which must not end a long run
        answer.send(("unknown", f"crash: {type(problem).__name__}: {problem}"))


def decided(row: Row, seconds: float) -> Outcome:
    """The verdict of a process of its own, which is ended when it takes too long."""
    began = time.monotonic()
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_child, args=(row, seconds, sender))
    process.start()
    sender.close()
    found = ("unknown", "ended from outside")
    if receiver.poll(seconds + _GRACE):
        try:
            found = receiver.recv()
        except EOFError:
            found = ("unknown", "the process died")
    process.kill()
    process.join()
    return Outcome(*found, time.monotonic() - began)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description="Verdicts on programs with known ones.")
    parser.add_argument("--corpus", type=Path, default=os.environ.get("EVERPROOF_CORPUS"), help="the folder with index.csv")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds a program (default: 30)")
    parser.add_argument("--category", action="append", default=[], help="only categories that start so; repeatable")
    parser.add_argument("--sample", type=int, default=0, help="so many programs, chosen at random but always the same ones")
    parser.add_argument("--show", action="store_true", help="each program with its verdict and the reason")
    given = parser.parse_args(arguments)
    if given.corpus is None or not (Path(given.corpus) / "index.csv").is_file():
        parser.error("there is no corpus: name the folder with index.csv by --corpus or EVERPROOF_CORPUS")
    chosen = [r for r in rows(Path(given.corpus)) if not given.category or r.category.startswith(tuple(given.category))]
    if given.sample:
        chosen = sorted(random.Random(1).sample(chosen, min(given.sample, len(chosen))))
    outcomes = []
    for row in chosen:
        outcomes.append((row, decided(row, given.timeout)))
        if given.show:
            print(_line(*outcomes[-1]), file=sys.stderr, flush=True)
    print(table(outcomes))
    return int(any(judged(row, outcome) == "wrong" for row, outcome in outcomes))


def judged(row: Row, outcome: Outcome) -> str:
    """right, unknown or wrong."""
    if outcome.verdict == "unknown":
        return "unknown"
    return "right" if (outcome.verdict == "safe") == row.expected else "wrong"


def _line(row: Row, outcome: Outcome) -> str:
    expected = "safe" if row.expected else "violated"
    name = f"{row.id} {row.path.name}"
    return f"{judged(row, outcome):8}{name:60} {expected:9}{outcome.verdict:9}{outcome.seconds:6.1f} {outcome.why}"


def table(outcomes: Sequence[tuple[Row, Outcome]]) -> str:
    """The Markdown table: for safe programs and for those with a defect how many verdicts are right, and those that are wrong."""
    lines = [
        "| category | safe: right | unknown | wrong | defect: right | unknown | wrong | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    categories = sorted({row.category for row, _ in outcomes})
    for category in [*categories, "all"]:
        of = [(row, outcome) for row, outcome in outcomes if category in ("all", row.category)]
        counts = Counter((row.expected, judged(row, outcome)) for row, outcome in of)
        cells = [str(counts[expected, judgement]) for expected in (True, False) for judgement in ("right", "unknown", "wrong")]
        lines.append(f"| {category} | {' | '.join(cells)} | {sum(outcome.seconds for _, outcome in of):.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
