"""Paths as formulas: calls, memory, failures, and how far an answer can be trusted."""

import pytest
from support.walked_paths import MODES, SOLVER, program_of, returned, signed, status, walk

from analysis.model import ir
from analysis.model.c_types import ILP32, LP64
from analysis.smt.encoding.paths.path import PathEncoder
from analysis.smt.logic.term_building import distinct, eq, number

# -- calls ---------------------------------------------------------------------------------------------------------------


@MODES
def test_calls_pass_arguments_and_results(mode):
    assert returned("int g(int a, int b) { return a - 2 * b; } int f(void) { int x = 10; x = g(x, 3) + 1; return x; }", mode) == 5


@MODES
def test_each_call_has_its_own_variables(mode):
    text = "int g(int n) { int x = n; if (n > 0) { int y = g(n - 1); x = x * 10 + y; } return x; } int f(void) { return g(3); }"
    assert returned(text, mode, branches="tttf") == 3 * 1 * 10 + (2 * 10 + (1 * 10 + 0)) == 60
    assert status(walk(program_of(text), mode, branches="ttf")) == "unsat"


@MODES
def test_structures_are_passed_and_returned_by_value(mode):
    text = """struct pair g(struct pair p) { p.first += p.second; return p; }
      int f(void) { struct pair a = { 1, 2 }, b; b = g(a); return 100 * a.first + b.first; }"""
    assert returned(text, mode) == 103


@MODES
def test_a_callee_writes_through_the_address_of_a_local(mode):
    assert (
        returned("void set(int *p, int v) { *p = v; } int f(void) { int x = 1, y = 2; set(&y, 7); return 10 * x + y; }", mode)
        == 17
    )


@MODES
def test_call_through_a_pointer_is_of_the_function_it_holds(mode):
    program = program_of(
        "int one(void) { return 1; } int two(void) { return 2; } int f(int c) { int (*p)(void) = c ? one : two; return p(); }"
    )
    for branch, function, expected in (("t", "one", "sat"), ("t", "two", "unsat"), ("f", "two", "sat")):
        encoder, edge = walk(program, mode, branches=branch, stop=r"p\(\)")
        encoder.enter(edge, function)
        assert status(encoder) == expected


def test_leaving_the_first_function_and_entering_what_is_no_call():
    program = program_of("int f(void) { int x = 1; return x; }")
    encoder = PathEncoder(program)
    encoder.start("f")
    with pytest.raises(ValueError, match="started in this function"):
        encoder.leave()
    with pytest.raises(ValueError, match="only a call edge"):
        encoder.enter(program.functions["f"].edges[0], "f")
    with pytest.raises(KeyError):
        encoder.start("missing")


# -- branches and inputs --------------------------------------------------------------------------------------------------


@MODES
def test_only_the_branches_constrain(mode):
    program = program_of("int f(int a) { int b = a + 1; if (a > 5) { if (b < 3) return 1; return 2; } return 3; }")
    assert status(walk(program, mode, branches="tt")) == ("unsat" if mode == "int" else "sat")  # a + 1 wraps in bv
    assert status(walk(program, mode, branches="tf")) == "sat"
    assert status(walk(program, "bv", branches="tt", signed_overflow="assume")) == "unsat"
    assert status(walk(program, "int", branches="tt", signed_overflow="wrap")) == "sat"


def test_assumed_overflow_is_said():
    program = program_of("int f(int a) { int b = a + 1; return b; }")
    assert walk(program, "int").formula().assumptions == ("signed arithmetic does not overflow",)
    assert walk(program, "bv").formula().assumptions == ()
    assert walk(program_of("int f(short a) { int b = a + 1; return b; }"), "int").formula().assumptions == ()


@MODES
def test_inputs_in_the_order_of_need(mode):
    program = program_of("int f(int a, unsigned char b) { int u; int r = nondet(); if (r > b) return u; return nondet(); }")
    encoder, _ = walk(program, mode, branches="t", stop="^return")
    encoder.value(ir.IntConst(1, ir.IntConst(1, LP64.long).type))
    inputs = encoder.inputs()
    assert [(i.kind, i.name, i.step) for i in inputs] == [("parameter", "a", 0), ("parameter", "b", 0), ("result", "nondet()", 1)]
    SOLVER.push()
    SOLVER.add(*encoder.formula().conjuncts)
    assert SOLVER.check().status == "sat"
    _a, b, r = (SOLVER.model().value(i.term) for i in inputs)
    SOLVER.pop()
    assert 0 <= b <= 255
    assert signed(r, inputs[2].term) > b


