"""Interpolants of sequences, the text of terms, and putting terms in the place of symbols."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.smt import build, linear
from analysis.smt.bitvectors import compare, concat, extend, extract, operation
from analysis.smt.horn import Applied, Clause, solve
from analysis.smt.interpolation import are_interpolants, interpolants, shared
from analysis.smt.reading import read
from analysis.smt.smtlib import write
from analysis.smt.solver import Budget
from analysis.smt.substitution import Substitution
from analysis.smt.terms import BOOL, INT, Term, array, bit_vector, symbols
from analysis.smt.z3_backend import Z3Solver

BUDGET = Budget(10_000)
ONE = build.integer(1)


def numbered(name: str, count: int) -> list[Term]:
    return [build.symbol(f"{name}{i}", INT) for i in range(count + 1)]


def counting(rounds: int) -> list[Term]:
    """x and y start at 0 and are counted up together; in the end they differ."""
    x, y = numbered("x", rounds), numbered("y", rounds)
    formulas = [build.and_(build.eq(x[0], build.integer(0)), build.eq(y[0], build.integer(0)))]
    for i in range(rounds):
        formulas.append(build.and_(build.eq(x[i + 1], linear.add(x[i], ONE)), build.eq(y[i + 1], linear.add(y[i], ONE))))
    return [*formulas, build.distinct(x[rounds], y[rounds])]


@pytest.mark.parametrize("method", ["core", "spacer"])
def test_interpolants_of_a_path_are_what_they_say(method: str) -> None:
    formulas, solver = counting(6), Z3Solver()
    found = interpolants(solver, formulas, BUDGET, (method,))  # type: ignore[arg-type]  # one of the two
    assert found is not None
    assert found[1] == method
    assert are_interpolants(solver, formulas, found[0], BUDGET)


WORD = bit_vector(8)


def words(name: str, count: int) -> list[Term]:
    return [build.symbol(f"{name}{i}", WORD) for i in range(count + 1)]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["bvadd", "bvmul", "bvxor", "bvlshr", "bvand"]), st.integers(0, 255)), min_size=1, max_size=4
    )
)
def test_interpolants_of_bit_vectors_by_bitwuzla_are_what_they_say(steps: list[tuple[str, int]]) -> None:
    """A word takes some steps, and in the end is not what these make of it."""
    x = words("x", len(steps))
    value, formulas = build.bits(200, 8), [build.eq(x[0], build.bits(200, 8))]
    for i, (op, by) in enumerate(steps):
        value = operation(op, value, build.bits(by, 8))
        formulas.append(build.eq(x[i + 1], operation(op, x[i], build.bits(by, 8))))
    formulas.append(build.distinct(x[-1], value))
    found = interpolants(Z3Solver(), formulas, BUDGET, ("bitwuzla",))
    assert found is not None
    assert are_interpolants(Z3Solver(), formulas, found[0], BUDGET)


def test_bitwuzla_knows_arrays_and_says_nothing_of_numbers_or_of_what_can_be() -> None:
    memory, x, at = build.symbol("m", array(bit_vector(16), WORD)), build.symbol("x", WORD), build.bits(7, 16)
    wrong = [build.eq(build.select(memory, at), x), build.eq(x, build.bits(3, 8)), compare("bvult", build.select(memory, at), x)]
    found = interpolants(Z3Solver(), wrong, BUDGET, ("bitwuzla",))
    assert found is not None
    assert interpolants(Z3Solver(), wrong[:-1], BUDGET, ("bitwuzla",)) is None
    assert interpolants(Z3Solver(), counting(2), BUDGET, ("bitwuzla",)) is None


def test_a_possible_path_has_none() -> None:
    formulas = counting(3)[:-1]
    assert interpolants(Z3Solver(), formulas, BUDGET) is None


def test_what_is_no_interpolant_is_told() -> None:
    formulas, solver = counting(2), Z3Solver()
    found = interpolants(solver, formulas, BUDGET)
    assert found is not None
    terms = found[0]
    assert not are_interpolants(solver, formulas, (build.TRUE, *terms[1:]), BUDGET), "it does not imply the next one"
    assert not are_interpolants(solver, formulas, (*terms[:-1], build.FALSE), BUDGET), "it does not follow"
    foreign = build.eq(build.symbol("z", INT), ONE)
    assert not are_interpolants(solver, formulas, (foreign, *terms[1:]), BUDGET), "it speaks of something else"
    assert not are_interpolants(solver, formulas, terms[:-1], BUDGET), "one is missing"


def test_shared_symbols() -> None:
    x, y = build.symbol("x", INT), build.symbol("y", INT)
    one, other = build.eq(x, ONE), build.eq(y, ONE)
    assert shared([one, other, build.eq(x, y)]) == [(x,), (x, y)]


def test_inputs_that_do_not_matter_are_left_out_of_an_unsat_core() -> None:
    x, y, choice = build.symbol("x", INT), build.symbol("y", INT), build.symbol("choice", BOOL)
    formulas = [build.eq(x, ONE), build.and_(choice, build.eq(y, linear.add(x, ONE))), linear.at_most(y, ONE)]
    found = interpolants(Z3Solver(), formulas, BUDGET, ("core",))
    assert found is not None
    assert set(symbols(found[0])) <= {x, y}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-5, 5)), min_size=2, max_size=6))
def test_whatever_is_found_for_random_sequences_is_right(rows: list[tuple[int, int, int]]) -> None:
    x = numbered("x", len(rows))
    formulas = []
    for i, (a, b, c) in enumerate(rows):
        total = linear.add(linear.scale(a, x[i]), linear.scale(b, x[i + 1]))
        formulas.append(build.and_(linear.at_most(total, build.integer(c)), linear.at_most(build.integer(c), total)))
    solver = Z3Solver()
    found = interpolants(solver, formulas, BUDGET)
    if found is not None:
        assert are_interpolants(solver, formulas, found[0], BUDGET)


def test_a_loop_invariant_by_horn_clauses() -> None:
    x, y = build.symbol("x", INT), build.symbol("y", INT)
    zero, ten = build.integer(0), build.integer(10)
    start = Clause((), build.and_(build.eq(x, zero), build.eq(y, zero)), Applied(0, (x, y)))
    step = Clause((Applied(0, (x, y)),), linear.less(x, ten), Applied(0, (linear.add(x, ONE), linear.add(y, ONE))))
    wrong = Clause((Applied(0, (x, y)),), build.distinct(x, y), None)
    found = solve([start, step, wrong], {0: (x, y)}, BUDGET)
    assert found is not None
    solver = Z3Solver()
    solver.add(found[0], build.distinct(x, y))
    assert solver.check().status == "unsat"
    bad = Clause((Applied(0, (x, y)),), build.eq(x, ten), None)
    assert solve([start, step, bad], {0: (x, y)}, BUDGET) is None


B8, B16 = build.symbol("b", bit_vector(8)), build.symbol("w", bit_vector(16))
MEMORY = build.symbol("heap:int32", array(INT, INT))
X, Y, FLAG = build.symbol("0:x", INT), build.symbol("@y", INT), build.symbol("a flag|", BOOL)
TERMS = [
    build.eq(X, build.integer(-4)),
    build.ite(FLAG, linear.at_most(X, Y), linear.less(Y, X)),
    build.eq(build.select(build.store(MEMORY, X, Y), linear.add(Y, ONE)), Term("mod", (X, build.integer(4)), INT)),
    build.eq(build.filled(array(INT, INT), ONE), MEMORY),
    compare("bvslt", extend(B8, 16, signed=True), operation("bvmul", B16, B16)),
    build.eq(concat(extract(3, 0, B8), extract(7, 4, B8)), build.bits(0xA5, 8)),
    build.or_(build.not_(FLAG), build.eq(operation("bvlshr", B16, extend(B8, 16, signed=False)), B16)),
]


@pytest.mark.parametrize("term", TERMS, ids=range(len(TERMS)))
def test_terms_survive_being_written(term: Term) -> None:
    known = {str(s.data): s for s in symbols((term,))}
    again = read(write(term), known)
    solver = Z3Solver()
    solver.add(build.distinct(again, term))
    assert solver.check().status == "unsat"


@pytest.mark.parametrize("text", ["(", ")", "(and x)", "(forall ((x Int)) true)", "", "true false", "(frobnicate true)"])
def test_what_is_no_term_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(text, {})


def test_substitution_simplifies() -> None:
    put = Substitution({X: build.integer(3), Y: build.integer(4)})
    assert put(linear.at_most(X, Y)) is build.TRUE
    assert put(build.ite(linear.at_most(Y, X), X, Y)) is build.integer(4)
