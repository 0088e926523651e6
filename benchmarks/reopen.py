"""Measures the store: `python -m benchmarks.reopen [NAME ...]`, as Markdown.

On the command line: a cold check without a store and with one, what the store takes on the disk, and the same check again. In the
checker process that the language server talks to, from its start: opening the program's folder again, the first edit, made
before anything of the program is in memory, and the next one. The edits add a statement to a function. Times are of one run each:
wall time, and that of the processor with all processes added up, which other programs disturb less. The findings that come out of
a store must be those that were put in, or the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Work
from analysis.store.database import Store
from analysis.wire import (
    Check,
    CheckDone,
    Configure,
    Edit,
    Event,
    FileResult,
    Request,
    Shutdown,
    decode_event,
    frame,
    frame_length,
)
from benchmarks.programs import PROGRAMS, provide
from benchmarks.sources import FetchError

EDITED = {"spin": "run.c", "sendmail": "headers.c"}
STATEMENT = "\n;{ int everproof_edit = %d; everproof_edit++; }"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reopen", description="Measure reopening programs.")
    parser.add_argument("names", nargs="*", help=f"which programs: {', '.join(PROGRAMS)} (default: all)")
    names = parser.parse_args(arguments).names or list(PROGRAMS)
    if unknown := [name for name in names if name not in PROGRAMS]:
        parser.error(f"no program {unknown[0]!r}")
    try:
        same = [_measure(name, provide(name)) for name in names]
    except FetchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0 if all(same) else 1


class Seconds(NamedTuple):
    """How long something took."""

    wall: float
    processor: float


class Run(NamedTuple):
    """A check on the command line: its report, and the seconds of the whole process."""

    report: dict[str, Any]
    seconds: Seconds


def _measure(name: str, commands: Path) -> bool:
    print(f"### {name}\n\n| | s | s of the processor | configurations computed | reused |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="everproof-") as folder:
        same = _on_the_command_line(commands, os.path.join(folder, "command.everproof"))
        same &= _in_the_server(name, commands.parent.resolve(), os.path.join(folder, "server.everproof"))
    if not same:
        print("\nThe findings differ.")
    return same


def _on_the_command_line(commands: Path, store: str) -> bool:
    without = _check(commands, "none")
    cold = _check(commands, store)
    size = Store(store).size()
    again = _check(commands, store)
    for label, run in (("cold check, no store", without), ("cold check, kept", cold), ("the same check again", again)):
        work = run.report["work"]["configurations"]
        _row(label, run.seconds, work["recomputed"], work["reused"])
    print(f"| the store, MB | {size / 1e6:.1f} | | | |")
    return bool(cold.report["findings"] == again.report["findings"])  # another cold check may prove less, or more


def _check(commands: Path, store: str) -> Run:
    command = [sys.executable, "-m", "analysis.cli", "check", "-p", str(commands), "--format", "json", "--store", store]
    before, used = time.perf_counter(), _children()
    done = subprocess.run(command, capture_output=True, check=False)
    seconds = Seconds(time.perf_counter() - before, _children() - used)
    if done.returncode not in (0, 1):
        raise FetchError(f"`everproof check` exited with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    return Run(json.loads(done.stdout), seconds)


def _children() -> float:
    """The seconds of the processor of all processes that have ended and were started here, and that these started."""
    times = os.times()
    return times.children_user + times.children_system


def _used(process: int) -> float:
    """The seconds of the processor of a running process (Linux; elsewhere not a number)."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class CheckerProcess:
    """What the language server talks to, from its start; each step gives its seconds."""

    def __init__(self, folder: Path, store: str, file: Path) -> None:
        self._file = file
        self._generation = 0
        self.findings: dict[str, set[str]] = {}
        self._began = time.perf_counter()
        self._used = 0.0
        command = [sys.executable, "-P", "-m", "analysis.worker"]
        environment = os.environ | {"PYTHONPATH": os.getcwd()}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._send(Configure(0, Options(), (str(folder),), store))

    def check(self, text: str) -> tuple[Seconds, Work]:
        """Shows a text of the file to the process, and waits until all is checked; seconds and work."""
        began, self._began = self._began or time.perf_counter(), 0.0
        used = self._used
        self._generation += 2
        self._send(Edit(self._generation - 1, str(self._file), self._generation, text))
        self._send(Check(self._generation, (str(self._file),)))
        while True:
            event = self._next()
            if isinstance(event, FileResult):
                self.findings.pop(event.path, None)
                if event.findings:
                    self.findings[event.path] = {finding.fingerprint for finding in event.findings}
            if isinstance(event, CheckDone) and event.generation == self._generation:
                self._used = _used(self._process.pid)
                return Seconds(time.perf_counter() - began, self._used - used), event.work

    def end(self) -> None:
        """Ends the process."""
        self._send(Shutdown(self._generation + 1))
        self._process.communicate()

    def _send(self, request: Request) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(frame(request))
        self._process.stdin.flush()

    def _next(self) -> Event:
        assert self._process.stdout is not None
        header = self._process.stdout.read(4)
        if len(header) < 4:
            raise FetchError("the checker process ended")
        return decode_event(self._process.stdout.read(frame_length(header)))


def _in_the_server(name: str, folder: Path, store: str) -> bool:
    file = next(folder.rglob(EDITED[name]))
    text = file.read_text(encoding="latin-1")
    end = text.rindex("\n}")
    kept = _kept(folder, store)
    process = CheckerProcess(folder, store, file)
    _row_of("opened in the server again", *process.check(text))
    same = process.findings == kept
    for number, label in enumerate(("first edit, at once", "next edit")):
        _row_of(label, *process.check(text[:end] + STATEMENT % number + text[end:]))
        same &= process.findings == kept
    process.end()
    return same


def _kept(folder: Path, store: str) -> dict[str, set[str]]:
    """Checks the program and stores the result for the server. Returns the findings by file."""
    checker = Checker(Options(), jobs=2, store=Store(store))
    checker.open_workspace(str(folder))
    report = checker.check()
    before, used = time.perf_counter(), time.process_time()
    checker.save()
    _row_of("keeping what the server will find", Seconds(time.perf_counter() - before, time.process_time() - used), Work())
    found: dict[str, set[str]] = {}
    for finding in report.findings:
        found.setdefault(finding.place.path, set()).add(finding.fingerprint)
    return found


def _row_of(label: str, seconds: Seconds, work: Work) -> None:
    _row(label, seconds, work.configurations.recomputed, work.configurations.reused)


def _row(label: str, seconds: Seconds, recomputed: int, reused: int) -> None:
    print(f"| {label} | {seconds.wall:.2f} | {seconds.processor:.2f} | {recomputed} | {reused} |")


if __name__ == "__main__":
    sys.exit(main())
