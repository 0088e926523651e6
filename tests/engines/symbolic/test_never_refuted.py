"""Violations that are easy to overlook: none of them may be refuted, and those that can be found must be."""

from __future__ import annotations

import pytest

from analysis.engines.symbolic import Confirmed, Decision, Effort, Refuted, Target, Task, Undecided, decide
from analysis.model import ir
from tests.support.runs import program_of

EFFORT = Effort(seconds=6, states=20_000)
NOTHING_AT_RANDOM = Effort(seconds=6, states=20_000, runs=1)


def decided(text: str, rule: str = "assertion", effort: Effort = EFFORT, entry: str = "main") -> Decision:
    """The decision about the edge that says `reach_error()`, or for other rules the last edge of the function `at`."""
    program = program_of(text)
    for name, cfa in program.functions.items():
        for edge in reversed(cfa.edges):
            called = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
            if called == "reach_error" if rule == "assertion" else name == "at" and not isinstance(edge.effect, ir.Return):
                return decide(Task(program, Target(name, edge.id, rule), (entry,), (), effort))
    raise AssertionError("the program has no target")


HIDDEN = {
    "a specific input": "int main(void) { int x = __VERIFIER_nondet_int(); if (x * 7 == 35 * 29 * 7) reach_error(); return 0; }",
    "two inputs": (
        "int main(void) { int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();"
        " if (x > 1000 && x < 2000 && y == x + 77) reach_error(); return 0; }"
    ),
    "an unsigned sum that wraps": (
        "int main(void) { unsigned x = __VERIFIER_nondet_int(), y = x + 10; if (y < x) reach_error(); return 0; }"
    ),
    "a conversion that cuts": (
        "int main(void) { int x = __VERIFIER_nondet_int(); unsigned char c = x; if (x > 5000 && c == 3) reach_error();"
        " return 0; }"
    ),
    "two names of one object": (
        "int main(void) { int a = 1, b = 1, x = __VERIFIER_nondet_int(); int *p = x == 12345 ? &a : &b; *p = 7;"
        " if (a == 7) reach_error(); return 0; }"
    ),
    "a pointer to a pointer": (
        "int main(void) { int a = 1, x = __VERIFIER_nondet_int(); int *p = &a, **q = &p; if (x == 321) **q = 5;"
        " if (a == 5) reach_error(); return 0; }"
    ),
    "a member through another pointer": (
        "struct s { int a, b; }; int main(void) { struct s v = {1, 2}; int *p = &v.b; *p = 9; struct s w = v;"
        " if (w.b == 9 && __VERIFIER_nondet_int() == 777) reach_error(); return 0; }"
    ),
    "recursion": (
        "int down(int n) { return n <= 0 ? 0 : 1 + down(n - 1); }"
        "int main(void) { int x = __VERIFIER_nondet_int(); if (x > 5 && x < 20 && down(x) == 12) reach_error(); return 0; }"
    ),
    "a union": (
        "int main(void) { union { int i; unsigned char c[4]; } u; u.i = __VERIFIER_nondet_int();"
        " if (u.c[1] == 200 && u.c[0] == 17) reach_error(); return 0; }"
    ),
    "a loop": (
        "int main(void) { int x = __VERIFIER_nondet_int(), i = 0; if (x < 0 || x > 40) return 0; while (i < x) i++;"
        " if (i == 23) reach_error(); return 0; }"
    ),
    "an allocation that fails": (
        "int main(void) { int *p = malloc(4); if (!p && __VERIFIER_nondet_int() == 4711) reach_error(); free(p); return 0; }"
    ),
    "a function that a pointer designates": (
        "int one(int x) { return x; } int two(int x) { if (x == 991) reach_error(); return x; }"
        "int main(void) { int (*f)(int) = __VERIFIER_nondet_int() > 0 ? one : two; return f(__VERIFIER_nondet_int()); }"
    ),
    "a bit-field": (
        "int main(void) { struct { unsigned a : 3, b : 5; } s; s.a = __VERIFIER_nondet_int(); s.b = 9;"
        " if (s.a == 6 && __VERIFIER_nondet_int() == 888) reach_error(); return 0; }"
    ),
    "a global": (
        "int g; void set(int x) { if (x == 5150) g = 1; }"
        "int main(void) { set(__VERIFIER_nondet_int()); if (g) reach_error(); return 0; }"
    ),
    "a copy of bytes": (
        "int main(void) { int x = __VERIFIER_nondet_int(), y = 0; memcpy(&y, &x, sizeof x); if (y == 99887) reach_error();"
        " return 0; }"
    ),
    "a switch that falls through": (
        "int main(void) { int x = __VERIFIER_nondet_int(), y = 0; switch (x) { case 40: y = 1; case 4100: y++; break;"
        " default: return 0; } if (y == 2) reach_error(); return 0; }"
    ),
}

