"""Texts that a function of the library writes into an array that is a part of an object (C11 6.5.6p8): a text that is longer than
the array goes over into what follows there, though that is within the object.

As gcc does it for `_FORTIFY_SOURCE=2`, functions that write texts are looked at; and an array at the end of a structure can be
the beginning of a longer one. Functions that copy bytes are used for several members at once: what they write is too much where
it ends in the middle of a number or pointer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.interpreter.halting import ViolationError
from analysis.interpreter.library.open_results import Model
from analysis.interpreter.program_code import ProgramCode
from analysis.interpreter.running_machine import RunningMachine
from analysis.model import ir
from analysis.model.c_types import Array, Floating, Integer, Pointer, Record, Type
from analysis.model.spelling import spell_expr

_WRITERS = frozenset(
    ("strcpy", "stpcpy", "strcat", "strncat", "sprintf", "snprintf", "vsprintf", "vsnprintf", "sscanf", "scanf", "fscanf")
)


_SIZED = {"memcpy": 2, "memmove": 2, "memset": 2, "strncpy": 2}
"""Functions that write so many bytes as an argument says; its number."""
_COUNTED = frozenset(("read", "recv"))
"""Functions that write so many bytes as they return."""


def staying_inside(code: ProgramCode, call: ir.Call, name: str, run: Model) -> Model:
    """The model of a call, which is a violation where it writes a longer text than there is room for."""
    if name in _SIZED or name in _COUNTED:
        return _ending_between_members(code, call, name, run)
    if name not in _WRITERS:
        return run
    rooms = [(at, *found) for at, argument in enumerate(call.arguments) if (found := _room(code, argument)) is not None]
    if not rooms:
        return run

    def checked(machine: RunningMachine, arguments: list[Any], types: tuple[Type, ...], wanted: bool) -> Any:
        before = {at: _length(machine, arguments[at], room) for at, room, _ in rooms}
        value = run(machine, arguments, types, wanted)
        for at, room, array in rooms:
            length = _length(machine, arguments[at], room)
            if length is not None and length >= room and before[at] != length:
                raise ViolationError("array-bounds", f"a text of {length} characters in {array}, which has {room} bytes")
        return value

    return checked


def _ending_between_members(code: ProgramCode, call: ir.Call, name: str, run: Model) -> Model:
    """The model of a call that copies bytes, which is a violation where these end inside of another member than the one that they
    are written to. `strncpy` fills one array."""
    array = _array(call.arguments[1 if name in _COUNTED else 0]) if len(call.arguments) > 1 else None
    if not isinstance(array, ir.Field) or not _has_more(code, array):
        return run
    room = code.size(array.type)
    parts = tuple(_members_behind(code, array))

    def checked(machine: RunningMachine, arguments: list[Any], types: tuple[Type, ...], wanted: bool) -> Any:
        value = run(machine, arguments, types, wanted)
        size = value if name in _COUNTED else arguments[_SIZED[name]]
        too_long = room is not None and name == "strncpy" and size > room
        if too_long or any(start < size < end for start, end in parts):
            raise ViolationError("array-bounds", f"write of {size} bytes to {spell_expr(array)}, which has {room} bytes")
        return value

    return checked


def _members_behind(code: ProgramCode, array: ir.Field) -> Iterator[tuple[int, int]]:
    """Where numbers and pointers that follow an array in its structure begin and end, in bytes from the start of the array."""
    record = array.record.type
    definition = code.records.get(record.key) if isinstance(record, Record) else None
    first = code.layout.offset(record, array.name)
    if definition is None or first is None:
        return
    for member in definition.members:
        start, size = code.layout.offset(record, member.name), code.size(member.type)
        if start is not None and start > first and size and isinstance(member.type, Integer | Floating | Pointer):
            yield start - first, start - first + size


def _array(argument: ir.Expr) -> ir.Expr | None:
    """The array that an argument is the start of."""
    inner = ir.strip_casts(argument)
    if not (isinstance(inner, ir.AddressOf) and isinstance(inner.lvalue, ir.Index)):
        return None
    array, index = inner.lvalue.array, inner.lvalue.index
    return array if isinstance(array.type, Array) and isinstance(index, ir.IntConst) and index.value == 0 else None


def _room(code: ProgramCode, argument: ir.Expr) -> tuple[int, str] | None:
    """The size of the array that an argument is the start of, and the array for people; None if that is no part of an object, or
    the last member."""
    array = _array(argument)
    if array is None:
        return None
    is_part = isinstance(array, ir.Index) or (isinstance(array, ir.Field) and _has_more(code, array))
    size = code.size(array.type) if is_part else None
    return None if not size else (size, spell_expr(array))


def _has_more(code: ProgramCode, field: ir.Field) -> bool:
    """Whether something follows the member in its structure."""
    record = field.record.type
    definition = code.records.get(record.key) if isinstance(record, Record) and record.kind == "struct" else None
    return definition is not None and bool(definition.members) and definition.members[-1].name != field.name


def _length(machine: RunningMachine, address: Any, room: int) -> int | None:
    """How long the text at an address is: up to a zero that has a value; None if that is not known. Nothing is asked for."""
    block = machine.memory.find(address) if isinstance(address, int) else None
    if block is None or not block.alive or block.kind in ("function", "resource"):
        return None
    start = address - block.base
    if not 0 <= start <= block.size - room:
        return None
    end = block.data.find(0, start)
    return None if end < 0 else end - start
