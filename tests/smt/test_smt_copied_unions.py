"""Class: copies of unions and structures. A copy has all bytes, also those that lie between the members of the structure that
stands for a union: another member of the union has them (C11 6.2.6.1p7), or characters that memcpy copies."""

import pytest
from support.walked_paths import MODES, program_of, status, walk

UNIONS = [
    "struct { char c; int i; } s; char b[8];",
    "char b[8]; struct { char c; int i; } s;",
    "int i; char b[4];",
    "struct { char c; int i; } s; long l; char b[8];",
    "struct { int low : 3; int high : 5; int : 4; int last : 7; } s; char b[4];",
    "struct { char c; struct { char d; short e; } f[2]; } s; char b[10];",
]
COPIES = ["y = x;", "struct w p, q; p.u = x; q.u = y; q = p; y = q.u;", "*k = x;", "memcpy(&y, &x, sizeof y);"]
TEXT = """union u { UNION }; struct w { int n; union u u; };
int f(int n) { union u x, y, *k = &y; x.b[AT] = n; y.b[AT] = 1; COPY if (y.b[AT] == 2) return 1; return 0; }"""


@MODES
@pytest.mark.parametrize("union", UNIONS)
@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("at", ["1", "3"])
def test_a_copy_of_a_union_has_all_its_bytes(union, copy, at, mode):
    text = TEXT.replace("UNION", union).replace("COPY", copy).replace("AT", at)
    assert status(walk(program_of(text), mode, branches="t")) == "sat"


@pytest.mark.parametrize("union", UNIONS)
@pytest.mark.parametrize("copy", COPIES)
def test_and_nothing_else(union, copy):
    text = TEXT.replace("UNION", union).replace("COPY", copy).replace("AT", "1").replace("== 2", "!= n")
    assert status(walk(program_of(text.replace("int n)", "signed char n)")), "bv", branches="t")) == "unsat"


@MODES
def test_memcpy_copies_what_lies_between_members(mode):
    text = """struct s { char c; int i; };
      int f(int n) { struct s x, y; char *p = (char *)&x, *q = (char *)&y; p[1] = n; q[1] = 1;
      memcpy(&y, &x, sizeof y); if (q[1] == 2) return 1; return 0; }"""
    assert status(walk(program_of(text), mode, branches="t")) == "sat"
