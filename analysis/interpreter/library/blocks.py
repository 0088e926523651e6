"""Copying and comparing bytes (C11 7.24.2 and others): indeterminate bytes are copied as such; reading them is a violation."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.memory import KNOWN
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import Type

Types = tuple[Type, ...]


def known_bytes(machine: RunningMachine, address: int, size: int) -> bytes:
    """The values of bytes; indeterminate ones are a violation."""
    if size == 0:
        return b""
    block = machine.memory.block(address, size, "read")
    offset = address - block.base
    if block.mask[offset : offset + size] != bytes((KNOWN,)) * size:
        machine.memory.undefined(block, offset, size)
    return bytes(block.data[offset : offset + size])


def put(machine: RunningMachine, address: int, data: bytes) -> None:
    """Stores bytes."""
    machine.memory.write(address, data, bytes((KNOWN,)) * len(data))


def size_of(machine: RunningMachine, value: int) -> int:
    """An argument as a `size_t`."""
    return value & ((1 << machine.code.pointer_bits) - 1)


def _memcpy(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    target, source, size = arguments[:3]
    machine.memory.write(target, *machine.memory.read(source, size_of(machine, size)))
    return int(target)


def _mempcpy(machine: RunningMachine, arguments: list[Any], types: Types) -> int:
    return _memcpy(machine, arguments, types) + size_of(machine, arguments[2])


def _bcopy(machine: RunningMachine, arguments: list[Any], types: Types) -> None:
    _memcpy(machine, [arguments[1], arguments[0], arguments[2]], types)


def _memset(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    target, value, size = arguments[:3]
    count = size_of(machine, size)
    if count:
        machine.memory.block(target, count, "write")  # before so many bytes are made
        put(machine, target, bytes((value & 255,)) * count)
    return int(target)


def _bzero(machine: RunningMachine, arguments: list[Any], types: Types) -> None:
    _memset(machine, [arguments[0], 0, arguments[1]], types)


def _memcmp(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    size = size_of(machine, arguments[2])
    one, other = known_bytes(machine, arguments[0], size), known_bytes(machine, arguments[1], size)
    return (one > other) - (one < other)


def _memchr(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    wanted, size = arguments[1] & 255, size_of(machine, arguments[2])
    for at in range(arguments[0], arguments[0] + size):
        if known_bytes(machine, at, 1)[0] == wanted:
            return at
    return 0


MODELS = {
    "memcpy": _memcpy,
    "memmove": _memcpy,
    "mempcpy": _mempcpy,
    "bcopy": _bcopy,
    "memset": _memset,
    "bzero": _bzero,
    "memcmp": _memcmp,
    "bcmp": _memcmp,
    "memchr": _memchr,
}
