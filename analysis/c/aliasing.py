"""Which scalars can be one object, and which can hold addresses, by their types alone (C11 6.5p7)."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.model.c_types import Array, Floating, Integer, Pointer, Record, RecordDefinition, Type

_SMALLEST_POINTER = 32  # bits


def scalar_class(type_: Type) -> str:
    """The class of a scalar type: accesses of two classes are to different objects. "char": accesses that may be to any object,
    which those to members are not (save `of_characters`); "any" for what is no scalar. Signed and unsigned types of one width are
    one class."""
    match type_:
        case Pointer():
            return "pointer"
        case Floating(bits):
            return f"float{bits}"
        case Integer(bits):
            return "char" if bits == 8 else f"int{bits}"
        case _:
            return "any"


def of_characters(records: Mapping[str, RecordDefinition]) -> frozenset[str]:
    """The keys of the records that hold characters only: through them programs access the bytes of objects of any type."""
    all_of = {key: [member.type for member in one.members] for key, one in records.items()}
    found = frozenset[str]()
    while True:  # records in records
        new = frozenset(key for key, types in all_of.items() if all(_holds_characters(type_, found) for type_ in types))
        if new == found:
            return found
        found = new


def _holds_characters(type_: Type, records: frozenset[str]) -> bool:
    while isinstance(type_, Array):
        type_ = type_.element
    return type_.key in records if isinstance(type_, Record) else scalar_class(type_) == "char"


def has_room_for_address(type_: Type) -> bool:
    """False for types whose values are not followed as addresses: floating ones, and integers smaller than any pointer."""
    return not isinstance(type_, Floating) and not (isinstance(type_, Integer) and type_.bits < _SMALLEST_POINTER)
