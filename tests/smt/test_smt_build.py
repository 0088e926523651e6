"""What the constructors build means what they are named after: compared with arithmetic on Python's integers."""

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.model.ranges import signed_value
from analysis.smt.encoding.numbers.term_intervals import Intervals
from analysis.smt.encoding.storage.content import relation
from analysis.smt.logic import linear, term_building
from analysis.smt.logic.bitvectors import compare, concat, euclidean, extend, extract, multiply, operation
from analysis.smt.logic.terms import INT, Term, bit_vector
from analysis.smt.solving.z3_backend import Z3Solver

WIDTH = 6
NAMES = ("x", "y", "z", "d")
SOLVER = Z3Solver()
VALUES = st.tuples(*(st.integers(-70, 70) for _ in NAMES[:-1]), st.integers(-5, 5).filter(bool))  # the last one divides


def numbers(*divisors):
    """Recipes of Int terms: a name, a number, or an operator with operands."""
    leaves = st.sampled_from(NAMES) | st.integers(-9, 9)
    return st.recursive(
        leaves,
        lambda inner: (
            st.tuples(st.sampled_from(("+", "-", "*")), inner, inner)
            | st.tuples(st.sampled_from(("div", "mod")), inner, st.sampled_from(divisors))
            | st.tuples(st.just("ite"), st.tuples(st.sampled_from(("<=", "<", "=")), inner, inner), inner, inner)
        ),
        max_leaves=8,
    )


def as_int_term(recipe) -> Term:
    match recipe:
        case str():
            return term_building.symbol(recipe, INT)
        case int():
            return term_building.integer(recipe)
        case ("+", one, other):
            return linear.add(as_int_term(one), as_int_term(other))
        case ("-", one, other):
            return linear.subtract(as_int_term(one), as_int_term(other))
        case ("*", one, other):
            return multiply(as_int_term(one), as_int_term(other))
        case ("div" | "mod" as op, one, divisor):
            return euclidean(op, as_int_term(one), as_int_term(divisor))
        case ("ite", (test, one, other), then, otherwise):
            made = {"<=": linear.at_most, "<": linear.less, "=": term_building.eq}[test]
            return term_building.ite(made(as_int_term(one), as_int_term(other)), as_int_term(then), as_int_term(otherwise))
    raise AssertionError(recipe)


def value_of(recipe, values) -> int:
    match recipe:
        case str():
            return values[NAMES.index(recipe)]
        case int():
            return recipe
        case ("+" | "-" | "*" as op, one, other):
            return {"+": operator.add, "-": operator.sub, "*": operator.mul}[op](value_of(one, values), value_of(other, values))
        case ("mod", one, divisor):
            return value_of(one, values) % abs(value_of(divisor, values))
        case ("div", one, divisor):
            dividend, by = value_of(one, values), value_of(divisor, values)
            return (dividend - dividend % abs(by)) // by
        case ("ite", (test, one, other), then, otherwise):
            holds = {"<=": operator.le, "<": operator.lt, "=": operator.eq}[test]
            return value_of(then if holds(value_of(one, values), value_of(other, values)) else otherwise, values)
    raise AssertionError(recipe)


def only_value(term: Term, pinned: list[Term], expected: Term) -> bool:
    """Whether the term has this value, and no other, where the pins hold."""
    SOLVER.push()
    SOLVER.add(*pinned)
    answers = SOLVER.check(term_building.eq(term, expected)).status, SOLVER.check(term_building.distinct(term, expected)).status
    SOLVER.pop()
    return answers == ("sat", "unsat")


@settings(max_examples=150, deadline=None)
@given(numbers(-5, -1, 2, 3, 8), VALUES)
def test_int_terms(recipe, values):
    pins = [
        term_building.eq(term_building.symbol(name, INT), term_building.integer(value))
        for name, value in zip(NAMES, values, strict=True)
    ]
    assert only_value(as_int_term(recipe), pins, term_building.integer(value_of(recipe, values)))


@settings(max_examples=150, deadline=None)
@given(numbers(-5, -1, 2, 3, 8, "d"), VALUES)
def test_intervals_hold_every_value(recipe, values):
    intervals = Intervals()
    for name in NAMES:
        intervals.declare(term_building.symbol(name, INT), -70, 70)
    low, high = intervals.of(as_int_term(recipe))
    assert low <= value_of(recipe, values) <= high