HARD = {
    "longjmp": (
        "long buffer[32]; int n; void out(int x) { if (x == 6) longjmp(buffer, 1); }"
        "int main(void) { if (setjmp(buffer)) { if (n == 6) reach_error(); return 0; } n = __VERIFIER_nondet_int();"
        " out(n); return 0; }"
    ),
    "a function at the end of the program": (
        "int atexit(void (*)(void)); int n; void last(void) { if (n == 3) reach_error(); }"
        "int main(void) { atexit(last); n = __VERIFIER_nondet_int(); return 0; }"
    ),
    "a write from outside": ("int main(void) { int x = 0; use(&x); if (x == 5) reach_error(); return 0; }"),
    "a write from outside to a global": (
        "int shared; void poke(void); int main(void) { shared = 1; poke(); if (shared == 2) reach_error(); return 0; }"
    ),
    "a call back from outside": (
        "void each(void (*)(int)); void one(int x) { if (x == 5) reach_error(); } int main(void) { each(one); return 0; }"
    ),
    "recursion beyond the bound": (
        "int down(int n) { if (n == 0) reach_error(); return down(n - 1); } int main(void) { return down(3000); }"
    ),
    "a loop of many rounds": (
        "int main(void) { unsigned i = 0; while (i < 3000000u + __VERIFIER_nondet_int() % 2) i++;"
        " if (i > 2999999u) reach_error(); return 0; }"
    ),
    "inline assembly": ('int main(void) { int x = 0; __asm__("mov $5, %0" : "=r"(x)); if (x == 5) reach_error(); return 0; }'),
    "another thread": (
        "int pthread_create(long *, void *, void *(*)(void *), void *); int g; void *other(void *p) { g = 1; return p; }"
        "int main(void) { long t; pthread_create(&t, 0, other, 0); if (g) reach_error(); return 0; }"
    ),
    "a sum that overflows": (
        "int main(void) { int x = __VERIFIER_nondet_int(); if (x > 0 && x + 1 < 0) reach_error(); return 0; }"
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_an_input_brings_about_is_confirmed(name: str) -> None:
    found = decided(HIDDEN[name], effort=NOTHING_AT_RANDOM)
    assert isinstance(found, Confirmed), found
    assert found.observation.kind == "assertion"
    assert found.steps[-1].edge >= 0
    assert found.observation.step == len(found.steps) - 1


@pytest.mark.parametrize("name", HARD)
def test_what_edges_do_not_say_is_not_refuted(name: str) -> None:
    assert not isinstance(decided(HARD[name], effort=Effort(seconds=2, runs=2)), Refuted)


NULL = {
    "a null in one case": (
        "void at(int *p) { *p = 1; }int main(void) { int x = __VERIFIER_nondet_int(), v; at(x == 1234 ? 0 : &v); return 0; }"
    ),
    "a member of null": (
        "struct s { int a, b; }; void at(struct s *p) { p->b = 1; }"
        "int main(void) { struct s v; at(__VERIFIER_nondet_int() == 77777 ? 0 : &v); return 0; }"
    ),
    "an element of null": (
        "void at(int *p) { p[3] = 1; } int main(void) { int v[4]; at(__VERIFIER_nondet_int() == 77777 ? 0 : v); return 0; }"
    ),
    "null passed on": (
        'int at(char *p) { return strlen(p); } int main(void) { return at(__VERIFIER_nondet_int() == 77777 ? 0 : "x"); }'
    ),
}
DIVISION = {
    "a difference of zero": (
        "int at(int a, int b) { int r = 10 / (a - b); return r; }"
        "int main(void) { int a = __VERIFIER_nondet_int(); return at(a, 4242); }"
    ),
    "a remainder": (
        "int at(unsigned a) { int r = 10 % (a % 16); return r; } int main(void) { return at(__VERIFIER_nondet_int()); }"
    ),
    "in the second round": (
        "int at(int n) { int r; r = 100 / n; return r; }"
        "int main(void) { int n = __VERIFIER_nondet_int() == 4242 ? 1 : 5; for (int i = 0; i < 2; i++) at(n--); return 0; }"
    ),
}


@pytest.mark.parametrize("name", NULL)
def test_null_is_found(name: str) -> None:
    found = decided(NULL[name], "null-dereference", NOTHING_AT_RANDOM)
    assert isinstance(found, Confirmed), found
    assert found.observation.kind == "null-dereference"


@pytest.mark.parametrize("name", DIVISION)
def test_zero_is_found(name: str) -> None:
    found = decided(DIVISION[name], "division-by-zero", NOTHING_AT_RANDOM)
    assert isinstance(found, Confirmed), found
    assert found.observation.kind == "division-by-zero"


def test_memory_rules_are_observed() -> None:
    text = (
        "void at(int *p) { *p = 1; } int main(void) { int *p = malloc(4); if (!p) return 1;"
        " if (__VERIFIER_nondet_int() == 31337) free(p); at(p); return 0; }"
    )
    found = decided(text, "use-after-free", NOTHING_AT_RANDOM)
    assert isinstance(found, Confirmed), found
    twice = (
        "void at(int *p) { free(p); }"
        "int main(void) { int *p = malloc(4); if (__VERIFIER_nondet_int() == 31337) free(p); at(p); return 0; }"
    )
    found = decided(twice, "double-free", NOTHING_AT_RANDOM)
    assert isinstance(found, Confirmed), found


def test_a_rule_that_the_interpreter_does_not_observe_stays_undecided() -> None:
    found = decided("int at(void) { int x = 1; return x; } int main(void) { return at(); }", "a-rule-of-the-user")
    assert isinstance(found, Undecided)
    assert found.final
    assert "a-rule-of-the-user" in found.reason
