"""What the edges around an edge make of it: a count of references that was decremented, a descriptor that was closed, a variable
that is `volatile`. An edit of these edges counts as one of the edge, so that the findings are those of a check from scratch."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options

_COUNTED = """#include <stdlib.h>
struct text { int holders; };
static struct text *text(int n) { struct text *t = malloc(sizeof *t); if (!t) exit(1); t->holders = n; return t; }
int f(int n) { struct text *t = text(n); %s free(t); return 0; }
"""
_OPENED = """#include <fcntl.h>
#include <unistd.h>
int f(int n) { %s return 0; }
"""
_CASES = {
    "decremented": (_COUNTED, "if (--t->holders != 0) return 1;", "if (t->holders != 0) return 1;"),
    "decremented before": (
        _COUNTED,
        "t->holders--; if (t->holders > 0) return 1;",
        "t->holders++; if (t->holders > 0) return 1;",
    ),
    "tested as it was": (_COUNTED, "if (t->holders-- > 1) return 1;", "if (t->holders-- > 0) return 1;"),
    "taken away by a builtin": (
        _COUNTED,
        "if (__sync_sub_and_fetch(&t->holders, 1) > 0) return 1;",
        "if (__sync_fetch_and_sub(&t->holders, 1) > 0) return 1;",
    ),
    "something else is decremented": (
        _COUNTED,
        "if (--t->holders > 0) return 1;",
        "struct text u = {n}; if (--u.holders > 0) return 1;",
    ),
    "closed": (_OPENED, "close(0); dup(n);", "dup(n);"),
    "closed before a branch": (_OPENED, "close(0); if (n) dup(n);", "if (n) dup(n);"),
    "closed somewhere": (_OPENED, "close(n); close(0); dup(n);", "if (n) close(0); dup(n);"),
    "number is kept": (_OPENED, "close(0); if (dup(n) < 0) return 1;", "close(0); n = dup(n); if (n < 0) return 1;"),
    "standard error": (_OPENED, "n = dup(n); if (n <= 2) return 1; close(n);", "n = dup(n); if (n <= 3) return 1; close(n);"),
    "number of a stream": (
        "#include <stdio.h>\n" + _OPENED,
        "n = dup(n); if (n <= fileno(stderr)) return 1; close(n);",
        "n = dup(n); if (n >= fileno(stderr)) return 1; close(n);",
    ),
    "volatile": (
        _OPENED,
        "volatile int d = dup(n); if (d < 0) return 1; close(d);",
        "volatile int d = dup(n); if (d < 0) return 1; if (d > n) close(d);",
    ),
}


def _findings(checker: Checker) -> set[str]:
    return {finding.fingerprint for finding in checker.check().findings}


@pytest.mark.parametrize("name", _CASES)
@pytest.mark.parametrize("edges", [0, 100_000], ids=["large", "small"])
def test_an_edit_around_an_edge_counts(name: str, edges: int, tmp_path: Path) -> None:
    frame, good, bad = _CASES[name]
    path = tmp_path / "a.c"
    options = Options(engine="automaton", limits=Limits(global_edges=edges))
    checker = Checker(options)
    path.write_text(frame % good, encoding="utf-8")
    checker.open([str(path)])
    assert _findings(checker) == set()
    path.write_text(frame % bad, encoding="utf-8")
    checker.refresh()
    scratch = Checker(options)
    scratch.open([str(path)])
    assert len(_findings(scratch)) == 1
    assert _findings(checker) == _findings(scratch)
    path.write_text(frame % good, encoding="utf-8")
    checker.refresh()
    assert _findings(checker) == set()
