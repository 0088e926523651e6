"""External functions that are not modelled: their results, and what they write through pointers, are inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analysis.c.functions import known
from analysis.interpreter.library.locks import expose
from analysis.interpreter.memory import ASKED, UNDEFINED
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import Array, Floating, Integer, Pointer, Record, Type, Void
from analysis.model.verifiers import is_input


def unknown(name: str, returned: Type) -> Callable[[RunningMachine, list[Any], tuple[Type, ...], bool], Any]:
    """What a call of an external function does that nothing is known of."""

    def run(machine: RunningMachine, arguments: list[Any], types: tuple[Type, ...], wanted: bool) -> Any:
        if not is_input(name):
            machine.assume(f"what {name}() does, which has no body")
        for position, (value, type_) in enumerate(zip(arguments, types, strict=False)):
            if isinstance(type_, Pointer):
                expose(machine, value)
                _write_behind(machine, name, position, value, type_.target)
        if not wanted or isinstance(returned, Void):
            return None
        if isinstance(returned, Record | Array):
            size = machine.code.size(returned) or 0
            return bytes(size), bytes((ASKED,)) * size
        return machine.ask("result", returned, name, 0, least, greatest)

    function = known(name)
    least, greatest = (None, None) if function is None else (function.least, function.greatest)
    return run


def _write_behind(machine: RunningMachine, name: str, position: int, address: int, target: Type) -> None:
    """What an external function leaves behind a pointer that it was given: what the inputs say. If they say nothing, the
    object is as it was, but what was indeterminate has a value now: the function may have written it."""
    block = machine.memory.find(address)
    if block is None or not block.alive or block.fixed:
        return
    if isinstance(target, Integer | Floating | Pointer):
        value = machine.optional("written", target, name, position)
        if value is not None:
            machine.store(target, address, value)
            return
    undefined_to_asked(machine, address)


def undefined_to_asked(machine: RunningMachine, address: int, size: int | None = None) -> None:
    """Makes the indeterminate bytes of an object, from an address on, inputs."""
    block = machine.memory.find(address)
    if block is None or not block.alive or block.fixed:
        return
    start = max(0, address - block.base)
    end = len(block.mask) if size is None else start + size
    block.mask[start:end] = block.mask[start:end].replace(bytes((UNDEFINED,)), bytes((ASKED,)))


def overwritten(machine: RunningMachine, address: int, size: int) -> None:
    """Makes bytes inputs, whatever they were; they must be there."""
    machine.memory.writable(address, size)
    machine.memory.write(address, bytes(size), bytes((ASKED,)) * size)
