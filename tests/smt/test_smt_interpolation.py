"""Interpolants of sequences, the text of terms, and putting terms in the place of symbols."""

from __future__ import annotations

import pytest
import z3  # type: ignore[import-untyped]  # it has no stubs
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.smt.logic import linear, term_building
from analysis.smt.logic.bitvectors import compare, concat, extend, extract, operation
from analysis.smt.logic.smtlib import write
from analysis.smt.logic.smtlib_reading import read
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.terms import BOOL, INT, Term, array, bit_vector, symbols
from analysis.smt.solving.horn import Applied, Clause, solve
from analysis.smt.solving.interpolation import are_interpolants, interpolants, shared
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver

BUDGET = Budget(10_000)
ONE = term_building.integer(1)


def numbered(name: str, count: int) -> list[Term]:
    return [term_building.symbol(f"{name}{i}", INT) for i in range(count + 1)]


def counting(rounds: int) -> list[Term]:
    """x and y start at 0 and are counted up together; in the end they differ."""
    x, y = numbered("x", rounds), numbered("y", rounds)
    formulas = [
        term_building.and_(term_building.eq(x[0], term_building.integer(0)), term_building.eq(y[0], term_building.integer(0)))
    ]
    for i in range(rounds):
        formulas.append(
            term_building.and_(
                term_building.eq(x[i + 1], linear.add(x[i], ONE)), term_building.eq(y[i + 1], linear.add(y[i], ONE))
            )
        )
    return [*formulas, term_building.distinct(x[rounds], y[rounds])]


@pytest.mark.parametrize("method", ["core", "spacer"])
def test_interpolants_of_a_path_are_what_they_say(method: str) -> None:
    formulas, solver = counting(6), Z3Solver()
    found = interpolants(solver, formulas, BUDGET, (method,))  # type: ignore[arg-type]  # one of the two
    assert found is not None
    assert found[1] == method
    assert are_interpolants(solver, formulas, found[0], BUDGET)


WORD = bit_vector(8)


def words(name: str, count: int) -> list[Term]:
    return [term_building.symbol(f"{name}{i}", WORD) for i in range(count + 1)]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["bvadd", "bvmul", "bvxor", "bvlshr", "bvand"]), st.integers(0, 255)), min_size=1, max_size=4
    )
)
def test_interpolants_of_bit_vectors_by_bitwuzla_are_what_they_say(steps: list[tuple[str, int]]) -> None:
    """A word takes some steps, and in the end is not what these make of it."""
    x = words("x", len(steps))
    value, formulas = term_building.bits(200, 8), [term_building.eq(x[0], term_building.bits(200, 8))]
    for i, (op, by) in enumerate(steps):
        value = operation(op, value, term_building.bits(by, 8))
        formulas.append(term_building.eq(x[i + 1], operation(op, x[i], term_building.bits(by, 8))))
    formulas.append(term_building.distinct(x[-1], value))
    found = interpolants(Z3Solver(), formulas, BUDGET, ("bitwuzla",))
    assert found is not None
    assert are_interpolants(Z3Solver(), formulas, found[0], BUDGET)


def test_bitwuzla_knows_arrays_and_says_nothing_of_numbers_or_of_what_can_be() -> None:
    memory, x, at = (
        term_building.symbol("m", array(bit_vector(16), WORD)),
        term_building.symbol("x", WORD),
        term_building.bits(7, 16),
    )
    wrong = [
        term_building.eq(term_building.select(memory, at), x),
        term_building.eq(x, term_building.bits(3, 8)),
        compare("bvult", term_building.select(memory, at), x),
    ]
    found = interpolants(Z3Solver(), wrong, BUDGET, ("bitwuzla",))
    assert found is not None
    assert interpolants(Z3Solver(), wrong[:-1], BUDGET, ("bitwuzla",)) is None
    assert interpolants(Z3Solver(), counting(2), BUDGET, ("bitwuzla",)) is None


def test_a_possible_path_has_none() -> None:
    formulas = counting(3)[:-1]
    assert interpolants(Z3Solver(), formulas, BUDGET) is None


def test_what_is_no_interpolant_is_reported() -> None:
    formulas, solver = counting(2), Z3Solver()
    found = interpolants(solver, formulas, BUDGET)
    assert found is not None
    terms = found[0]
    assert not are_interpolants(solver, formulas, (term_building.TRUE, *terms[1:]), BUDGET), "it does not imply the next one"
    assert not are_interpolants(solver, formulas, (*terms[:-1], term_building.FALSE), BUDGET), "it does not follow"
    foreign = term_building.eq(term_building.symbol("z", INT), ONE)
    assert not are_interpolants(solver, formulas, (foreign, *terms[1:]), BUDGET), "it speaks of something else"
    assert not are_interpolants(solver, formulas, terms[:-1], BUDGET), "one is missing"


