"""Pointers in members of structures that a program accesses otherwise, too: comparisons of them count like those of memory.

The class: an object that is accessed as a structure and as something else (by its address, converted; as another structure; by a
union; as a block without a type; copied as bytes), and results of library functions that point past the end.
"""

from __future__ import annotations

import pytest

from analysis.cpa.obstacles.compared_objects import compared_objects
from analysis.cpa.obstacles.ended_pointers import compared_ended
from tests.support.explorations import program_of

_DECLARED = """
typedef unsigned long size_t; void *malloc(size_t); void free(void *); void *memcpy(void *, const void *, size_t);
void *mempcpy(void *, const void *, size_t); char *stpncpy(char *, const char *, size_t);
void *memccpy(void *, const void *, int, size_t); void *memset(void *, int, size_t);
static char a[4], b[4]; struct s { char *p; long n; }; struct t { char *q; }; static struct s s, s2;
struct outer { struct s in; };
"""

_FUNCTIONS = """
void put(void *v, char *p) { *(char **)v = p; }
void copy(void *to, const void *from, int n) { char *t = to; const char *f = from; while (n--) *t++ = *f++; }
"""

STORED = {
    "first member": "*(char **)&s = a + 4; ",
    "first member, moved there": "char **at = (char **)&s; *at = a; *at += 4; ",
    "through void": "void *v = &s; char **at = v; *at = a + 4; ",
    "through a number": "size_t n = (size_t)&s; *(char **)n = a + 4; ",
    "as a number": "*(size_t *)&s = (size_t)(a + 4); ",
    "as another structure": "((struct t *)&s)->q = a + 4; ",
    "inside of another": "static struct outer o; *(char **)&o = a + 4; s = o.in; ",
    "by another function": "void put(void *, char *); put(&s, a + 4); ",
    "copied from a pointer": "char *q = a + 4; memcpy(&s, &q, sizeof q); ",
    "copied from an array": "char *q[2] = {a + 4}; memcpy(&s, q, sizeof s); ",
    "copied from memory": "char **q = malloc(8); *q = a + 4; memcpy(&s, q, sizeof *q); ",
    "copied by bytes": "char *q = a + 4; for (int i = 0; i < 8; i++) ((char *)&s)[i] = ((char *)&q)[i]; ",
    "copied by a function": "char *q = a + 4; copy(&s, &q, 8); ",
    "copied twice": "char *q = a + 4; struct t t; memcpy(&t, &q, sizeof q); memcpy(&s, &t, sizeof t); ",
}


@pytest.mark.parametrize("how", STORED)
def test_what_is_stored_otherwise_may_be_past_the_end(how: str) -> None:
    assert compared_objects(program_of(f"{_DECLARED} {_FUNCTIONS} int main(void) {{ {STORED[how]} return s.p == b; }}"))


@pytest.mark.parametrize("how", STORED)
def test_what_is_stored_otherwise_may_be_gone(how: str) -> None:
    store = STORED[how].replace("a + 4", "p").replace("*at = a; *at += 4;", "*at = p;")
    assert compared_ended(program_of(f"{_DECLARED} {_FUNCTIONS} int f(char *p, char *r) {{ {store} free(p); return s.p == r; }}"))


@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { void *v = malloc(16); *(char **)v = a + 4; struct s *p = v; return p->p == b; }",
        "int main(void) { struct s *p = malloc(16); void *v = p; *(char **)v = a + 4; return p->p == b; }",
        "union u { struct s s; char *v[2]; }; int main(void) { union u u; u.v[0] = a + 4; return u.s.p == b; }",
        "union u { struct s s; struct t t; }; int main(void) { union u u; u.t.q = a + 4; return u.s.p == b; }",
        "union u { struct s s; size_t n; }; int f(union u *u) { u->n = (size_t)(a + 4); return u->s.p == b; }",
    ],
)
def test_blocks_and_unions(text: str) -> None:
    assert compared_objects(program_of(_DECLARED + text))


@pytest.mark.parametrize(
    "call", ['mempcpy(a, "abcd", 4)', 'stpncpy(a, "abcd", 4)', 'memccpy(a, "abcd", 100, 4)', '(char *)mempcpy(a, "abcd", 4)']
)
def test_results_may_be_past_the_end(call: str) -> None:
    assert compared_objects(program_of(f"{_DECLARED} int main(void) {{ char *end = {call}; return end == b; }}"))
    assert compared_objects(program_of(f"{_DECLARED} int main(void) {{ return {call} == b; }}"))


@pytest.mark.parametrize(
    "body",
    [
        "memset(&s, 0, sizeof s); s.p = b; return s.p == b;",
        "memcpy(&s, &s2, sizeof s); return s.p == s2.p;",
        "struct outer *o = malloc(16); o->in.p = b; struct s *p = &o->in; return p->p == b;",
        "struct outer *o = malloc(16); struct s *p = (struct s *)o; p->p = b; return o->in.p == b;",
        "void *v = malloc(16); struct s *p = v; p->p = b; free(v); return p->p == b;",
    ],
)
def test_members_that_are_only_members_do_not_count(body: str) -> None:
    moved = "static void move(char *p) { char **at = malloc(8); *at = p; ++*at; }"
    assert compared_objects(program_of(f"{_DECLARED} {moved} int main(void) {{ char *q = a + 4; move(q); {body} }}")) == {}
