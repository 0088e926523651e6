"""Every program in fixtures/programs through the real pipeline, against what its own comments say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.markers import difference, read_markers

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Report

_PROGRAMS = Path(__file__).parent.parent / "fixtures" / "programs"
_FILES = sorted(_PROGRAMS.glob("*/*.c"))


def _check(path: Path) -> Report:
    asked = read_markers(path).options
    model = asked.get("--data-model", ("LP64",))[-1]
    checker = Checker(
        Options(
            entries=asked.get("--entry", ()),
            rules=asked.get("--rule", ()),
            data_model="ILP32" if model == "ILP32" else "LP64",
        )
    )
    checker.open([str(path)])
    return checker.check()


def test_there_are_programs() -> None:
    assert len(_FILES) > 100


@pytest.mark.parametrize("path", _FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_findings_are_where_the_comments_say(path: Path) -> None:
    expected = read_markers(path)
    report = _check(path)
    assert [message for message in report.messages if message.severity == "error"] == []
    assert [file.parse_errors for file in report.files] == [0]
    found = Counter((finding.place.range.start.line, finding.rule) for finding in report.findings)
    problems = difference(path, expected.findings, found)
    if expected.later is not None:
        assert problems, f"{path.name} is reported correctly by now: remove its 'wanted later' comment"
        return
    for finding in report.findings:
        assert finding.trace, "a finding has a trace"
        assert finding.trace[-1].place.range.start.line == finding.place.range.start.line
    assert not problems, f"\n{problems}"
