"""Whether `everproof check` says the same in each run: `python -m benchmarks.same_output [--runs N] [--load L ...] [NAME ...]`.

Each project of `benchmarks.real_sources` is checked by the command that users run, with all provers and no store, N times beside
each number of busy processes. All that it prints is compared, but for times and counts of work, which name what was done and not
what was found. Prints a row of Markdown for each project and load.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.real_sources import NAMES, provide
from benchmarks.sources import FetchError

_LEFT_OUT = frozenset(("ms", "time_ms", "work"))
_HEAD = "| project | busy processes | runs | different outputs | decided | seconds |\n|---|---|---|---|---|---|"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_output", description="Compare runs of the command.")
    parser.add_argument("names", nargs="*", help=f"which ones: {', '.join(NAMES)} (default: bzip2)")
    parser.add_argument("--runs", type=int, default=5, help="beside each load (default: 5)")
    parser.add_argument("--load", type=int, action="append", help="so many busy processes, repeatable (default: 0 and 12)")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in NAMES:
            parser.error(f"no project {name!r}; there are {', '.join(NAMES)}")
    print(_HEAD, flush=True)
    for name in given.names or ["bzip2"]:
        try:
            commands = provide(name)
        except FetchError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        seen = set[str]()
        for load in given.load or [0, 12]:
            with _busy(load):
                print(_row(name, commands, load, given.runs, seen), flush=True)
    return 0


def _row(name: str, commands: Path, load: int, runs: int, seen: set[str]) -> str:
    """A row; `seen` are the outputs of all runs of the project so far."""
    began, decided = time.monotonic(), ""
    for _ in range(runs):
        report = _report(commands)
        seen.add(json.dumps(_without_times(report), sort_keys=True))
        confirmed = sum(finding["status"] == "confirmed" for finding in report["findings"])
        found = len(report["findings"]) + report["refuted"]
        decided = f"{confirmed} confirmed, {report['refuted']} refuted of {found}"
    return f"| {name} | {load} | {runs} | {len(seen)} | {decided} | {(time.monotonic() - began) / runs:.0f} |"


def _report(commands: Path) -> dict[str, Any]:
    words = [sys.executable, "-m", "analysis.cli", "check", "--format", "json", "--store", "none", "--show", "all"]
    done = subprocess.run([*words, "-p", str(commands)], stdout=subprocess.PIPE, check=False)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _without_times(said: Any) -> Any:
    if isinstance(said, dict):
        return {key: _without_times(value) for key, value in said.items() if key not in _LEFT_OUT}
    return [_without_times(one) for one in said] if isinstance(said, list) else said


@contextlib.contextmanager
def _busy(count: int) -> Iterator[None]:
    """So many processes that do nothing but use the processor."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
