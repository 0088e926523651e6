"""A finding is not refuted by what happens before it, if that is the same defect: a null pointer that is moved (C11 6.5.6p8).

The class: provers say that no run gets to the dereference, because a null pointer is not moved; nobody is told of the move."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Engine, Options

_NULL = "null-dereference"
_PROGRAMS = {
    "a local pointer": "char f(const char *s) { const char *p = strchr(s, ':'); p++; return *p; }",
    "another variable": "char f(const char *s) { const char *p = strchr(s, ':'), *q = p + 1; return *q; }",
    "a function's result": "static const char *after(const char *s) { const char *p = strchr(s, ':'); return p + 1; }\n"
    "char f(const char *s) { const char *p = after(s); return *p; }",
    "twice": "char f(const char *s) { const char *p = strchr(s, ':'); p += 2; p -= 1; return *p; }",
}


def _statuses(text: str, engine: Engine, file: Path) -> list[tuple[str, str]]:
    file.write_text(f"#include <string.h>\n{text}\n")
    checker = Checker(Options(proofs=True, engine=engine, rules=(_NULL,), everywhere=True), jobs=1)
    checker.open([str(file)])
    checker.check()
    found = [(finding.rule, finding.status) for finding in checker.prove().findings]
    checker.close()
    return found


@pytest.mark.parametrize("engine", ["auto", "predicate", "symbolic"])
@pytest.mark.parametrize("name", _PROGRAMS)
def test_moving_null_does_not_refute_its_dereference(name: str, engine: Engine, tmp_path: Path) -> None:
    assert _statuses(_PROGRAMS[name], engine, tmp_path / "a.c") == [(_NULL, "possible")]


@pytest.mark.parametrize("engine", ["auto", "predicate", "symbolic"])
def test_it_is_refuted_where_what_is_moved_is_never_null(engine: Engine, tmp_path: Path) -> None:
    text = """char f(const char *s, int n)
{ const char *p = 0; if (n - n / 2 + n / 2 == n) p = s; if (!s) return 0; p++; return *p; }"""
    assert _statuses(text, "automaton", tmp_path / "a.c") == [(_NULL, "possible")]
    assert _statuses(text, engine, tmp_path / "a.c") == []
