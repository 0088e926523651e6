"""Scalar types as the encodings see them: widths, signs, ranges; constants of floating types.

Floating values are terms of sort Real. Finite constants are exact, and so is what follows from constants alone: they are computed
in the host's IEEE 754 arithmetic, rounded to the type. All other floating operations give an unknown value: NaN and infinity are
no reals, so not even `x == x` may be taken for true.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction

from analysis.frontend.declarations.literal_values import float_value
from analysis.model.c_types import Floating, Integer, Pointer, Type

_PRECISION = {32: 24, 64: 53}  # binary digits of the significand, by width

_FLOAT_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def width(type_: Type, pointer_bits: int) -> int:
    """The bits of the representation of a scalar type."""
    if isinstance(type_, Integer | Floating):
        return type_.bits
    return pointer_bits


def is_signed(type_: Type) -> bool:
    """Whether values of the type can be negative."""
    return isinstance(type_, Integer) and type_.signed


def is_bool(type_: Type) -> bool:
    """Whether the type is `_Bool`, whose values are 0 and 1 whatever its width."""
    return isinstance(type_, Integer) and type_.name == "_Bool"


def kind(type_: Type) -> str:
    """What values of a scalar type there are, as a word: types with the same word have the same range. It is part of the names of
    symbols, so that a name says the range of its symbol on every path."""
    match type_:
        case Pointer():
            return "pointer"
        case Floating(bits):
            return f"float{bits}"
        case Integer(bits, signed):
            return "bool" if is_bool(type_) else f"{'int' if signed else 'unsigned'}{bits}"
        case _:
            return "any"


def bounds(type_: Type, pointer_bits: int) -> tuple[int, int]:
    """The least and the greatest value of an integer or pointer type."""
    if is_bool(type_):
        return 0, 1
    bits = width(type_, pointer_bits)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(type_) else (0, (1 << bits) - 1)


def wrapped(value: int, type_: Type, pointer_bits: int) -> int:
    """An integer converted to a type: modulo 2 to the power of its width, or to 0 or 1 for `_Bool` (C11
    6.3.1.2, 6.3.1.3)."""
    if is_bool(type_):
        return int(value != 0)
    bits = width(type_, pointer_bits)
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed(type_) and value >> (bits - 1) else value


def holds_exactly(floating: Floating, integer: Type, pointer_bits: int) -> bool:
    """Whether every value of an integer type is one of the floating type."""
    return isinstance(integer, Integer | Pointer) and width(integer, pointer_bits) <= _PRECISION.get(floating.bits, 0)


def is_computed(type_: Type) -> bool:
    """Whether constants of the type are computed: `float` and `double`, not complex and extended types."""
    return isinstance(type_, Floating) and type_.name in ("float", "double")


def parse_float(text: str, type_: Floating) -> Fraction | None:
    """The value of a floating constant (C11 6.4.4.2), rounded to its type; None when it is not finite or not computed."""
    if not is_computed(type_):
        return None
    try:
        return rounded(float_value(text, type_), type_)
    except ValueError:
        return None


def rounded(value: float, type_: Floating) -> Fraction | None:
    """A double rounded to a type; None when that is not finite, or is the negative zero, which no real stands for."""
    if type_.bits == 32:
        try:
            (value,) = struct.unpack("<f", struct.pack("<f", value))
        except OverflowError:
            return None
    if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
        return None
    return Fraction(value)


def compute_float(operator: str, left: Fraction, right: Fraction, type_: Floating) -> Fraction | None:
    """An operation on two values of a type. For `float`, rounding the double result gives the correctly rounded one
    [DOUBLE-ROUNDING]."""
    try:
        return rounded(_FLOAT_OPERATIONS[operator](float(left), float(right)), type_) if is_computed(type_) else None
    except (ZeroDivisionError, OverflowError):
        return None
