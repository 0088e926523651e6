"""Operators of C as functions on registers: each takes the operands' functions and gives the operation's (C11 6.5).

Results are exact: what a signed type cannot hold is a violation (or wraps, with a note, where that is asked for), what an
unsigned one cannot hold wraps.
"""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable
from typing import Any, NoReturn

from analysis.interpreter.halting import ViolationError
from analysis.interpreter.scalars import bounds_of, round_to_float
from analysis.model.c_types import Integer

Registers = list[Any]
Evaluate = Callable[[Registers], Any]

COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": python.eq,
    "!=": python.ne,
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
}
_RING: dict[str, Callable[[Any, Any], Any]] = {"+": python.add, "-": python.sub, "*": python.mul}
_BITWISE: dict[str, Callable[[Any, Any], Any]] = {"&": python.and_, "|": python.or_, "^": python.xor}


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


def wrapped(value: int, text: str, type_: Integer, registers: Registers) -> int:
    """The result of a signed operation modulo 2 to the width, noted as an assumption."""
    registers[1].assume(f"signed overflow wraps: {text}")
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if value >> (type_.bits - 1) else value


def integer(
    operator: str, left: Evaluate, right: Evaluate, type_: Integer, constant: int | None, *, wraps: bool = False
) -> Evaluate:
    """An operator on two integers of the result's type (of a shift, the left one). `wraps`: signed overflow is no violation."""
    if operator in _BITWISE:
        bitwise = _BITWISE[operator]
        if constant is None:
            return lambda r: bitwise(left(r), right(r))
        return lambda r: bitwise(left(r), constant)
    if operator in ("/", "%"):
        return _division(operator, left, right, type_)
    if operator in ("<<", ">>"):
        return _shift(operator, left, right, type_, wraps)
    return _signed(operator, left, right, type_, constant, wraps) if type_.signed else _unsigned(operator, left, right, type_)


def _signed(operator: str, left: Evaluate, right: Evaluate, type_: Integer, constant: int | None, wraps: bool) -> Evaluate:
    low, high = bounds_of(type_)
    if constant is not None and operator in "+-" and not wraps:
        added = constant if operator == "+" else -constant

        def add_constant(r: Registers) -> int:
            value: int = left(r) + added
            if low <= value <= high:
                return value
            overflow(f"{value - added} {operator} {constant}", type_)

        return add_constant
    compute = _RING[operator]

    def ring(r: Registers) -> int:
        one, other = left(r), right(r)
        value: int = compute(one, other)
        if low <= value <= high:
            return value
        text = f"{one} {operator} {other}"
        return wrapped(value, text, type_, r) if wraps else overflow(text, type_)

    return ring


def _unsigned(operator: str, left: Evaluate, right: Evaluate, type_: Integer) -> Evaluate:
    compute, mask = _RING[operator], (1 << type_.bits) - 1
    return lambda r: compute(left(r), right(r)) & mask


def _division(operator: str, left: Evaluate, right: Evaluate, type_: Integer) -> Evaluate:
    low, high = bounds_of(type_)
    quotient_wanted = operator == "/"

    def divide(r: Registers) -> int:
        one, other = left(r), right(r)
        if other == 0:
            raise ViolationError("division-by-zero", f"{one} {operator} 0")
        quotient: int = abs(one) // abs(other)
        if (one < 0) != (other < 0):
            quotient = -quotient
        if not low <= quotient <= high:  # INT_MIN / -1; of % too the standard says so (C11 6.5.5p6)
            overflow(f"{one} {operator} {other}", type_)
        return quotient if quotient_wanted else one - quotient * other

    return divide


def _shift(operator: str, left: Evaluate, right: Evaluate, type_: Integer, wraps: bool) -> Evaluate:
    bits, mask, high = type_.bits, (1 << type_.bits) - 1, bounds_of(type_)[1]
    signed, to_left = type_.signed, operator == "<<"

    def shift(r: Registers) -> int:
        value, by = left(r), right(r)
        if not 0 <= by < bits:
            raise ViolationError("shift-range", f"{value} {operator} {by}, where {type_.name} has {bits} bits")
        if not to_left:
            return int(value >> by)  # of a negative value as gcc does it: arithmetically
        if not signed:
            return int(value << by & mask)
        if value < 0 or value << by > high:  # C11 6.5.7p4
            return wrapped(value << by, f"{value} << {by}", type_, r) if wraps else overflow(f"{value} << {by}", type_)
        return int(value << by)

    return shift


def negation(operand: Evaluate, type_: Integer, *, wraps: bool = False) -> Evaluate:
    """`-e` of an integer."""
    high, mask = bounds_of(type_)[1], (1 << type_.bits) - 1
    if not type_.signed:
        return lambda r: -operand(r) & mask

    def negate(r: Registers) -> int:
        value: int = -operand(r)
        if value > high:
            return wrapped(value, f"-({-value})", type_, r) if wraps else overflow(f"-({-value})", type_)
        return value

    return negate


def complement(operand: Evaluate, type_: Integer) -> Evaluate:
    """`~e`."""
    if type_.signed:
        return lambda r: ~operand(r)
    mask = (1 << type_.bits) - 1
    return lambda r: ~operand(r) & mask


def floating(operator: str, left: Evaluate, right: Evaluate, bits: int) -> Evaluate:
    """An operator on two floating values (IEEE 754, to nearest)."""
    compute = _RING.get(operator, _float_quotient)
    if bits == 32:
        return lambda r: round_to_float(compute(left(r), right(r)))
    return lambda r: compute(left(r), right(r))


def _float_quotient(one: float, other: float) -> float:
    if other != 0:
        return one / other
    if one == 0 or one != one:
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, other)
