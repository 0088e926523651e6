"""What is said of a function does not depend on what was in the program before: where a value can no longer reach an error, it is
not tracked there, as from scratch, wherever the result of a call is stored (a variable, a member, a global variable)."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.program_edits import LARGE

from analysis.api import Checker

_TEXT = """#include <stdlib.h>
struct pair {{ int *first; int *second; }};
static int flag;
static int *last;
static int *make(int n) {{ int *made = malloc(sizeof *made); return made; }}
static int *make_one(int n) {{ int *one = make(n); return one; }}
int read_now(int n) {{ int *one = make_one(n); return *one; }}
int keep(struct pair *pair, int n)
{{
    int *mine;
    {stored}
    if (flag)
        {copied}
    {read}
}}
"""
_STORED = {
    "a member": ("pair->first = make_one(n);", "last = pair->first;", "*pair->first"),
    "a member of a member": ("pair[n].second = make_one(n);", "last = pair[n].second;", "*pair[n].second"),
    "a global": ("last = make_one(n);", "pair->first = last;", "*last"),
    "a variable": ("mine = make_one(n);", "last = mine;", "*mine"),
}


def _said(checker: Checker) -> dict[str, tuple[str, ...]]:
    return {function.name: function.summary for function in checker.check().functions}


@pytest.mark.parametrize("place", _STORED)
def test_what_was_read_before_is_no_difference(place: str, tmp_path: Path) -> None:
    stored, copied, read = _STORED[place]
    path = str(tmp_path / "a.c")
    texts = [_TEXT.format(stored=stored, copied=copied, read=one) for one in (f"return {read};", "", f"return {read};")]
    Path(path).write_text(texts[0], encoding="utf-8")
    edited = Checker(LARGE)
    edited.open([path])
    for text in texts:
        edited.change(path, text)
        anew = Checker(LARGE, algorithm="full")
        anew.open([path])
        anew.change(path, text)
        assert _said(edited) == _said(anew)
