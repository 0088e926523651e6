"""An error that is raised to a call inside of a recursive function: what further callers pass counts, whichever came first.

The class: a search that may lead over some calls only, and takes that for all calls there are.
"""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options

_BEFORE = """
#include <stdlib.h>
int *g0, *g1, flag;
int *f4(int *p, int x);
int *f3(int *p, int x) { int *q = p; g1 = p; if (p) *p = 1; return q; }
int f1(int *p, int x) { int *q = p; f3(p, x); free(q); return x; }
int *f4(int *p, int x)
{
    int *q = p;
    free(p);
    f1(q, 0);
    q = 0;
    f4(g1, x); /* used after it was freed, where a caller passes something */
    return q;
}
void f6(int *p, int x) { f1(g0, x); f4(0, x); }
"""
_ADDED = "int f5(int *p, int x) { while (x < flag) { x++; f4(p, x); } return x; }\n"


def _findings(checker: Checker) -> set[tuple[str, int, str]]:
    return {(one.rule, one.place.range.start.line, one.fingerprint) for one in checker.check().findings}


def _checker(file: Path, text: str) -> Checker:
    file.write_text(text, encoding="utf-8")
    checker = Checker(Options(engine="automaton", limits=Limits(global_edges=0)))
    checker.open([str(file)])
    return checker


def test_a_caller_that_comes_later_is_asked(tmp_path: Path) -> None:
    checker = _checker(tmp_path / "a.c", _BEFORE)
    checker.check()
    checker.change(str(tmp_path / "a.c"), _BEFORE + _ADDED, 1)
    found = _findings(checker)
    assert checker.scratch is None
    assert found == _findings(_checker(tmp_path / "a.c", _BEFORE + _ADDED))
    line = _BEFORE[: _BEFORE.index("f4(g1, x)")].count("\n") + 1
    assert ("use-after-free", line) in {(rule, at) for rule, at, _ in found}