@MODES
def test_a_fork_does_not_change_its_origin(mode):
    program = program_of("int f(int a) { int v[2] = { 1, 2 }; v[0] = 5; return v[0]; }")
    encoder, edge = walk(program, mode, stop=r"v\[0\] = 5")
    read = program.functions["f"].edges[-1].effect.value
    before = encoder.fork()
    encoder.take(edge)
    assert status(before, eq(before.value(read), encoder.value(read))) == "unsat"
    assert before.formula() == walk(program, mode, stop=r"v\[0\] = 5")[0].formula()


@MODES
def test_same_path_same_formula(mode):
    text = "int g(int *p) { return *p + nondet(); } int f(int *q, int n) { int v[4]; v[n & 3] = 1; return g(q) > n ? v[1] : 0; }"
    first, second = (walk(program_of(text), mode, branches="t").formula() for _ in range(2))
    assert first == second
    assert [c.digest for c in first.conjuncts] == [c.digest for c in second.conjuncts]


# -- memory ---------------------------------------------------------------------------------------------------------------


@MODES
@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("int a[4] = { 1, 2, 3 }; int *p = a + 1; p[1] = 9; return a[2] * 10 + a[3];", 90),
        ("struct pair s = { 1, 2 }, *p = &s; p->second = 7; p->next = p; return p->next->next->second;", 7),
        ("struct pair s = { 1, 2 }, t; t = s; s.first = 5; return t.first * 10 + s.first;", 15),
        ("union { int i; unsigned char b[4]; } u; u.i = 0x01020304; u.b[1] = 0x7f; return u.i;", 0x01027F04),
        ("union { short h[2]; int i; } u; u.h[0] = -1; u.h[1] = 1; return u.i;", 0x1FFFF),
        ("int x = -2; return *(unsigned char *)&x + ((unsigned char *)&x)[3];", 0xFE + 0xFF),
        ("int x = 0x11223344, y = 0; memcpy(&y, (char *)&x + 1, 2); return y;", 0x2233),
        ("char s[8] = \"ab\"; return s[0] * 100 + s[1] + s[2];", 97 * 100 + 98),
        ("const char *s = \"xyz\"; return s[1];", ord("y")),
        ("int a[3]; memset(a, 0xff, sizeof a); return a[1];", -1),
        ("struct { unsigned a : 3; int b : 5; } s; s.a = 12; s.b = 17; return s.a * 100 + s.b;", 4 * 100 - 15),
        ("int m[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }; int (*p)[3] = m; return p[1][2];", 6),
        ("int *p = malloc(4 * sizeof(int)); __VERIFIER_assume(p != 0); p[3] = 4; int *q = p + 3; return *q;", 4),
        ("int *p = calloc(3, 4); __VERIFIER_assume(p != 0); p[1] = 2; return p[0] + p[1] + p[2];", 2),
        ("int *p = malloc(8); __VERIFIER_assume(p != 0); p[1] = 6; p = realloc(p, 64); __VERIFIER_assume(!!p); return p[1];", 6),
        ("static int counter = 41; counter++; return counter;", 42),
        ("int x = 3, *p = &x, **pp = &p; **pp = 8; return x;", 8),
        ("_Bool b = 5; char c = 300; short h = 70000; return b * 10000 + c * 100 + (h == 4464);", 10000 + 4401),
        ("double d = 0.5; float g = 3; return (int)(d * 8) + (g > d);", 5),
    ],
)  # fmt: skip
def test_memory_holds_what_was_written(body, value, mode):
    assert returned(f"int f(void) {{ {body} }}", mode) == value


@MODES
def test_unknown_index(mode):
    text = "int f(unsigned i, unsigned j) { int a[8] = { 0 }; __VERIFIER_assume(i < 8 && j < 8); a[i] = 5; %s }"
    program = program_of(text % "if (a[j] == 5) return 1; return 0;")
    same = walk(program, mode, branches="ttt")
    i, j = (given.term for given in same.inputs())
    assert status(same) == "sat"
    assert status(same, eq(i, j)) == "sat"
    assert status(same, distinct(i, j)) == "unsat"
    assert status(walk(program, mode, branches="ttf"), eq(i, j)) == "unsat"
    assert same.formula().is_exact


@MODES
def test_parts_of_wider_scalars_at_an_unknown_index(mode):
    text = "int f(unsigned i) { union { unsigned char b[4]; unsigned u; } x; x.u = 0x04030201; return x.b[i & 3] == 3 ? 1 : 0; }"
    found = walk(program_of(text), mode, branches="t")
    (i, *_) = found.inputs()
    assert found.formula().is_exact
    for index, expected in ((2, "sat"), (3, "unsat")):
        assert status(found, eq(i.term, number(index, i.term.sort))) == expected


