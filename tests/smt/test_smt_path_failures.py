"""Which failures the formulas of paths allow at their ends."""

import pytest
from support.walked_paths import MODES, SOLVER, program_of, walk

from analysis.model import ir
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.logic.term_building import and_

BLOCK = "int f(unsigned n, unsigned i) { int *p = malloc(4ul * n); if (!p) return 0; "
WHOLE = "struct inner { int n; int tail[2]; }; struct around { int b; struct inner in; }; "
WHOLE += "struct whole { int a[4]; struct inner in; int b; }; "
AT = WHOLE + "int f(unsigned i) { struct whole *p = malloc"
FAILURES = [
    ("null-dereference", "int f(int *p) { return *p; }", "sat"),
    ("null-dereference", "int f(int *p) { if (!p) return 0; return *p; }", "unsat"),
    ("null-dereference", "int f(void) { int *p = malloc(4); return *p; }", "sat"),
    ("null-dereference", "int f(void) { int x = 1; int *p = &x; return *p; }", None),
    ("null-dereference", "int f(struct pair *p) { if (!p) return 0; return p->next->first; }", "sat"),
    ("null-dereference", "int f(int *p, unsigned i) { return p[i]; }", "sat"),
    ("array-bounds", "int f(unsigned i) { int a[4] = { 0 }; return a[i]; }", "sat"),
    ("array-bounds", "int f(unsigned i) { int a[4] = { 0 }; if (i >= 4) return 0; return a[i]; }", "unsat"),
    ("array-bounds", "int f(int i) { int a[4] = { 0 }; if (i >= 4) return 0; return a[i]; }", "sat"),
    ("array-bounds", "int f(void) { int a[4] = { 0 }; int *p = a; return p[4]; }", "sat"),
    ("array-bounds", "int f(void) { int a[4] = { 0 }; int *p = a; return p[3]; }", None),
    ("array-bounds", "int f(unsigned n) { char *p = malloc(n); if (!p) return 0; if (n < 8) return 0; return p[7]; }", "unsat"),
    ("array-bounds", "int f(unsigned n) { char *p = malloc(n); if (!p) return 0; return p[7]; }", "sat"),
    ("array-bounds", BLOCK + "if (i >= n) return 0; return p[i]; }", "unsat"),
    ("array-bounds", BLOCK + "if (i > n) return 0; return p[i]; }", "sat"),
    ("array-bounds", "int *f(void) { static int a[4]; return &a[4]; }", None),
    ("array-bounds", "int f(struct pair *p) { p = malloc(4); if (!p) return 0; return p->first; }", None),
    ("array-bounds", "int f(struct pair *p) { p = malloc(4); if (!p) return 0; return p->second; }", "sat"),
    ("array-bounds", "int f(unsigned i) { int a[2][3] = { { 0 } }; if (i > 4) return 0; return a[0][i]; }", "sat"),
    ("array-bounds", AT + "(4); if (!p || i > 3) return 0; return p->a[i]; }", "sat"),
    ("array-bounds", AT + "(36); if (!p || i > 3) return 0; return p->a[i]; }", "unsat"),
    ("array-bounds", WHOLE + "int f(void) { struct whole *p = malloc(64); if (!p) return 0; return p->in.tail[2]; }", "sat"),
    ("array-bounds", WHOLE + "int f(void) { struct around *p = malloc(64); if (!p) return 0; return p->in.tail[2]; }", None),
    ("array-bounds", WHOLE + "int f(int i) { struct inner *p = malloc(64); if (!p || i > 9) return 0; return p->tail[i]; }",
     "sat"),
    ("null-dereference", "int *f(struct pair *p) { return &p->second; }", None),
    ("use-after-free", "int f(void) { int *p = malloc(4); if (!p) return 0; free(p); return *p; }", "sat"),
    ("use-after-free", "int f(void) { int *p = malloc(4), *q = malloc(4); if (!p || !q) return 0; free(q); return *p; }", None),
    ("use-after-free", "int f(int *p, int *q) { free(q); return *p; }", "sat"),
    ("use-after-free", "int f(int *p, int *q) { if (p == q) return 0; free(q); return *p; }", "unsat"),
    ("use-after-free", "int *g(void) { int x = 1; return &x; } int f(void) { int *p = g(); return *p; }", None),
    ("use-after-scope", "int *g(void) { int x = 1; return &x; } int f(void) { int *p = g(); return *p; }", "sat"),
    ("division-by-zero", "int f(int a, int b) { return a / b; }", "sat"),
    ("division-by-zero", "int f(int a, int b) { if (b <= 0) return 0; return a % b; }", "unsat"),
    ("division-by-zero", "int f(int a) { return a / 2; }", None),
    ("shift-range", "int f(int a, int b) { return a << b; }", "sat"),
    ("shift-range", "int f(int a, int b) { return a << (b & 31); }", None),
    ("shift-range", "int f(int a, unsigned b) { if (b >= 32) return 0; return a >> b; }", "unsat"),
    ("signed-overflow", "int f(int a, int b) { return a + b; }", "sat"),
    ("signed-overflow", "int f(int a) { if (a > 1000 || a < -1000) return 0; return a * a; }", "unsat"),
    ("signed-overflow", "int f(short a, short b) { return a * b; }", None),
    ("signed-overflow", "int f(int a) { return -a; }", "sat"),
    ("signed-overflow", "int f(int a) { return a / -1; }", "sat"),
    ("signed-overflow", "unsigned f(unsigned a) { return a + 1; }", None),
    ("signed-overflow", "int f(int a) { return 1 << (a & 31); }", "sat"),
    ("uninitialized-read", "int f(void) { int x; return x; }", "sat"),
    ("uninitialized-read", "int f(void) { int x = 1; return x; }", None),
    ("uninitialized-read", "int f(void) { int a[3]; a[1] = 2; return a[2]; }", "sat"),
    ("uninitialized-read", "int f(void) { int a[3]; a[1] = 2; return a[1]; }", None),
    ("uninitialized-read", "int f(unsigned i) { int a[3]; a[0] = a[1] = 2; if (i > 1) return 0; return a[i]; }", "unsat"),
]  # fmt: skip


