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


COPIED = """static void copy1(char *dst, const char *src) { *dst = *src; }
static void wild(char *to, const char *from)
{
    char *d = to;
    copy1(d, from);
}
static void generic(char *dest, const char *source)
{
    char *op = dest;
    wild(op, source);
}
void safe(char *dest, const char *source) { generic(dest, source); }
static void dict(char *dest, const char *source) { generic(dest, source); }
void get(const char *s)
{
    char *o = 0;
    dict(o, s);
}
int main(void)
{
    char b[4];
    safe(b, "x");
    get("y");
    return 0;
}
"""
SOONER = COPIED.replace("copy1(d, from);", "*d = *from;")
BY_ANOTHER_CALL = SOONER.replace(
    "dict(char *dest, const char *source) { generic(", "dict(char *dest, const char *source) { safe("
)
OF_ANOTHER = BY_ANOTHER_CALL.replace("char *o = 0;", "char *o = (char *) s;").replace('safe(b, "x")', 'safe(0, "x")')


@pytest.mark.parametrize(("new", "counts"), [(SOONER, (0, 0, 1)), (BY_ANOTHER_CALL, (0, 0, 1)), (OF_ANOTHER, (1, 1, 0))])
def test_what_comes_by_other_calls_from_the_same_place_to_a_function_on_the_way_is_the_same(
    new: str, counts: tuple[int, int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("old.c", COPIED), ("new.c", new)):
        (tmp_path / name).write_text(text)
    words = ["diff", "--engine", "automaton", "--format", "json", "--rule", "null-dereference", "--show", "all"]
    main([*words, str(tmp_path / "old.c"), str(tmp_path / "new.c")])
    report = json.loads(capsys.readouterr().out)
    assert tuple(len(report[key]) for key in ("introduced", "fixed", "unchanged")) == counts