@MODES
def test_pointer_that_is_one_of_two(mode):
    text = "int f(int c) { int x = 1, y = 2; int *p = c ? &x : &y; *p = 7; return 10 * x + y; }"
    assert returned(text, mode, branches="t") == 72
    assert returned(text, mode, branches="f") == 17
    program = program_of(
        "int f(int c) { int x = 1, y = 2; int *t[2]; t[0] = &x; t[1] = &y; *t[c & 1] = 7; if (x + y == 9) return 1; return 0; }"
    )
    for branch, bit in (("t", 0), ("f", 1)):
        chosen = walk(program, mode, branches=branch)
        (c, *_) = chosen.inputs()
        assert status(chosen, eq(c.term, number(bit, c.term.sort))) == "sat"
        assert status(chosen, eq(c.term, number(1 - bit, c.term.sort))) == "unsat"


@MODES
def test_memory_outside_is_an_input_that_is_read_once(mode):
    program = program_of("int f(int *p, int *q) { int a = *p; *q = a + 1; if (*p != a) return 1; return 0; }")
    changed = walk(program, mode, branches="t")
    p, q = (given.term for given in changed.inputs()[:2])
    assert status(changed, eq(p, q)) == "sat"
    assert status(changed, distinct(p, q)) == "unsat"
    assert [(given.kind, given.name) for given in changed.inputs()[2:]] == [("memory", "memory")]


@MODES
def test_members_of_structures_outside_do_not_alias(mode):
    program = program_of(
        "int f(struct pair *p, struct pair *q) { p->first = 1; q->second = 2; q->next = 0; return p->first != 1 ? 1 : 0; }"
    )
    assert status(walk(program, mode, branches="t")) == "unsat"


@MODES
def test_a_parameter_does_not_point_to_a_local(mode):
    program = program_of("int f(int *p) { int x = 1; int *q = &x; *p = 5; if (*q != 1) return 1; return 0; }")
    assert status(walk(program, mode, branches="t")) == "unsat"


@MODES
def test_a_parameter_may_point_to_a_global_whose_address_is_taken(mode):
    text = (
        "int shared, own; int *where(void) { return &shared; } int f(int *p) { %s = 1; *p = 5; if (%s != 1) return 1; return 0; }"
    )
    assert status(walk(program_of(text % ("shared", "shared")), mode, branches="t")) == "sat"
    assert status(walk(program_of(text % ("own", "own")), mode, branches="t")) == "unsat"


@MODES
def test_what_a_call_can_reach_may_change(mode):
    text = "int f(void) { int x = 1, y = 1; show(&x); if (%s != 1) return 1; return 0; }"
    reached = walk(program_of(text % "x"), mode, branches="t")
    assert status(reached) == "sat"
    assert reached.formula().assumptions == (
        "show() is external: it may return anything, and writes only what its arguments reach",
    )
    assert status(walk(program_of(text % "y"), mode, branches="t")) == "unsat"


@MODES
def test_a_call_that_is_not_followed_is_an_approximation(mode):
    program = program_of("int g; void set(void) { g = 2; } int f(void) { g = 1; set(); if (g == 3) return 1; return 0; }")
    skipped = walk(program, mode, branches="t", calls=False)
    assert status(skipped) == "sat"
    assert skipped.formula().approximations == ("the call of set is not followed",)
    assert status(walk(program, mode, branches="t")) == "unsat"


def test_approximations_are_said():
    def approximations(body, mode="int"):
        return walk(program_of(f"int f(int a, int b, double d, float *p) {{ {body} }}"), mode).formula().approximations

    assert approximations("int c = a & b; return c;") == ("a bitwise operation on two unknown operands is only bounded",)
    assert approximations("int c = a & b; return c;", "bv") == ()
    assert approximations("int c = a & 0xff0; return c;") == ()
    assert approximations("double e = d * 2; return 0;") == ("floating arithmetic is not followed",)
    assert approximations("int c = d; return 0;") == ("a floating value that is converted to an integer is not followed",)
    assert approximations("double e = 1.5 * 2; int c = e; return 0;") == ()


def test_not_a_number_is_a_possibility():
    program = program_of("int f(double d) { if (d == d) return 0; return 1; }")
    assert status(walk(program, "int", branches="f")) == "sat"


@MODES
def test_unsupported_leaves_everything_open(mode):
    program = program_of('int f(int a) { int x = 1; asm volatile("nop" : "=r"(x)); if (x == 77) return 1; return 0; }')
    unsupported = program.functions["f"].unsupported
    encoder = walk(program, mode, branches="t")
    assert status(encoder) == "sat"
    assert not unsupported or not encoder.formula().is_exact


@pytest.mark.parametrize("mode", ["int", "bv"])
def test_ilp32(mode):
    assert (
        returned(
            "int f(void) { long x = 2147483647; int *p = (int *)0; return sizeof p * 10 + sizeof x + (p == 0); }",
            mode,
            model=ILP32,
        )
        == 45
    )
