import re
import threading
import weakref
from pathlib import Path

import pytest
import z3
from z3 import z3core

from analysis.model import clock
from analysis.smt.logic import linear, term_building
from analysis.smt.logic.bitvectors import compare, operation
from analysis.smt.logic.terms import BOOL, INT, REAL, Term, array, bit_vector
from analysis.smt.solving import z3_contexts
from analysis.smt.solving.memo import Memo, MemoSolver, query_digest
from analysis.smt.solving.solver import INTERRUPTED, SAT, UNSAT, Answer, Budget
from analysis.smt.solving.z3_backend import Sharing, Z3Solver
from analysis.smt.solving.z3_contexts import make_ready

X, Y = term_building.symbol("x", INT), term_building.symbol("y", INT)


def at_least(term, value):
    return linear.at_most(term_building.integer(value), term)


def hard_formulas(count=1):
    """Factorisations of numbers of 120 bits into two of 60, which take for ever; many of them take much memory."""
    formulas, width = [], 128
    half, one = term_building.bits(1 << 63, width), term_building.bits(1, width)
    for number in range(count):
        p, q = (term_building.symbol(f"{name}{number}", bit_vector(width)) for name in "pq")
        product = term_building.bits((2**61 - 1) * (2**59 - 55) + 2 * number, width)
        formulas += [term_building.eq(operation("bvmul", p, q), product), compare("bvult", one, p), compare("bvult", one, q)]
        formulas += [compare("bvult", p, half), compare("bvult", q, half)]
    return formulas


def test_scopes():
    solver = Z3Solver()
    solver.add(at_least(X, 3))
    solver.push()
    solver.add(linear.less(X, term_building.integer(3)))
    assert solver.check() is UNSAT
    solver.pop()
    assert solver.check() == SAT
    with pytest.raises(ValueError, match="1 scopes to close, 0 are open"):
        solver.pop()


def test_model():
    solver = Z3Solver()
    bits, flag, real = term_building.symbol("b", bit_vector(8)), term_building.symbol("f", BOOL), term_building.symbol("r", REAL)
    solver.add(
        term_building.eq(X, term_building.integer(-5)),
        term_building.eq(bits, term_building.bits(200, 8)),
        term_building.not_(flag),
    )
    solver.add(term_building.eq(real, term_building.real(__import__("fractions").Fraction(1, 3))))
    with pytest.raises(ValueError, match="only after a check"):
        solver.model()
    solver.check()
    model = solver.model()
    assert [model.value(term) for term in (X, bits, flag, linear.add(X, X))] == [-5, 200, False, -10]
    assert model.value(real) * 3 == 1
    assert model.value(Y) == model.value(Y)
    with pytest.raises(ValueError, match="element by element"):
        model.value(term_building.symbol("m", array(INT, INT)))


def test_assumptions_hold_for_one_check_and_give_a_core():
    solver = Z3Solver()
    solver.add(at_least(X, 3))
    small, even, flag = (
        linear.less(X, term_building.integer(2)),
        term_building.eq(Y, term_building.integer(2)),
        term_building.symbol("flag", BOOL),
    )
    assert solver.check(even, small, flag) is UNSAT
    assert solver.core() == (small,)
    assert solver.check(even, flag) is SAT
    assert solver.model().value(flag) is True
    solver.add(term_building.not_(flag))
    assert solver.check(flag) is UNSAT
    assert solver.core() == (flag,)
    assert solver.check() is SAT


def test_sum_of_many_bit_vectors():
    solver = Z3Solver()
    symbols = [term_building.symbol(f"s{i}", bit_vector(16)) for i in range(20)]
    total = term_building.bits(5, 16)
    for term in symbols:
        total = linear.add(total, term)
        solver.add(term_building.eq(term, term_building.bits(3, 16)))
    assert solver.check(term_building.eq(total, term_building.bits(65, 16))) is SAT
    assert solver.check(term_building.distinct(total, term_building.bits(65, 16))) is UNSAT


@pytest.mark.parametrize("scopes", [0, 1])
def test_time_is_a_reason(scopes):
    solver = Z3Solver()
    for _ in range(scopes):
        solver.push()
    solver.add(*hard_formulas())
    assert solver.check(budget=Budget(20)) == Answer("unknown", "time")
    solver.push()
    solver.add(term_building.FALSE)
    assert solver.check() is UNSAT


