"""Conclusions that need the whole text of a program are not drawn while a part does not parse: no proof of `main`,
no new refutation.

Class: answers from the initial values or from all callers, with text beside them that could change either.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Report

_MAIN = "int d = 5; int main(void) { return 10 / d; }\n"
_DOUBTFUL = """void free(void *); int d = 1;
int main(int argc, char **argv)
{
    int *p = argv ? (int *)argv[0] : 0, k = argc * 2;
    if (k % 2 == 1) { free(p); free(p); }
    return d - 1;
}
"""
_UNPARSED = "static void start(void) { d = 0; $$ ((; }\n"


def _report(folder: Path, text: str) -> tuple[Checker, Report, str]:
    path = folder / "a.c"
    path.write_text(text)
    checker = Checker(Options(rules=("division-by-zero", "double-free"), proofs=True, everywhere=True), jobs=1)
    checker.open([str(path)])
    checker.check()
    return checker, checker.prove(), str(path)


@pytest.mark.parametrize("unparsed", [_UNPARSED, "int @@ other;\n"])
def test_main_is_not_proved_beside_text_that_does_not_parse(tmp_path: Path, unparsed: str) -> None:
    _, proved, _ = _report(tmp_path, _MAIN)
    assert proved.functions[-1].verdicts["division-by-zero"].verdict == "safe"
    _, report, _ = _report(tmp_path, _MAIN + unparsed)
    verdicts = {rule: v for f in report.functions if f.name == "main" for rule, v in f.verdicts.items()}
    assert verdicts["division-by-zero"].verdict == "unknown"
    assert verdicts["double-free"].verdict == "unknown"
    assert "parse" in verdicts["division-by-zero"].reason


def test_nothing_is_refuted_beside_text_that_does_not_parse(tmp_path: Path) -> None:
    _, report, _ = _report(tmp_path, _DOUBTFUL)
    assert (report.refuted, len(report.findings)) == (1, 0)
    checker, report, path = _report(tmp_path, _DOUBTFUL + _UNPARSED)
    assert (report.refuted, len(report.findings)) == (0, 1)
    assert "parse" in (report.findings[0].reason or "")
    checker.change(path, _DOUBTFUL)
    checker.check()
    report = checker.prove()
    assert (report.refuted, len(report.findings)) == (1, 0)
