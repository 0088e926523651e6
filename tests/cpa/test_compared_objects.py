"""Which comparisons may depend on where different objects lie in memory.

Class: results that C leaves to how compilers lay out memory (programs: `fixtures/traps/objects`).
"""

from __future__ import annotations

import pytest

from analysis.cpa.obstacles.compared_objects import compared_objects
from tests.support.explorations import program_of

_DECLARED = """
typedef unsigned long size_t; void *malloc(size_t); void free(void *); char *strchr(const char *, int); int *other(void);
void take(int **); struct pair { int *first, *last; }; static int a[4], b[4]; int *open; static int *closed;
"""


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { return a + 4 == b; }",
        "int main(void) { int x, y; return &x + 1 != &y; }",
        "int main(void) { int x, y; return &x < &y; }",
        "int main(void) { int x, y; return &x - &y == 4; }",
        "int main(int n, char **v) { int *p = &a[n]; return p == b; }",
        "int main(void) { int *p = a; p++; int *q = p; return q == b; }",
        "int main(void) { closed = a; closed++; return closed == b; }",
        "static int **at = &closed; int main(void) { *at = a; closed++; return closed == b; }",
        "static int *end = a + 4; int main(void) { return end == b; }",
        "int main(void) { struct pair s = {a, b}; s.first++; return s.first == s.last; }",
        "int main(void) { struct pair s; int **at = &s.first; *at = a; s.first++; return s.first == b; }",
        "static int same(int *p, int *q) { return p == q; } int main(void) { return same(a + 4, b); }",
        "static int *end(int *p) { return p + 4; } int main(void) { return end(a) == b; }",
        "int main(void) { int *p = malloc(4), *q = malloc(4); return p && p + 1 == q; }",
        "int main(void) { int *p = 0; for (;;) { int *q = malloc(4); if (p + 1 == q) return 1; p = q; } }",
        "static int *one(void) { return malloc(4); } int main(void) { int *p = one(), *q = one(); return p + 1 == q; }",
        "static int f(int *p) { int x; return p + 1 == &x ? 1 : f(&x); } int main(void) { return f(0); }",
        "int main(void) { int x; int *p = other(); return p + 1 == &x; }",
        "int main(void) { int x; take(&open); return open == &x + 1; }",
        "int main(void) { size_t n = (size_t)a + 16; int *p = (int *)n; return p == b; }",
        'int main(void) { char *p = "abc", *q = "de"; return p + 4 == q; }',
        "int main(void) { char s[2] = {0}, t[2]; char *p = strchr(s, 0); p++; p++; return p == t; }",
        "int f(int *p) { return p + 1 == a; }",
        "struct list { struct list *next; int v[2]; } l, m; int main(void) { l.next = &m; return l.v + 2 == (int *)l.next; }",
    ],
)
def test_it_may_depend_on_the_layout(text: str) -> None:
    assert compared_objects(program_of(_DECLARED + text))


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { int x, y; return &x == &y; }",
        "int main(void) { int n = 0; for (int *p = a; p != a + 4; p++) n += *p; return n; }",
        "int main(void) { int n = 0; for (int *p = a, *end = &a[4]; p < end; p++) n += end - p; return n; }",
        "static int sum(int *p, int *end) { return p == end ? 0 : sum(p + 1, end); } int main(void) { return sum(a, a + 4); }",
        "int main(void) { int *p = malloc(8), *end = p + 2; return p == end; }",
        "int main(void) { char s[4]; char *p = strchr(s, 1); return p && p - s == 2; }",
        "int main(void) { struct pair s; return &s.first + 1 == &s.last; }",
        "int f(int *p, int *q) { return p + 1 == q; }",
        "int main(void) { int *p = other(), *q = other(); return p + 1 == q; }",
        "int main(void) { int *p = a + 1; return p == 0; }",
        "int main(void) { struct pair *p = malloc(16), *q = malloc(16); int x[2]; x[1] = 1; return p == q; }",
    ],
)
def test_it_does_not(text: str) -> None:
    assert compared_objects(program_of(_DECLARED + text)) == {}