@pytest.mark.parametrize("scopes", [0, 1])
def test_memory_is_a_reason_and_the_solver_lives_on(scopes):
    solver = Z3Solver()
    solver.add(at_least(X, 4))
    for _ in range(scopes):
        solver.push()
    solver.push()
    solver.add(*hard_formulas(12))
    assert solver.check(budget=Budget(60_000, 30)) == Answer("unknown", "memory")
    solver.pop()
    assert solver.check(linear.less(X, term_building.integer(9))) is SAT
    assert 4 <= solver.model().value(X) < 9


def test_an_error_of_another_thread_does_not_end_who_interrupts_it(monkeypatch):
    """The class: nobody looks after budgets any more, because the check that was to end had just failed for want of memory."""

    def failed(context, solver):
        raise z3.Z3Exception("max. memory exceeded")

    solver = Z3Solver()
    monkeypatch.setattr(z3core, "Z3_solver_interrupt", failed)
    solver.run_out("memory")
    monkeypatch.undo()
    assert solver.check() is SAT


def test_an_interrupt_ends_checks_until_resume():
    solver = Z3Solver()
    solver.add(*hard_formulas())
    other = threading.Thread(target=solver.interrupt)
    other.start()
    assert solver.check(budget=Budget(None)) == INTERRUPTED  # before it starts or while it runs
    other.join()
    assert solver.check() == INTERRUPTED
    solver.resume()
    solver.push()
    solver.add(term_building.FALSE)
    assert solver.check() is UNSAT


def test_memo_answers_what_was_asked_before():
    memo = Memo()
    one, other = MemoSolver(Z3Solver(), memo), MemoSolver(Z3Solver(), memo)
    formulas = [at_least(X, 3), linear.less(X, Y)]
    one.add(*formulas)
    assert one.check() is SAT
    other.add(formulas[1], term_building.TRUE)
    other.push()
    other.add(formulas[0], formulas[0])
    assert other.check() is SAT
    assert (memo.hits, memo.misses) == (1, 1)
    assert other.model().value(X) >= 3  # the inner solver is asked now
    assert other.check(term_building.eq(Y, term_building.integer(1))) is UNSAT
    assert other.core() == (term_building.eq(Y, term_building.integer(1)),)
    assert one.check(term_building.eq(Y, term_building.integer(1))) is UNSAT
    assert one.core() == (term_building.eq(Y, term_building.integer(1)),)
    assert (memo.hits, memo.misses) == (2, 2)


def test_memo_sees_scopes_that_were_closed():
    memo = Memo()
    solver = MemoSolver(Z3Solver(), memo)
    solver.add(at_least(X, 3))
    for bound, expected in ((2, UNSAT), (5, SAT), (2, UNSAT)):
        solver.push()
        solver.push()
        solver.add(linear.less(X, term_building.integer(bound)))
        assert solver.check() == expected
        solver.pop(2)
    assert solver.check() is SAT
    assert (memo.hits, memo.misses) == (1, 3)


