"""Finds the scalar parts of an object that overlap a range of its bytes. A run asks for these values when it reads
bytes that are inputs."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.memory import Block
from analysis.interpreter.program_code import ProgramCode
from analysis.model import c_types
from analysis.model.c_types import Array, Integer, Type

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
    span = 8 * offset, 8 * (offset + size)
    for number in range(offset // length, -(-(offset + size) // length)):
        for part in code.bits.parts(element, "first", 8 * number * length, span):
            if part is not None and not part.is_bit_field:
                yield part.bit // 8, part.type
