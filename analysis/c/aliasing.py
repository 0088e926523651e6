"""Which scalars can be one object, and which can hold addresses, by their types alone (C11 6.5p7)."""

from __future__ import annotations

from analysis.model.c_types import Floating, Integer, Pointer, Type

_SMALLEST_POINTER = 32  # bits


def scalar_class(type_: Type) -> str:
    """The class of a scalar type: accesses of two classes are to different objects. "char": accesses that may be to any object,
    which those to members are not; "any" for what is no scalar. Signed and unsigned types of one width are one class."""
    match type_:
        case Pointer():
            return "pointer"
        case Floating(bits):
            return f"float{bits}"
        case Integer(bits):
            return "char" if bits == 8 else f"int{bits}"
        case _:
            return "any"


def has_room_for_address(type_: Type) -> bool:
    """False for types whose values are not followed as addresses: floating ones, and integers smaller than any pointer."""
    return not isinstance(type_, Floating) and not (isinstance(type_, Integer) and type_.bits < _SMALLEST_POINTER)
