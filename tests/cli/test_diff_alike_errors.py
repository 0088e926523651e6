"""`everproof diff` where a function gets a second error with the message of one that it has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cli.main import main

OLD = """#include <stdlib.h>
struct point { int x; };
struct point *point_new(void) { return malloc(sizeof(struct point)); }
int sum(void)
{
    int found;
    struct point *p = point_new();
    found = p->x;
    free(p);
    /* here */
    return found;
}
"""
NEW = OLD.replace("/* here */", "p = point_new(); found += p->x; free(p);")


@pytest.mark.parametrize(("old", "new", "introduced", "fixed"), [(OLD, NEW, 1, 0), (NEW, OLD, 0, 1), (NEW, NEW, 0, 0)])
def test_what_comes_to_an_old_error_is_introduced(
    old: str, new: str, introduced: int, fixed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("old", old), ("new", new)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.c").write_text(text)
    words = ["diff", "--engine", "automaton", "--format", "json", "--rule", "null-dereference", "--show", "all"]
    main([*words, str(tmp_path / "old"), str(tmp_path / "new")])
    report = json.loads(capsys.readouterr().out)
    assert (len(report["introduced"]), len(report["fixed"])) == (introduced, fixed)
