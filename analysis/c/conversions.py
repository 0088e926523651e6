"""Conversions between scalar types of C (C11 6.3.1, 6.3.2.3), on numbers.

Integers and pointers are Python ints in the range of their type, pointers unsigned; floating values are Python floats.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from analysis.model.c_types import Floating, Integer, Pointer, Type
from analysis.model.ranges import bounds, is_bool, keeps

Scalar = int | float
Convert = Callable[[Scalar], Scalar | None]
_FLOAT = struct.Struct("<f")


def round_to_float(value: float) -> float:
    """The nearest `float` (C11 6.3.1.5, F.3); what is too large is infinite."""
    try:
        return float(_FLOAT.unpack(_FLOAT.pack(value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def int_to_float(value: int, bits: int) -> float:
    """The nearest floating value to an integer, rounded once (C11 6.3.1.4p2)."""
    if bits == 32 and abs(value) >= 1 << 53:
        # to 64 bits and a sticky bit first: rounding to double and then to float could round the wrong way
        drop = abs(value).bit_length() - 40
        kept = abs(value) >> drop
        sticky = 1 if abs(value) & ((1 << drop) - 1) else 0
        return round_to_float(float((kept << 1 | sticky) << (drop - 1)) * (1 if value > 0 else -1))
    found = float(value)
    return round_to_float(found) if bits == 32 else found


def converter(source: Type, target: Type, pointer_bits: int) -> Convert | None:
    """Converts a value of type `source` to `target`; None if it stays as it is. The function gives None where C leaves the result
    undefined: of a floating value whose whole part is no value of the integer type (C11 6.3.1.4p1)."""
    if isinstance(target, Floating):
        if isinstance(source, Floating):
            return round_to_float if target.bits == 32 and source.bits > 32 else None
        bits = target.bits
        return lambda value: int_to_float(int(value), bits)
    if is_bool(target):
        return None if is_bool(source) else lambda value: 1 if value != 0 else 0  # C11 6.3.1.2
    if isinstance(source, Floating):
        return _truncation(target, pointer_bits) if isinstance(target, Integer) else None
    if isinstance(target, Integer | Pointer) and not keeps(source, target, pointer_bits):
        return _wrapping(target, pointer_bits)
    return None


def _wrapping(target: Type, pointer_bits: int) -> Convert:
    """Modulo 2 to the width (C11 6.3.1.3p2; p3 as gcc defines it, and 6.3.2.3p5-6)."""
    low, high = bounds(target, pointer_bits)
    mask, modulus = high - low, high - low + 1
    if low == 0:
        return lambda value: int(value) & mask

    def wrap(value: Scalar) -> Scalar:
        kept = int(value) & mask
        return kept - modulus if kept > high else kept

    return wrap


def _truncation(target: Integer, pointer_bits: int) -> Convert:
    low, high = bounds(target, pointer_bits)

    def truncate(value: Scalar) -> Scalar | None:
        if value != value or math.isinf(value):
            return None
        whole = int(value)
        return whole if low <= whole <= high else None

    return truncate
