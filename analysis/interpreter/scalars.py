"""Scalars: their representation in bytes (System V ABI, little endian), and what the interpreter refuses to convert.

Integers and pointers are Python ints in the range of their type, pointers unsigned; floating values are Python floats.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import cast

from analysis.c import conversions
from analysis.c.conversions import Scalar
from analysis.interpreter.halting import not_modelled
from analysis.interpreter.memory import KNOWN, OF_ADDRESS, Memory
from analysis.model.c_types import Floating, Integer, Type, spell

Load = Callable[[Memory, int], Scalar]
Store = Callable[[Memory, int, Scalar], None]
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


def loader(type_: Type, pointer_bits: int) -> Load:
    """Reads a scalar of the type; indeterminate bytes are a violation."""
    if isinstance(type_, Floating):
        return _float_loader(type_)
    if isinstance(type_, Integer):
        return _int_loader(max(1, type_.bits // 8), type_.signed)
    return _int_loader(pointer_bits // 8, False, OF_ADDRESS)


def _int_loader(size: int, signed: bool, expected: int = KNOWN) -> Load:
    usual, known = bytes((expected,)) * size, bytes((KNOWN,)) * size
    from_bytes = int.from_bytes

    def load(memory: Memory, address: int) -> int:
        block = memory.pages.get(address >> memory.shift)
        offset = -1 if block is None else address - block.base
        if block is None or offset < 0 or offset + size > block.size or not block.alive:
            block = memory.block(address, size, "read")
            offset = address - block.base
        if (mask := block.mask[offset : offset + size]) != usual and mask != known:
            memory.undefined(block, offset, size)
        return from_bytes(block.data[offset : offset + size], "little", signed=signed)

    return load


def _float_loader(type_: Floating) -> Load:
    size = type_.bits // 8
    unpack = (_FLOAT if size == 4 else _DOUBLE).unpack_from
    known = bytes((KNOWN,)) * size

    def load(memory: Memory, address: int) -> float:
        block = memory.block(address, size, "read")
        offset = address - block.base
        if block.mask[offset : offset + size] != known:
            memory.undefined(block, offset, size)
        return float(unpack(block.data, offset)[0])

    return load


def storer(type_: Type, pointer_bits: int) -> Store:
    """Writes a scalar that is in the range of the type."""
    if isinstance(type_, Floating):
        return _float_storer(type_)
    size = max(1, type_.bits // 8) if isinstance(type_, Integer) else pointer_bits // 8
    known = bytes((KNOWN,)) * size
    of_value = bytes((KNOWN if isinstance(type_, Integer) else OF_ADDRESS,)) * size
    limit = (1 << (8 * size)) - 1

    def store(memory: Memory, address: int, value: Scalar) -> None:
        block = memory.pages.get(address >> memory.shift)
        offset = -1 if block is None else address - block.base
        if block is None or offset < 0 or offset + size > block.size or not block.alive or block.fixed:
            block = memory.writable(address, size)
            offset = address - block.base
        block.data[offset : offset + size] = (int(value) & limit).to_bytes(size, "little")
        block.mask[offset : offset + size] = of_value if value else known

    return store


def _float_storer(type_: Floating) -> Store:
    pack = (_FLOAT if type_.bits == 32 else _DOUBLE).pack
    known = bytes((KNOWN,)) * (type_.bits // 8)

    def store(memory: Memory, address: int, value: Scalar) -> None:
        memory.write(address, pack(value), known)

    return store


def converter(source: Type, target: Type, pointer_bits: int) -> Callable[[Scalar], Scalar] | None:
    """Converts a value of type `source` to `target`; None if it stays as it is. What C leaves undefined is not followed."""
    convert = conversions.converter(source, target, pointer_bits)
    if convert is None or not isinstance(source, Floating) or isinstance(target, Floating):
        return cast("Callable[[Scalar], Scalar] | None", convert)  # always defined

    def checked(value: Scalar) -> Scalar:
        found = convert(value)
        if found is None:
            not_modelled(f"conversion of {value} to {spell(target)}, which is undefined (C11 6.3.1.4)")
        return found

    return checked