def test_shared_symbols() -> None:
    x, y = term_building.symbol("x", INT), term_building.symbol("y", INT)
    one, other = term_building.eq(x, ONE), term_building.eq(y, ONE)
    assert shared([one, other, term_building.eq(x, y)]) == [(x,), (x, y)]


def test_inputs_that_do_not_matter_are_left_out_of_an_unsat_core() -> None:
    x, y, choice = term_building.symbol("x", INT), term_building.symbol("y", INT), term_building.symbol("choice", BOOL)
    formulas = [
        term_building.eq(x, ONE),
        term_building.and_(choice, term_building.eq(y, linear.add(x, ONE))),
        linear.at_most(y, ONE),
    ]
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
        formulas.append(
            term_building.and_(linear.at_most(total, term_building.integer(c)), linear.at_most(term_building.integer(c), total))
        )
    solver = Z3Solver()
    found = interpolants(solver, formulas, BUDGET)
    if found is not None:
        assert are_interpolants(solver, formulas, found[0], BUDGET)


def test_a_loop_invariant_by_horn_clauses() -> None:
    x, y = term_building.symbol("x", INT), term_building.symbol("y", INT)
    zero, ten = term_building.integer(0), term_building.integer(10)
    start = Clause((), term_building.and_(term_building.eq(x, zero), term_building.eq(y, zero)), Applied(0, (x, y)))
    step = Clause((Applied(0, (x, y)),), linear.less(x, ten), Applied(0, (linear.add(x, ONE), linear.add(y, ONE))))
    wrong = Clause((Applied(0, (x, y)),), term_building.distinct(x, y), None)
    found = solve([start, step, wrong], {0: (x, y)}, BUDGET)
    assert found is not None
    solver = Z3Solver()
    solver.add(found[0], term_building.distinct(x, y))
    assert solver.check().status == "unsat"
    bad = Clause((Applied(0, (x, y)),), term_building.eq(x, ten), None)
    assert solve([start, step, bad], {0: (x, y)}, BUDGET) is None


B8, B16 = term_building.symbol("b", bit_vector(8)), term_building.symbol("w", bit_vector(16))
MEMORY = term_building.symbol("heap:int32", array(INT, INT))
X, Y, FLAG = term_building.symbol("0:x", INT), term_building.symbol("@y", INT), term_building.symbol("a flag|", BOOL)
TERMS = [
    term_building.eq(X, term_building.integer(-4)),
    term_building.ite(FLAG, linear.at_most(X, Y), linear.less(Y, X)),
    term_building.eq(
        term_building.select(term_building.store(MEMORY, X, Y), linear.add(Y, ONE)),
        Term("mod", (X, term_building.integer(4)), INT),
    ),
    term_building.eq(term_building.filled(array(INT, INT), ONE), MEMORY),
    compare("bvslt", extend(B8, 16, signed=True), operation("bvmul", B16, B16)),
    term_building.eq(concat(extract(3, 0, B8), extract(7, 4, B8)), term_building.bits(0xA5, 8)),
    term_building.or_(term_building.not_(FLAG), term_building.eq(operation("bvlshr", B16, extend(B8, 16, signed=False)), B16)),
]


@pytest.mark.parametrize("term", TERMS, ids=range(len(TERMS)))
def test_terms_survive_being_written(term: Term) -> None:
    known = {str(s.data): s for s in symbols((term,))}
    again = read(write(term), known)
    solver = Z3Solver()
    solver.add(term_building.distinct(again, term))
    assert solver.check().status == "unsat"


@pytest.mark.parametrize("text", ["(", ")", "(and x)", "(forall ((x Int)) true)", "", "true false", "(frobnicate true)"])
def test_what_is_no_term_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(text, {})


def test_substitution_simplifies() -> None:
    put = Substitution({X: term_building.integer(3), Y: term_building.integer(4)})
    assert put(linear.at_most(X, Y)) is term_building.TRUE
    assert put(term_building.ite(linear.at_most(Y, X), X, Y)) is term_building.integer(4)


def test_interpolants_are_not_projected_in_a_way_that_no_interrupt_ends() -> None:
    """With it, version 0 of seed 2066 of `benchmarks.summary_chains` never ends. No smaller program is known that does this."""
    z3.set_param("smt.qsat_use_qel", True)
    assert interpolants(Z3Solver(), counting(2), BUDGET, ["spacer"]) is not None
    assert z3.get_param("smt.qsat_use_qel") == "false"
