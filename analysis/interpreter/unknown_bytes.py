"""Finds the scalar parts of an object that overlap a range of its bytes. A run asks for these values when it reads
bytes that are inputs."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.memory import Block
from analysis.interpreter.program_code import ProgramCode
from analysis.model import c_types
from analysis.model.c_types import Array, Floating, Integer, Pointer, Record, Type

_UNSIGNED = {
    8: c_types.UNSIGNED_CHAR,
    16: c_types.UNSIGNED_SHORT,
    32: c_types.UNSIGNED_INT,
    64: c_types.UNSIGNED_LONG_LONG,
}


def unsigned(bits: int) -> Integer:
    """The unsigned type of a width."""
    return _UNSIGNED[bits]


def parts_of(code: ProgramCode, block: Block, offset: int, size: int) -> Iterator[tuple[int, Type]]:
    """The scalars of the block's type that have bytes in the range, with their offsets; of a union, those of its first member.

    A block can hold several elements of its type. Bit-fields are left out: their bytes belong to several.
    """
    if block.type is None:
        return
    whole = code.size(block.type)
    element = block.type if whole else block.type.element if isinstance(block.type, Array) else None
    length = code.size(element) if element is not None else None
    if element is None or not length:
        return
    for number in range(offset // length, -(-(offset + size) // length)):
        yield from _parts(code, element, number * length, offset, offset + size)


def _parts(code: ProgramCode, type_: Type, start: int, low: int, high: int) -> Iterator[tuple[int, Type]]:
    size = code.size(type_) or 0
    if start >= high or start + size <= low:
        return
    match type_:
        case Integer() | Floating() | Pointer():
            yield start, type_
        case Array(element, length):
            step = code.size(element) or 0
            if step and length:
                for number in range(max(0, (low - start) // step), min(length, -(-(high - start) // step))):
                    yield from _parts(code, element, start + number * step, low, high)
        case Record(kind, key):
            definition = code.records.get(key)
            members = definition.members if definition is not None else ()
            for member in members[:1] if kind == "union" else members:
                at = None if member.bits is not None else code.offset(type_, member.name, member.type)
                if at is not None:
                    yield from _parts(code, member.type, start + at, low, high)
        case _:
            return
