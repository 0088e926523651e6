"""Streams and directories (C11 7.21.5): a handle is an object, so that its leak can be seen. What is read is input."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from analysis.c.functions import all_with
from analysis.c.opening import purpose_of_mode
from analysis.interpreter.halting import ViolationError, not_modelled
from analysis.interpreter.library.reading import begins, came, came_short, is_unreadable
from analysis.interpreter.library.strings import string_at
from analysis.interpreter.library.unknown import overwritten
from analysis.interpreter.memory import KNOWN, LINE_END, Line
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import INT, Type

OPENERS = all_with(lambda one: one.result in ("stream", "directory") and one.is_complete) | {"fmemopen"}
"""The functions that return a new stream or directory, or null, and do no more that a run could see. What is written to a stream
of `fmemopen` goes to an object of the program later."""
_MODES = {"fopen": 1, "fdopen": 1, "popen": 1, "fmemopen": 2, "setmntent": 1}
"""The functions that are passed what a stream is opened for, with the number of that argument."""
Types = tuple[Type, ...]
Function = Callable[[RunningMachine, list[Any], Types], Any]


def _opened(name: str) -> Function:
    mode_at = _MODES.get(name)

    def open_(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
        mode = b"" if mode_at is None else string_at(machine, arguments[mode_at])
        if not machine.ask("result", INT, name, 0, 0, 1):
            return 0
        stream = machine.new_block("resource", 0, KNOWN)
        block = machine.memory.find(stream)
        if block is not None and purpose_of_mode(mode) == "write":
            block.reading = "none"
        return stream

    return open_


def check_open(machine: RunningMachine, handles: Iterable[Any], *, nullable: bool) -> None:
    """Raises ViolationError if one of the streams and directories was closed before (C11 7.21.3p4), or is null where that is not
    allowed (C11 7.1.4p1)."""
    for handle in handles:
        if handle == 0 and not nullable:
            raise ViolationError("null-dereference", "a function of the library is passed a null pointer for a stream")
        block = machine.memory.find(handle) if isinstance(handle, int) else None
        if block is not None and block.kind == "resource" and not block.alive:
            raise ViolationError("use-after-close", f"{block.name} is used after it was closed")


def _close(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    block = machine.memory.find(arguments[0])
    if arguments[0] == 0:
        raise ViolationError("null-dereference", "a null pointer is closed")
    if block is None or block.kind != "resource":
        not_modelled("closing what is no stream")
    if not block.alive:
        raise ViolationError("use-after-close", f"{block.name} is closed again")
    block.alive = False
    return 0


def _fgets(machine: RunningMachine, arguments: list[Any], _types: Types) -> int:
    """Either null, or a line that fills the buffer. Where it turns out to end earlier, at a newline, the rest is as it was."""
    if is_unreadable(machine, arguments[2]):
        return 0
    if machine.ask("result", INT, "fgets", 0, 0, 1) == 0:
        came_short(machine, arguments[2])
        return 0
    came(machine, arguments[2])
    size = int(arguments[1])
    if size < 1:
        not_modelled(f"a line of {size} characters")
    block = machine.memory.writable(arguments[0], size)
    start = arguments[0] - block.base
    block.line = Line(start, bytes(block.data[start : start + size]), bytes(block.mask[start : start + size]))
    overwritten(machine, arguments[0], size - 1)
    machine.memory.write(arguments[0] + size - 1, b"\0", bytes((LINE_END,)))
    if size > 1:
        begins(machine, arguments[2], arguments[0])
    return int(arguments[0])


MODELS: dict[str, Function] = {
    **{name: _opened(name) for name in sorted(OPENERS)},
    "fclose": _close,
    "pclose": _close,
    "closedir": _close,
    "fgets": _fgets,
}
