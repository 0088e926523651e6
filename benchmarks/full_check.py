"""Measures cold checks of whole programs: `python -m benchmarks.full_check [--runs N] [NAME ...]`, as Markdown.

Each run is a fresh `everproof check --stats --format json` process. Wall time and peak memory are those of the process and
its children as the kernel counts them; the other figures are what the report says, so they are the same in every run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.programs import PROGRAMS, provide
from benchmarks.sources import FetchError

CHECK = [sys.executable, "-m", "analysis.cli", "check", "--store", "none"]
STAGES = ("preprocess", "parse", "lower", "automaton", "prover", "total")


@dataclass(frozen=True)
class Run:
    """One process: its report, seconds of wall time, and megabytes of its largest process."""

    report: dict[str, Any]
    seconds: float
    megabytes: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.full_check", description="Measure cold checks.")
    parser.add_argument("names", nargs="*", help=f"which programs: {', '.join(PROGRAMS)} (default: all)")
    parser.add_argument("--runs", type=int, default=3, help="processes a program; times are medians (default: 3)")
    parser.add_argument("--jobs", type=int, default=None, help="passed on to `everproof check`")
    parser.add_argument("--libraries", action="store_true", help="sendmail with its libsm and libsmutil")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in PROGRAMS]
    if unknown or given.runs < 1:
        parser.error(f"no program {unknown[0]!r}" if unknown else "--runs must be at least 1")
    try:
        for name in given.names or list(PROGRAMS):
            commands = provide(name)
            wider = commands.with_name("compile_commands.libraries.json")
            if given.libraries and wider.is_file():
                commands = wider
            print(_table(name, [_run(commands, given.jobs) for _ in range(given.runs)]))
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _run(commands: Path, jobs: int | None) -> Run:
    command = [*CHECK, "-p", str(commands), "--stats", "--format", "json"]
    if jobs is not None:
        command += ["--jobs", str(jobs)]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        before = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=os.environ | {"PYTHONPATH": os.getcwd()})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - before
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode not in (0, 1):
            said = errors.read().decode(errors="replace").strip().splitlines()[-3:]
            raise FetchError(f"`everproof check` exited with {process.returncode}: {' '.join(said)}")
        report = json.loads(output.read())
    return Run(report, seconds, usage.ru_maxrss / 1024)


def _table(name: str, runs: list[Run]) -> str:
    report = runs[0].report
    functions = report["functions"]
    rows = [
        ("files", len(report["files"])),
        ("functions", sum(file["functions"] for file in report["files"])),
        ("functions with a verdict of their own", sum(1 for function in functions if not _undecided(function))),
        ("places not understood by the parser", sum(file["parse_errors"] for file in report["files"])),
        ("edges", report["work"]["edges"]),
        ("configurations computed", report["work"]["configurations"]["recomputed"]),
        ("derivations computed", report["work"]["derivations"]["recomputed"]),
        ("findings", len(report["findings"])),
    ]
    rows += [(f"findings: {rule}", count) for rule, count in _counted(finding["rule"] for finding in report["findings"])]
    rows += [(f"{stage}, ms", _median(run.report["time_ms"][stage] for run in runs)) for stage in STAGES]
    rows.append(("wall, s", _spread(run.seconds for run in runs)))
    rows.append(("peak memory, MB", _spread(run.megabytes for run in runs)))
    rows.append(("the same report in every run", "yes" if len({_content(run.report) for run in runs}) == 1 else "NO"))
    lines = [f"### {name}, cold, {len(runs)} runs", "", "| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows)]
    reasons = _reasons(functions)
    if reasons:
        lines += ["", "| why verdicts are unknown | function and rule pairs |", "|---|---|"]
        lines += [f"| {reason} | {count} |" for reason, count in reasons[:15]]
    return "\n".join(lines) + "\n"


def _undecided(function: dict[str, Any]) -> bool:
    return all(verdict["verdict"] == "unknown" for verdict in function["verdicts"].values())


def _reasons(functions: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Reasons of unknown verdicts, most frequent first; names and numbers in them left out, so that like ones are one."""
    said = (verdict["reason"] or "" for function in functions for verdict in function["verdicts"].values() if verdict["reason"])
    return _counted(
        re.sub(r"\d+", "N", re.sub(r"[`'\"][^`'\"]+[`'\"]|\b\w+\(\)", "...", reason)).replace("|", "/") for reason in said
    )


def _counted(items: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(items).items(), key=lambda item: (-item[1], item[0]))


def _content(report: dict[str, Any]) -> str:
    """The report without its times."""
    verdicts = [
        [f["name"], f["path"], [(r, v["verdict"], v["reason"]) for r, v in f["verdicts"].items()]] for f in report["functions"]
    ]
    return json.dumps([verdicts, report["findings"], report["work"], report["verdict"]])


def _median(values: Iterable[float]) -> str:
    return f"{statistics.median(values):.0f}"


def _spread(values: Iterable[float]) -> str:
    known = sorted(values)
    return f"{statistics.median(known):.2f} ({known[0]:.2f} to {known[-1]:.2f})"


if __name__ == "__main__":
    sys.exit(main())
