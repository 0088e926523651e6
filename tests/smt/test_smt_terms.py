import pickle
import random
import subprocess
import sys
from fractions import Fraction

import pytest

from analysis.smt.logic import linear, term_building
from analysis.smt.logic.smtlib import script, write
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.terms import BOOL, INT, REAL, Term, array, bit_vector, subterms, symbols

X, Y = term_building.symbol("x", INT), term_building.symbol("y", INT)


def test_what_is_written_alike_is_one_object():
    assert linear.add(X, term_building.integer(2)) is linear.add(
        term_building.integer(2), linear.add(X, term_building.integer(0))
    )
    assert term_building.symbol("x", INT) is X
    assert term_building.symbol("x", BOOL) is not X


def test_terms_are_the_same_object_after_pickling_however_deep_they_are():
    deep = X
    for number in range(20_000):
        deep = Term("f", (deep, Y), INT, number)
    assert pickle.loads(pickle.dumps(deep)) is deep


def test_digest_is_the_same_in_another_process():
    program = (
        "from analysis.smt.logic import linear, term_building as build; from analysis.smt.logic.terms import INT; "
        "print(build.ite(build.eq(build.symbol('x', INT), build.integer(3)), build.integer(1), "
        "linear.add(build.symbol('y', INT), build.integer(-7))).digest.hex())"
    )
    here = term_building.ite(
        term_building.eq(X, term_building.integer(3)), term_building.integer(1), linear.add(Y, term_building.integer(-7))
    ).digest.hex()
    other = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "5", "PYTHONPATH": "."},
    )
    assert other.stdout.strip() == here


def test_digests_distinguish_terms():
    eight, nine = term_building.symbol("x", bit_vector(8)), term_building.symbol("x", bit_vector(9))
    different = [
        X,
        Y,
        eight,
        nine,
        term_building.eq(X, Y),
        term_building.eq(Y, X),
        term_building.integer(1),
        term_building.bits(1, 8),
        term_building.bits(1, 9),
    ]
    assert len({term.digest for term in different}) == len(different)


def test_symbols_are_in_the_order_of_the_subterms():
    names = [term_building.symbol(name, INT) for name in "abcdef"]
    draw = random.Random(5)
    for _ in range(200):
        made = list(names)
        for number in range(12):
            made.append(Term("f", tuple(draw.sample(made, draw.randint(1, 3))), INT, number))
        roots = draw.sample(made, 3)
        order = list(subterms(roots))
        assert len(order) == len(set(order))
        assert all(order.index(a) < order.index(term) for term in order for a in term.args)
        assert symbols(roots) == tuple(term for term in order if term.op == "symbol")


def test_subterms_come_before_what_uses_them():
    formula = term_building.and_(linear.less(X, Y), term_building.eq(X, term_building.integer(3)))
    order = list(subterms((formula,)))
    assert all(order.index(argument) < order.index(term) for term in order for argument in term.args)
    assert symbols((formula,)) == (X, Y)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (term_building.integer(-3), "(- 3)"),
        (term_building.bits(-1, 8), "(_ bv255 8)"),
        (term_building.TRUE, "true"),
        (term_building.symbol("a b|c", INT), "|a b%7cc|"),
        (term_building.symbol("let", INT), "|let|"),
        (term_building.not_(term_building.eq(X, Y)), "(not (= x y))"),
        (term_building.select(term_building.symbol("m", array(INT, INT)), X), "(select m x)"),
        (term_building.real(__import__("fractions").Fraction(-1, 3)), "(- (/ 1.0 3.0))"),
    ],
)
def test_written_as_smtlib(term, text):
    assert write(term) == text


def test_shared_parts_are_written_once():
    shared = Term("f", (X,), INT)
    assert write(Term("g", (shared, shared), INT)) == "(let ((?0 (f x))) (g ?0 ?0))"
    term = X
    for _ in range(60):
        term = Term("g", (term, term), INT)
    assert len(write(term)) < 4000


def test_script_is_what_a_solver_reads():
    z3 = pytest.importorskip("z3")
    formula = term_building.and_(
        linear.less(X, Y), linear.less(Y, term_building.integer(4)), term_building.distinct(X, term_building.symbol("a b", INT))
    )
    solver = z3.Solver()
    solver.from_string(script([formula]))
    assert solver.check() == z3.sat
    solver = z3.Solver()
    solver.from_string(script([formula, linear.less(Y, X)]))
    assert solver.check() == z3.unsat


def test_sums_of_reals_are_kept_when_symbols_are_replaced():
    one, other = term_building.symbol("one", REAL), term_building.symbol("other", REAL)
    half = term_building.real(Fraction(1, 2))
    total = Term("+", (Term("*", (half, one), REAL), half), REAL)
    assert Substitution({one: other})(total) is Term("+", (Term("*", (half, other), REAL), half), REAL)


@pytest.mark.parametrize("seed", range(20))
def test_comparisons_see_what_is_left_of_a_difference(seed):
    """Sums that share summands compare as their difference with 0 does, however long they are."""
    draw = random.Random(seed)
    names = [term_building.symbol(f"x{number}", INT) for number in range(40)]

    def total(count):
        made = term_building.integer(draw.randint(-3, 3))
        for name in draw.sample(names[: max(5, count)], count):
            made = linear.combine(made, name, draw.choice([1, 1, -1, 2, -3]))
        return made

    for _ in range(100):
        one, other = (total(draw.choice([0, 1, 1, 2, 3, 4, 33])) for _ in range(2))
        other = linear.add(one, other) if draw.random() < 0.3 else other
        factors, constant = linear.parts(linear.subtract(one, other))
        found = linear.at_most(one, other)
        if not factors:
            assert found is (term_building.TRUE if constant <= 0 else term_building.FALSE)
        elif len(factors) == 1:
            assert found is linear.at_most(linear.build(factors, constant, INT), term_building.integer(0))
        else:
            assert (found.op, found.args) == ("<=", (one, other))
