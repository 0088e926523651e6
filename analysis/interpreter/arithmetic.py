"""Operators of C as functions on registers: each takes the operands' functions and gives the operation's.

What an operator computes and when it is undefined is in the table of `c.operators`; here are the shapes of code that compute it
fast. Results are exact: what a signed type cannot hold is a violation (or wraps, with a note, where that is asked for), what an
unsigned one cannot hold wraps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from analysis.c.conversions import round_to_float
from analysis.c.operators import BINARY, UNARY, Row, limits, quotient, sign_of
from analysis.interpreter.halting import ViolationError
from analysis.model.c_types import Integer
from analysis.model.comparisons import COMPARISONS
from analysis.model.ranges import bounds, wrapped

Registers = list[Any]
Evaluate = Callable[[Registers], Any]

COMPARED: dict[str, Callable[[Any, Any], bool]] = {operator: BINARY[operator, "signed"].exact for operator in COMPARISONS}


def overflow(text: str, type_: Integer) -> NoReturn:
    """The result of a signed operation is out of range."""
    raise ViolationError("signed-overflow", f"{text} is not in the range of {type_.name}")


def comparison(operator: str, left: Evaluate, right: Evaluate, constant: int | float | None) -> Evaluate:
    """A truth value, as a Python bool; `constant` is the right operand if it is one."""
    compare = COMPARED[operator]
    if constant is None:
        return lambda r: compare(left(r), right(r))
    match operator:
        case "==":
            return lambda r: left(r) == constant
        case "!=":
            return lambda r: left(r) != constant
        case "<":
            return lambda r: left(r) < constant
        case ">=":
            return lambda r: left(r) >= constant
    return lambda r: compare(left(r), constant)


def _past(value: int, text: str, type_: Integer, registers: Registers) -> int:
    """The result of a signed operation that overflows, wrapped, and noted as an assumption."""
    registers[1].assume(f"signed overflow wraps: {text}")
    return wrapped(value, type_)


def integer(
    operator: str, left: Evaluate, right: Evaluate, type_: Integer, constant: int | None, *, wraps: bool = False
) -> Evaluate:
    """An operator on two integers of the result's type (of a shift, the left one). `wraps`: signed overflow is no violation."""
    row = BINARY[operator, sign_of(type_)]
    match row.right:
        case "nonzero":
            return _division(row, left, right, type_)
        case "distance":
            return _shift(row, left, right, type_, wraps)
    if row.overflow == "undefined":
        return _signed(row, left, right, type_, constant, wraps)
    exact, mask = row.exact, bounds(type_)[1]
    if row.overflow == "wraps":
        return lambda r: exact(left(r), right(r)) & mask
    if constant is not None:
        return lambda r: exact(left(r), constant)
    return lambda r: exact(left(r), right(r))


def _signed(row: Row, left: Evaluate, right: Evaluate, type_: Integer, constant: int | None, wraps: bool) -> Evaluate:
    operator, compute, (low, high) = row.operator, row.exact, limits(row.operator, type_)
    if constant is not None and operator in "+-" and not wraps:
        added = constant if operator == "+" else -constant

        def add_constant(r: Registers) -> int:
            value: int = left(r) + added
            if low <= value <= high:
                return value
            overflow(f"{value - added} {operator} {constant}", type_)

        return add_constant

    def ring(r: Registers) -> int:
        one, other = left(r), right(r)
        value: int = compute(one, other)
        if low <= value <= high:
            return value
        text = f"{one} {operator} {other}"
        return _past(value, text, type_, r) if wraps else overflow(text, type_)

    return ring


def _division(row: Row, left: Evaluate, right: Evaluate, type_: Integer) -> Evaluate:
    operator, (low, high) = row.operator, limits(row.operator, type_)
    is_quotient = operator == "/"

    def divide(r: Registers) -> int:
        one, other = left(r), right(r)
        if other == 0:
            raise ViolationError("division-by-zero", f"{one} {operator} 0")
        found = quotient(one, other)
        if not low <= found <= high:
            overflow(f"{one} {operator} {other}", type_)
        return found if is_quotient else one - found * other

    return divide


def _shift(row: Row, left: Evaluate, right: Evaluate, type_: Integer, wraps: bool) -> Evaluate:
    operator, exact, bits, (low, high) = row.operator, row.exact, type_.bits, limits(row.operator, type_)
    cuts, mask = row.overflow == "wraps", bounds(type_)[1]

    def shift(r: Registers) -> int:
        value, by = left(r), right(r)
        if not 0 <= by < bits:
            raise ViolationError("shift-range", f"{value} {operator} {by}, where {type_.name} has {bits} bits")
        found: int = exact(value, by)
        if cuts:
            return found & mask
        if low <= found <= high:
            return found
        text = f"{value} {operator} {by}"
        return _past(found, text, type_, r) if wraps else overflow(text, type_)

    return shift


def negation(operand: Evaluate, type_: Integer, *, wraps: bool = False) -> Evaluate:
    """`-e` of an integer."""
    row = UNARY["-", sign_of(type_)]
    exact, (low, high) = row.exact, bounds(type_)
    if row.overflow == "wraps":
        return lambda r: exact(operand(r)) & high

    def negate(r: Registers) -> int:
        value: int = exact(operand(r))
        if low <= value <= high:
            return value
        return _past(value, f"-({-value})", type_, r) if wraps else overflow(f"-({-value})", type_)

    return negate


def complement(operand: Evaluate, type_: Integer) -> Evaluate:
    """`~e`."""
    row = UNARY["~", sign_of(type_)]
    exact, mask = row.exact, bounds(type_)[1]
    if row.overflow == "wraps":
        return lambda r: exact(operand(r)) & mask
    return lambda r: exact(operand(r))


def floating(operator: str, left: Evaluate, right: Evaluate, bits: int) -> Evaluate:
    """An operator on two floating values (IEEE 754, to nearest)."""
    compute = BINARY[operator, "floating"].exact
    if bits == 32:
        return lambda r: round_to_float(compute(left(r), right(r)))
    return lambda r: compute(left(r), right(r))
