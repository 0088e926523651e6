"""One size of `benchmarks.growth`, in a process of its own: says what it measured as it goes, a JSON object a line.

Times are the processor's, in seconds, but for `wall`. The engine's time is all that `Engine.check` takes: from the CFAs to the
findings. The peak of the memory is the process's, so that it holds the front end's share, and never goes down.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.api import Checker
from analysis.engines.automaton import engine
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.report import Finding, Report
from benchmarks.body_edits import BodyEdit, body_edits
from benchmarks.generated import generate, write
from benchmarks.resident import peak

_CONFIGURATIONS = 1 << 30  # a limit is for the user's patience, not for an experiment


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth_step")
    for name in ("--lines", "--seed", "--edits"):
        parser.add_argument(name, type=int, required=True)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        _measure(given.lines, given.seed, given.edits, Path(folder).resolve())
    return 0


def _measure(lines: int, seed: int, edits: int, folder: Path) -> None:
    files = generate(lines, seed)
    paths = write(files, folder)
    functions = sum(len(file.functions) for file in files)
    _say("program", lines=sum(len(file.lines) for file in files), files=len(paths), functions=functions)
    checker = Checker(Options(limits=Limits(configurations=_CONFIGURATIONS)))
    checker.open([str(path) for path in paths])
    report = _checked("full", checker)
    expected = report.findings
    for edit in body_edits(files, edits, seed):
        path = str(folder / edit.file.name)
        checker.change(path, edit.text, 1)
        _checked("edit", checker, edit)
        checker.change(path, edit.file.text, 2)
        report = _checked("back", checker, edit)
        if _without_traces(report.findings) != _without_traces(expected):
            _say("different", kind=edit.kind, function=edit.function)
    _say("done")


def _without_traces(findings: Sequence[Finding]) -> list[tuple[str, str, object]]:
    return [(finding.rule, finding.message, finding.place) for finding in findings]


def _checked(what: str, checker: Checker, edit: BodyEdit | None = None) -> Report:
    wall, began = time.perf_counter(), time.process_time()
    with _engine_time() as spent:
        report = checker.check()
    seconds = time.process_time() - began
    _say(
        what,
        kind=None if edit is None else edit.kind,
        seconds=seconds,
        engine=sum(spent),
        wall=time.perf_counter() - wall,
        configurations=report.work.configurations.recomputed + report.work.configurations.reused,
        computed=report.work.configurations.recomputed,
        rechecked=len(report.rechecked),
        from_scratch=any(item.reason == "scratch" for item in report.rechecked),
        findings=len(report.findings),
    )
    return report


@contextmanager
def _engine_time() -> Iterator[list[float]]:
    """The processor's seconds in each call of the engine while this is open."""
    spent: list[float] = []
    kept = engine.Engine.check

    def timed(*arguments: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return kept(*arguments, **named)
        finally:
            spent.append(time.process_time() - began)

    setattr(engine.Engine, "check", timed)  # noqa: B010  a type checker does not like assignments to methods
    try:
        yield spent
    finally:
        setattr(engine.Engine, "check", kept)  # noqa: B010


def _say(stage: str, **values: object) -> None:
    megabytes = peak(os.getpid()) / (1 << 20)
    print(json.dumps({"stage": stage, "megabytes": megabytes, **values}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
