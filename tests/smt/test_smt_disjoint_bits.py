"""Bits of a number that is put together from parts: the conjunction of operands without common bits is 0, and no other one is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.smt.encoding.numbers.bitwise import conjunction, masked
from analysis.smt.encoding.numbers.term_intervals import Interval
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import euclidean
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE, TRUE, constant_of, integer, ite, symbol
from analysis.smt.logic.terms import BOOL, INT, Term

X, Y, CHOICE = symbol("x", INT), symbol("y", INT), symbol("c", BOOL)
OPEN = symbol("open", INT)


class Part:
    """A term with its bounds."""

    def __init__(self, term: Term, low: int, high: int) -> None:
        self.term, self.low, self.high = term, low, high


@st.composite
def parts(draw: st.DrawFn) -> Part:
    """Some bits of a symbol or a constant at some place, below others perhaps, or a choice of two such; the remainder of it."""
    shift = draw(st.integers(0, 12))
    match draw(st.sampled_from(["slice", "slice", "constant", "negative", "sum", "choice", "remainder"])):
        case "slice":
            mask = draw(st.integers(1, 0xFFF))
            term = masked(draw(st.sampled_from([X, Y])), mask, (0, 0xFFFF))
            return Part(linear.scale(1 << shift, term), 0, mask << shift)
        case "negative":
            term = draw(st.sampled_from([X, Y]))
            return Part(linear.scale(-1 << shift, term), -(0xFFFF << shift), 0)
        case "constant":
            number = draw(st.integers(-40, 0x7FFF))
            return Part(integer(number), number, number)
        case "sum":
            one, other = draw(parts()), draw(parts())
            return Part(linear.add(one.term, other.term), one.low + other.low, one.high + other.high)
        case "choice":
            one, other = draw(parts()), draw(parts())
            return Part(ite(CHOICE, one.term, other.term), min(one.low, other.low), max(one.high, other.high))
        case _:
            divisor = draw(st.integers(1, 0x1FFF))
            return Part(euclidean("mod", draw(parts()).term, integer(divisor)), 0, divisor - 1)


@given(parts(), parts(), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.booleans())
def test_conjunctions_of_parts(one: Part, other: Part, x: int, y: int, choice: bool) -> None:
    bounds: dict[Term, Interval] = {one.term: (one.low, one.high), other.term: (other.low, other.high)}

    def interval(term: Term) -> Interval:
        return bounds.get(term, (-float("inf"), float("inf")))

    both = conjunction(one.term, other.term, interval, lambda _left, _right: OPEN)
    put = Substitution({X: integer(x), Y: integer(y), CHOICE: TRUE if choice else FALSE})
    left, right = constant_of(put(one.term)), constant_of(put(other.term))
    assert left is not None
    assert right is not None
    value = constant_of(put(both))
    assert value == left & right or OPEN in (both, *both.args)


@pytest.mark.parametrize(
    ("bits", "shifts"),
    [(8, (0, 8, 16, 24)), (8, (24, 16, 8, 0)), (4, (4, 0, 8)), (1, (7, 0, 3, 5)), (16, (48, 0, 32, 16))],
)
def test_a_number_put_together_from_its_parts_is_a_sum(bits: int, shifts: tuple[int, ...]) -> None:
    total, high = integer(0), 0
    for number, shift in enumerate(shifts):
        part = linear.scale(1 << shift, symbol(f"part{number}", INT))
        bounds: dict[Term, Interval] = {total: (0, high), part: (0, ((1 << bits) - 1) << shift)}
        both = conjunction(total, part, bounds.__getitem__, lambda _left, _right: OPEN)
        if number and shift < max(shifts[:number]) and shift > min(shifts[:number]):
            return  # between others: whether these bits are free is not known
        assert both == integer(0)
        total, high = linear.add(total, part), high | ((1 << bits) - 1) << shift


@given(st.sampled_from(["div", "mod"]), parts(), st.integers(-300, 300), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF))
def test_multiples_of_the_divisor_are_divided_by_themselves(op: str, part: Part, divisor: int, x: int, y: int) -> None:
    if not divisor:
        return
    put = Substitution({X: integer(x), Y: integer(y), CHOICE: TRUE})
    number = constant_of(put(part.term))
    assert number is not None
    assert constant_of(put(euclidean(op, part.term, integer(divisor)))) == constant_of(
        euclidean(op, integer(number), integer(divisor))
    )


def test_what_is_shifted_up_and_down_again_is_the_same() -> None:
    up = linear.scale(1 << 8, X)
    assert euclidean("div", up, integer(1 << 8)) is X
    assert euclidean("mod", linear.add(up, Y), integer(1 << 8)) == euclidean("mod", Y, integer(1 << 8))
    assert euclidean("div", linear.add(up, Y), integer(1 << 4)) == linear.add(
        linear.scale(1 << 4, X), euclidean("div", Y, integer(1 << 4))
    )


def test_a_remainder_of_division_by_what_may_be_0_may_have_any_bits() -> None:
    eights = linear.scale(8, X)
    bounds: dict[Term, Interval] = {Y: (0, 7)}

    def both(divisor: Term) -> Term:
        rest = euclidean("mod", eights, divisor)
        return conjunction(rest, Y, lambda term: bounds.get(term, (0, 0xFFFF)), lambda _left, _right: OPEN)

    assert both(integer(48)) == integer(0)
    assert both(linear.scale(8, symbol("z", INT))) != integer(0)
    assert both(integer(0)) != integer(0)
