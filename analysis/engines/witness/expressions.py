"""Expressions of the IR as functions on registers.

`r[0]` is the memory, `r[1]` the machine; the other registers hold scalar variables whose address is never taken, and the
addresses of the variables that are in memory. None is an indeterminate value, or an address that is not given out yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from analysis.engines.witness import arithmetic
from analysis.engines.witness.arithmetic import Evaluate, Registers
from analysis.engines.witness.halting import ViolationError, not_modelled
from analysis.engines.witness.literals import float_value, literal_bytes
from analysis.engines.witness.memory import ASKED, KNOWN, UNDEFINED
from analysis.engines.witness.program_code import ProgramCode
from analysis.engines.witness.scalars import Load, Store, converter, loader, storer
from analysis.model import ir
from analysis.model.c_types import Array, Floating, Function, Integer, Pointer, Record, Type, Void, spell
from analysis.model.spelling import display_name, spell_expr

FIRST = 2  # the first register of a variable


class Local(msgspec.Struct, frozen=True):
    """A variable of a function that is in memory: the register of its address, its type and its size (None: not known)."""

    name: str
    slot: int
    type: Type
    size: int | None


class Expressions:
    """Compiles expressions of one function. `slots` are the registers of its variables, `locals_` those that are in memory."""

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

    # values

    def value(self, expr: ir.Expr) -> Evaluate:
        """A scalar's value."""
        match expr:
            case ir.IntConst(value, type_):
                constant = value & self._mask if isinstance(type_, Pointer) else value
                return lambda _r: constant
            case ir.FloatConst(text, type_):
                number = float_value(text, type_)
                return lambda _r: number
            case ir.StringConst(text):
                data = literal_bytes(text)
                return lambda r: r[1].literal(data)
            case ir.Var() | ir.Deref() | ir.Field() | ir.Index():
                return self._read(expr)
            case ir.AddressOf(lvalue):
                return self.address(lvalue, access=False)
            case ir.Unary(operator, operand, type_):
                return self._unary(operator, operand, type_)
            case ir.Binary():
                return self._binary(expr)
            case ir.Cast(operand, type_):
                return self.converted(operand, type_)
            case ir.Unknown(type_):
                return lambda r: r[1].ask("expression", type_, "", 0)
            case ir.Undefined():
                return _undefined
            case ir.Zero(type_):
                return (lambda _r: 0.0) if isinstance(type_, Floating) else (lambda _r: 0)

    def converted(self, expr: ir.Expr, type_: Type) -> Evaluate:
        """The value of an expression, converted to the type."""
        if isinstance(expr.type, Void | Record | Array | Function) or isinstance(type_, Void):
            not_modelled(f"a value of type {spell(expr.type)} as {spell(type_)}")
        _exact(expr.type)
        _exact(type_)
        value = self.value(expr)
        convert = converter(expr.type, type_, self.code.pointer_bits)
        return value if convert is None else lambda r: convert(value(r))

    def _read(self, lvalue: ir.Expr) -> Evaluate:
        slot = self.register(lvalue)
        if slot is not None:
            return _register_read(slot, spell_expr(lvalue))
        if isinstance(lvalue, ir.Field) and (at := self.bit_field(lvalue)) is not None:
            return self._read_bits(lvalue, *at)
        _exact(lvalue.type)
        if not isinstance(lvalue.type, Integer | Floating | Pointer):
            not_modelled(f"{spell_expr(lvalue)} of type {spell(lvalue.type)} as a scalar")
        load = self.load(lvalue.type)
        if isinstance(lvalue, ir.Var) and lvalue.scope == "global":
            fixed = self.code.static.addresses[lvalue.name]
            return lambda r: load(r[0], fixed)
        address = self.address(lvalue)
        return lambda r: load(r[0], address(r))

    def bit_field(self, lvalue: ir.Field) -> tuple[int, int, int, int] | None:
        """Of a bit-field: the first byte that it has bits in, how many bytes, the bits before it in the first one, its width."""
        if not isinstance(lvalue.record.type, Record):
            return None
        start = self.code.layout.bit_field(lvalue.record.type, lvalue.name) if lvalue.name else None
        if start is None or not isinstance(lvalue.type, Integer):
            return None
        width = 1 if lvalue.type.name == "_Bool" else lvalue.type.bits
        return start // 8, -(-(start % 8 + width) // 8), start % 8, width

    def _read_bits(self, lvalue: ir.Field, first: int, count: int, before: int, width: int) -> Evaluate:
        record = self.address(lvalue.record)
        load = self.load(Integer(8 * count, False, ""))
        mask = (1 << width) - 1
        negative = 1 << (width - 1) if isinstance(lvalue.type, Integer) and lvalue.type.signed else 0

        def read(r: Registers) -> int:
            value = int(load(r[0], record(r) + first)) >> before & mask
            return value - (mask + 1) if value & negative else value

        return read

    def _unary(self, operator: str, operand: ir.Expr, type_: Type) -> Evaluate:
        if operator == "!":
            holds = self.condition(operand)
            return lambda r: 0 if holds(r) else 1
        value = self.value(operand)
        if isinstance(type_, Floating) and operator == "-":
            return lambda r: -value(r)
        if not isinstance(type_, Integer):
            not_modelled(f"{operator} of type {spell(type_)}")
        return arithmetic.negation(value, type_) if operator == "-" else arithmetic.complement(value, type_)

    def condition(self, expr: ir.Expr) -> Evaluate:
        """Whether a scalar is other than zero, as anything that Python takes for true or false."""
        if isinstance(expr, ir.Binary) and expr.operator in arithmetic.COMPARED:
            return self._comparison(expr)
        if isinstance(expr, ir.Unary) and expr.operator == "!":
            holds = self.condition(expr.operand)
            return lambda r: not holds(r)
        return self.value(expr)

    def _comparison(self, expr: ir.Binary) -> Evaluate:
        constant = expr.right.value if isinstance(expr.right, ir.IntConst) else None
        if constant is not None and isinstance(expr.right.type, Pointer):
            constant &= self._mask
        return arithmetic.comparison(expr.operator, self.value(expr.left), self.value(expr.right), constant)

    def _binary(self, expr: ir.Binary) -> Evaluate:
        if expr.operator in arithmetic.COMPARED:
            holds = self._comparison(expr)
            return lambda r: 1 if holds(r) else 0
        left, right = self.value(expr.left), self.value(expr.right)
        _exact(expr.type)
        if isinstance(expr.left.type, Pointer):
            return self._pointer_arithmetic(expr, left, right)
        if isinstance(expr.type, Floating):
            return arithmetic.floating(expr.operator, left, right, expr.type.bits)
        if not isinstance(expr.type, Integer):
            not_modelled(f"{expr.operator} of type {spell(expr.type)}")
        constant = expr.right.value if isinstance(expr.right, ir.IntConst) else None
        return arithmetic.integer(expr.operator, left, right, expr.type, constant)

    def _pointer_arithmetic(self, expr: ir.Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        target = expr.left.type.target if isinstance(expr.left.type, Pointer) else expr.type
        size, mask = self.size(target), self._mask
        if isinstance(expr.right.type, Pointer):
            if size == 0:
                not_modelled("a difference of pointers to objects of size 0")
            # truncated, as the compiler's division is; in one object there is no remainder
            return lambda r: _quotient(left(r) - right(r), size)
        if expr.operator == "+":
            return lambda r: (left(r) + right(r) * size) & mask
        return lambda r: (left(r) - right(r) * size) & mask

    # objects

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
        if length is not None and self._flexible(array):
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
            if not 0 <= found < limit:
                raise ViolationError("array-bounds", f"index {found} of {shown}, which has {length} elements")
            return start(r) + found * size  # type: ignore[no-any-return]

        return element

    def _flexible(self, array: ir.Expr) -> bool:
        """Whether the array is the last member of a record behind a pointer: programs let such arrays go on past their length."""
        if not isinstance(array, ir.Field) or not isinstance(array.record.type, Record):
            return False
        definition = self.code.records.get(array.record.type.key)
        if definition is None or not definition.members or definition.members[-1].name != array.name:
            return False
        root: ir.Expr = array
        while isinstance(root, ir.Field | ir.Index):
            root = root.record if isinstance(root, ir.Field) else root.array
        return isinstance(root, ir.Deref)

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
                anything = bytes(size or 0), bytes((ASKED,)) * (size or 0)
                return lambda r: (r[1].assume(f"{spell(expr.type)} with any contents"), anything)[1]
            case ir.Var() | ir.Deref() | ir.Field() | ir.Index():
                address, count = self.address(expr), self.size(expr.type)
                return lambda r: r[0].read(address(r), count)
            case ir.StringConst(text):
                data = literal_bytes(text)
                return lambda _r: (data, bytes((KNOWN,)) * len(data))
            case _:
                not_modelled(f"{spell_expr(expr)} of type {spell(expr.type)}")


def is_aggregate(type_: Type) -> bool:
    """Whether values of the type are bytes, not scalars."""
    return isinstance(type_, Record | Array)


def _register_read(slot: int, name: str) -> Evaluate:
    def read(r: Registers) -> Any:
        value = r[slot]
        if value is None:
            raise ViolationError("uninitialized-read", f"{display_name(name)} is read before it has a value")
        return value

    return read


def _undefined(_r: Registers) -> Any:
    raise ViolationError("uninitialized-read", "an indeterminate value is used")


def _quotient(difference: int, size: int) -> int:
    return difference // size if difference >= 0 else -(-difference // size)


def _exact(type_: Type) -> None:
    """Refuses the types whose arithmetic Python's floats do not have."""
    if isinstance(type_, Floating) and (type_.bits > 64 or "_Complex" in type_.name):
        not_modelled(f"arithmetic of {type_.name}")
