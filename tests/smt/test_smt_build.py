"""What the constructors build means what they are named after: compared with arithmetic on Python's integers."""

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.smt import build, linear
from analysis.smt.bitvectors import compare, concat, euclidean, extend, extract, multiply, operation, signed_value
from analysis.smt.encoding.content import relation
from analysis.smt.encoding.intervals import Intervals
from analysis.smt.terms import INT, Term, bit_vector
from analysis.smt.z3_backend import Z3Solver

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
            return build.symbol(recipe, INT)
        case int():
            return build.integer(recipe)
        case ("+", one, other):
            return linear.add(as_int_term(one), as_int_term(other))
        case ("-", one, other):
            return linear.subtract(as_int_term(one), as_int_term(other))
        case ("*", one, other):
            return multiply(as_int_term(one), as_int_term(other))
        case ("div" | "mod" as op, one, divisor):
            return euclidean(op, as_int_term(one), as_int_term(divisor))
        case ("ite", (test, one, other), then, otherwise):
            made = {"<=": linear.at_most, "<": linear.less, "=": build.eq}[test]
            return build.ite(made(as_int_term(one), as_int_term(other)), as_int_term(then), as_int_term(otherwise))
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
    answers = SOLVER.check(build.eq(term, expected)).status, SOLVER.check(build.distinct(term, expected)).status
    SOLVER.pop()
    return answers == ("sat", "unsat")


@settings(max_examples=150, deadline=None)
@given(numbers(-5, -1, 2, 3, 8), VALUES)
def test_int_terms(recipe, values):
    pins = [build.eq(build.symbol(name, INT), build.integer(value)) for name, value in zip(NAMES, values, strict=True)]
    assert only_value(as_int_term(recipe), pins, build.integer(value_of(recipe, values)))


@settings(max_examples=150, deadline=None)
@given(numbers(-5, -1, 2, 3, 8, "d"), VALUES)
def test_intervals_hold_every_value(recipe, values):
    intervals = Intervals()
    for name in NAMES:
        intervals.declare(build.symbol(name, INT), -70, 70)
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
    x, y = build.symbol("bx", bit_vector(WIDTH)), build.symbol("by", bit_vector(WIDTH))
    pins = [build.eq(x, build.bits(one, WIDTH)), build.eq(y, build.bits(other, WIDTH))]
    left = build.bits(one, WIDTH) if shape[0] == "c" else x
    right = build.bits(other, WIDTH) if shape[1] == "c" else y
    plain = Term(op, (x, y), bit_vector(WIDTH))  # nothing folded: the solver's own meaning
    if op == "bvsub":
        plain = Term("bvsub", (x, y), bit_vector(WIDTH))
    SOLVER.push()
    SOLVER.add(*pins)
    assert SOLVER.check(build.distinct(operation(op, left, right), plain)).status == "unsat"
    SOLVER.pop()


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(("bvult", "bvule", "bvslt", "bvsle")), st.integers(0, 63), st.integers(0, 63), st.booleans(), st.booleans()
)
def test_comparisons_of_bit_vectors(op, one, other, left_is_known, right_is_known):
    x, y = build.symbol("bx", bit_vector(WIDTH)), build.symbol("by", bit_vector(WIDTH))
    left = build.bits(one, WIDTH) if left_is_known else x
    right = build.bits(other, WIDTH) if right_is_known else y
    a, b = (signed_value(one, WIDTH), signed_value(other, WIDTH)) if op[2] == "s" else (one, other)
    holds = a <= b if op.endswith("le") else a < b
    SOLVER.push()
    SOLVER.add(build.eq(x, build.bits(one, WIDTH)), build.eq(y, build.bits(other, WIDTH)))
    assert SOLVER.check(compare(op, left, right)).status == ("sat" if holds else "unsat")
    SOLVER.pop()


@given(st.integers(0, 2**24 - 1), st.integers(1, 23))
def test_what_is_cut_and_joined_again_is_the_same_term(value, at):
    x = build.symbol("bx", bit_vector(24))
    assert concat(extract(23, at, x), extract(at - 1, 0, x)) is x
    known = build.bits(value, 24)
    assert concat(extract(23, at, known), extract(at - 1, 0, known)) is known
    assert extract(23, 0, extend(x, 40, signed=True)) is x


def test_extension():
    assert extend(build.bits(0x80, 8), 16, signed=True) is build.bits(0xFF80, 16)
    assert extend(build.bits(0x80, 8), 16, signed=False) is build.bits(0x80, 16)


@given(st.integers(-3, 3), st.integers(0, 24), st.integers(-3, 3), st.integers(0, 24), st.sampled_from((8, 16, 32)), st.data())
def test_relation_of_offsets_is_what_offsets_do(factor, constant, other_factor, other_constant, width, data):
    i, j = data.draw(st.integers(-9, 9)), data.draw(st.integers(-9, 9))
    other_width = data.draw(st.sampled_from((8, 16, 32)))
    first = linear.combine(build.integer(constant), build.symbol("i", INT), 4 * factor)
    second = linear.combine(build.integer(other_constant), build.symbol("j", INT), 4 * other_factor)
    start, other = 8 * (constant + 4 * factor * i), 8 * (other_constant + 4 * other_factor * j)
    overlaps = start < other + other_width and other < start + width
    found = relation(first, width, second, other_width)
    if found == "never":
        assert not overlaps
    elif found == "same":
        assert not overlaps or (start == other and width == other_width)


def test_select_sees_through_stores_that_are_surely_elsewhere():
    from analysis.smt.terms import array

    memory, i = build.symbol("m", array(INT, INT)), build.symbol("i", INT)
    later = linear.add(i, build.integer(1))
    written = build.store(build.store(memory, i, build.integer(7)), later, build.integer(8))
    assert build.select(written, i) is build.integer(7)
    assert build.select(written, build.symbol("j", INT)).op == "select"
    assert build.select(build.filled(memory.sort, build.integer(0)), i) is build.integer(0)


@pytest.mark.parametrize(
    ("formula", "folded"),
    [
        (linear.less(build.symbol("x", INT), build.symbol("x", INT)), build.FALSE),
        (linear.equal(linear.scale(2, build.symbol("x", INT)), build.integer(5)), build.FALSE),
        (build.and_(build.TRUE, build.not_(build.FALSE)), build.TRUE),
        (build.or_(build.symbol("x", INT) and build.TRUE, build.FALSE), build.TRUE),
    ],
)
def test_folds(formula, folded):
    assert formula is folded