BINARY = [
    "bvadd",
    "bvsub",
    "bvmul",
    "bvand",
    "bvor",
    "bvxor",
    "bvshl",
    "bvlshr",
    "bvashr",
    "bvudiv",
    "bvurem",
    "bvsdiv",
    "bvsrem",
]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(BINARY), st.integers(0, 63), st.integers(0, 63), st.sampled_from(("cc", "cx", "xc", "xx")))
def test_folded_bit_vector_operations_agree_with_the_solver(op, one, other, shape):
    if op in ("bvudiv", "bvurem", "bvsdiv", "bvsrem"):
        other = other or 1
    x, y = term_building.symbol("bx", bit_vector(WIDTH)), term_building.symbol("by", bit_vector(WIDTH))
    pins = [term_building.eq(x, term_building.bits(one, WIDTH)), term_building.eq(y, term_building.bits(other, WIDTH))]
    left = term_building.bits(one, WIDTH) if shape[0] == "c" else x
    right = term_building.bits(other, WIDTH) if shape[1] == "c" else y
    plain = Term(op, (x, y), bit_vector(WIDTH))  # nothing folded: the solver's own meaning
    if op == "bvsub":
        plain = Term("bvsub", (x, y), bit_vector(WIDTH))
    SOLVER.push()
    SOLVER.add(*pins)
    assert SOLVER.check(term_building.distinct(operation(op, left, right), plain)).status == "unsat"
    SOLVER.pop()


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(("bvult", "bvule", "bvslt", "bvsle")), st.integers(0, 63), st.integers(0, 63), st.booleans(), st.booleans()
)
def test_comparisons_of_bit_vectors(op, one, other, left_is_known, right_is_known):
    x, y = term_building.symbol("bx", bit_vector(WIDTH)), term_building.symbol("by", bit_vector(WIDTH))
    left = term_building.bits(one, WIDTH) if left_is_known else x
    right = term_building.bits(other, WIDTH) if right_is_known else y
    a, b = (signed_value(one, WIDTH), signed_value(other, WIDTH)) if op[2] == "s" else (one, other)
    holds = a <= b if op.endswith("le") else a < b
    SOLVER.push()
    SOLVER.add(term_building.eq(x, term_building.bits(one, WIDTH)), term_building.eq(y, term_building.bits(other, WIDTH)))
    assert SOLVER.check(compare(op, left, right)).status == ("sat" if holds else "unsat")
    SOLVER.pop()


@given(st.integers(0, 2**24 - 1), st.integers(1, 23))
def test_what_is_cut_and_joined_again_is_the_same_term(value, at):
    x = term_building.symbol("bx", bit_vector(24))
    assert concat(extract(23, at, x), extract(at - 1, 0, x)) is x
    known = term_building.bits(value, 24)
    assert concat(extract(23, at, known), extract(at - 1, 0, known)) is known
    assert extract(23, 0, extend(x, 40, signed=True)) is x


def test_extension():
    assert extend(term_building.bits(0x80, 8), 16, signed=True) is term_building.bits(0xFF80, 16)
    assert extend(term_building.bits(0x80, 8), 16, signed=False) is term_building.bits(0x80, 16)


@given(st.integers(-3, 3), st.integers(0, 24), st.integers(-3, 3), st.integers(0, 24), st.sampled_from((8, 16, 32)), st.data())
def test_relation_of_offsets_is_what_offsets_do(factor, constant, other_factor, other_constant, width, data):
    i, j = data.draw(st.integers(-9, 9)), data.draw(st.integers(-9, 9))
    other_width = data.draw(st.sampled_from((8, 16, 32)))
    first = linear.combine(term_building.integer(constant), term_building.symbol("i", INT), 4 * factor)
    second = linear.combine(term_building.integer(other_constant), term_building.symbol("j", INT), 4 * other_factor)
    start, other = 8 * (constant + 4 * factor * i), 8 * (other_constant + 4 * other_factor * j)
    overlaps = start < other + other_width and other < start + width
    found = relation(first, width, second, other_width)
    if found == "never":
        assert not overlaps
    elif found == "same":
        assert not overlaps or (start == other and width == other_width)


def test_select_sees_through_stores_that_are_surely_elsewhere():
    from analysis.smt.logic.terms import array

    memory, i = term_building.symbol("m", array(INT, INT)), term_building.symbol("i", INT)
    later = linear.add(i, term_building.integer(1))
    written = term_building.store(term_building.store(memory, i, term_building.integer(7)), later, term_building.integer(8))
    assert term_building.select(written, i) is term_building.integer(7)
    assert term_building.select(written, term_building.symbol("j", INT)).op == "select"
    assert term_building.select(term_building.filled(memory.sort, term_building.integer(0)), i) is term_building.integer(0)


@pytest.mark.parametrize(
    ("formula", "folded"),
    [
        (linear.less(term_building.symbol("x", INT), term_building.symbol("x", INT)), term_building.FALSE),
        (linear.equal(linear.scale(2, term_building.symbol("x", INT)), term_building.integer(5)), term_building.FALSE),
        (term_building.and_(term_building.TRUE, term_building.not_(term_building.FALSE)), term_building.TRUE),
        (term_building.or_(term_building.symbol("x", INT) and term_building.TRUE, term_building.FALSE), term_building.TRUE),
    ],
)
def test_folds(formula, folded):
    assert formula is folded
