"""Going back from a violation: what is refuted so, and above all what must not be."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Edge, Program
from analysis.cpa.framework.algorithm import Cancellation
from analysis.engines.symbolic.backward import Answer, Question, refute
from analysis.engines.symbolic.random_inputs import Random as RandomInputs
from analysis.engines.symbolic.task import Target
from analysis.engines.symbolic.violation_branches import violating
from analysis.interpreter.interpreter import execute
from analysis.interpreter.outcome import Bounds, Observation, Start
from analysis.model import clock, ir
from analysis.model.c_types import LP64
from tests.support.random_calls import program
from tests.support.runs import program_of

program_of(program(Random(0)))  # before any test: it raises Python's recursion limit
RULES = ("assertion", "null-dereference", "division-by-zero")
FAR = "struct far { int v; struct far *next; }; "


def answer(
    of: Program, function: str, edge: Edge, rule: str, entries: tuple[str, ...] = ("main",), states: int = 4_000
) -> Answer:
    """The answer about a violation of a rule at an edge."""
    suspects = violating(of, Target(function, edge.id, rule)).suspects
    question = Question(of, function, edge, suspects, entries, LP64)
    return refute(question, clock.spent() + 60, states, Cancellation())


def last_access(of: Program) -> Edge:
    """The last edge of `at` that goes through a pointer."""
    return next(e for e in reversed(of.functions["at"].edges) if violating(of, Target("at", e.id, "null-dereference")).suspects)


def answered(text: str, entries: tuple[str, ...] = ("main",)) -> Answer:
    """The answer about the call of `reach_error()`, or about the null pointer in `at`."""
    of = program_of(text)
    for name, cfa in of.functions.items():
        for edge in reversed(cfa.edges):
            if isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) == "reach_error":
                return answer(of, name, edge, "assertion", entries)
    edge = last_access(of)
    return answer(of, "at", edge, "null-dereference", entries)


REFUTED = {
    "a test in the function": "int at(int *p) { if (!p) return 0; return *p; } int main(void) { return at(0); }",
    "a test in every caller": (
        "int at(int *p) { return *p; } int one(int *p) { return p ? at(p) : 0; } int g;"
        "int main(void) { int *p = nondet() ? &g : 0; return one(p) + at(&g); }"
    ),
    "an access before": "struct s { int a, b; }; int at(struct s *p) { p->a = 1; if (!p) reach_error(); return 0; }"
    "int main(void) { struct s *p = external(0) ? 0 : malloc(8); return at(p); }",
    "a result that goes with a number": (
        "int *get(int n) { if (n < 0) return 0; return malloc(4); }"
        "int main(void) { int n = __VERIFIER_nondet_int(); int *p = get(n); if (n == 3 && p) return 0;"
        " if (n > 0) { if (n < 0) reach_error(); } return 0; }"
    ),
    "a correlation over a loop": (
        "int main(void) { int found = 0, *p = 0, x; for (int i = 0; i < 9; i++) if (__VERIFIER_nondet_int()) { p"
        " = &x; found = 1; }"
        " if (found) { if (!p) reach_error(); } return 0; }"
    ),
    "what a callee stores": (
        "struct n { int kind; struct n *left; }; struct n *make(int k) { struct n *n = malloc(16); if (!n)"
        " exit(1); n->kind = k;"
        " n->left = 0; return n; }"
        "int main(void) { struct n *n = make(7); if (n->kind != 7) reach_error(); return 0; }"
    ),
    "an exit that does not return": (
        "void fatal(int n) { if (n) exit(n); abort(); }"
        "int main(void) { int *p = malloc(4); if (!p) fatal(1); if (!p) reach_error(); return 0; }"
    ),
    "a global before anything changed it": (
        "int ready; void start(void) { if (ready) reach_error(); } int main(void) { start(); ready = 1; return 0; }"
    ),
    "members of one record": (
        "struct s { int a, b; }; void at(struct s *p, struct s *q) { if (p->a != 1) return; q->b = 2; if (p->a"
        " != 1) reach_error(); }"
        "int main(void) { struct s v; v.a = __VERIFIER_nondet_int(); at(&v, &v); return 0; }"
    ),
    "a copy of a record": (
        "struct s { int a, b; }; int main(void) { struct s v = {1, 2}, w; w.a = 5; w = v; if (w.a != 1)"
        " reach_error(); return 0; }"
    ),
    "a local variable that nobody can reach": ("int main(void) { int x = 1; external(0); if (x != 1) reach_error(); return 0; }"),
    "two static variables that go together": (
        "static int *block; static int room; void grow(int n) { if (room < n) { room = n; block = malloc(4 * n);"
        " if (!block) exit(1); } }"
        "int at(int i) { if (i < 0 || i >= room) return 0; if (!block) reach_error(); return block[i]; }"
        "int main(void) { int n; while ((n = __VERIFIER_nondet_int())) { grow(n); at(__VERIFIER_nondet_int()); } return 0; }"
    ),
    "a static variable that has few values": (
        "static int mode; void set(int on) { mode = on ? 4 : 2; } void use(void) { if (mode == 3) reach_error(); }"
        "int main(void) { for (;;) { use(); set(__VERIFIER_nondet_int()); } }"
    ),
    "a literal is not null": (
        "void say(int kind, char *text) { if (!text && kind != 1) reach_error(); }"
        'int main(void) { say(2, "two"); say(1, 0); return 0; }'
    ),
    "a zeroed block": (
        "struct s { int a, b; }; int main(void) { struct s *p = calloc(1, 8); if (!p) return 1; if (p->b)"
        " reach_error(); return 0; }"
    ),
}

OPEN = {
    "two parameters for one object": (
        "void at(int *p, int *q) { *p = 1; *q = 2; if (*p != 1) reach_error(); } int main(void) { int x; at(&x, &x); return 0; }"
    ),
    "a parameter for a global": (
        "int g; void at(int *p) { g = 1; *p = 2; if (g != 1) reach_error(); } int main(void) { at(&g); return 0; }"
    ),
    "a parameter for a member": (
        "struct s { int a, b; }; void at(struct s *p, int *q) { p->a = 1; *q = 2; if (p->a != 1) reach_error(); }"
        "int main(void) { struct s v; at(&v, &v.a); return 0; }"
    ),
    "a record within a record": (
        "struct i { int a; }; struct o { int x; struct i i; }; void at(struct o *o, struct i *i) { o->i.a = 1; i->a = 2;"
        " if (o->i.a != 1) reach_error(); } int main(void) { struct o v; at(&v, &v.i); return 0; }"
    ),
    "a character of it": (
        "void at(int *p, char *c) { *p = 1; *c = 2; if (*p != 1) reach_error(); } int main(void) { int x; at(&x,"
        " (char *)&x); return 0; }"
    ),
    "another member of a union": (
        "union u { int i; float f; }; void at(union u *p) { p->i = 1; p->f = 2; if (p->i != 1) reach_error(); }"
        "int main(void) { union u v; at(&v); return 0; }"
    ),
    "a member that is too narrow": (
        "struct b { unsigned a : 3; }; int main(void) { struct b v; v.a = __VERIFIER_nondet_int();"
        " unsigned x = __VERIFIER_nondet_int(); v.a = x; if (x != v.a) reach_error(); return 0; }"
    ),
    "a recursion that comes back with another value": (
        "int depth; void at(int n) { depth = n; if (n) at(n - 1); if (depth != n) reach_error(); } int"
        " main(void) { at(2); return 0; }"
    ),
    "a static variable from the call before": (
        "void at(void) { static int calls; calls++; if (calls == 3) reach_error(); }"
        "int main(void) { at(); at(); at(); return 0; }"
    ),
    "an element at another index": (
        "int array[4]; void at(int i, int j) { array[i] = 1; array[j] = 2; if (array[i] != 1) reach_error(); }"
        "int main(void) { at(__VERIFIER_nondet_int() & 3, 2); return 0; }"
    ),
    "the value after some rounds": (
        "int main(void) { int x = 0; for (int i = 0; i < 5; i++) x = x == 3 ? 10 : x + 1; if (x == 11) reach_error(); return 0; }"
    ),
    "a list that ends": (
        FAR + "int at(struct far *n, int i) { while (i--) n = n->next; return n->v; }"
        "int main(void) { struct far one = {1, 0}; return at(&one, 1); }"
    ),
    "what a callee changes through a pointer": (
        "void set(int **p) { *p = 0; } int at(int *p) { set(&p); return *p; } int main(void) { int x; return at(&x); }"
    ),
    "what a callee of a callee changes": (
        "int *g; void inner(void) { g = 0; } void outer(void) { inner(); } int at(void) { if (!g) return 0;"
        " outer(); return *g; }"
        "int main(void) { int x; g = &x; return at(); }"
    ),
    "what a pointer designates changes": (
        "int *g; void clear(void) { g = 0; } void keep(void) {} int at(void (*f)(void)) { if (!g) return 0; f(); return *g; }"
        "int main(void) { int x; g = &x; return at(__VERIFIER_nondet_int() ? clear : keep); }"
    ),
    "what an external function changes": (
        "int *g; void poke(void); int at(void) { if (!g) return 0; poke(); return *g; } int main(void) { int x;"
        " g = &x; return at(); }"
    ),
    "what it changes behind an argument": (
        "struct s { int *p; }; void fill(struct s *); int at(struct s *s) { if (!s->p) return 0; fill(s); return *s->p; }"
        "int main(void) { int x; struct s s = {&x}; return at(&s); }"
    ),
    "copied bytes": (
        "struct s { int *p; }; int at(struct s *s, struct s *t) { if (!s->p) return 0; memcpy(s, t, sizeof *s); return *s->p; }"
        "int main(void) { int x; struct s s = {&x}, t = {0}; return at(&s, &t); }"
    ),
    "a jump back": (
        "long buffer[32]; int n; int main(void) { int *p = &n; if (setjmp(buffer)) { if (n) reach_error();"
        " return 0; } n = 0; n = 1;"
        " longjmp(buffer, 1); return 0; }"
    ),
    "a handler of signals": (
        "typedef void (*handler)(int); handler signal(int, handler); int stop; void on(int s) { stop = 1; }"
        "int main(void) { stop = 0; signal(2, on); stop = 0; if (stop) reach_error(); return 0; }"
    ),
    "another thread": (
        "int pthread_create(long *, void *, void *(*)(void *), void *); int g; void *run(void *p) { g = 1; return 0; }"
        "int main(void) { long t; g = 0; pthread_create(&t, 0, run, 0); if (g) reach_error(); return 0; }"
    ),
    "a call from outside": (
        "void each(void (*)(int *)); void one(int *p) { if (!p) reach_error(); } int main(void) { each(one); return 0; }"
    ),
    "a call from outside by way of a record": (
        "struct ops { void (*on)(int *); }; void enrol(struct ops *); void one(int *p) { if (!p) reach_error(); }"
        "int main(void) { static struct ops ops = {one}; enrol(&ops); return 0; }"
    ),
    "two reads of what changes by itself": (
        "volatile int port; int main(void) { int a = port, b = port; if (a != b) reach_error(); return 0; }"
    ),
    "the first block again": (
        "int main(void) { char *p = malloc(4); if (!p) return 1; char *q = realloc(p, 8); if (q == p) reach_error(); return 0; }"
    ),
    "a time that is stored through a pointer": (
        "long time(long *); int main(void) { long t = 1; time(&t); if (t != 1) reach_error(); return 0; }"
    ),
    "assembly": ('int main(void) { int x = 0; __asm__("mov $5, %0" : "=r"(x)); if (x == 5) reach_error(); return 0; }'),
    "a sum that wraps": ("int main(void) { unsigned x = __VERIFIER_nondet_int(); if (x + 1 == 0) reach_error(); return 0; }"),
    "a global that the program starts with": ("int *g; int at(void) { return *g; } int main(void) { return at(); }"),
    "a variable of the caller": (
        "int *last; void keep(int *p) { last = p; } void at(void) { *last = 2; }"
        "int main(void) { int x = 1; keep(&x); at(); if (x != 1) reach_error(); return 0; }"
    ),
    "the same function a second time": (
        "int *cache; int at(int n) { int x = n ? at(n - 1) : 0; if (n == 0) cache = 0; else return *cache; return x; }"
        "int main(void) { int y; cache = &y; return at(1); }"
    ),
    "a static variable in between": (
        "static int *block; static int room; void check(void) { if (room && !block) reach_error(); }"
        "int main(void) { room = 3; check(); block = malloc(4); return 0; }"
    ),
    "a static variable that a callback writes": (
        "void each(void (*)(int)); static int mode; void set(int n) { mode = n; }"
        "void use(void) { if (mode == 3) reach_error(); } int main(void) { each(set); use(); return 0; }"
    ),
    "a static variable by its address": (
        "static int mode; int *leak(void) { return &mode; } void use(void) { if (mode == 3) reach_error(); }"
        "int main(void) { *leak() = 3; use(); return 0; }"
    ),
    "a static variable after a jump": (
        "long buffer[32]; static int mode; void use(void) { if (mode == 3) reach_error(); }"
        "void set(void) { mode = 3; longjmp(buffer, 1); mode = 0; }"
        "int main(void) { if (setjmp(buffer)) { use(); return 0; } set(); return 0; }"
    ),
    "a static variable that starts so": (
        "static int mode = 3; void set(void) { mode = 2; } void use(void) { if (mode == 3) reach_error(); }"
        "int main(void) { use(); set(); return 0; }"
    ),
    "falling through": (
        "int main(void) { int y = 0; switch (__VERIFIER_nondet_int()) { case 1: y = 1; case 2: y++; } if (y =="
        " 2) reach_error();"
        " return 0; }"
    ),
}


@pytest.mark.parametrize("name", REFUTED)
def test_what_nothing_leads_to_is_refuted(name: str) -> None:
    found = answered(REFUTED[name])
    assert found.refuted, found.reason


@pytest.mark.parametrize("name", OPEN)
def test_what_something_leads_to_is_not_refuted(name: str) -> None:
    found = answered(OPEN[name])
    assert not found.refuted
    assert found.reason


def test_the_reason_is_a_whole_sentence_where_the_start_has_no_condition() -> None:
    text = "int main(void) { if (nondet()) reach_error(); return 0; }"
    assert answered(text).reason == "no condition at the start of main() excludes it"
    text = "int at(int a) { if (a == 3) reach_error(); return 0; }"
    assert answered(text, ("at",)).reason == "at() can begin with a == 3"


def test_an_entry_may_be_called_with_anything() -> None:
    text = "int at(int *p) { return *p; }"
    assert not answered(text, ("at",)).refuted
    assert answered("int at(int *p) { return p ? *p : 0; }", ("at",)).refuted


def test_a_library_does_not_know_what_code_has_its_addresses() -> None:
    text = "int g; void at(int *p) { g = 1; *p = 2; if (g != 1) reach_error(); }"
    assert not answered(text, ("at",)).refuted
    assert not answered("static " + text, ("at",)).refuted  # another file cannot name it, but any function can have given it away
    closed = text + "int main(void) { int x; at(&x); return 0; }"
    assert answered(closed).refuted


def test_the_path_leads_to_the_violation() -> None:
    of = program_of("int at(int *p) { int n = 1; if (n) n = 2; return *p; } int main(void) { return at(0); }")
    edge = last_access(of)
    found = answer(of, "at", edge, "null-dereference")
    assert not found.refuted
    assert found.start is not None
    by_id = {name: cfa.by_id for name, cfa in of.functions.items()}
    edges = [(function, by_id[function][number]) for function, number in found.start]
    assert edges[0][1].source == of.functions["main"].entry
    for (function, one), (_, other) in pairwise(edges):
        entered = isinstance(one.effect, ir.Call)
        assert other.source == (of.functions["at"].entry if entered else one.target), function
    assert edges[-1][1].target == edge.source


def test_the_budget_ends_it() -> None:
    of = program_of(REFUTED["a correlation over a loop"])
    edge = next(e for e in of.functions["main"].edges if isinstance(e.effect, ir.Call) and e.effect.result is None)
    assert "budget" in answer(of, "main", edge, "assertion", states=2).reason


def violated(of: Program, seed: int, count: int) -> set[tuple[str, int, str]]:
    """What runs on random inputs violate: the function, the location of the edge, and the rule."""
    found: set[tuple[str, int, str]] = set()
    for number in range(count):
        run = execute(of, Start("main"), RandomInputs(seed + number, (0, 1, 2, 3)), Bounds(steps=3_000), record=True)
        if isinstance(run.end, Observation) and run.path:
            step = run.path[-1]
            found.add((step.function, of.functions[step.function].by_id[step.edge].source, run.end.kind))
    return found


def targets(of: Program) -> list[tuple[str, Edge, str]]:
    """The edges that can violate a rule, by their form."""
    found = []
    for name, cfa in of.functions.items():
        for edge in cfa.edges:
            is_error = isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) == "reach_error"
            for rule in RULES:
                if is_error if rule == "assertion" else violating(of, Target(name, edge.id, rule)).suspects:
                    found.append((name, edge, rule))
    return found


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_no_run_contradicts_a_refutation(seed: int) -> None:
    text = program(Random(seed))
    note(text)
    of = program_of(text)
    seen = violated(of, seed, 40)
    for name, edge, rule in targets(of):
        if (name, edge.source, rule) in seen:
            assert not answer(of, name, edge, rule, states=600).refuted, (name, edge, rule)


def test_most_of_what_no_run_violates_is_refuted() -> None:
    refuted = open_ = 0
    for seed in range(4):
        of = program_of(program(Random(seed)))
        seen = violated(of, seed, 40)
        for name, edge, rule in targets(of):
            if rule != "null-dereference" and (name, edge.source, rule) not in seen:
                found = answer(of, name, edge, rule, states=300).refuted
                refuted, open_ = refuted + found, open_ + (not found)
    assert refuted > 3
    assert refuted > open_ / 3
