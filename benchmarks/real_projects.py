"""What a user gets on real projects: `python -m benchmarks.real_projects [--engine E] [NAME ...]`.

Each project of `benchmarks.real_sources` is checked by the command that users run, twice: cold, with a new store, and warm, with
the store of the first run. A row of Markdown says what came of it. Reports are kept in `benchmarks/.cache/real`: a run that was
ended early is continued by the next one. `--again` checks anew. Seconds are wall time. Memory is the largest sum of resident
pages of all processes of the command, sampled; pages that two of them share count twice.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.cfa.linking.obstacle_words import OPEN_ORDER
from benchmarks.programs import CACHE
from benchmarks.real_sources import NAMES, provide
from benchmarks.resident import memory_of
from benchmarks.sources import FetchError

KEPT = CACHE / "real"
_SAMPLE = 0.25  # seconds
_HEAD = (
    "| project | files | lines | cold, s | cold, MB | warm, s | warm, MB | functions | not understood "
    "| open order | shown | held back | confirmed | refuted |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_projects", description="Check real projects.")
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--engine", default="automaton", help="as for `everproof check` (default: automaton)")
    parser.add_argument("--again", action="store_true", help="check anew what was checked before")
    parser.add_argument("--jobs", type=int, help="passed on to `everproof check`")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in NAMES:
            parser.error(f"no project {name!r}; there are {', '.join(NAMES)}")
    print(_HEAD, flush=True)
    for name in given.names or NAMES:
        try:
            print(row(name, checked(name, given.engine, given.jobs, again=given.again)), flush=True)
        except FetchError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    return 0


def checked(name: str, engine: str, jobs: int | None = None, *, again: bool = False) -> dict[str, Any]:
    """The report of a project, and what the two runs took; what was kept of them, if there is such. Raises FetchError."""
    commands = provide(name)
    kept = KEPT / f"{name}.{engine}.json"
    if again or not kept.is_file():
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as folder:
            words = ["-p", str(commands), "--engine", engine, "--store", str(Path(folder) / "store"), "--format", "json"]
            words += [] if jobs is None else ["--jobs", str(jobs)]
            cold, warm = (_run(words, commands.parent, Path(folder) / which) for which in ("cold", "warm"))
            measured = {"lines": _lines(commands), "cold": cold[1:], "warm": warm[1:], "report": cold[0]}
        kept.write_text(json.dumps(measured), encoding="utf-8")
    document: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return document


def row(name: str, measured: dict[str, Any]) -> str:
    """The row of a project."""
    report, (cold, warm) = measured["report"], (measured["cold"], measured["warm"])
    findings = report["findings"]
    shown = sum(1 for finding in findings if finding.get("shown", True))
    cells = [
        name,
        len(report["files"]),
        measured["lines"],
        *(f"{value:.0f}" for value in (*cold, *warm)),
        len(report["functions"]),
        not_understood(report),
        open_order(report),
        shown,
        len(findings) - shown,
        sum(1 for finding in findings if finding["status"] == "confirmed"),
        report["refuted"],
    ]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def not_understood(report: dict[str, Any]) -> int:
    """The functions that something in the text, or of C, keeps from being checked."""
    return sum(1 for function in report["functions"] if function["stale"] or any(map(_is_lost, function["verdicts"].values())))


def open_order(report: dict[str, Any]) -> int:
    """The functions of which something is not proved because of operands whose order C leaves open, where it could matter."""
    reasons = ([verdict["reason"] or "" for verdict in function["verdicts"].values()] for function in report["functions"])
    return sum(1 for mine in reasons if any(OPEN_ORDER in reason for reason in mine))


def _is_lost(verdict: dict[str, Any]) -> bool:
    reason = verdict["reason"] or ""
    return "not supported" in reason or "does not parse" in reason or "not understood" in reason


def _lines(commands: Path) -> int:
    """The lines of the C files that the commands name, each file once."""
    entries = json.loads(commands.read_text(encoding="utf-8"))
    files = {os.path.realpath(os.path.join(entry["directory"], entry["file"])) for entry in entries}
    return sum(Path(file).read_bytes().count(b"\n") for file in files)


def _run(words: Sequence[str], folder: Path, output: Path) -> tuple[dict[str, Any], float, float]:
    """The report, the seconds and the megabytes of one run. Raises FetchError where there is no report."""
    command = [sys.executable, "-m", "analysis.cli", "check", *words, "--output", str(output)]
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        most = 0
        while process.poll() is None:
            memory = memory_of(process.pid)
            most = max(most, sum(memory.values()))
            time.sleep(_SAMPLE)
        seconds = time.perf_counter() - began
        if process.returncode not in (0, 1, 2) or not output.is_file():
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()[-3:]
            raise FetchError(f"`everproof check` exited with {process.returncode}: {' '.join(said)}")
    return json.loads(output.read_text(encoding="utf-8")), seconds, most / 2**20


if __name__ == "__main__":
    sys.exit(main())