class Unsettled:
    """A solver that cannot answer."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = 0

    def check(self, *_assumptions, budget=None):
        self.asked += 1
        return self.answer


@pytest.mark.parametrize("reason", ["interrupted", "time", "memory", "incomplete"])
def test_nothing_unsettled_is_kept(reason):
    memo, inner = Memo(), Unsettled(Answer("unknown", reason))
    solver = MemoSolver(inner, memo)
    assert solver.check() == solver.check() == Answer("unknown", reason)
    assert inner.asked == 2
    assert len(memo) == 0


def test_memo_is_bounded_and_keeps_what_is_used():
    memo = Memo(most=2)
    for number in (1, 2):
        memo.put(bytes([number]), SAT)
    assert memo.get(b"\1") is SAT
    memo.put(b"\3", UNSAT)
    assert [memo.get(key) for key in (b"\1", b"\2", b"\3")] == [SAT, None, UNSAT]


def test_query_digest_is_of_the_set_of_conjuncts():
    one, other = at_least(X, 3), term_building.eq(X, Y)
    assert query_digest([one, other]) == query_digest([term_building.and_(other, one), one, term_building.TRUE])
    assert query_digest([one]) != query_digest([other])
    assert query_digest([one, term_building.FALSE]) == query_digest([term_building.FALSE])
    assert query_digest([]) != query_digest([term_building.FALSE])


def test_few_modules_import_z3():
    paths = [*Path("analysis").rglob("*.py"), *Path("server").rglob("*.py")]
    importing = {path.as_posix() for path in paths if re.search(r"^\s*(import|from) z3\b", path.read_text(), re.MULTILINE)}
    assert importing == {f"analysis/smt/solving/z3_{name}.py" for name in ("backend", "contexts", "horn", "terms", "work")}


def test_terms_with_the_same_name_and_other_sorts_do_not_meet():
    solver = Z3Solver()
    solver.add(
        term_building.eq(term_building.symbol("v", INT), term_building.integer(3)),
        term_building.eq(term_building.symbol("v", bit_vector(8)), term_building.bits(4, 8)),
    )
    assert solver.check() is SAT
    assert Term("symbol", (), INT, "v") is term_building.symbol("v", INT)


def test_solvers_of_one_sharing_share_translations_and_nothing_else():
    with Sharing():
        one, other = Z3Solver.near(), Z3Solver.near()
    assert one._translation is other._translation
    one.add(at_least(X, 3))
    other.add(linear.less(X, term_building.integer(3)))
    assert [one.check(), other.check()] == [SAT, SAT]
    first = one.model()
    other.add(at_least(X, 3))
    assert [other.check(), one.check()] == [UNSAT, SAT]
    assert first.value(X) >= 3
    one.interrupt()
    assert [one.check(), other.check()] == [INTERRUPTED, UNSAT]
    assert Z3Solver()._translation is not one._translation
    assert Z3Solver.near()._translation is not one._translation


def test_what_is_shared_is_kept_and_the_outermost_counts():
    outer, inner = Sharing(), Sharing()
    with outer:
        first = Z3Solver.near()
        with inner:
            assert Z3Solver.near()._translation is first._translation
    with inner:
        other = Z3Solver.near()
    with outer:
        assert Z3Solver.near()._translation is first._translation is not other._translation


def test_solvers_of_other_threads_share_nothing():
    theirs = []
    with Sharing():
        mine = Z3Solver.near()
        thread = threading.Thread(target=lambda: theirs.append(Z3Solver.near()))
        thread.start()
        thread.join()
    assert theirs[0]._translation is not mine._translation


def test_translations_end_with_the_sharing_and_the_last_solver_that_has_them():
    with Sharing():
        solver = Z3Solver.near()
        left = weakref.ref(solver._translation)
    assert left() is not None
    del solver
    assert left() is None


def test_a_solver_that_ran_out_of_memory_leaves_the_others_their_translations():
    with Sharing():
        one, other = Z3Solver.near(), Z3Solver.near()
    one.push()
    one.add(*hard_formulas(12))
    assert one.check(budget=Budget(60_000, 30)) == Answer("unknown", "memory")
    one.pop()
    assert one.check() is SAT
    assert one._translation is not other._translation
    other.add(at_least(X, 3), linear.less(X, term_building.integer(3)))
    assert other.check() is UNSAT


def test_solvers_may_end_in_another_thread_while_one_checks():
    with Sharing():
        solver, others = Z3Solver.near(), [Z3Solver.near() for _ in range(200)]
    for other in others:
        other.add(at_least(X, 3))
        assert other.check() is SAT
    models = [other.model() for other in others]
    del other
    going = threading.Thread(target=lambda: [(models.pop(), others.pop()) for _ in range(200)])
    going.start()
    for number in range(200):
        solver.push()
        solver.add(*(at_least(term_building.symbol(f"x{other}", INT), number) for other in range(number, number + 9)))
        assert solver.check() is SAT
        solver.pop()
    going.join()
    assert solver.check() is SAT
    assert solver._translation.left == []


def test_what_a_solver_answers_does_not_depend_on_when_its_context_was_made():
    x, y = term_building.symbol("x", INT), term_building.symbol("y", INT)
    answered, spare = [], []
    while make_ready():
        pass
    for _ in range(4):  # the first ones have contexts that were made before
        spare.append(len(z3_contexts._spare))
        solver, began = Z3Solver(), clock.spent()
        solver.add(at_least(x, 3), at_least(y, 5))
        assert solver.check() is SAT
        answered.append((solver.model().values((x, y)), round(clock.spent() - began, 7)))
    assert all(one == answered[0] for one in answered)
    assert spare == [2, 1, 0, 0]


def test_a_context_is_ended_when_nobody_waits_but_at_once_if_much_is_held(monkeypatch: pytest.MonkeyPatch):
    while make_ready():
        pass
    monkeypatch.setattr(z3_contexts, "_MOST_HELD", 2**62)  # other tests may have left much
    solver, other, held = Z3Solver(), Z3Solver(), []
    del solver
    held.append(len(z3_contexts._to_end))
    monkeypatch.setattr(z3_contexts, "_MOST_HELD", 1)
    del other
    held.append(len(z3_contexts._to_end))
    while make_ready():
        pass
    assert [*held, len(z3_contexts._to_end)] == [1, 1, 0]
