"""Which scalars can be one object, by their types alone (C11 6.5p7)."""

from __future__ import annotations

from analysis.model.c_types import Floating, Integer, Pointer, Type


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
