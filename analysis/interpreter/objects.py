"""Objects of the IR: where they are, and their bytes, as functions on registers (see `expressions`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import msgspec

from analysis.c.failing import ends_object
from analysis.interpreter.argument_lists import next_object
from analysis.interpreter.arithmetic import Evaluate, Registers
from analysis.interpreter.halting import ViolationError, not_modelled
from analysis.interpreter.literals import literal_bytes
from analysis.interpreter.memory import ASKED, KNOWN, UNDEFINED
from analysis.interpreter.program_code import ProgramCode
from analysis.interpreter.scalars import Load, Store, loader, storer
from analysis.model import ir
from analysis.model.assumptions import LAST_ARRAYS
from analysis.model.c_types import Array, Integer, Record, Type, spell
from analysis.model.spelling import spell_expr

FIRST = 2  # the first register of a variable


class Local(msgspec.Struct, frozen=True):
    """A variable of a function that is in memory: the register of its address, its type and its size (None: not known)."""

    name: str
    slot: int
    type: Type
    size: int | None


class Objects(ABC):
    """Compiles lvalues of one function. `slots` are the registers of its variables, `locals_` those that are in memory."""

    def __init__(self, code: ProgramCode, slots: Mapping[str, int], locals_: Mapping[str, Local]) -> None:
        self.code = code
        self._slots = slots
        self._locals = locals_
        self._loads: dict[Type, Load] = {}
        self._stores: dict[Type, Store] = {}
        self._mask = (1 << code.pointer_bits) - 1

    def load(self, type_: Type) -> Load:
        """Reads a scalar of the type from memory."""
        if type_ not in self._loads:
            self._loads[type_] = loader(type_, self.code.pointer_bits)
        return self._loads[type_]

    def store(self, type_: Type) -> Store:
        """Writes a scalar of the type to memory."""
        if type_ not in self._stores:
            self._stores[type_] = storer(type_, self.code.pointer_bits)
        return self._stores[type_]

    def size(self, type_: Type) -> int:
        """The size of a complete type, in bytes."""
        found = self.code.size(type_)
        if found is None:
            not_modelled(f"an object of type {spell(type_)}, whose size is not known")
        return found

    def register(self, lvalue: ir.Expr) -> int | None:
        """The register of a variable that is in one."""
        if isinstance(lvalue, ir.Var) and lvalue.scope not in ("global", "function") and lvalue.name not in self._locals:
            return self._slots[lvalue.name]
        return None

    @abstractmethod
    def value(self, expr: ir.Expr) -> Evaluate:
        """A scalar's value."""

    def bit_field(self, lvalue: ir.Field) -> tuple[int, int, int, int] | None:
        """Of a bit-field: the first byte that it has bits in, how many bytes, the bits before it in the first one, its width."""
        if not isinstance(lvalue.record.type, Record):
            return None
        start = self.code.layout.bit_field(lvalue.record.type, lvalue.name) if lvalue.name else None
        if start is None or not isinstance(lvalue.type, Integer):
            return None
        width = 1 if lvalue.type.name == "_Bool" else lvalue.type.bits
        return start // 8, -(-(start % 8 + width) // 8), start % 8, width

    def address(self, lvalue: ir.Expr, *, access: bool = True) -> Evaluate:
        """The address of an object or function. `access`: the object is read or written, so that an index must be
        below the length; else it may be the length."""
        match lvalue:
            case ir.Var(name, "global" | "function"):
                fixed = self.code.static.addresses.get(name)
                if fixed is None:
                    not_modelled(f"the address of {name}, which is declared nowhere")
                return lambda _r: fixed
            case ir.Var(name):
                return self._local_address(self._locals[name])
            case ir.Deref(pointer):
                return self.value(pointer)
            case ir.Field(record, name, type_):
                return self._field_address(record, name, type_)
            case ir.Index(array, index, type_):
                return self._element_address(array, index, type_, access)
            case ir.Unknown() | ir.Undefined() | ir.Zero():
                not_modelled(f"the address of {spell_expr(lvalue)}")
            case _:
                not_modelled(f"the address of a value, {spell_expr(lvalue)}")

    def _local_address(self, local: Local) -> Evaluate:
        slot = local.slot

        def address(r: Registers) -> int:
            found = r[slot]
            return r[1].new_local(r, local) if found is None else found  # type: ignore[no-any-return]

        return address

    def _field_address(self, record: ir.Expr, name: str, type_: Type) -> Evaluate:
        if not isinstance(record.type, Record):
            not_modelled(f"member {name} of {spell(record.type)}")
        offset = self.code.offset(record.type, name, type_)
        if offset is None:
            not_modelled(f"where member {name or '(unnamed)'} of {record.type.key} is")
        start = self.address(record)
        if offset == 0:
            return start
        if isinstance(record, ir.Var) and record.scope == "global":
            fixed = self.code.static.addresses[record.name] + offset
            return lambda _r: fixed
        return lambda r: start(r) + offset

    def _element_address(self, array: ir.Expr, index: ir.Expr, type_: Type, access: bool) -> Evaluate:
        start, size = self.address(array), self.size(type_)
        length = array.type.length if isinstance(array.type, Array) else None
        is_open = ends_object(array, self.code.records.get)
        if is_open and length == 0:
            length = None
        if isinstance(index, ir.IntConst) and (length is None or 0 <= index.value < length + (not access)):
            offset = index.value * size
            return start if offset == 0 else lambda r: start(r) + offset
        value = self.value(index)
        if length is None:
            return lambda r: start(r) + value(r) * size
        limit, shown = length + (not access), spell_expr(array)

        def element(r: Registers) -> int:
            found = value(r)
            if is_open and found >= limit:
                r[1].assume(LAST_ARRAYS.sentence)
            elif not 0 <= found < limit:
                raise ViolationError("array-bounds", f"index {found} of {shown}, which has {length} elements")
            return start(r) + found * size  # type: ignore[no-any-return]

        return element

    def contents(self, expr: ir.Expr) -> Evaluate:
        """The bytes and masks of a record or array value."""
        size = self.code.size(expr.type)
        match expr:
            case ir.Zero():
                whole = bytes(size or 0), bytes((KNOWN,)) * (size or 0)
                return lambda _r: whole
            case ir.Undefined():
                nothing = bytes(size or 0), bytes((UNDEFINED,)) * (size or 0)
                return lambda _r: nothing
            case ir.Unknown():
                return self._any_contents(expr, size or 0)
            case ir.Var() | ir.Deref() | ir.Field() | ir.Index():
                address, count = self.address(expr), self.size(expr.type)
                return lambda r: r[0].read(address(r), count)
            case ir.StringConst(text):
                data = literal_bytes(text)
                return lambda _r: (data, bytes((KNOWN,)) * len(data))
            case _:
                not_modelled(f"{spell_expr(expr)} of type {spell(expr.type)}")

    def _any_contents(self, expr: ir.Unknown, size: int) -> Evaluate:
        """What `va_arg` reads, if the list is one of this run; any contents otherwise."""
        anything, type_ = (bytes(size), bytes((ASKED,)) * size), expr.type
        read = None if expr.arguments is None else self.value(expr.arguments)

        def contents(r: Registers) -> tuple[bytes, bytes]:
            passed = None if read is None else next_object(r[1], read(r), type_)
            if passed is None:
                r[1].assume(f"{spell(type_)} with any contents")
            return passed or anything

        return contents


def is_aggregate(type_: Type) -> bool:
    """Whether values of the type are bytes, not scalars."""
    return isinstance(type_, Record | Array)
