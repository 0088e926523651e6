"""Text outside of functions that is not understood comes and goes: what provers said before it is not said with it."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.report import Report
from tests.support.settled import answered

_TEXT = """
int __VERIFIER_nondet_int(void);
static int share(int n) { int d = n > 0 ? n : 1; return 100 / d; }
static int wrong(int n) { int z = n - n; return z ? 1 : 100 / z; }
static int *maybe(int n, int *p) { return n * n + n * n == 3 ? 0 : p; }
int main(void)
{
    int n = __VERIFIER_nondet_int(), m = 1;
    if (n < 0 || n > 4)
        return 1;
    *maybe(n, &m) = 2;
    if (n == 2)
        return wrong(n);
    return share(n) + m;
}
"""
_OBSTACLE = '__asm__("nop");\n'


class _Editor:
    def __init__(self, file: Path) -> None:
        self._path = str(file)
        self._checker = Checker(Options(rules=("division-by-zero", "null-dereference"), proofs=True, budget="full"), jobs=2)
        self._checker.open([self._path])
        self._version = 0

    def report(self, text: str) -> Report:
        checker = self._checker
        self._version += 1
        checker.change(self._path, text, self._version)
        checker.check()
        answered(checker)
        assert checker.report is not None
        return checker.report

    @property
    def scratch(self) -> str | None:
        return self._checker.scratch

    def close(self) -> None:
        self._checker.close()


def _safe(report: Report) -> set[tuple[str, str]]:
    return {(f.name, rule) for f in report.functions for rule, verdict in f.verdicts.items() if verdict.verdict == "safe"}


def _findings(report: Report) -> list[tuple[str, str, str]]:
    return [(finding.function, finding.rule, finding.status) for finding in report.findings]


def test_what_was_decided_is_open_while_the_program_is_not_understood(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(_TEXT)
    editor, other = _Editor(file), _Editor(file)
    try:
        first = editor.report(_TEXT)
        assert ("share", "division-by-zero") in _safe(first)
        assert ("wrong", "division-by-zero", "confirmed") in _findings(first)
        with_obstacle = editor.report(_TEXT + _OBSTACLE)
        assert editor.scratch is None
        assert not _safe(with_obstacle)
        assert {status for _, _, status in _findings(with_obstacle)} == {"possible"}
        anew = other.report(_TEXT + _OBSTACLE)
        assert _findings(with_obstacle) == _findings(anew)
        assert (first.refuted, with_obstacle.refuted, anew.refuted) == (1, 0, 0)
        last = editor.report(_TEXT)
        assert (_safe(last), _findings(last), last.refuted) == (_safe(first), _findings(first), first.refuted)
    finally:
        editor.close()
        other.close()
