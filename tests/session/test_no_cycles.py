"""What an edit replaces is free at once, without the cyclic garbage collector, which is off in the checker process.

The class: anything of a revision that lies in a cycle of references stays for ever, with all that it refers to (syntax trees,
graphs). So edits of every kind are made here, with the collector off, and then it must find nothing.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options

TEXT = """\
#include <stdlib.h>
struct node { struct node *next; int value; };
static int counted;
static int *make(int n) { int *p = malloc(n * sizeof(int)); if (p) *p = n; return p; }
static void drop(int *p) { free(p); }
static int sum(struct node *list) {
    int total = 0;
    for (; list; list = list->next) total += list->value;
    return total;
}
int main(int count, char **words) {
    int *p = make(count);
    /* here */
    counted = sum(0);
    switch (count) { case 1: counted++; break; default: counted--; }
    drop(p);
    return words == 0;
}
"""
BIG = "".join(f"int more_{n}(int x) {{ if (x > {n}) return x + {n}; return more_{n - 1}(x); }}\n" for n in range(1, 250))
EDITS = [
    "int x = 1;",
    "*p = 3;",
    "free(p);",
    "if (count) {",
    "return 1;",
    "unknown(p);",
    "x = = 3;",
    "struct local { int a; } y = {1}; counted = y.a;",
    "counted = ({ int z = 3; z; });",
    "goto nowhere;",
    "counted = count ? *make(3) : 1 + (int)sizeof(int);",
    "}\nint another(void) { return counted; }\nint later(int *p) {\n int count = 1; char **words = 0;",
]


@contextmanager
def _off() -> Iterator[None]:
    gc.collect()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.enable()


def _left_over() -> Counter[str]:
    """The kinds of objects that only the collector finds, ours and those that ours may hold."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return Counter(f"{type(thing).__module__}.{type(thing).__qualname__}" for thing in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


@pytest.mark.parametrize("more", ["int more_0(int x) { return x; }\n" + BIG, ""], ids=["large", "small"])
def test_edits_leave_no_cycles(tmp_path: Path, more: str) -> None:
    """A large program is repaired, a small one is checked from nothing."""
    path = tmp_path / "a.c"
    text = more + TEXT
    path.write_text(text)
    checker = Checker(Options())
    checker.open([str(path)])
    checker.check()
    checker.change(str(path), text)
    checker.check()
    with _off():
        for edit in EDITS:
            for typed in (text.replace("/* here */", edit), text):
                checker.change(str(path), typed)
                checker.check_unless(lambda: False, patient=False)
                checker.check()
        left = _left_over()
    assert not left
