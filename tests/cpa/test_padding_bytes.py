"""Which programs may read bytes that no member holds.

Class: bytes that stores may change though nothing is stored there (C11 6.2.6.1p6, p7). Models leave them as they were, and runs,
too; so neither may prove anything, or refute a finding, where such bytes are read.
"""

from __future__ import annotations

import pytest

from analysis.cpa.obstacles.completeness import address_reasons, depends_on_compiler
from analysis.cpa.obstacles.padding_bytes import read_padding
from tests.support.explorations import program_of

_DECLARED = """
typedef unsigned long size_t; typedef unsigned char byte;
void *malloc(size_t); void free(void *); void *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t);
size_t strlen(const char *); void reach_error(void); void take(void *);
struct gap { char c; int i; }; struct tail { int i; char c; }; struct full { int i, j; };
struct outer { int i, j; struct gap g; }; struct bits { unsigned b : 3; }; struct named { int i; char name[6]; };
union mixed { int i; byte b[8]; }; union punned { float f; byte b[4]; }; union inner { struct gap s; byte b[8]; };
union tagged { int i; double d; char c; };
static struct gap x, y; static byte *at_start = (byte *)&x;
static byte at(const void *p, int k) { return ((const byte *)p)[k]; }
"""


@pytest.mark.parametrize(
    "body",
    [
        "byte *p = (byte *)&x; p[1] = 5; x.c = 7; return p[1] != 5;",
        "char *p = (char *)&x, *q = (char *)&y; p[1] = 5; y = x; return q[1] != 5;",
        "signed char *p = (void *)&x; x.c = 7; return *(p + 1);",
        "byte *p = (byte *)&x + 1; x.c = 7; return *p;",
        "struct tail t = {1, 2}; byte *p = (byte *)&t; return p[6];",
        "struct outer o; byte *p = (byte *)&o; o.g.c = 1; return p[9];",
        "struct gap a[2]; byte *p = (byte *)a; return p[9];",
        "struct bits b; b.b = 1; return *(byte *)&b >> 3;",
        "struct gap *p = malloc(sizeof *p); if (!p) return 0; p->c = 1; int r = ((byte *)p)[1]; free(p); return r;",
        "byte raw[8]; memcpy(raw, &x, sizeof raw); return raw[1];",
        "byte *raw = malloc(8); if (!raw) return 0; memcpy(raw, &x, 8); int r = raw[1]; free(raw); return r;",
        "x.c = 1; return at(&x, 1);",
        "union mixed u; u.b[5] = 5; u.i = 1; return u.b[5];",
        "union inner u; u.b[1] = 5; u.s.c = 1; return u.b[1];",
        "at_start[1] = 5; x.c = 7; return at_start[1];",
        "static char *p = (char *)&x; x.c = 7; return p[1];",
        "char *m = malloc(8); if (!m) return 0; struct gap *g = (void *)m; m[1] = 5; g->c = 7; int r = m[1]; free(m); return r;",
        "long double d = 1; byte *p = (byte *)&d; return p[12];",
        "byte (*p)[8] = (byte (*)[8])(void *)&x; return (*p)[1];",
    ],
)
def test_padding_that_may_be_read(body: str) -> None:
    program = program_of(f"{_DECLARED}int main(void) {{ {body} }}")
    assert read_padding(program)
    assert any("may read padding" in reason for reason in address_reasons(program, ("main",)))
    assert depends_on_compiler(program, ("main",))


@pytest.mark.parametrize(
    "body",
    [
        "x.c = 7; y = x; return y.c;",
        "struct full f = {1, 2}; return *(byte *)&f + at(&f, 5);",
        "struct gap *p = malloc(sizeof *p); if (!p) return 0; memset(p, 0, sizeof *p); int r = p->c; free(p); return r;",
        "struct named n; memset(&n, 0, sizeof n); char *s = n.name; return s[0] + n.name[1] + (int)strlen(s);",
        "union punned u; u.f = 1; return u.b[3];",
        "union tagged t; t.c = 3; return t.c;",
        'char *s = "text"; struct gap *p = &x; p->c = s[1]; return p->c;',
        "byte raw[8]; memset(raw, 0, 8); y = x; return raw[1];",
    ],
)
def test_other_characters_count_not(body: str) -> None:
    program = program_of(f"{_DECLARED}int main(void) {{ {body} }}")
    assert read_padding(program) == {}
