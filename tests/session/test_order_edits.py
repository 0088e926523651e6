"""Obstacles come and go with edits, also of other functions; the report is as from nothing each time.

Class: what is decided for the whole program, and put into functions whose own text did not change.
"""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Report

_CALLEES = (
    "static int a(void) { return c++; } static int b(void) { return d++; }",
    "static int a(void) { return c++; } static int b(void) { return c++; }",
    "static int a(void) { return 1; } static int b(void) { c = 3; return c++; }",
    "static int a(void) { return c; } static int b(void) { c = 3; return c++; }",
)
_USES = (
    "int x = a() + b(); if (x) free(p); free(p); return x;",
    "int x = a(); if (x + a()) free(p); x = b() - a(); free(p); return x;",
    "int x = c++ + c; free(p); if (x) return 1; x = a() + b(); free(p); return 0;",
    "free(p); return a() + b() + c;",
)


def test_reports_after_edits_are_those_from_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    texts = [
        f"void free(void *); static int c, d; {callees}\nint f(int *p) {{ {uses} }}\nint main(void) {{ return f(0); }}\n"
        for callees in _CALLEES
        for uses in _USES
    ]
    texts += reversed(texts[:8:3])
    path.write_text(texts[0])
    kept = Checker(Options())
    kept.open([str(path)])
    for text in texts:
        kept.change(str(path), text)
        path.write_text(text)
        fresh = Checker(Options())
        fresh.open([str(path)])
        ours, theirs = kept.check(), fresh.check()
        assert [(f.rule, f.place) for f in ours.findings] == [(f.rule, f.place) for f in theirs.findings]
        assert _verdicts(ours) == _verdicts(theirs)


def _verdicts(report: Report) -> list[tuple[str, str, str, str]]:
    return [(f.name, rule, v.verdict, v.reason) for f in report.functions for rule, v in f.verdicts.items()]
