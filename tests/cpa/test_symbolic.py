"""Symbolic values and constraints: whether an error is reached, and what states say."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.cpa.domains.constraints import is_covered, without_obsolete
from analysis.cpa.framework.algorithm import Budget
from analysis.cpa.framework.waitlist import SequentialWaitlist
from analysis.cpa.symbolic_values.constraint_sets import TRUE, Constraints, constraints_of
from analysis.cpa.symbolic_values.symbolic import Renaming, binary, condition_of, identifier, negation, substitute
from analysis.cpa.symbolic_values.symbolic_execution import CONSTRAINTS, VALUES
from analysis.model import ir
from analysis.model.c_types import DOUBLE, INT, UNSIGNED_INT
from tests.support.explorations import explored, program_of, symbolic_execution

HEAD = """typedef unsigned long size_t; int nondet(void); unsigned nondet_uint(void);
int *nondet_ptr(void); void reach_error(void); void *malloc(size_t); void *calloc(size_t, size_t); void free(void *);
struct n { int v; struct n *next; }; int g; int shared;
"""

SAFE = [
    "int a = nondet(); if (a > 3 && a < 4) reach_error();",
    "int a = nondet(), b = a; if (a != b) reach_error();",
    "int a = nondet(), b = nondet(); if (a == b && b == 3) { if (a != 3) reach_error(); }",
    "int a = nondet(), flag = 0; if (a > 5) flag = 1; if (flag && a < 5) reach_error();",
    "unsigned a = nondet_uint(); if (a + 1 == 0 && a != 4294967295u) reach_error();",
    "int n = nondet(), i = 0; if (n < 0 || n > 4) return 0; while (i < n) i++; if (i != n) reach_error();",
    "int *p = malloc(4); if (!p) return 0; *p = nondet(); int a = *p; if (a != *p) reach_error();",
    "int *p = malloc(4), *q = malloc(4); if (p && q) { *p = 1; *q = 2; if (*p != 1) reach_error(); if (p == q) reach_error(); }",
    "int *p = calloc(2, 4); if (p && p[1] != 0) reach_error();",
    "struct n *l = 0; for (int i = 0; i < 3; i++) { struct n *x = malloc(16); if (!x) return 0; x->v = i; x->next = l; l = x; }"
    " int s = 0; while (l) { s += l->v; l = l->next; } if (s != 3) reach_error();",
    "int *p = nondet_ptr(); if (!p) return 0; *p = 3; if (*p != 3) reach_error();",
    "int x = nondet(); int y = x * 2; if (x == 4 && y != 8) reach_error();",
    "unsigned char c = nondet(); if (c > 255) reach_error();",
    "int a = nondet(); g = a; nondet(); if (g != a) reach_error();",
    "int a = nondet(), b = 0; b = a > 3 ? 7 : b; if (a <= 3 && b) reach_error();",
]

UNSAFE = [
    "int a = nondet(); if (a > 3 && a < 5) reach_error();",
    "unsigned a = nondet_uint(); if (a + 1 == 0) reach_error();",
    "int *p = malloc(4); if (!p) reach_error();",
    "int *p = malloc(4); if (p && *p == 7) reach_error();",
    "int *p = nondet_ptr(); shared = 1; int *q = &shared; *p = 2; if (*q == 2) reach_error();",
    "int *p = nondet_ptr(), *q = nondet_ptr(); *p = 1; *q = 2; if (*p == 2) reach_error();",
    "int a = nondet(), b = nondet(); if (a > 0 && b > 0 && a + b == 2) { if (a == 1) reach_error(); }",
    "int n = nondet(), i = 0; while (i < n) i++; if (i == 3) reach_error();",
    "struct n *x = malloc(16); if (x) { x->v = nondet(); if (x->v == 3) reach_error(); }",
]


FAR = [  # each sum is a value of the type, what is added in all is none
    "int a = nondet(); if (a > -1900000000) return 0; a += 2000000000; a += 2000000000; if (a > 1900000000) reach_error();",
    "int a = nondet(); if (a < 1900000000) return 0; a -= 2000000000; a -= 2000000000; if (a < -1900000000) reach_error();",
]


@pytest.mark.parametrize("overflow", ["assume", "wrap"])
@pytest.mark.parametrize("mode", ["int", "bv"])
@pytest.mark.parametrize("body", FAR)
def test_sums_of_large_numbers(body: str, mode: Any, overflow: Any) -> None:
    of = program_of(HEAD + "int main(void) { " + body + " return 0; }")
    execution, state = symbolic_execution(of, mode=mode, overflow=overflow)
    assert explored(execution.composite, state, of).ending == "target"


@pytest.mark.parametrize("mode", ["int", "bv"])
@pytest.mark.parametrize(("body", "ending"), [(b, "finished") for b in SAFE] + [(b, "target") for b in UNSAFE])
def test_errors(body: str, ending: str, mode: Any) -> None:
    of = program_of(HEAD + "int main(void) { " + body + " return 0; }")
    execution, state = symbolic_execution(of, mode=mode)
    outcome = explored(execution.composite, state, of, Budget(states=3_000), SequentialWaitlist("breadth-first"))
    assert outcome.ending == ending


def test_an_entry_in_the_middle_knows_nothing_of_globals() -> None:
    of = program_of(HEAD + "int f(int *p) { g = 1; if (p) *p = 2; if (g != 1) reach_error(); return 0; }")
    execution, state = symbolic_execution(of, entry="f", whole=False)
    assert explored(execution.composite, state, of).ending == "target"
    of = program_of(HEAD + "static int own; int f(int *p) { own = 1; if (p) *p = 2; if (own != 1) reach_error(); return 0; }")
    execution, state = symbolic_execution(of, entry="f", whole=False)
    assert explored(execution.composite, state, of).ending == "finished"


def test_definite_assignments_go_into_the_values() -> None:
    of = program_of(
        HEAD + "int main(void) { int a = nondet(), b = nondet(); if (a > 0 && b > 0 && a + b == 2) return a; return 5; }"
    )
    for definite, found in ((True, {1, 5}), (False, {5})):
        execution, state = symbolic_execution(of, definite=definite)
        stores = [n.state[VALUES].store.map for n in explored(execution.composite, state, of).reached]
        assert {s["main#0:<result>"] for s in stores if isinstance(s.get("main#0:<result>"), int)} == found


def test_obsolete_constraints_are_removed() -> None:
    of = program_of(HEAD + "int main(void) { int a = nondet(); int b = 0; if (a > 3) b = 1; return b; }")
    for remove, most in ((True, 0), (False, 1)):
        execution, state = symbolic_execution(of, remove_obsolete=remove)
        last = [n for n in explored(execution.composite, state, of).reached if n.state[0].location == of.functions["main"].exit]
        assert max(len(n.state[CONSTRAINTS].conditions) for n in last) == most


def test_merging_removes_a_branch_and_its_opposite() -> None:
    text = HEAD + "int main(void) { int a = nondet(), b = 0; if (a > 3) g = 1; else g = 1; b = a + g; return b; }"
    of = program_of(text)
    sizes = {}
    for merge in ("sep", "join"):
        execution, state = symbolic_execution(of, merge=merge, remove_obsolete=False)
        sizes[merge] = len(explored(execution.composite, state, of).reached)
    assert sizes["join"] < sizes["sep"]


def test_aliases_cover_what_a_loop_reads_anew() -> None:
    of = program_of(HEAD + "int main(void) { int a; while (1) { a = nondet(); if (a > 3) g = a; else g = 4; } }")
    for order, ending in (("aliased", "finished"), ("subset", "states")):
        execution, state = symbolic_execution(of, less_or_equal=order)
        assert explored(execution.composite, state, of, Budget(states=300)).ending == ending


# -- conditions -------------------------------------------------------------------------------------------------------

A, B, C = (identifier(name, 1, INT) for name in "abc")


def number(value: int) -> ir.IntConst:
    return ir.IntConst(value, INT)


def test(operator: Any, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Binary(operator, left, right, INT)


test.__test__ = False  # type: ignore[attr-defined]  # the name of a part of a condition, not a test


def test_a_condition_is_the_negation_of_its_negation() -> None:
    x, y = identifier("x", 1, DOUBLE), identifier("y", 1, DOUBLE)  # with floating operands, !(x < y) is not x >= y
    for condition in (test("<", A, B), test("==", A, number(0)), test("<", x, y), ir.Unary("!", test("<", x, y), INT)):
        assert negation(negation(condition)) == condition
        assert negation(condition) != condition


def test_conditions_are_made_of_branches() -> None:
    assert condition_of((A, True)) == test("!=", A, number(0))
    assert condition_of((A, False)) == test("==", A, number(0))
    assert condition_of((test("<", A, B), False)) == test(">=", A, B)


def test_sums_of_constants_are_folded_modulo_the_width() -> None:
    u = identifier("u", 1, UNSIGNED_INT)
    first = ir.Binary("-", u, ir.IntConst(1, UNSIGNED_INT), UNSIGNED_INT)
    again = binary(first, first, ir.IntConst(1, UNSIGNED_INT))
    assert again == ir.Binary("+", u, ir.IntConst(4294967294, UNSIGNED_INT), UNSIGNED_INT)
    back = ir.Binary("+", u, ir.IntConst(2, UNSIGNED_INT), UNSIGNED_INT)
    assert again is not None
    assert binary(back, again, ir.IntConst(2, UNSIGNED_INT)) == u


def test_substitution_folds() -> None:
    assert substitute(test("<", ir.Binary("+", A, B, INT), number(5)), {A: number(1), B: number(2)}) == number(1)


def test_one_bijection_must_do_for_values_and_constraints() -> None:
    """The paper's component-wise `aliased` would call this covered: x -> a, y -> b, a > 0 by x -> a, y -> b, b > 0."""
    state, other = constraints_of([test(">", A, number(0))]), constraints_of([test(">", B, number(0))])
    assert is_covered(state, other, Renaming())
    values = Renaming()
    assert values.match(A, A)
    assert values.match(B, B)
    assert not is_covered(state, other, values)


def test_obsolete_by_the_papers_conditions() -> None:
    direct, chained, apart, lonely = test("<", A, B), test("<", B, C), test(">", C, number(9)), test("<", C, number(1))
    assert without_obsolete([direct, chained], frozenset({A.name}), set()) == (direct,)
    assert without_obsolete([direct, chained, apart], frozenset({A.name}), set()) == (direct, chained, apart)
    assert without_obsolete([lonely, apart], frozenset({A.name}), set()) == ()


def test_constraints_are_equal_as_sets() -> None:
    one, other = test("<", A, B), test(">", A, number(1))
    assert constraints_of([one, other]) == constraints_of([other, one])
    assert hash(constraints_of([one, other])) == hash(constraints_of([other, one]))
    assert Constraints() == TRUE
