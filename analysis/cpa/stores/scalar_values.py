"""Values that abstract states hold for scalar objects, and C's arithmetic on those that are known.

A value is

- an `int`: the value of an integer, or of a pointer that was made from an integer (null is 0);
- an `Address`: a pointer to a place in an object, or to a function;
- an IR expression over symbolic identifiers ([SYMCEGAR] section 3.2.5): a symbolic value;
- None: any value.

Arithmetic on known integers is that of gcc on two's complement machines (`c.results.machine`): signed overflow wraps (C11 6.5p5
leaves it undefined, so every result is an over-approximation), where machines differ or stop it gives None.
"""

from __future__ import annotations

import msgspec

from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer, Type
from analysis.model.ranges import wrapped


class Address(msgspec.Struct, frozen=True, cache_hash=True):
    """The byte `offset` of the object `root` (see `store_memory`); a function by its linkage name, with `&` before it."""

    root: str
    offset: int = 0


Known = int | Address
Value = int | Address | ir.Expr | None


def wrap(value: int, type_: Type) -> int | None:
    """The value converted to an integer or pointer type; None for other types."""
    return wrapped(value, type_) if isinstance(type_, Integer | Pointer) else None


def converted(value: Value, target: Type, pointer_bits: int) -> Known | None:
    """A number or address converted to a type; None if that is not known exactly."""
    if type(value) is int:
        return wrapped(value, target, pointer_bits) if isinstance(target, Integer | Pointer) else None
    if type(value) is Address and isinstance(target, Pointer | Integer) and bits_of(target, pointer_bits) == pointer_bits:
        return value
    return None


def bits_of(type_: Type, pointer_bits: int) -> int | None:
    """The width of a scalar type's representation; None for other types."""
    match type_:
        case Integer(bits) | Floating(bits):
            return bits
        case Pointer():
            return pointer_bits
        case _:
            return None
