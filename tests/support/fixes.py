"""Fixes of the one finding of a file, and the text after one of them."""

from __future__ import annotations

import contextlib
from pathlib import Path

from analysis.api import Checker
from analysis.fixes.confirming import confirmed_fixes
from analysis.model.options import Options
from analysis.model.text_changes import ByteChange, Fix, changed, offset_of


def confirmed(program: Path, text: str, engine: str = "automaton", path: Path | None = None) -> tuple[Fix, ...]:
    """The fixes of the only finding of a program, in the file at `path` if it is another one, which holds the text."""
    edited = str(path or program)
    with contextlib.closing(Checker(Options(engine=engine, proofs=engine != "automaton"))) as checker:
        checker.open([str(program)])
        checker.change(edited, text)
        report = checker.check()
        if not report.findings and engine != "automaton":
            report = checker.prove(stays=True)
        (finding,) = report.findings
        return confirmed_fixes(checker, edited, text, finding.fingerprint)


def fixed(text: str, fix: Fix) -> str:
    """The text after a fix."""
    data = text.encode()
    changes = tuple(ByteChange(offset_of(data, one.range.start), offset_of(data, one.range.end), one.text) for one in fix.changes)
    return changed(data, changes).decode()
