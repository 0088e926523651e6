"""Expressions of the IR as functions on registers.

`r[0]` is the memory, `r[1]` the machine; the other registers hold scalar variables whose address is never taken, and the
addresses of the variables that are in memory. None is an indeterminate value, or an address that is not given out yet.
"""

from __future__ import annotations

from typing import Any

from analysis.frontend.declarations.literal_values import float_value
from analysis.interpreter import arithmetic
from analysis.interpreter.argument_lists import next_argument
from analysis.interpreter.arithmetic import Evaluate, Registers
from analysis.interpreter.halting import ViolationError, not_modelled
from analysis.interpreter.literals import literal_bytes
from analysis.interpreter.memory import Block, rest_of_text
from analysis.interpreter.objects import Objects
from analysis.interpreter.scalars import converter
from analysis.model import ir
from analysis.model.c_types import Array, Floating, Function, Integer, Pointer, Record, Type, Void, spell
from analysis.model.ranges import is_bool
from analysis.model.spelling import spell_expr

ADDRESSES = "objects lie in memory in the order in which they came to be"
LITERALS = "equal string literals are one object, and none is the end of another"


class Expressions(Objects):
    """Compiles expressions of one function."""

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
            case ir.Unknown(type_, arguments) if arguments is not None:
                read = self.value(arguments)
                return lambda r: next_argument(r[1], read(r), type_)
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
        if isinstance(expr.type, Pointer) and isinstance(type_, Integer) and not is_bool(type_):
            value = _as_number(value)
        return value if convert is None else lambda r: convert(value(r))

    def _read(self, lvalue: ir.Expr) -> Evaluate:
        slot = self.register(lvalue)
        if slot is not None:
            return _register_read(slot, lvalue)
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
        return (
            arithmetic.negation(value, type_, wraps=self.code.wraps) if operator == "-" else arithmetic.complement(value, type_)
        )

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
        left, right = self.value(expr.left), self.value(expr.right)
        if isinstance(expr.left.type, Pointer) and expr.operator in ("<", "<=", ">", ">="):
            left = _in_one_object(left, right)
        elif isinstance(expr.left.type, Pointer) and constant is None:
            left = _not_behind(left, right)
        return arithmetic.comparison(expr.operator, left, right, constant)

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
        return arithmetic.integer(expr.operator, left, right, expr.type, constant, wraps=self.code.wraps)

    def _pointer_arithmetic(self, expr: ir.Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        target = expr.left.type.target if isinstance(expr.left.type, Pointer) else expr.type
        size, mask = self.size(target), self._mask
        if isinstance(expr.right.type, Pointer):
            if size == 0:
                not_modelled("a difference of pointers to objects of size 0")
            half = (self._mask >> 1) + 1
            return lambda r: _elements((left(r) - right(r) + half & mask) - half, size)
        if expr.operator == "+":
            return lambda r: (left(r) + right(r) * size) & mask
        return lambda r: (left(r) - right(r) * size) & mask


def _in_one_object(left: Evaluate, right: Evaluate) -> Evaluate:
    """The left one of two pointers that are compared; notes if they do not point into one object (C11 6.5.8p5)."""

    def value(r: Registers) -> Any:
        one, other = left(r), right(r)
        if one >> r[0].shift != other >> r[0].shift and r[0].find(one) is not r[0].find(other):
            r[1].assume(ADDRESSES)
        return one

    return value


def _not_behind(left: Evaluate, right: Evaluate) -> Evaluate:
    """The left one of two pointers that are tested for equality; notes if one is behind an object and the other one in another
    object, which may come right after it (C11 6.5.9p6)."""

    def value(r: Registers) -> Any:
        one, other = left(r), right(r)
        if one >> r[0].shift != other >> r[0].shift:
            first, second = r[0].find(one), r[0].find(other)
            if first is not second and any(
                block is not None and address == block.base + block.size for block, address in ((first, one), (second, other))
            ):
                r[1].assume(ADDRESSES)
            if first is not None and second is not None and _share_text(first, one, second, other):
                r[1].assume(LITERALS)
        elif one == other and one:
            block = r[0].find(one)
            if block is not None and block.kind == "literal" and r[1].code.literals[bytes(block.data)] > 1:
                r[1].assume(LITERALS)
        return one

    return value


def _share_text(first: Block, one: int, second: Block, other: int) -> bool:
    """Whether two addresses in string literals may be one: the same text begins there (C11 6.4.5p7)."""
    return first.kind == "literal" == second.kind and rest_of_text(first, one) == rest_of_text(second, other)


def _register_read(slot: int, variable: ir.Expr) -> Evaluate:
    name, type_ = spell_expr(variable), variable.type

    def read(r: Registers) -> Any:
        value = r[slot]
        if value is None:
            value = r[slot] = r[1].indeterminate(name, type_)
        return value

    return read


def _undefined(_r: Registers) -> Any:
    raise ViolationError("uninitialized-read", "an indeterminate value is used")


def _as_number(pointer: Evaluate) -> Evaluate:
    """The pointer; notes that its number is used."""

    def value(r: Registers) -> Any:
        found = pointer(r)
        if found:
            r[0].by_address = True
        return found

    return value


def _elements(distance: int, size: int) -> int:
    """How many elements two pointers are apart (C11 6.5.6p9). Compilers differ where the distance is no whole
    number of elements."""
    if size == 0 or distance % size:
        not_modelled("a difference of pointers that are no whole number of elements apart")
    return distance // size


def _exact(type_: Type) -> None:
    """Refuses the types whose arithmetic Python's floats do not have."""
    if isinstance(type_, Floating) and (type_.bits > 64 or "_Complex" in type_.name):
        not_modelled(f"arithmetic of {type_.name}")
