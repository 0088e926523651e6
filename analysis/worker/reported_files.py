"""What was reported to the server of each file, so that only what differs is sent."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache

import msgspec

from analysis.api import Checker
from analysis.model.report import Finding, FunctionReport, Message, Report
from analysis.wire import FileResult


class ReportedFiles:
    """What was reported of each file. `version` is that of an open file's text, by its absolute path."""

    def __init__(self, send: Callable[[FileResult], None], version: Callable[[str], int | None]) -> None:
        self._send = send
        self._version = version
        self._last: dict[str, FileResult] = {}
        self._turned: set[str] = set()  # opened or closed since they were reported: the server may know nothing of them any more

    def turn(self, path: str) -> None:
        """A file was opened or closed."""
        self._turned.add(path)

    @property
    def has_turned(self) -> bool:
        """Whether a file was opened or closed, and nothing was reported of it since."""
        return bool(self._turned)

    def report(self, generation: int, focus: Sequence[str], reports: Sequence[tuple[Checker, Report]]) -> None:
        """Sends what differs from what was said last, files in focus first, and all of the files that were opened or closed."""
        results = _by_file(generation, reports)
        for path in self._last:
            if path not in results:  # it had results, and has none now: they must go away
                results[path] = FileResult(generation, path, self._version(path), (), (), ())
        first = list(dict.fromkeys(os.path.abspath(path) for path in focus))
        for path in dict.fromkeys([*(p for p in first if p in results), *results]):
            result = results[path]
            last = self._last.get(path)
            if path in self._turned or last is None or msgspec.structs.replace(last, generation=generation) != result:
                self._send(result)
                self._turned.discard(path)
            self._last[path] = result
        self._last = {path: result for path, result in self._last.items() if not _is_empty(result)}

    def report_alone(self, generation: int, path: str, checker: Checker, report: Report) -> None:
        """Sends what one file shows by itself. It counts until the program is known, and is no news to compare with."""
        absolute = os.path.abspath(path)
        result = _by_file(generation, [(checker, report)]).get(absolute)
        if result is not None:
            self._send(msgspec.structs.replace(result, alone=True))


def _by_file(generation: int, reports: Sequence[tuple[Checker, Report]]) -> dict[str, FileResult]:
    """What the reports say of each file, headers included, by absolute path."""
    absolute = cache(os.path.abspath)
    findings: dict[str, list[Finding]] = {}
    functions: dict[str, list[FunctionReport]] = {}
    messages: dict[str, list[Message]] = {}
    versions: dict[str, int | None] = {}
    for checker, report in reports:
        for finding in report.findings:
            findings.setdefault(absolute(finding.place.path), []).append(finding)
        for function in report.functions:
            functions.setdefault(absolute(function.place.path), []).append(function)
        for message in report.messages:
            if message.path:
                messages.setdefault(absolute(message.path), []).append(message)
        for path in [*(file.path for file in report.files), *findings, *functions, *messages]:
            versions.setdefault(absolute(path), checker.version(path))
    results = {}
    for path, version in versions.items():
        results[path] = FileResult(
            generation,
            path,
            version,
            findings=tuple(findings.get(path, ())),
            functions=tuple(functions.get(path, ())),
            messages=tuple(messages.get(path, ())),
        )
    return results


def _is_empty(result: FileResult) -> bool:
    return not (result.findings or result.functions or result.messages)
