"""The report as annotations of a GitHub workflow: lines that are commands, which GitHub shows at the places of the findings.

The commands: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands. Text that comes from the
program is escaped, so that no file name and no message can become a command of its own.
"""

from __future__ import annotations

import os

from analysis.cli.text_format import summary_line
from analysis.model.places import Place
from analysis.model.report import Finding, Report, Severity

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}
_NEWLINE = "\n"


def github_report(report: Report, *, known: int = 0) -> str:
    """An annotation for each finding that is shown, and the line that says what was checked; `known` findings were withheld by a
    baseline."""
    lines = [annotation(finding) for finding in report.shown]
    return "".join(f"{line}\n" for line in (*lines, escaped(summary_line(report, known=known))))


def annotation(finding: Finding) -> str:
    """The workflow command that shows a finding with the steps that explain it."""
    properties = {**_place(finding.place), "title": f"everproof: {finding.rule}"}
    named = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    steps = [
        f"{number}. {step.place.path}:{step.place.range.start.line} {step.function}: {step.text}"
        for number, step in enumerate(finding.explanation, 1)
    ]
    return f"::{_COMMANDS[finding.severity]} {named}::{escaped(_NEWLINE.join([_headline(finding), *steps]))}"


def _headline(finding: Finding) -> str:
    return finding.said if finding.status == "confirmed" else f"possible: {finding.said}"


def _place(place: Place) -> dict[str, str]:
    """Where it is. GitHub takes columns only of what is within a line."""
    start, end = place.range.start, place.range.end
    found = {"file": place.path.replace(os.sep, "/"), "line": str(start.line), "endLine": str(end.line)}
    return found | ({"col": str(start.column), "endColumn": str(end.column)} if start.line == end.line else {})


def escaped(text: str) -> str:
    """The text as GitHub's own toolkit escapes it behind a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The text as GitHub's own toolkit escapes the value of a property."""
    return escaped(text).replace(":", "%3A").replace(",", "%2C")
