"""The values of integer and pointer types: which there are, and what another number becomes as one of them (C11 6.2.6.2, 6.3.1).

Pointers are unsigned numbers of the data model's width; 64 bits where the data model is not known.
"""

from __future__ import annotations

from functools import lru_cache

from analysis.model.c_types import Floating, Integer, Type

POINTER_BITS = 64


def is_bool(type_: Type) -> bool:
    """Whether the type is `_Bool`, whose values are 0 and 1 whatever its width."""
    return isinstance(type_, Integer) and type_.name == "_Bool"


def is_signed(type_: Type) -> bool:
    """Whether values of the type can be negative integers."""
    return isinstance(type_, Integer) and type_.signed


def width(type_: Type, pointer_bits: int = POINTER_BITS) -> int:
    """The bits of the representation of a scalar type; of other types those of a pointer."""
    return type_.bits if isinstance(type_, Integer | Floating) else pointer_bits


@lru_cache(maxsize=10_000)
def bounds(type_: Type, pointer_bits: int = POINTER_BITS) -> tuple[int, int]:
    """The least and the greatest value of an integer or pointer type."""
    if is_bool(type_):
        return 0, 1
    bits = width(type_, pointer_bits)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(type_) else (0, (1 << bits) - 1)


def signed_value(pattern: int, bits: int) -> int:
    """The number that a pattern of so many bits stands for in two's complement (C11 6.2.6.2p2)."""
    return pattern - (1 << bits) if pattern >> (bits - 1) else pattern


def wrapped(value: int, type_: Type, pointer_bits: int = POINTER_BITS) -> int:
    """An integer converted to an integer or pointer type: modulo 2 to the power of its width, as gcc does it for signed types too
    (C11 6.3.1.3), or to 0 or 1 for `_Bool` (6.3.1.2)."""
    low, high = bounds(type_, pointer_bits)
    if low <= value <= high:
        return value
    if is_bool(type_):
        return 1
    pattern = value & (high - low)
    return pattern if pattern <= high else pattern - (high - low + 1)


def keeps(source: Type, target: Type, pointer_bits: int = POINTER_BITS) -> bool:
    """Whether every value of an integer or pointer type stays what it is when it is converted to the other."""
    (least, most), (low, high) = bounds(source, pointer_bits), bounds(target, pointer_bits)
    return low <= least and most <= high
