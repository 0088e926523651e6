"""Reads of bytes that no member of a structure or union holds. A store to the structure, to the union, or to a member of it, may
change these bytes (C11 6.2.6.1p6, p7), and models leave them as they were. So nothing is proved of a program that may read them.

Such bytes can be read as characters: through a pointer that was made of one to the structure, from what the structure was copied
to, or by a member of a union that is an array of characters. Of pointers it is asked which could have been made of which others
(`pointer_kinds`); that of a member's own address is no pointer to the structure.

Members of a union that are larger than the one that was stored last are an assumption (`analysis.model.assumptions.UNION_RESTS`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeGuard

from analysis.c.functions import known
from analysis.c.layout import Layout
from analysis.cfa.graph import Program
from analysis.cpa.obstacles.lifetimes import forgets
from analysis.cpa.obstacles.pointer_kinds import VARIABLE, Kind, PointerKinds, pointer_kinds
from analysis.model import ir
from analysis.model.c_types import ILP32, LP64, Array, Floating, Integer, Member, Pointer, Record, Type, Void
from analysis.model.kept_with import kept_with
from analysis.model.spelling import display_name, spell_expr

_LONG_DOUBLE = 80  # bits of a value; its size is larger


@kept_with
def read_padding(program: Program) -> dict[tuple[str, int], str]:
    """Such reads, as text, by function and edge."""
    padding = Padding(program)
    reads = [read for name in program.functions for read in _reads(program, padding, name)]
    seen = [*_seen(program, padding)] if reads else []
    kinds = pointer_kinds(program) if seen else None
    roots = set() if kinds is None else {kinds.root(kind) for name, value in seen for kind in kinds.sources(name, value)}
    return {
        (read.function, read.edge): spell_expr(read.part)
        for read in reads
        if read.through is None or (kinds is not None and _leads_to(kinds, roots, read))
    }


def padding_reasons(program: Program, functions: Iterable[str]) -> Iterator[str]:
    """Why nothing is proved of runs through these functions."""
    wanted = set(functions)
    for (name, _), text in read_padding(program).items():
        if name in wanted:
            yield f"{display_name(name)}: {text} may read padding, whose value C does not define"


class Padding:
    """Which types have bytes, or bits, that no member holds, in any data model."""

    def __init__(self, program: Program) -> None:
        self._records = program.records
        self._layouts = [Layout(model, program.records.get) for model in (LP64, ILP32)]
        self._known: dict[Type, bool] = {}

    def within(self, type_: Type) -> bool:
        """Whether an object of the type has such bytes, or is not known not to."""
        if type_ not in self._known:
            self._known[type_] = self._within(type_)
        return self._known[type_]

    def _within(self, type_: Type) -> bool:
        match type_:
            case Array(element, _):
                return self.within(element)
            case Floating():
                return any((layout.size(type_) or 0) * 8 > _LONG_DOUBLE for layout in self._layouts)
            case Record(_, key):
                definition = self._records.get(key)
                if definition is None or any(self.within(member.type) for member in definition.members):
                    return True
                return any(not self._is_filled(layout, type_) for layout in self._layouts)
            case _:
                return False

    def _is_filled(self, layout: Layout, record: Record) -> bool:
        """Whether the members of a structure, or each member of a union, fill it."""
        whole = layout.size(record)
        definition = self._records[record.key]
        bits = [_bits(layout, member) for member in definition.members]
        if whole is None:
            return False
        return all(some == 8 * whole for some in bits) if definition.kind == "union" else sum(bits) == 8 * whole


def _bits(layout: Layout, member: Member) -> int:
    return 8 * (layout.size(member.type) or 0) if member.bits is None else member.bits


class _Read(NamedTuple):
    """A character that is read. `through`: the pointer, or the variable, that it is found by; None if it is in a union."""

    function: str
    edge: int
    part: ir.Expr
    through: ir.Expr | None


def _reads(program: Program, padding: Padding, name: str) -> Iterator[_Read]:
    """The reads of a function that matter if they are of a structure."""
    for edge in program.functions[name].edges:
        target = ir.target_of(edge.effect)
        values = [*ir.values_of(edge.effect), *(() if target is None else ir.place_values(target))]
        for part in (part for value in values for part in ir.walk(value)):
            if _is_character(part.type) and isinstance(part, ir.Deref | ir.Index | ir.Field):
                in_union, through = _place(padding, part)
                if in_union or through is not None:
                    yield _Read(name, edge.id, part, None if in_union else through)


def _place(padding: Padding, lvalue: ir.Expr) -> tuple[bool, ir.Expr | None]:
    """Whether a character is an element of a member of a union with padding; else what it is found by, if it is no member."""
    is_element = is_member = False
    while isinstance(lvalue, ir.Index | ir.Field):
        if isinstance(lvalue, ir.Index):
            is_element, lvalue = True, lvalue.array
            continue
        is_member, record = True, lvalue.record
        if is_element and isinstance(record.type, Record) and record.type.kind == "union" and padding.within(record.type):
            return True, None
        lvalue = record
    if is_member:
        return False, None
    return False, lvalue.pointer if isinstance(lvalue, ir.Deref) else lvalue


def _seen(program: Program, padding: Padding) -> Iterator[tuple[str, ir.Expr]]:
    """The pointers to structures with padding that become pointers to bytes, or are made of them, and what such structures are
    copied to; with the functions that they are in, or nothing for initialisers of variables with static storage."""
    for variable in program.globals.values():
        for value in (variable.initial, *(part.value for part in variable.parts)):
            yield from (("", part.operand) for part in ir.walk(value) if _converts(part, padding))
    for name, cfa in program.functions.items():
        for edge in cfa.edges:
            passed = {*_passed(program, edge.effect)}
            for part in cfa.parts[edge.id]:
                if part not in passed and _converts(part, padding):
                    yield name, part.operand
            if isinstance(edge.effect, ir.Call) and _copies(program, edge.effect):
                pointers = [ir.strip_casts(argument) for argument in edge.effect.arguments]
                if any(_has(padding, pointer) for pointer in pointers):
                    yield from ((name, pointer) for pointer in pointers)


def _passed(program: Program, effect: ir.Effect) -> Iterator[ir.Expr]:
    """The arguments of library functions that keep nothing of what they are passed."""
    if isinstance(effect, ir.Call):
        targets = program.targets(effect)
        if targets and all(callee not in program.functions and forgets(callee, effect) for callee in targets):
            yield from effect.arguments


def _copies(program: Program, call: ir.Call) -> bool:
    """Whether a call may copy bytes from one object to another."""
    for callee in program.targets(call):
        function = known(callee)
        if callee not in program.functions and function is not None and function.positions("in", "copied") and function.written:
            return True
    return False


def _leads_to(kinds: PointerKinds, roots: set[Kind], read: _Read) -> bool:
    """Whether a character may be a byte of what some pointers of these kinds lead to."""
    through = read.through
    if isinstance(through, ir.Var) and not isinstance(through.type, Pointer):  # an array
        own = ("" if through.scope == "global" else read.function, VARIABLE + through.name)
        return own in kinds.kinds and kinds.root(own) in roots
    return through is not None and any(kinds.root(kind) in roots for kind in kinds.sources(read.function, through))


def _converts(part: ir.Expr, padding: Padding) -> TypeGuard[ir.Cast]:
    """Whether a pointer to a structure with padding becomes one to bytes, or the other way round."""
    if not isinstance(part, ir.Cast):
        return False
    to_bytes = _is_of_bytes(part.type) and _has(padding, part.operand)
    return to_bytes or (_has(padding, part) and _is_of_bytes(part.operand.type))


def _has(padding: Padding, pointer: ir.Expr) -> bool:
    return isinstance(pointer.type, Pointer) and padding.within(pointer.type.target)


def _is_of_bytes(type_: Type) -> bool:
    """Whether this is a type of pointers to characters, to arrays of them, or to anything."""
    target = type_.target if isinstance(type_, Pointer) else type_
    while isinstance(target, Array):
        target = target.element
    return isinstance(type_, Pointer) and (isinstance(target, Void) or _is_character(target))


def _is_character(type_: Type) -> bool:
    return isinstance(type_, Integer) and type_.bits == 8
