"""The `bv` encoding: C integers as bit-vectors as wide as their type, two's complement, bit-precise.

Signed overflow wraps, as it does on the machine, unless it is to be assumed away. A shift by the width or more, or by a negative
distance, has any value, and so has the least value divided by -1. `_Bool` is 0 or 1 in 8 bits.
"""

from __future__ import annotations

import math

from analysis.c.operators import overflow_is_undefined
from analysis.model import ranges
from analysis.model.assumptions import NO_OVERFLOW, QUOTIENT, SHIFT
from analysis.model.c_types import DataModel, Floating, Integer, Type
from analysis.model.comparisons import COMPARISONS
from analysis.model.ranges import signed_value
from analysis.smt.encoding.numbers import scalar_terms
from analysis.smt.encoding.numbers.floats import Floats, constant_value
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.integer_encoding import Arithmetic
from analysis.smt.encoding.numbers.integers import SignedOverflow
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import compare, complement, extend, extract, operation, product_overflows
from analysis.smt.logic.term_building import FALSE, TRUE, and_, bits, constant_of, distinct, eq, ite, not_, or_
from analysis.smt.logic.terms import REAL, Sort, Term, bit_vector
from analysis.smt.solving.solver import Value

_OPERATIONS = {"+": "bvadd", "-": "bvsub", "*": "bvmul", "&": "bvand", "|": "bvor", "^": "bvxor"}
_INT_BITS = 32


