"""Initialisers give each part of an object the value that C gives it (C11 6.7.9): run, each of these returns its number.

The class: what a value without a designator initialises that comes after one with designators, where braces are left out; which
values are overridden by later ones, of parts, of wholes and of other members of a union.
"""

from __future__ import annotations

import pytest

from analysis.interpreter.outcome import NotModelled, Returned
from tests.support.runs import run_of

TYPES = """
struct in { int a, b; };
struct out { struct in x; int c; };
struct anon { struct { int p, q; }; union { unsigned u; unsigned char b[4]; }; union { int v; short w; }; int last; };
union either { int i; unsigned char bytes[4]; };
"""
CASES = {
    "after a part of a part comes the next of it": ("struct out o = {.x.a = 4, 9};", "o.x.b", 9),
    "after the last part of a part comes what follows it": ("struct out o = {.x.b = 4, 9};", "o.c", 9),
    "after an element's element comes its neighbour": ("int m[2][3] = {[0][1] = 5, 6, 7};", "m[0][2] * 10 + m[1][0]", 67),
    "braces left out after a designator": ("int m[2][2] = {[1] = 5, 6};", "m[1][0] * 10 + m[1][1]", 56),
    "braces left out, and more after that": ("struct out o[2] = {[0] = 1, 2, 3, 4};", "o[0].c * 10 + o[1].x.a", 34),
    "after a member of an anonymous record": ("struct anon s = {.p = 1, 2, 3};", "s.q * 10 + (int)s.u", 23),
    "after a member of an anonymous union": ("struct anon s = {.b = {7}, 8, 9};", "s.v * 10 + s.last", 89),
    "after another member of a union": ("struct anon s = {.w = 8, 9};", "s.w * 10 + s.last", 89),
    "a later part": ("int a[2][2] = {[0] = {1, 2}, [0][1] = 5};", "a[0][0] * 10 + a[0][1]", 15),
    "a later whole leaves nothing of its parts": ("int a[2][2] = {[0][1] = 5, [0] = {1}};", "a[0][0] * 10 + a[0][1]", 10),
    "a later empty whole": ("struct out o = {.x.b = 5, .x = {}};", "o.x.b", 0),
    "another member of a union": ("union either e = {.i = 0x01020304, .bytes[0] = 5};", "e.i", 5),
    "back to a member of a union": ("union either e = {.bytes = {1, 2}, .i = 3, .bytes[1] = 4};", "e.i", 1024),
    "one member of a union, part by part": ("union either e = {.bytes[0] = 1, .bytes[1] = 4};", "e.i", 1025),
    "several elements, one of them again": ("int a[4] = {[0 ... 3] = 2, [2] = 7, 8};", "a[1] * 100 + a[2] * 10 + a[3]", 278),
}


@pytest.mark.parametrize("storage", ["", "static "])
@pytest.mark.parametrize("what", CASES)
def test_each_part_has_its_value(what: str, storage: str) -> None:
    declaration, expression, value = CASES[what]
    assert run_of(f"{TYPES} int main(void) {{ {storage}{declaration} return {expression}; }}").end == Returned(value)


@pytest.mark.parametrize(
    "declaration", ['char t[2][2] = {[0][1] = 0, "b"};', 'struct { char a[2], b[2]; } t = {.a[1] = 0, "b"};']
)
def test_a_string_after_the_last_part_is_not_guessed(declaration: str) -> None:
    """gcc 12 and clang 14 put it elsewhere than C11 6.7.9p17 says, and not at the same place."""
    assert isinstance(run_of(f"int main(void) {{ {declaration} return sizeof t; }}").end, NotModelled)


def test_a_part_of_a_records_value_that_is_overridden_is_not_guessed() -> None:
    """gcc 12 leaves the rest of it zero, clang 14 keeps it (WG14 DR 413)."""
    body = "struct in i = {1, 2}; struct out o = {.x = i, .x.b = 7}; return o.x.a;"
    assert isinstance(run_of(f"{TYPES} int main(void) {{ {body} }}").end, NotModelled)
