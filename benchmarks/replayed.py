"""Confirmed findings, compiled and run again: how many of them sanitizers see.

    python -m benchmarks.replayed [--limit SECONDS] PATH...

Each PATH is a C file, checked as a program by itself, or a folder of which each C file is. Of each confirmed finding the
program is built with what its run was given, and run (`analysis.replaying`). What is not reproduced is listed with what was
seen instead, or why nothing was run.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.api import Checker
from analysis.cli.replay_command import replayable
from analysis.frontend.compiler.compiler_run import find_compiler
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.replaying.replayed import Outcome, replay

_SECONDS = 5.0
"""That provers have for a finding, and for a program."""


def programs(paths: Sequence[str]) -> list[Path]:
    """The files, in order."""
    found = [sorted(Path(path).rglob("*.c")) if Path(path).is_dir() else [Path(path)] for path in paths]
    return [path for one in found for path in one]


def outcomes(program: Path, seconds: float) -> Iterator[tuple[str, int, Outcome]]:
    """The rule, the line and the replay of each confirmed finding."""
    compiler = find_compiler(None)
    assert compiler is not None
    limits = Limits(task_seconds=seconds, proof_seconds=seconds, program_seconds=seconds)
    checker = Checker(Options(proofs=True, everywhere=True, limits=limits))
    checker.open([str(program)])
    checker.check()
    for finding in checker.prove().findings:
        if finding.status == "confirmed":
            with tempfile.TemporaryDirectory() as folder:
                outcome = replay(finding, replayable(checker, finding), compiler, Path(folder).resolve())
            yield finding.rule, finding.place.range.start.line, outcome


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replayed", description="Confirmed findings, run again.")
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--limit", type=float, default=_SECONDS, help="seconds of work for one task of a prover")
    given = parser.parse_args(arguments)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for program in programs(given.paths):
        for rule, line, outcome in outcomes(program, given.limit):
            counts[rule][outcome.status] += 1
            if outcome.status != "reproduced":
                print(f"{program}:{line}: {rule}: {outcome.status}: {outcome.words}", flush=True)
    print("\n| rule | confirmed | reproduced | ran otherwise | not run |\n|---|---|---|---|---|")
    for rule, count in sorted(counts.items()):
        print(_row(rule, count))
    print(_row("all", sum(counts.values(), Counter())))
    return 0


def _row(rule: str, count: Counter[str]) -> str:
    return f"| {rule} | {count.total()} | {count['reproduced']} | {count['otherwise']} | {count['refused']} |"


if __name__ == "__main__":
    raise SystemExit(main())
