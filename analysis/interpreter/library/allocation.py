"""Dynamic memory (C11 7.22.3), and the functions of the same meaning that kernels and libraries have."""

from __future__ import annotations

from typing import Any

from analysis.interpreter.halting import ViolationError, not_modelled
from analysis.interpreter.library.blocks import size_of
from analysis.interpreter.library.strings import string_at
from analysis.interpreter.memory import KNOWN, UNDEFINED, Block, described
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import INT, Type

Types = tuple[Type, ...]
_ALIGNED = 4096  # what the address of every block is a multiple of
_EINVAL, _ENOMEM = 22, 12


def _allocate(machine: RunningMachine, name: str, size: int, fill: int) -> int:
    """A new block, or null if the inputs say that there is no memory, or if no object can be that large."""
    if machine.optional("allocation", INT, name, 0) == 0 or size >= 1 << (machine.code.pointer_bits - 1):
        return 0
    return machine.new_block("heap", size, fill)


def _malloc(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    return _allocate(machine, "malloc", size_of(machine, arguments[0]), UNDEFINED)


def _zeroed(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    return _allocate(machine, "malloc", size_of(machine, arguments[0]), KNOWN)


def _calloc(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    return _allocate(machine, "calloc", size_of(machine, arguments[0]) * size_of(machine, arguments[1]), KNOWN)


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _check_met(alignment: int) -> None:
    """Blocks lie at addresses of this alignment."""
    if alignment > _ALIGNED:
        not_modelled(f"an alignment of {alignment} bytes")


def _aligned(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    """With an alignment that is no power of two, some libraries fail (C17 7.22.3.1p2), and others use the next one."""
    alignment = size_of(machine, arguments[0])
    if not _is_power_of_two(alignment):
        not_modelled(f"an alignment of {alignment} bytes")
    _check_met(alignment)
    return _allocate(machine, "malloc", size_of(machine, arguments[1]), UNDEFINED)


def _posix_memalign(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    """An alignment that is no power of two, or no multiple of the size of a pointer, is refused (POSIX)."""
    size, alignment = machine.code.pointer_bits // 8, size_of(machine, arguments[1])
    if alignment % size or not _is_power_of_two(alignment):
        return _EINVAL
    _check_met(alignment)
    address = _allocate(machine, "posix_memalign", size_of(machine, arguments[2]), UNDEFINED)
    if address == 0:
        return _ENOMEM
    machine.memory.write(arguments[0], address.to_bytes(size, "little"), bytes((KNOWN,)) * size)
    return 0


def _alloca(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    machine.memory.make_room(size_of(machine, arguments[0]))
    block = Block("local", "memory from alloca", size_of(machine, arguments[0]), UNDEFINED)
    machine.blocks.append(block)
    return machine.memory.add(block)


def _realloc(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    address, size = arguments[0], size_of(machine, arguments[1])
    if address == 0:
        return _allocate(machine, "realloc", size, UNDEFINED)
    block = _heap_block(machine, address, "realloc")
    if size == 0:
        machine.assume("realloc() of size 0 frees the block and returns a null pointer, as in glibc")
        machine.memory.end(block)
        return 0
    moved = _allocate(machine, "realloc", size, UNDEFINED)
    if moved:
        kept = min(size, block.size)
        new = machine.memory.block(moved, 0, "write")
        new.data[:kept], new.mask[:kept] = block.data[:kept], block.mask[:kept]
        machine.memory.end(block)
    return moved


def _reallocarray(machine: RunningMachine, arguments: list[Any], types: Types) -> int:
    size = size_of(machine, arguments[1]) * size_of(machine, arguments[2])
    return 0 if size >> machine.code.pointer_bits else _realloc(machine, [arguments[0], size], types)


def _free(machine: RunningMachine, arguments: list[Any], _types: Types) -> None:
    if arguments[0] != 0:
        machine.memory.end(_heap_block(machine, arguments[0], "free"))


def _heap_block(machine: RunningMachine, address: int, function: str) -> Block:
    """The block that starts at the address and can be freed; a violation if there is none."""
    block = machine.memory.find(address)
    if block is None:
        raise ViolationError("invalid-free", f"{function} of address {address:#x}, where no object is")
    if block.kind == "heap" and not block.alive:
        raise ViolationError("double-free", f"{function} of {described(block)}, which is freed already")
    offset = address - block.base
    if block.kind != "heap" and not (block.kind == "given" and offset == 0):
        raise ViolationError("invalid-free", f"{function} of {described(block)}, which malloc did not allocate")
    if not block.alive:
        raise ViolationError("double-free", f"{function} of {described(block)}, which is freed already")
    if offset != 0:
        raise ViolationError("invalid-free", f"{function} of an address {offset} bytes into {described(block)}")
    return block


def _strdup(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    text = string_at(machine, arguments[0])
    address = _allocate(machine, "strdup", len(text) + 1, KNOWN)
    if address:
        machine.memory.write(address, text + b"\0", bytes((KNOWN,)) * (len(text) + 1))
    return address


def _strndup(machine: RunningMachine, arguments: list[Any], types: Types) -> int:
    text = string_at(machine, arguments[0], size_of(machine, arguments[1]))
    address = _allocate(machine, "strndup", len(text) + 1, KNOWN)
    if address:
        machine.memory.write(address, text + b"\0", bytes((KNOWN,)) * (len(text) + 1))
    return address


MODELS = {
    "malloc": _malloc,
    "kmalloc": _malloc,
    "vmalloc": _malloc,
    "valloc": _malloc,
    "kzalloc": _zeroed,
    "vzalloc": _zeroed,
    "calloc": _calloc,
    "aligned_alloc": _aligned,
    "memalign": _aligned,
    "posix_memalign": _posix_memalign,
    "alloca": _alloca,
    "realloc": _realloc,
    "reallocarray": _reallocarray,
    "free": _free,
    "cfree": _free,
    "kfree": _free,
    "vfree": _free,
    "kvfree": _free,
    "strdup": _strdup,
    "strndup": _strndup,
}
