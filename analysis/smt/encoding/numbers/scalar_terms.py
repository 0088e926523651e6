"""Scalar types as the encodings see them: widths, signs, ranges; constants of floating types.

Floating values are terms of sort Real. Finite constants are exact, and so is what follows from constants alone: they are computed
in the host's IEEE 754 arithmetic, rounded to the type. All other floating operations give an unknown value: NaN and infinity are
no reals, so not even `x == x` may be taken for true.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from analysis.c.operators import BINARY
from analysis.frontend.declarations.literal_values import float_value
from analysis.model.c_types import Floating, Integer, Pointer, Type
from analysis.model.ranges import is_bool, width

_PRECISION = {32: 24, 64: 53}  # binary digits of the significand, by width


def kind(type_: Type) -> str:
    """Names the range of a scalar type: types with the same name have the same range. Names of symbols contain it, so that
    a symbol has one range on all paths."""
    match type_:
        case Pointer():
            return "pointer"
        case Floating(bits):
            return f"float{bits}"
        case Integer(bits, signed):
            return "bool" if is_bool(type_) else f"{'int' if signed else 'unsigned'}{bits}"
        case _:
            return "any"


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
        return rounded(BINARY[operator, "floating"].exact(float(left), float(right)), type_) if is_computed(type_) else None
    except OverflowError:
        return None
