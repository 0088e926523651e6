"""Locals whose address is only lent to calls keep what is known of them through other calls; all others do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

_HEAD = """#include <stdlib.h>
#include <string.h>
struct box { int *to; };
static int *global;
static struct box in_box;
static void (*chosen)(int *);
void elsewhere(int *);
"""
_LOCAL = """
static char *get(int n, int *own)
{
    char *text = n ? malloc(10) : NULL;
    KEEP
    if (!text) {
        *own = 0;
        return NULL;
    }
    *own = 1;
    return text;
}
static void other(struct box *box) { *box->to = 0; }
int f(int n, struct box *box)
{
    int own, size;
    char *text = get(n, &own);
    USE
    other(box);
    if (own)
        free(text);
    return n;
}
"""
_LENT = {
    "nothing else": ("", ""),
    "written by another call": ("", "size = 1; other(&(struct box){&size});"),
    "copied, compared and followed": ("int *p = own; if (p == global || !p) *p = 1; p[0] = 2; p++;", ""),
    "passed to a library function that keeps nothing": ("memset(own, 0, sizeof *own);", "memcpy(&size, &own, sizeof size);"),
    "written in an order that C leaves open": ("*own = *global = 0;", ""),
    "passed down to one that writes": ("if (n > 9) free(get(n - 1, own));", ""),
}
_KEPT = {
    "in a global": ("global = own;", ""),
    "in a member": ("in_box.to = own;", ""),
    "in a member, by a copy": ("int *p = own; in_box.to = p;", ""),
    "as a number": ("unsigned long n2 = (unsigned long)own; in_box.to = (int *)n2;", ""),
    "with an offset": ("global = own + 1;", ""),
    "of its own address": ("memcpy(&global, &own, sizeof own);", ""),
    "by a function that is not known": ("elsewhere(own);", ""),
    "by a function that a pointer leads to": ("chosen(own);", ""),
    "in an array": ("static int *table[3]; table[n % 3] = own;", ""),
    "by a library function that gives it back": ("global = memset(own, 0, sizeof *own);", ""),
    "by a library function that gives it back to the function itself": ("", "box->to = memset(&own, 0, sizeof own);"),
    "by the function itself": ("", "int *p = &own; box->to = p;"),
    "by the function itself, at once": ("", "box->to = &own;"),
    "in an initialiser": ("", "struct box mine = {&own}; box = &mine;"),
    "written through its address": ("", "*(&own) = 0;"),
    "written in parts": ("", "((char *)&own)[0] = 0;"),
}


@pytest.mark.parametrize("name", _LENT)
def test_what_is_lent_stays_known(name: str, tmp_path: Path) -> None:
    assert _leaks(_opened(tmp_path, *_LENT[name])) == 0


@pytest.mark.parametrize("name", _KEPT)
def test_what_is_kept_may_be_changed(name: str, tmp_path: Path) -> None:
    assert _leaks(_opened(tmp_path, *_KEPT[name])) == 1


def test_a_function_begins_to_keep_and_ceases(tmp_path: Path) -> None:
    """The function that calls it, and one above it, know less then, and as much as before afterwards."""
    checker = _opened(tmp_path, "", "")
    seen = [_leaks(checker)]
    for keep in ("global = own;", "", "elsewhere(own);", "int *p = own; *p = 0;"):
        checker.change(str(tmp_path / "a.c"), _text(keep, ""))
        seen.append(_leaks(checker))
    assert seen == [0, 1, 0, 1, 0]


def test_a_function_far_below_begins_to_keep(tmp_path: Path) -> None:
    below = "static void low(int *q) { %s }\nstatic void mid(int *q) { low(q); }\n"
    path = tmp_path / "a.c"
    checker = Checker(Options(engine="automaton"))
    seen = []
    for number, body in enumerate(("*q = 1;", "global = q;", "*q = 2;")):
        text = _text("mid(own);", "").replace("static char *get", below % body + "static char *get", 1)
        if number:
            checker.change(str(path), text)
        else:
            path.write_text(text, encoding="utf-8")
            checker.open([str(path)])
        seen.append(_leaks(checker))
    assert seen == [0, 1, 0]


def _text(keep: str, use: str) -> str:
    return _HEAD + _LOCAL.replace("KEEP", keep).replace("USE", use)


def _opened(folder: Path, keep: str, use: str) -> Checker:
    path = folder / "a.c"
    path.write_text(_text(keep, use), encoding="utf-8")
    checker = Checker(Options(engine="automaton"))
    checker.open([str(path)])
    return checker


def _leaks(checker: Checker) -> int:
    return sum(finding.rule == "memory-leak" for finding in checker.check().findings)
