"""What may be wrong is told at a terminal before provers have decided it, and nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.cli.command_options import Asked
from analysis.cli.first_findings import say_first
from analysis.model.options import Options
from analysis.model.report import Report

_LEAK = "#include <stdlib.h>\nint main(void)\n{\n\tchar *p = malloc(1);\n\treturn p == 0;\n}\n"


@pytest.fixture
def report(tmp_path: Path) -> Report:
    file = tmp_path / "leak.c"
    file.write_text(_LEAK)
    checker = Checker(Options(engine="automaton"))
    checker.open([str(file)])
    return checker.check()


def _asked(format_: str) -> Asked:
    return Asked(
        options=Options(),
        store=None,
        timeout=None,
        jobs=1,
        baseline=None,
        write_baseline=None,
        format=format_,
        output=None,
        stats=False,
        strict=False,
    )


@pytest.mark.parametrize(
    ("format_", "at_terminal", "is_told"), [("text", True, True), ("text", False, False), ("json", True, False)]
)
def test_only_a_person_at_a_terminal_is_told(
    report: Report,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    format_: str,
    at_terminal: bool,
    is_told: bool,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: at_terminal)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: at_terminal)
    say_first(report, _asked(format_))
    said = capsys.readouterr()
    assert said.out == ""
    assert ("leak.c:5:2: warning: possible:" in said.err and "[memory-leak]" in said.err) is is_told
