"""Values for people: what the variables of a step hold, as the trace shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from analysis.c.calls import addressed, written_arguments
from analysis.cfa.graph import Edge
from analysis.interpreter.arithmetic import Evaluate
from analysis.interpreter.function_code import FunctionCode
from analysis.interpreter.halting import EndError, ViolationError, not_modelled
from analysis.interpreter.machine import Machine
from analysis.interpreter.memory import KNOWN, described
from analysis.model import ir
from analysis.model.c_types import Array, Floating, Integer, Pointer, Type
from analysis.model.spelling import spell_expr

_LONGEST_TEXT = 24


class Shown(msgspec.Struct, frozen=True):
    """An lvalue of a step: its text, its type, and how its value is found. `through`: the texts of the lvalues that say where
    it is. An array of characters has the type of the array, and the value is its address."""

    text: str
    type: Type
    value: Evaluate
    through: frozenset[str]


def read_by(code: FunctionCode, edge: Edge) -> tuple[Shown, ...]:
    """The scalar variables and parts of objects that an edge reads, in the order of evaluation."""
    found: dict[str, Shown] = {}
    parts = [part for expr in ir.expressions(edge.effect) for part in ir.walk(expr)]
    texts = [part for part in parts if _is_text(addressed(part))]
    firsts = {part.lvalue for part in texts if isinstance(part, ir.AddressOf)}  # the whole text says what they are
    for part in parts if ir.target_of(edge.effect) is None else parts[:-1]:  # the target itself is the last one
        if part in texts:
            _add_text(code, found, part)
        elif part not in firsts:
            _add(code, found, part)
    return tuple(found.values())


def written_by(code: FunctionCode, edge: Edge) -> tuple[Shown, ...]:
    """The scalar that an edge assigns, and what a function of the library writes to."""
    found: dict[str, Shown] = {}
    target = ir.target_of(edge.effect)
    if target is not None:
        _add(code, found, target)
    if not isinstance(edge.effect, ir.Call):
        return tuple(found.values())
    for at in written_arguments(ir.direct_callee(edge.effect) or "", edge.effect) or ():
        argument = ir.strip_casts(edge.effect.arguments[at])
        lvalue = addressed(argument)
        if _is_text(lvalue):
            _add_text(code, found, argument)
        elif lvalue is not None:
            _add(code, found, lvalue)
    return tuple(found.values())


def _is_text(lvalue: ir.Expr | None) -> bool:
    """Whether an object is an array of characters."""
    return lvalue is not None and isinstance(lvalue.type, Array) and _is_character(lvalue.type.element)


def _is_character(type_: Type) -> bool:
    return isinstance(type_, Integer) and type_.bits == 8 and type_.name.endswith("char")


def _add_text(code: FunctionCode, found: dict[str, Shown], address: ir.Expr) -> None:
    """Adds an array of characters, by the address of its first element."""
    array = addressed(address)
    if array is None or any(var.scope in ("temporary", "function") for var in ir.variables(array)):
        return
    text = spell_expr(array)
    try:
        through = frozenset(spell_expr(inner) for inner in ir.walk(array) if inner is not array and isinstance(inner, ir.LVALUES))
        found.setdefault(text, Shown(text, array.type, code.expressions.value(address), through))
    except EndError:  # its place is not known
        return


def _add(code: FunctionCode, found: dict[str, Shown], part: ir.Expr) -> None:
    if not isinstance(part, ir.LVALUES) or not isinstance(part.type, Integer | Floating | Pointer):
        return
    variables = tuple(ir.variables(part))
    if not variables or any(var.scope in ("temporary", "function") for var in variables):
        return
    text = spell_expr(part)
    if text in found:
        return
    try:
        through = frozenset(spell_expr(inner) for inner in ir.walk(part) if inner is not part and isinstance(inner, ir.LVALUES))
        found[text] = Shown(text, part.type, code.expressions.value(part), through)
    except EndError:  # its place is not known
        return


def look(machine: Machine, shown: Sequence[Shown], registers: list[Any], values: dict[str, str], *, again: bool = False) -> None:
    """Adds the values of what can be looked at now; `again`: also of what is there already."""
    with machine.peek():
        for one in shown:
            if one.text in values and not again:
                continue
            try:
                values[one.text] = spelled(machine, one.value(registers), one.type)
            except (EndError, ViolationError):
                values.pop(one.text, None)


def moved(read: Sequence[Shown], written: Sequence[Shown]) -> list[str]:
    """The texts that mean another object once the step is done: after `n = n->next`, `n->next` is no longer what was read."""
    targets = {shown.text for shown in written}
    return [shown.text for shown in read if targets & shown.through]


def spelled(machine: Machine, value: Any, type_: Type) -> str:
    """A scalar for people."""
    if value is None:
        return "indeterminate"
    if isinstance(type_, Pointer):
        return _pointer(machine, value)
    if isinstance(type_, Array):
        return _text(machine, value)
    if isinstance(value, float):
        return f"{value:.17g}"
    if _is_character(type_) and 32 <= value < 127:
        return f"{value} ({chr(value)!r})"
    return str(int(value))


def _pointer(machine: Machine, address: int) -> str:
    if address == 0:
        return "NULL"
    block = machine.memory.find(address)
    if block is None:
        return hex(address)
    offset = address - block.base
    where = f"{offset:+d}" if offset and block.base else ""  # nothing is kept of where variables were that are gone
    if block.kind == "function":
        return block.name + where
    if block.kind in ("global", "local"):
        return f"&{block.name}{where}" + ("" if block.alive else ", gone")
    if block.kind == "literal" and 0 <= offset < block.size:
        return _quoted(bytes(block.data[offset:]))
    return described(block) + where + ("" if block.alive else ", freed")


def _text(machine: Machine, address: int) -> str:
    """The text that an array of characters holds. EndError where it holds none, or where what it holds is not decided yet:
    what was read has a value once the program looks at it."""
    block = machine.memory.find(address)
    start = 0 if block is None else address - block.base
    end = -1 if block is None or not block.alive else block.data.find(0, start)
    if block is None or end < 0 or block.mask[start : end + 1].strip(bytes((KNOWN,))):
        not_modelled("there is no text")
    return _quoted(bytes(block.data[start:end]))


def _quoted(data: bytes) -> str:
    text = data.split(b"\0", 1)[0].decode("latin-1")
    shortened = text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "..."
    return '"' + shortened.encode("unicode_escape").decode().replace('"', '\\"') + '"'
