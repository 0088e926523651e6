"""The class: types and casts that the grammar reads as something else: specifiers in any order, and chains of casts to names.

Each text is the body of a function. What it returns in the interpreter is what it returns where gcc compiled it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from analysis.interpreter.outcome import Returned
from tests.support.lowered import cfa_of
from tests.support.runs import run_of

GLOBALS = """
typedef unsigned long word; typedef unsigned int half; typedef signed char byte; struct node { int f; };
unsigned const char table[3] = {1, 2, 200}; long const unsigned int seven = 7; unsigned static short most = 65535;
"""
CASES = {
    "qualifier between": "unsigned const char *q = table; return q[2];",
    "qualifier behind": "unsigned long long const x = -1; return x > 0;",
    "storage class between": "return most + seven;",
    "qualifier on another line": "unsigned\nconst char x = -1; return x;",
    "cast to a type with a qualifier between": "return (unsigned const char) 300 + sizeof(long const int);",
    "two casts of a negative number": "half x = (half) (word) -1; return x == 4294967295u;",
    "two casts of a sum": "return 1 + (int) (byte) +3;",
    "two casts behind an operator": "return 5 + (half) (byte) -1 == 4;",
    "a cast to the type of something": "int x = 0; return (__typeof__(x)) 0 < (__typeof__ (int)) -1 ? 1 : 2;",
    "a cast to the type of a type": "return ((__typeof__ (half)) 0 < (__typeof__ (half)) -1) + (__typeof__(byte)) +300;",
    "two casts of what is pointed to": "int one = 300, *p = &one; return (half) (byte) *p;",
    "two casts of an address": "int x = 0; return (word) (word) &x == (word) &x;",
    "two casts of a member": "struct node n = {300}, *p = &n; return (byte) (word) (p)->f;",
    "two casts of an element": "int a[2] = {1, 300}; return (half) (byte) (a)[1];",
    "two casts in parentheses": "int x = 300; return (half) (byte) (x);",
    "three casts": "int x = 65536 + 300; return (int) (byte) (half) -(x);",
    "a keyword before a name": "return (unsigned long) (half) -1 == 4294967295u;",
    "a name before a keyword": "return (half) (unsigned char) -1;",
    "a sign before what is counted": "int x = 7, y = -x++; return 10 * x + y;",
    "a test of what is counted": "int x = 0, y = 1; if (!x++) y = 5; while (!--x) y++; return 10 * x + y;",
    "two signs before a member that is counted": "struct node n = {3}; int y = !!n.f--; return 10 * n.f + y;",
    "all bits of what is counted, dropped": "int x = 4; ~x++; return x;",
    "a sign before what is pointed to": "int a[2] = {1, 300}, *p = a; int y = -*p++; return *p + y;",
    "a size of an element of a member": "struct { long text[3]; } s, *p = &s; return sizeof (s).text[0] * 100 + sizeof(p)->text;",
    "a size of an element": "short a[4]; return sizeof (a)[0] * 10 + sizeof (a);",
    "a variable that has the type of its value": "word x = 300;__auto_type y = (byte) x; __auto_type z = &y; return *z+sizeof y;",
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_what_gcc_makes_of_it(case: str, tmp_path: Path) -> None:
    text = f"{GLOBALS}int f(void) {{ {CASES[case]} }}"
    source = tmp_path / "f.c"
    source.write_text(f'{text}\nint printf(const char *, ...);\nint main(void) {{ printf("%d", f()); return 0; }}\n')
    subprocess.run(["gcc", "-w", "-o", str(tmp_path / "f"), str(source)], check=True)
    expected = int(subprocess.run([str(tmp_path / "f")], capture_output=True, text=True, check=True).stdout)
    assert not cfa_of(text).unsupported
    assert run_of(text, entry="f").end == Returned(expected)


def test_a_parameter_that_points_to_a_function_of_a_named_type_is_declared_in_the_old_style() -> None:
    text = """
    typedef long word; word minus(word x) { return -x; } word seven(void) { return 7; }
    word f(get, change, to) word (*get)(void); word (*change)(word), to; { return change((*get)()) + to; }
    int main(void) { return f(seven, minus, 10L); }
    """
    assert run_of(text).end == Returned(3)
    assert not cfa_of(text).unsupported
