"""Floating values on terms of sort Real, the same for both encodings of integers (see `scalar_terms` for what is exact)."""

from __future__ import annotations

from fractions import Fraction

from analysis.model.c_types import Floating, Type
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.scalar_terms import compute_float, is_computed, rounded
from analysis.smt.logic.term_building import boolean, real
from analysis.smt.logic.terms import BOOL, REAL, Term

_SENTENCE = "floating arithmetic is not followed"


def constant_value(term: Term) -> Fraction | None:
    """The value of a constant, None for other terms."""
    return Fraction(*term.data) if term.op == "value" and isinstance(term.data, tuple) else None


def is_finite(term: Term) -> bool:
    """Whether the term surely stands for a number, exactly: a constant or a converted integer."""
    return term.op in ("value", "to_real")


class Floats:
    """Operations on floating values; what is not computed becomes a fresh symbol, and is noted. The same operation on the same
    operands has the same result, but for NaN: each comparison is asked anew."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def open_value(self, type_: Type) -> Term:
        """Any value of a floating type."""
        self.ledger.approximate(_SENTENCE)
        return self.ledger.fresh("float", REAL)

    def binary(self, operator: str, left: Term, right: Term, type_: Floating) -> Term:
        """`+`, `-`, `*` or `/`."""
        one, other = constant_value(left), constant_value(right)
        value = compute_float(operator, one, other, type_) if one is not None and other is not None else None
        return real(value) if value is not None else self.open_value(type_)

    def negate(self, operand: Term, type_: Floating) -> Term:
        """`-e`."""
        value = constant_value(operand)
        return real(-value) if value else self.open_value(type_)  # minus zero is no real

    def compare(self, operator: str, left: Term, right: Term) -> Term:
        """A comparison, as a term of sort Bool."""
        if not (is_finite(left) and is_finite(right)):
            self.ledger.approximate(_SENTENCE)
            return self.ledger.fresh("comparison", BOOL)
        one, other = constant_value(left), constant_value(right)
        if one is not None and other is not None:
            return boolean(_compared(operator, one, other))
        strict = Term("<", (left, right) if operator in ("<", ">=") else (right, left), BOOL)
        if operator in ("<", ">"):
            return strict
        if operator in ("<=", ">="):
            return Term("not", (strict,), BOOL)
        equal = Term("=", (left, right), BOOL)
        return equal if operator == "==" else Term("not", (equal,), BOOL)

    def convert(self, term: Term, target: Floating) -> Term:
        """Between floating types."""
        value = constant_value(term)
        if value is not None and is_computed(target):
            kept = rounded(float(value), target)
            if kept is not None:
                return real(kept)
        return self.open_value(target)

    def from_integer(self, value: int, target: Floating) -> Term:
        """A constant integer converted (C11 6.3.1.4p2); rounded to nearest."""
        kept = None
        if is_computed(target) and (target.bits == 64 or abs(value) < 1 << 53):
            kept = rounded(float(value), target)
        return real(kept) if kept is not None else self.open_value(target)


def _compared(operator: str, one: Fraction, other: Fraction) -> bool:
    match operator:
        case "==":
            return one == other
        case "!=":
            return one != other
        case "<":
            return one < other
        case "<=":
            return one <= other
        case ">":
            return one > other
        case _:
            return one >= other
