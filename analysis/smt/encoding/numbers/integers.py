"""The `int` encoding: C integers as mathematical integers in the range of their type.

Unsigned results are brought back into their range explicitly; intervals of the terms tell where that is not needed. Signed
results are the mathematical ones: that they are in range is either constrained, and noted as an assumption, or, if asked so, they
wrap as unsigned ones do. Division truncates (C11 6.5.5p6), shifts to the right are arithmetic, conversions to signed types wrap,
as gcc defines them. A shift by the width or more, or by a negative distance, has any value of its type, and so has the least
value divided by -1: the program goes on after both, and machines differ in what they compute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from analysis.c.operators import limits, overflow_is_undefined
from analysis.c.results import results
from analysis.model import ranges
from analysis.model.assumptions import NO_OVERFLOW, QUOTIENT, SHIFT
from analysis.model.c_types import INT as C_INT
from analysis.model.c_types import DataModel, Floating, Integer, Type
from analysis.model.comparisons import COMPARISONS
from analysis.smt.encoding.numbers import scalar_terms
from analysis.smt.encoding.numbers.bitwise import conjunction
from analysis.smt.encoding.numbers.floats import Floats, constant_value
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.integer_encoding import Arithmetic
from analysis.smt.encoding.numbers.term_intervals import Interval, Intervals
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import euclidean, multiply
from analysis.smt.logic.term_building import FALSE, and_, constant_of, eq, integer, ite, not_, or_, symbol
from analysis.smt.logic.terms import BOOL, INT, REAL, Sort, Term
from analysis.smt.solving.solver import Value

SignedOverflow = Literal["assume", "wrap"]


class Integers(Arithmetic):
    """The arithmetic of the `int` encoding; see its interface for what the methods mean."""

    def __init__(
        self, model: DataModel, ledger: Ledger, signed_overflow: SignedOverflow = "assume", intervals: Intervals | None = None
    ) -> None:
        self.model = model
        self.ledger = ledger
        self.signed_overflow: SignedOverflow = signed_overflow
        self.intervals = intervals or Intervals()
        self.floats = Floats(ledger)

    def with_ledger(self, ledger: Ledger) -> Integers:
        """The same arithmetic with another ledger."""
        return Integers(self.model, ledger, self.signed_overflow, self.intervals)

    def sort(self, type_: Type) -> Sort:
        """See Arithmetic."""
        return REAL if isinstance(type_, Floating) else INT

    def constant(self, value: int, type_: Type) -> Term:
        """See Arithmetic."""
        return self.floats.from_integer(value, type_) if isinstance(type_, Floating) else integer(value)

    def in_range(self, term: Term, type_: Type) -> Term:
        """See Arithmetic."""
        if isinstance(type_, Floating):
            return Term("value", (), BOOL, 1)
        low, high = ranges.bounds(type_, self.model.pointer_bits)
        self.intervals.declare(term, low, high)
        return and_(linear.at_most(integer(low), term), linear.at_most(term, integer(high)))

    # -- operators ----------------------------------------------------------------------------------------------

    def unary(self, operator: str, operand: Term, type_: Type) -> Term:
        """See Arithmetic."""
        if operator == "!":
            return ite(self.truth(operand, type_), integer(0), integer(1))
        if isinstance(type_, Floating):
            return self.floats.negate(operand, type_)
        if operator == "~":
            return self._wrap(linear.combine(integer(-1), operand, -1), type_)
        return self._result("-", linear.negate(operand), type_)

    def binary(self, operator: str, left: Term, right: Term, type_: Type, right_type: Type | None = None) -> Term:
        """See Arithmetic."""
        if operator in COMPARISONS:
            return ite(self.compare(operator, left, right, type_), integer(1), integer(0))
        if isinstance(type_, Floating):
            return self.floats.binary(operator, left, right, type_)
        match operator:
            case "+":
                return self._result(operator, linear.add(left, right), type_)
            case "-":
                return self._result(operator, linear.subtract(left, right), type_)
            case "*":
                return self._result(operator, multiply(left, right), type_)
            case "/" | "%":
                return self._divided(operator, left, right, type_)
            case "<<" | ">>":
                return self._shift(operator, left, right, type_, right_type or type_)
            case "&" | "|" | "^":
                return self._bitwise(operator, left, right)
        raise ValueError(f"no binary operator {operator}")

    def compare(self, operator: str, left: Term, right: Term, type_: Type) -> Term:
        """A comparison as a term of sort Bool."""
        if isinstance(type_, Floating):
            return self.floats.compare(operator, left, right)
        match operator:
            case "==" | "!=":
                known = FALSE if self._apart(left, right) else eq(left, right)
                return known if operator == "==" else not_(known)
            case "<":
                return self._less(left, right)
            case ">":
                return self._less(right, left)
            case "<=":
                return not_(self._less(right, left))
            case _:
                return not_(self._less(left, right))

    def _apart(self, left: Term, right: Term) -> bool:
        low, high = self.intervals.of(linear.subtract(left, right))
        return low > 0 or high < 0

    def _less(self, left: Term, right: Term) -> Term:
        low, high = self.intervals.of(linear.subtract(left, right))
        if high < 0 or low >= 0:
            return Term("value", (), BOOL, int(high < 0))
        return linear.less(left, right)

    def overflows(self, operator: str, left: Term, right: Term | None, type_: Type) -> Term:
        """See Arithmetic."""
        if not overflow_is_undefined(operator, type_):
            return FALSE
        low, high = limits(operator, type_)
        match operator:
            case "-" if right is None:
                return eq(left, integer(low))
            case "/" | "%" if right is not None:  # the quotient is outside
                return and_(eq(left, integer(low)), eq(right, integer(-1)))
            case "+" | "-" | "*" if right is not None:
                total = multiply(left, right) if operator == "*" else linear.combine(left, right, 1 if operator == "+" else -1)
                return self._outside(total, low, high)
            case "<<" if right is not None:
                return self._outside(self._times_power(left, right, type_, lambda term: term), low, high)
        return FALSE

    def is_zero(self, term: Term) -> Term:
        """See Arithmetic."""
        return eq(term, integer(0))

    def is_too_far(self, distance: Term, distance_type: Type, type_: Type) -> Term:
        """See Arithmetic."""
        return self._outside(distance, 0, ranges.width(type_, self.model.pointer_bits) - 1)

    def _outside(self, term: Term, low: int, high: int) -> Term:
        return or_(self._less(term, integer(low)), self._less(integer(high), term))

    def _result(self, operator: str, exact: Term, type_: Type) -> Term:
        """The mathematical result of `+`, `-` or `*` as a value of the type."""
        if not overflow_is_undefined(operator, type_) or self.signed_overflow == "wrap":
            return self._wrap(exact, type_)
        low, high = ranges.bounds(type_, self.model.pointer_bits)
        outside = self._outside(exact, low, high)
        if outside is not FALSE:
            self.ledger.assume(NO_OVERFLOW.sentence)
            self.ledger.constrain(not_(outside))
        return exact

    def _wrap(self, term: Term, type_: Type) -> Term:
        """The value of the type that is equal to the term modulo 2 to the width."""
        low, high = ranges.bounds(type_, self.model.pointer_bits)
        least, most = self.intervals.of(term)
        if low <= least and most <= high:
            return term
        size = high - low + 1
        if math.isfinite(least) and math.isfinite(most) and low - least <= size and most - high <= size:
            above = ite(self._less(integer(high), term), linear.add(term, integer(-size)), term) if most > high else term
            return ite(self._less(term, integer(low)), linear.add(term, integer(size)), above) if least < low else above
        cut = euclidean("mod", linear.add(term, integer(-low)), integer(size))
        return linear.add(cut, integer(low))

    def _divided(self, operator: str, left: Term, right: Term, type_: Type) -> Term:
        self.ledger.constrain(not_(self.is_zero(right)))  # a run does not go on after it (C11 6.5.5p5; it traps)
        name = "div" if operator == "/" else "mod"
        positive = euclidean(name, left, right)
        if self.intervals.of(left)[0] >= 0:
            return positive
        negative = linear.negate(euclidean(name, linear.negate(left), right))
        quotient = ite(self._less(left, integer(0)), negative, positive)
        return self.open_where(self.overflows(operator, left, right, type_), quotient, type_, QUOTIENT.sentence)

    def open_where(self, condition: Term, result: Term, type_: Type, sentence: str) -> Term:
        """See Arithmetic."""
        if condition is FALSE:
            return result
        self.ledger.approximate(sentence)
        anything = self.ledger.fresh(f"any:{scalar_terms.kind(type_)}", INT)
        self.ledger.constrain(self.in_range(anything, type_))
        return ite(condition, anything, result)

    def _shift(self, operator: str, left: Term, right: Term, type_: Type, right_type: Type) -> Term:
        bits = ranges.width(type_, self.model.pointer_bits)
        if operator == "<<":
            shifted = self._times_power(left, right, type_, lambda term: self._wrap(term, type_))
        else:
            shifted = self._by_distance(right, bits, lambda k: euclidean("div", left, integer(1 << k)))
        return self.open_where(self.is_too_far(right, right_type, type_), shifted, type_, SHIFT.sentence)

    def _times_power(self, left: Term, right: Term, type_: Type, finish: Callable[[Term], Term]) -> Term:
        bits = ranges.width(type_, self.model.pointer_bits)
        return self._by_distance(right, bits, lambda k: finish(linear.scale(1 << k, left)))

    def _by_distance(self, distance: Term, bits: int, result: Callable[[int], Term]) -> Term:
        """`result(distance)`, by a case for each distance. For a distance out of range it is the result of
        some distance in range."""
        known = constant_of(distance)
        if known is not None:
            return result(min(max(known, 0), bits - 1))
        low, high = self.intervals.of(distance)
        first, last = int(max(low, 0)), int(min(high, bits - 1))
        chosen = result(max(last, 0))
        for k in range(last - 1, first - 1, -1):
            chosen = ite(eq(distance, integer(k)), result(k), chosen)
        return chosen

    def _bitwise(self, operator: str, left: Term, right: Term) -> Term:
        both = conjunction(left, right, self.intervals.of, self._open_conjunction)
        if operator == "&":
            return both
        total = linear.combine(linear.add(left, right), both, -1 if operator == "|" else -2)
        least, most = self.intervals.of(total)
        sound = self._results(operator, left, right)
        if sound[0] > least or sound[1] < most:  # intervals do not see that the parts of the sum belong together
            self.intervals.declare(total, max(sound[0], least), min(sound[1], most))
        return total

    def _results(self, operator: str, left: Term, right: Term) -> Interval:
        """The bounds of `&`, `|` or `^`."""
        (low, high), (least, most) = self.intervals.of(left), self.intervals.of(right)
        if not all(map(math.isfinite, (low, high, least, most))):
            return -math.inf, math.inf
        return results(operator, (int(low), int(high)), (int(least), int(most)))

    def _open_conjunction(self, left: Term, right: Term) -> Term:
        self.ledger.approximate("a bitwise operation on two unknown operands is only bounded")
        result = symbol(f"and:{left.digest.hex()}:{right.digest.hex()}", INT)
        least, most = self._results("&", left, right)
        positive = [term for term in (left, right) if self.intervals.of(term)[0] >= 0]
        least = 0 if positive else least
        self.intervals.declare(result, least, most)
        between = [linear.at_most(result, term) for term in positive]
        if math.isfinite(least):
            between.append(linear.at_most(integer(int(least)), result))
        if math.isfinite(most):
            between.append(linear.at_most(result, integer(int(most))))
        self.ledger.constrain(and_(*between))
        return result

    # -- conversions --------------------------------------------------------------------------------------------

    def convert(self, term: Term, source: Type, target: Type) -> Term:
        """See Arithmetic."""
        if isinstance(source, Floating):
            return self._from_float(term, source, target)
        if isinstance(target, Floating):
            value = constant_of(term)
            if value is not None:
                return self.floats.from_integer(value, target)
            if scalar_terms.is_computed(target) and scalar_terms.holds_exactly(target, source, self.model.pointer_bits):
                return Term("to_real", (term,), REAL)
            return self.floats.open_value(target)
        if ranges.is_bool(target):
            return ite(self.truth(term, source), integer(1), integer(0))
        return self._wrap(term, target)

    def _from_float(self, term: Term, source: Floating, target: Type) -> Term:
        if isinstance(target, Floating):
            return term if source == target else self.floats.convert(term, target)
        if ranges.is_bool(target):
            return ite(self.truth(term, source), integer(1), integer(0))
        value = constant_value(term)
        low, high = ranges.bounds(target, self.model.pointer_bits)
        if value is not None and low <= math.trunc(value) <= high:
            return integer(math.trunc(value))
        if term.op == "to_real" and isinstance(target, Integer):
            least, most = self.intervals.of(term.args[0])
            if low <= least and most <= high:
                return term.args[0]
        self.ledger.approximate("a floating value that is converted to an integer is not followed")
        result = self.ledger.fresh(f"truncated:{scalar_terms.kind(target)}", INT)
        self.ledger.constrain(self.in_range(result, target))
        return result

    def truth(self, term: Term, type_: Type) -> Term:
        """See Arithmetic."""
        if isinstance(type_, Floating):
            return self.floats.compare("!=", term, self.floats.from_integer(0, type_))
        return self.compare("!=", term, integer(0), C_INT)

    def decode(self, value: Value, type_: Type) -> int | float:
        """See Arithmetic."""
        return float(value) if isinstance(type_, Floating) else int(value)