class Bits(Arithmetic):
    """The arithmetic of the `bv` encoding; see its interface for what the methods mean."""

    def __init__(self, model: DataModel, ledger: Ledger, signed_overflow: SignedOverflow = "wrap") -> None:
        self.model = model
        self.ledger = ledger
        self.signed_overflow: SignedOverflow = signed_overflow
        self.floats = Floats(ledger)

    def with_ledger(self, ledger: Ledger) -> Bits:
        """The same arithmetic with another ledger."""
        return Bits(self.model, ledger, self.signed_overflow)

    def _width(self, type_: Type) -> int:
        return ranges.width(type_, self.model.pointer_bits)

    def sort(self, type_: Type) -> Sort:
        """See Arithmetic."""
        return REAL if isinstance(type_, Floating) else bit_vector(self._width(type_))

    def constant(self, value: int, type_: Type) -> Term:
        """See Arithmetic."""
        return self.floats.from_integer(value, type_) if isinstance(type_, Floating) else bits(value, self._width(type_))

    def in_range(self, term: Term, type_: Type) -> Term:
        """See Arithmetic."""
        return compare("bvule", term, bits(1, self._width(type_))) if ranges.is_bool(type_) else TRUE

    def unary(self, operator: str, operand: Term, type_: Type) -> Term:
        """See Arithmetic."""
        if operator == "!":
            return self._from_truth(not_(self.truth(operand, type_)))
        if isinstance(type_, Floating):
            return self.floats.negate(operand, type_)
        if operator == "~":
            return complement(operand)
        self._assume_no_overflow("-", operand, None, type_)
        return linear.negate(operand)

    def binary(self, operator: str, left: Term, right: Term, type_: Type, right_type: Type | None = None) -> Term:
        """See Arithmetic."""
        if operator in COMPARISONS:
            return self._from_truth(self.compare(operator, left, right, type_))
        if isinstance(type_, Floating):
            return self.floats.binary(operator, left, right, type_)
        signed = ranges.is_signed(type_)
        match operator:
            case "/" | "%":
                self.ledger.constrain(not_(self.is_zero(right)))  # a run does not go on after it
                name = "div" if operator == "/" else "rem"
                quotient = operation(f"bv{'s' if signed else 'u'}{name}", left, right)
                return self.open_where(self.overflows(operator, left, right, type_), quotient, type_, QUOTIENT.sentence)
            case "<<" | ">>":
                width = left.sort.width
                distance = self._distance(right, right_type or type_, width)
                shifted = operation("bvshl" if operator == "<<" else "bvashr" if signed else "bvlshr", left, distance)
                return self.open_where(self.is_too_far(right, right_type or type_, type_), shifted, type_, SHIFT.sentence)
            case "+" | "-" | "*":
                self._assume_no_overflow(operator, left, right, type_)
        return operation(_OPERATIONS[operator], left, right)

    def _assume_no_overflow(self, operator: str, left: Term, right: Term | None, type_: Type) -> None:
        if self.signed_overflow == "assume":
            overflow = self.overflows(operator, left, right, type_)
            if overflow is not FALSE:
                self.ledger.assume(NO_OVERFLOW.sentence)
                self.ledger.constrain(not_(overflow))

    def open_where(self, condition: Term, result: Term, type_: Type, sentence: str) -> Term:
        """See Arithmetic."""
        if condition is FALSE:
            return result
        self.ledger.approximate(sentence)
        anything = self.ledger.fresh(f"any:{scalar_terms.kind(type_)}", result.sort)
        self.ledger.constrain(self.in_range(anything, type_))
        return ite(condition, anything, result)

    @staticmethod
    def _distance(right: Term, right_type: Type, width: int) -> Term:
        """A shift distance as wide as what is shifted. (Where that changes it, the result is any value.)"""
        if right.sort.width > width:
            return extract(width - 1, 0, right)
        return extend(right, width, ranges.is_signed(right_type))

    def is_zero(self, term: Term) -> Term:
        """See Arithmetic."""
        return eq(term, bits(0, term.sort.width))

    def is_too_far(self, distance: Term, distance_type: Type, type_: Type) -> Term:
        """See Arithmetic. Read as unsigned, a negative distance is a large one."""
        width, bits_ = self._width(type_), distance.sort.width
        if width >= 1 << bits_:  # no distance of a type as narrow as this is too far, but a negative one
            return compare("bvslt", distance, bits(0, bits_)) if ranges.is_signed(distance_type) else FALSE
        return not_(compare("bvult", distance, bits(width, bits_)))

    def compare(self, operator: str, left: Term, right: Term, type_: Type) -> Term:
        """A comparison as a term of sort Bool."""
        if isinstance(type_, Floating):
            return self.floats.compare(operator, left, right)
        less = "bvslt" if ranges.is_signed(type_) else "bvult"
        match operator:
            case "==":
                return eq(left, right)
            case "!=":
                return distinct(left, right)
            case "<":
                return compare(less, left, right)
            case ">":
                return compare(less, right, left)
            case "<=":
                return not_(compare(less, right, left))
            case _:
                return not_(compare(less, left, right))

    def overflows(self, operator: str, left: Term, right: Term | None, type_: Type) -> Term:
        """See Arithmetic."""
        if not overflow_is_undefined(operator, type_):
            return FALSE
        width = left.sort.width
        least = bits(1 << (width - 1), width)
        match operator:
            case "-" if right is None:
                return eq(left, least)
            case "/" | "%" if right is not None:
                return and_(eq(left, least), eq(right, bits(-1, width)))
            case "*" if right is not None:
                return product_overflows(left, right)
            case "+" | "-" if right is not None:
                wide = width + 1
                exact = operation(_OPERATIONS[operator], extend(left, wide, signed=True), extend(right, wide, signed=True))
                return distinct(exact, extend(extract(width - 1, 0, exact), wide, signed=True))
            case "<<" if right is not None:
                value = extend(left, 2 * width, signed=True)
                narrow = extract(width - 1, 0, right) if right.sort.width > width else right
                exact = operation("bvshl", value, extend(narrow, 2 * width, signed=False))
                lost = distinct(exact, extend(extract(width - 1, 0, exact), 2 * width, signed=True))
                return or_(compare("bvslt", left, bits(0, width)), lost)
        return FALSE

    def _from_truth(self, condition: Term) -> Term:
        return ite(condition, bits(1, _INT_BITS), bits(0, _INT_BITS))

    def convert(self, term: Term, source: Type, target: Type) -> Term:
        """See Arithmetic."""
        if isinstance(source, Floating):
            return self._from_float(term, source, target)
        if isinstance(target, Floating):
            value = constant_of(term)
            if value is None:
                return self.floats.open_value(target)
            signed = ranges.is_signed(source)
            return self.floats.from_integer(signed_value(value, term.sort.width) if signed else value, target)
        width = self._width(target)
        if ranges.is_bool(target):
            return ite(self.truth(term, source), bits(1, width), bits(0, width))
        if width <= term.sort.width:
            return extract(width - 1, 0, term)
        return extend(term, width, ranges.is_signed(source))

    def _from_float(self, term: Term, source: Floating, target: Type) -> Term:
        if isinstance(target, Floating):
            return term if source == target else self.floats.convert(term, target)
        if ranges.is_bool(target):
            return self.convert(self._from_truth(self.truth(term, source)), Integer(_INT_BITS, True, "int"), target)
        value = constant_value(term)
        low, high = ranges.bounds(target, self.model.pointer_bits)
        if value is not None and low <= math.trunc(value) <= high:
            return bits(math.trunc(value), self._width(target))
        self.ledger.approximate("a floating value that is converted to an integer is not followed")
        result = self.ledger.fresh(f"truncated:{scalar_terms.kind(target)}", bit_vector(self._width(target)))
        self.ledger.constrain(self.in_range(result, target))
        return result

    def truth(self, term: Term, type_: Type) -> Term:
        """See Arithmetic."""
        if isinstance(type_, Floating):
            return self.floats.compare("!=", term, self.floats.from_integer(0, type_))
        return distinct(term, bits(0, term.sort.width))

    def decode(self, value: Value, type_: Type) -> int | float:
        """See Arithmetic."""
        if isinstance(type_, Floating):
            return float(value)
        return signed_value(int(value), self._width(type_)) if ranges.is_signed(type_) else int(value)
