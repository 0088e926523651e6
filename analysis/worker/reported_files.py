"""What was reported to the server of each file, so that only what differs is sent."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache

import msgspec

from analysis.api import Checker
from analysis.model.report import Finding, FunctionReport, Message, Report
from analysis.wire import FileResult, Since

Marks = Callable[[Checker, Report], tuple[str, tuple[Since | None, ...]]]


class ReportedFiles:
    """What was reported of each file. `version` is that of an open file's text, by its absolute path; `marks` says what a report
    is compared with, and what each of its findings is."""

    def __init__(self, send: Callable[[FileResult], None], version: Callable[[str], int | None], marks: Marks) -> None:
        self._send = send
        self._version = version
        self._marks = marks
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
        results = _by_file(generation, reports, self._marks)
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
        result = _by_file(generation, [(checker, report)], _without_marks).get(absolute)
        if result is not None:
            self._send(msgspec.structs.replace(result, alone=True))

    def report_handed_over(self, generation: int, checker: Checker, report: Report) -> None:
        """Sends what another machine has found, until the program is known: then all of it is said anew, or goes away."""
        for path, result in _by_file(generation, [(checker, report)], _without_marks).items():
            self._last[path] = msgspec.structs.replace(result, alone=True, handed_over=True)
            self._send(self._last[path])


def _without_marks(_checker: Checker, _report: Report) -> tuple[str, tuple[Since | None, ...]]:
    """Nothing is compared."""
    return "", ()


def _by_file(generation: int, reports: Sequence[tuple[Checker, Report]], marks: Marks) -> dict[str, FileResult]:
    """What the reports say of each file, headers included, by absolute path."""
    absolute = cache(os.path.abspath)
    findings: dict[str, list[Finding]] = {}
    functions: dict[str, list[FunctionReport]] = {}
    messages: dict[str, list[Message]] = {}
    versions: dict[str, int | None] = {}
    references: dict[str, str] = {}
    since: dict[str, list[Since | None]] = {}
    for checker, report in reports:
        reference, marked = marks(checker, report)
        for number, finding in enumerate(report.findings):
            path = absolute(finding.place.path)
            findings.setdefault(path, []).append(finding)
            since.setdefault(path, []).append(marked[number] if marked else None)
        for function in report.functions:
            functions.setdefault(absolute(function.place.path), []).append(function)
        for message in report.messages:
            if message.path:
                messages.setdefault(absolute(message.path), []).append(message)
        for path in [*(file.path for file in report.files), *findings, *functions, *messages]:
            versions.setdefault(absolute(path), checker.version(path))
            references.setdefault(absolute(path), reference)
    results = {}
    for path, version in versions.items():
        results[path] = FileResult(
            generation,
            path,
            version,
            findings=tuple(findings.get(path, ())),
            functions=tuple(functions.get(path, ())),
            messages=tuple(messages.get(path, ())),
            reference=references.get(path, ""),
            since=tuple(since.get(path, ())) if any(since.get(path, ())) else (),
        )
    return results


def _is_empty(result: FileResult) -> bool:
    return not (result.findings or result.functions or result.messages)
