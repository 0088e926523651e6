"""Scalars: their representation in bytes (System V ABI, little endian), and conversions between them (C11 6.3.1).

Integers and pointers are Python ints in the range of their type, pointers unsigned; floating values are Python floats.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from analysis.interpreter.halting import not_modelled
from analysis.interpreter.memory import KNOWN, Memory
from analysis.model.c_types import Floating, Integer, Pointer, Type

Scalar = int | float
Load = Callable[[Memory, int], Scalar]
Store = Callable[[Memory, int, Scalar], None]
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


def bounds_of(type_: Integer) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if type_.name == "_Bool":
        return 0, 1
    return (-(1 << (type_.bits - 1)), (1 << (type_.bits - 1)) - 1) if type_.signed else (0, (1 << type_.bits) - 1)


def round_to_float(value: float) -> float:
    """The nearest `float`."""
    try:
        return float(_FLOAT.unpack(_FLOAT.pack(value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def int_to_float(value: int, bits: int) -> float:
    """The nearest floating value to an integer, rounded once."""
    if bits == 32 and abs(value) >= 1 << 53:
        # to 64 bits and a sticky bit first: rounding to double and then to float could round the wrong way
        drop = abs(value).bit_length() - 40
        kept = abs(value) >> drop
        sticky = 1 if abs(value) & ((1 << drop) - 1) else 0
        return round_to_float(float((kept << 1 | sticky) << (drop - 1)) * (1 if value > 0 else -1))
    found = float(value)
    return round_to_float(found) if bits == 32 else found


def loader(type_: Type, pointer_bits: int) -> Load:
    """Reads a scalar of the type; indeterminate bytes are a violation."""
    if isinstance(type_, Floating):
        return _float_loader(type_)
    if isinstance(type_, Integer):
        return _int_loader(max(1, type_.bits // 8), type_.signed)
    return _int_loader(pointer_bits // 8, False)


def _int_loader(size: int, signed: bool) -> Load:
    known = bytes((KNOWN,)) * size
    from_bytes = int.from_bytes

    def load(memory: Memory, address: int) -> int:
        block = memory.pages.get(address >> memory.shift)
        offset = -1 if block is None else address - block.base
        if block is None or offset < 0 or offset + size > block.size or not block.alive:
            block = memory.block(address, size, "read")
            offset = address - block.base
        if block.mask[offset : offset + size] != known:
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
    limit = (1 << (8 * size)) - 1

    def store(memory: Memory, address: int, value: Scalar) -> None:
        block = memory.pages.get(address >> memory.shift)
        offset = -1 if block is None else address - block.base
        if block is None or offset < 0 or offset + size > block.size or not block.alive or block.fixed:
            block = memory.writable(address, size)
            offset = address - block.base
        block.data[offset : offset + size] = (int(value) & limit).to_bytes(size, "little")
        block.mask[offset : offset + size] = known

    return store


def _float_storer(type_: Floating) -> Store:
    pack = (_FLOAT if type_.bits == 32 else _DOUBLE).pack
    known = bytes((KNOWN,)) * (type_.bits // 8)

    def store(memory: Memory, address: int, value: Scalar) -> None:
        memory.write(address, pack(value), known)

    return store


def converter(source: Type, target: Type, pointer_bits: int) -> Callable[[Scalar], Scalar] | None:
    """Converts a value of type `source` to `target`; None if it stays as it is."""
    if isinstance(target, Floating):
        if isinstance(source, Floating):
            return round_to_float if target.bits == 32 and source.bits > 32 else None
        bits = target.bits
        return lambda value: int_to_float(int(value), bits)
    if isinstance(target, Integer):
        if target.name == "_Bool":
            return lambda value: 1 if value != 0 else 0
        return _from_float(target) if isinstance(source, Floating) else _to_integer(source, target, pointer_bits)
    if isinstance(target, Pointer):
        mask = (1 << pointer_bits) - 1
        return None if isinstance(source, Pointer) else lambda value: int(value) & mask
    return None


def _to_integer(source: Type, target: Integer, pointer_bits: int) -> Callable[[Scalar], Scalar] | None:
    low, high = bounds_of(target)
    least, most = bounds_of(source) if isinstance(source, Integer) else (0, (1 << pointer_bits) - 1)
    if low <= least and most <= high:
        return None
    mask = (1 << target.bits) - 1
    if not target.signed:
        return lambda value: int(value) & mask
    half, modulus = 1 << (target.bits - 1), 1 << target.bits

    def wrap(value: Scalar) -> Scalar:
        kept = int(value) & mask
        return kept - modulus if kept >= half else kept

    return wrap


def _from_float(target: Integer) -> Callable[[Scalar], Scalar]:
    low, high = bounds_of(target)

    def truncate(value: Scalar) -> Scalar:
        if value != value or value in (float("inf"), float("-inf")) or not low <= (whole := int(value)) <= high:
            not_modelled(f"conversion of {value} to {target.name}, which is undefined (C11 6.3.1.4)")
        return whole

    return truncate