@MODES
@pytest.mark.parametrize(("kind", "text", "expected"), FAILURES)
def test_the_last_return_fails(kind, text, expected, mode):
    # "sat": the edge can fail; "unsat": it cannot after the branches of the path; None: it cannot by its form or its values,
    # which an encoding may leave to the solver
    program = program_of(text)
    last = program.functions["f"].edges[-1]
    encoder, edge = _to_edge(program, mode, last)
    condition = encoder.condition_at(edge, kind)
    if condition is None:
        assert expected is None
        return
    assert condition.kind == kind
    SOLVER.push()
    SOLVER.add(*condition.formula.conjuncts)
    answer = SOLVER.check().status
    SOLVER.pop()
    assert answer == (expected or "unsat"), condition.formula


def _to_edge(program, mode, wanted):
    """The encoder before an edge of `f`, on the path on which no earlier test returns."""
    cfa = program.functions["f"]
    encoder = PathEncoder(program, mode)
    encoder.start("f")
    edges = _path_to(cfa, cfa.entry, wanted, ())
    for edge in edges:
        callee = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
        if callee in program.functions:
            encoder.enter(edge, callee)
            for inner in program.functions[callee].edges:
                encoder.take(inner)
            encoder.leave()
        else:
            encoder.take(edge)
    return encoder, wanted


def _path_to(cfa, location, wanted, seen):
    for edge in cfa.outgoing.get(location, ()):
        if edge == wanted:
            return ()
        if edge.target not in seen:
            rest = _path_to(cfa, edge.target, wanted, (*seen, location))
            if rest is not None:
                return (edge, *rest)
    return None


@MODES
@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("double-free", "int *p = malloc(4); free(p); free(p);", "sat"),
        ("double-free", "int *p = malloc(4); free(p); p = 0; free(p);", None),
        ("double-free", "int *p = malloc(4); int *q = malloc(4); free(q); free(p);", None),
        ("invalid-free", "int x; int *p = &x; free(p);", "sat"),
        ("invalid-free", "char *p = malloc(4); p++; free(p);", "sat"),
        ("invalid-free", "char *p = malloc(4); free(p);", None),
    ],
)
def test_bad_frees(kind, body, expected, mode):
    program = program_of(f"void f(void) {{ {body} }}")
    last = [edge for edge in program.functions["f"].edges if isinstance(edge.effect, ir.Call)][-1]
    encoder, edge = _to_edge(program, mode, last)
    condition = encoder.condition_at(edge, kind)
    answer = None
    if condition is not None:
        SOLVER.push()
        SOLVER.add(and_(*condition.formula.conjuncts))
        answer = SOLVER.check().status
        SOLVER.pop()
    assert answer in ((expected,) if expected else (None, "unsat"))


@MODES
def test_a_write_is_no_read(mode):
    program = program_of("void f(void) { int x, a[2]; x = 1; a[x] = 2; }")
    *_, first, second, _ = program.functions["f"].edges
    for edge in (first, second):
        encoder, _ = _to_edge(program, mode, edge)
        assert encoder.condition_at(edge, "uninitialized-read") is None
    program = program_of("void f(void) { int x, a[2]; a[x] = 2; }")
    encoder, edge = _to_edge(program, mode, program.functions["f"].edges[-2])
    assert encoder.condition_at(edge, "uninitialized-read").text == "x was never set"


@MODES
def test_failed_assertion(mode):
    program = program_of("void f(unsigned a) { if (a * 2 == 1) reach_error(); if (a > 3) reach_error(); }")
    first, second = (edge for edge in program.functions["f"].edges if isinstance(edge.effect, ir.Call))
    for edge, branches, expected in ((first, "t", "unsat"), (second, "ft", "sat")):
        encoder, _ = walk(program, mode, branches=branches, stop="reach_error")
        assert SOLVER.check(*encoder.condition_at(edge, "assertion").formula.conjuncts).status == expected
        assert encoder.condition_at(edge, "division-by-zero") is None
