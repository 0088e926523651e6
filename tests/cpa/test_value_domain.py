"""What the value analysis knows of memory: one C function a case, and what it surely returns (None: any value)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.explorations import explored, program_of, value_analysis

HEAD = """typedef unsigned long size_t; int nondet(void); void unknown(); void *malloc(size_t); int scanf(const char *, ...);
struct in { int a; unsigned char b[3]; }; struct s { int x; struct in in; int *p; };
union u { int i; unsigned char c[4]; short h; };
struct bits { unsigned one : 1; int three : 3; unsigned rest : 12; };
int g; int taken; int *where = &taken; static int hidden; struct s gs; int table[4] = {1, 2, 3}; struct s made = {7, {8, {9}}, 0};
"""

CASES: list[tuple[str, Any]] = [
    ("int a = 3; a += 4; return a * 2;", 14),
    ("unsigned char c = 250; c += 10; return c;", 4),
    ("int a = -7; return a / 2 * 10 + a % 2;", -31),
    ("unsigned a = 0; a--; return a == 4294967295u;", 1),
    ("long a = 1L << 40; return (int)(a >> 38);", 4),
    ("int a = 1; return a << 40;", None),
    ("int a = 0; return 5 / a;", None),
    ("int a; return a;", None),
    ("int a = nondet(); return a;", None),
    ("int a = nondet(); return a * 0;", 0),
    ("int a = nondet(); if (a == 5) return a; return 5;", 5),
    ("int a = nondet(); if (a != 5) return 5; return a;", 5),
    ("int a = nondet(); if (a) return 0; return a;", 0),
    ("unsigned char c = nondet(); if (c == 300) return 1; return 0;", 0),
    ("_Bool b = nondet(); if (b) return b; return 1;", 1),
    # pointers
    ("int a = 1, *p = &a; *p = 2; return a;", 2),
    ("int a = 1, b = 2, *p = &a; return p == &b;", 0),
    ("int a[4]; int *p = a; p += 3; return p - a;", 3),
    ("int a[4]; int *p = &a[1]; p[1] = 5; return a[2];", 5),
    ("int *p = 0; return !p;", 1),
    ("int a; int *p = &a; if (p) return 1; return 0;", 1),
    ("int a = 1; int *p = &a; if (nondet()) p = &g; *p = 2; return 3;", 3),
    ("int *p = (int *)nondet(); taken = 4; *p = 5; return taken;", None),
    ("int *p = (int *)nondet(); int mine = 4; *p = 5; return mine;", 4),
    ("int *p = (int *)nondet(); int mine = 4; int *q = &mine; *p = 5; return mine + (q == 0);", None),
    ("int **pp; int *p; int a = 6; pp = &p; *pp = &a; return *p;", 6),
    ('char *s = "ab"; char *t = s; return s == t;', 1),
    ("int *p = malloc(4); if (!p) return 1; return 1;", 1),
    # records, arrays, unions
    ("struct s v; v.x = 1; v.in.a = 2; struct s w = v; v.x = 9; return w.x + w.in.a;", 3),
    ("struct s v; v.in.b[1] = 7; struct in w; w = v.in; return w.b[1];", 7),
    ("struct s v; struct s *p = &v; p->in.a = 4; return v.in.a;", 4),
    ("struct s v = {0}; return v.in.b[2] + v.x;", 0),
    ("struct s v; v.x = 1; unknown(&v); return v.x;", None),
    ("struct s v; v.x = 1; unknown(); return v.x;", 1),
    ("int a[3] = {1, 2}; return a[0] * 100 + a[1] * 10 + a[2];", 120),
    ("int a[3] = {1, 2}; a[nondet() & 1] = 5; return a[2];", None),
    ("int a[3] = {1, 2}; int i = 1; a[i + 1] = 5; return a[2];", 5),
    ("union u u; u.i = 5; u.h = 6; return u.i;", None),
    ("union u u; u.i = 5; return u.i;", 5),
    ("union u u; u.c[0] = 1; u.c[1] = 2; u.i = 3; return u.c[1];", None),
    ("int a = 5; unsigned char *p = (unsigned char *)&a; p[1] = 1; return a;", None),
    ("struct bits b; b.one = 3; b.three = 5; b.rest = 4097; return b.one * 100 + b.three * 10 + b.rest;", 71),
    # globals and external functions
    ("return g + hidden;", 0),
    ("return table[0] + table[1] * 10 + table[2] * 100 + table[3];", 321),
    ("return made.x * 100 + made.in.a * 10 + made.in.b[0] + made.in.b[1];", 789),
    ("hidden = 3; unknown(); return hidden;", 3),
    ("g = 3; unknown(); return g;", None),
    ("g = 3; nondet(); return g;", 3),
    ("int a = 3; int b = 4; unknown(&a); return b;", 4),
    ("int a = 3; unknown(&a); return a;", None),
    ("return *where;", 0),
    ("struct s v; v.p = &v.x; *v.p = 3; return v.x;", 3),
]


@pytest.mark.parametrize(("body", "expected"), CASES, ids=lambda case: str(case)[:60])
def test_what_is_known(body: str, expected: Any) -> None:
    of = program_of(HEAD + "int main(void) { " + body + " }")
    composite, state = value_analysis(of)
    exit_ = of.functions["main"].exit
    reached = explored(composite, state, of).reached
    values = {n.state[2].store.map.get("main#0:<result>") for n in reached if n.state[0].location == exit_}
    assert values == {expected}


def test_dead_variables_are_forgotten_so_that_paths_meet() -> None:
    of = program_of("int nondet(void); int main(void) { int x = nondet(); int y; if (x) y = 1; else y = 2; y = 3; return y; }")
    composite, state = value_analysis(of)
    reached = explored(composite, state, of).reached
    assert len(reached) == len(of.functions["main"].locations)


def test_merge_join_is_constant_propagation() -> None:
    of = program_of("int nondet(void); int main(void) { int x = 1, y = 2; while (nondet()) x = x + 1; return x * 10 + y; }")
    composite, state = value_analysis(of, merge="join")
    outcome = explored(composite, state, of)
    assert outcome.ending == "finished"
    assert {n.state[2].store.map.get("main#0:y") for n in outcome.reached if "main#0:y" in n.state[2].store.map} == {2}
    last = [n.state[2].store for n in outcome.reached if n.state[0].location == of.functions["main"].exit]
    assert [store.map.get("main#0:<result>") for store in last] == [None]


def test_states_survive_pickling() -> None:
    import pickle

    of = program_of(HEAD + "int main(void) { struct s v = {0}; v.x = 3; int *p = &v.x; table[1] = *p; return v.x; }")
    composite, state = value_analysis(of)
    for node in explored(composite, state, of).reached:
        again = pickle.loads(pickle.dumps(node.state))
        assert again == node.state
        assert hash(again) == hash(node.state)
