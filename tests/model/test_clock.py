"""Budgets count work: the same question ends at the same place, however long that takes."""

from __future__ import annotations

import pytest
import z3.z3core as z3core

from analysis.model import clock
from analysis.smt.logic import term_building
from analysis.smt.logic.terms import INT, Term, bit_vector
from analysis.smt.solving.solver import SAT, Answer, Budget
from analysis.smt.solving.z3_backend import Z3Solver

_BITS = bit_vector(32)


def _product(number: int) -> list[Term]:
    """Two factors of a number, neither of which is small."""
    x, y = term_building.symbol("x", _BITS), term_building.symbol("y", _BITS)
    limit = term_building.bits(1000, 32)
    is_product = term_building.eq(Term("bvmul", (x, y), _BITS), term_building.bits(number, 32))
    return [is_product, Term("bvult", (limit, x), term_building.BOOL), Term("bvult", (limit, y), term_building.BOOL)]


def _work_of(formulas: list[Term], budget: Budget | None = None) -> tuple[Answer, float]:
    before, solver = clock.spent(), Z3Solver()
    solver.add(*formulas)
    return solver.check(budget=budget), round(clock.spent() - before, 9)


def test_the_same_question_costs_the_same() -> None:
    once, again = _work_of(_product(1_000_003)), _work_of(_product(1_000_003))
    assert once == again
    assert once[1] > clock.CHECK / clock.SECOND


def test_a_question_ends_by_its_work() -> None:
    budget = Budget(20)
    (answer, worked), again = _work_of(_product(2_147_483_647), budget), _work_of(_product(2_147_483_647), budget)
    assert answer == Answer("unknown", "time")
    assert (answer, worked) == again
    assert 0.02 < worked < 0.04


def test_a_budget_is_that_of_one_question() -> None:
    solver, n = Z3Solver(), term_building.symbol("n", INT)
    solver.add(*_product(2_147_483_647))
    assert solver.check(budget=Budget(20)) == Answer("unknown", "time")
    solver = Z3Solver()
    solver.add(Term(">=", (n, term_building.number(3, INT)), term_building.BOOL))
    for _ in range(3):
        assert solver.check(budget=Budget(20)) is SAT


def test_questions_together_cost_no_more_than_they_may() -> None:
    before = clock.spent()
    with clock.within(0.05):
        answers = [_work_of(_product(2_147_483_647), Budget(20))[0] for _ in range(9)]
    assert set(answers) == {Answer("unknown", "time")}
    assert 0.05 < clock.spent() - before < 0.08
    assert clock.left() == float("inf")


def test_work_is_counted_beyond_what_32_bits_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """z3 gives its count as a floating number then."""
    counts = iter((4_294_960_000.0, 4_300_000_000.0))
    monkeypatch.setattr(z3core, "Z3_stats_is_uint", lambda *_: False)
    monkeypatch.setattr(z3core, "Z3_stats_get_double_value", lambda *_: next(counts))
    solver = Z3Solver()
    solver.add(*_product(15))
    solver.check()
    before = clock.spent()
    solver.check()
    assert (clock.spent() - before) * clock.SECOND >= clock.SOLVING * (4_300_000_000 - 4_294_960_000)


def test_what_takes_more_than_there_is_for_it_is_given_up_at_the_next_demand() -> None:
    with clock.ending(clock.spent() + 0.001):
        clock.demand()
        clock.work(clock.SECOND // 500)
        with pytest.raises(clock.OverError):
            clock.demand()
    clock.demand()
