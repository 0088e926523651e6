"""Which comparisons may be of a pointer to what is gone by then.

Class: values of pointers that C calls indeterminate, which models keep apart from all others (programs:
`fixtures/traps/objects`).
"""

from __future__ import annotations

import pytest

from analysis.cpa.obstacles.ended_pointers import compared_ended
from tests.support.explorations import program_of

_DECLARED = """
typedef unsigned long size_t; void *malloc(size_t), *realloc(void *, size_t); void free(void *); char *strchr(const char *, int);
void unknown(void *); int *other(void);  struct node { struct node *next; int *value; }; int *kept; struct node *list;
int strcmp(const char *, const char *);
"""


@pytest.mark.parametrize(
    "text",
    [
        "int f(int *p, int *q) { free(p); return p == q; }",
        "int f(int *p, int *q) { int *r = p; free(p); return q < r; }",
        "int f(int *p) { int *q = realloc(p, 9); return q == p; }",
        "void drop(int *p) { free(p); } int f(int *p, int *q) { drop(p); return p != q; }",
        "int f(struct node *n, int *q) { free(n->value); return n->value == q; }",
        "int f(struct node *n, int *q) { int *v = n->value; free(n->value); return v == q; }",
        "int f(int *p, int *q) { for (;;) { if (p == q) return 1; free(p); } }",
        "void put(void) { int x; kept = &x; } int f(int *q) { put(); return kept == q; }",
        "int *put(void) { int x; int *p = &x; return p; } int f(int *q) { int *p = put(); return p == q; }",
        "int f(int *q) { int *p; { int x; p = &x; } return p == q; }",
        "int same(int *p, int *q) { return p == q; } int f(int *p, int *q) { free(p); return same(p, q); }",
        "int f(int *p, int *q) { free(p); size_t a = (size_t)p; int *r = (int *)(a + 4); return r == q; }",
        "int f(char *p, char *q) { char *r = strchr(p, 1); free(p); return r == q; }",
        "int f(int *p, int **at, int *q) { *at = p; free(p); return *at == q; }",
        "int f(int *p, int **at, int *q) { unknown(p); free(p); return *at == q; }",
        "int f(int *p, int *q) { unknown(p); return p == q; }",
        "int **at = &kept; int f(int *p, int *q) { *at = p; free(p); return kept == q; }",
        "static int *mine; int f(int *p, int *q) { int **at = &mine; *at = p; free(p); return mine == q; }",
        "int f(struct node *n, int *p, int *q) { int **at = &n->value; *at = p; free(p); return n->value == q; }",
        "int f(int *p, int *q) { struct node n; int **at = &n.value; *at = p; free(p); return n.value == q; }",
        "int f(struct node *n, int *q) { unknown(n); return n->value == q; }",
        "void all(void); int f(int *q) { int *p = kept; all(); return p == q; }",
        "void all(void); int f(struct node *n, int *q) { all(); return n->value == q; }",
        "int f(int *p, int *q, void (*end)(void *)) { end(p); return p == q; }",
        "int f(int *q) { int *p = other(); return p == q; }",
        "int f(int *q) { int *p = other(); *p = 1; other(); return p == q; }",
        "int f(int *q) { int *p = other(); *p = 1; p = other(); return p == q; }",
        "int f(int *q, int n) { int *p = other(); if (n) *p = 1; return p == q; }",
        "int f(int *q, int n) { int *p = other(); for (;;) { if (n) *p = 1; if (p == q) return 1; free(p); *q = 1; p = q; } }",
        "int f(int *q) { int *p = other(), *r = p; *p = 1; other(); return r == q; }",
        "int f(int *q) { int *p = other(), **at = &p; *p = 1; *at = kept; return p == q; }",
        "int f(int **q) { struct node *p = other(); int **v = &p->value; return v == q; }",
        "struct empty {}; int f(struct empty *q) { struct empty *p = other(), e; *p = e; return p == q; }",
        "int f(int *q) { int *p = other(); int n = *(int *)((size_t)p + *q); return p == q; }",
        "void drop(int *p) { free(p); } int f(int *q) { int *p = other(); *p = 1; drop(p); return p == q; }",
        "int f(int n) { int *p = other(); *p = n; for (;;) { int x, *q = &x; if (n && p == q) return 1; *p = n; p = q; } }",
    ],
)
def test_it_may_be_gone(text: str) -> None:
    assert compared_ended(program_of(_DECLARED + text))


@pytest.mark.parametrize(
    "text",
    [
        "int f(int *p, int *q) { int same = p == q; free(p); return same; }",
        "int f(int *p, int *q, char *r) { free(r); return p == q; }",
        "int f(int *p) { free(p); return p == 0; }",
        "int f(int *p, int *end) { int n = 0; while (p != end) p++, n++; return n; }",
        "int same(int *p, int *q) { return p == q; } int f(void) { int x, y; return same(&x, &y) + same(&y, &x); }",
        "int f(struct node *n, struct node *m) { free(n->value); return n == m; }",
        "int f(char *p, char *q) { return strchr(p, 1) == q; }",
        "void all(void); int f(void) { int own[2], *p = own; all(); return p == own + 1; }",
        "int f(void) { int *q = malloc(4), *p; unknown(0); p = other(); *q = 1; *p = 2; return p == q; }",
        "int f(int *q) { int *p = other(); *p = 1; *q = 2; return p == q; }",
        "int f(int *q) { int *p = other(), *r; q[2] = 1; if (p[1]) r = p; else { *p = 1; r = p; } return r == q; }",
        "int f(struct node *q) { struct node *p = other(); if (!p->next->value || !q->value) return 0; return p == q; }",
        "int f(char *p, char *q) { unknown(p); unknown(q); if (strcmp(p, q) && *p && *q) return p == q; return 0; }",
        "static int *mine; void all(void); int f(int *q) { int *p = mine; all(); return p == q; }",
    ],
)
def test_it_is_there(text: str) -> None:
    assert compared_ended(program_of(_DECLARED + text)) == {}
