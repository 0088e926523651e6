"""Building side-effect-free expressions: conversions, operators, members, elements, addresses.

Everything here is a pure function of types and operands; constants are folded, and the normal forms of
`model.ir` are made here (`p[i]`, `&*p`, decay of arrays and functions, null pointers).
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.c.results import defined, defined_unary, machine, machine_unary
from analysis.frontend.declarations.types import arithmetic_type, promote
from analysis.frontend.lowering.refused import RefusedError
from analysis.model import ir
from analysis.model.c_types import (
    INT,
    Array,
    DataModel,
    Floating,
    Function,
    Integer,
    Pointer,
    Record,
    RecordDefinition,
    Type,
    Void,
)
from analysis.model.comparisons import COMPARISONS


def type_of(expr: ir.Expr) -> Type:
    """The type of an expression."""
    return expr.type


def decay(expr: ir.Expr) -> ir.Expr:
    """The expression as a value: arrays and functions become addresses (C11 6.3.2.1)."""
    type_ = expr.type
    if isinstance(type_, Array):
        return ir.AddressOf(ir.Index(expr, ir.IntConst(0, INT), type_.element), Pointer(type_.element))
    if isinstance(type_, Function):
        return expr.pointer if isinstance(expr, ir.Deref) else ir.AddressOf(expr, Pointer(type_))
    return expr


def convert(expr: ir.Expr, type_: Type) -> ir.Expr:
    """The value converted to the type; constants are converted at once."""
    if expr.type == type_ or isinstance(type_, Record | Array | Function) or isinstance(expr.type, Record):
        return expr
    if isinstance(expr, ir.Unknown | ir.Undefined):
        return type(expr)(type_)
    if isinstance(expr, ir.IntConst) and isinstance(type_, Integer | Pointer):
        return ir.IntConst(expr.value, type_)
    return ir.Cast(expr, type_)


def is_null(expr: ir.Expr) -> bool:
    """Whether the value is a null pointer constant (C11 6.3.2.3p3), or a null pointer already."""
    return isinstance(expr, ir.IntConst) and expr.value == 0


def unary(operator: str, operand: ir.Expr) -> ir.Expr:
    """`-e`, `+e`, `~e` or `!e` of a value."""
    if operator == "!":
        return logical_not(operand)
    if isinstance(operand.type, Record | Void):
        return _not_modelled(operator)
    promoted = convert(operand, promote(operand.type))
    type_ = promoted.type
    if operator == "+":
        return promoted
    if isinstance(promoted, ir.IntConst) and isinstance(type_, Integer):
        value = defined_unary(operator, type_)(promoted.value)
        if value is not None:
            return ir.IntConst(value, type_)
    return ir.Unary("-" if operator == "-" else "~", promoted, type_)


def logical_not(operand: ir.Expr) -> ir.Expr:
    """`!e`: 0 or 1."""
    if isinstance(operand, ir.IntConst):
        return ir.IntConst(int(operand.value == 0), INT)
    return ir.Unary("!", operand, INT)


def binary(operator: str, left: ir.Expr, right: ir.Expr, model: DataModel, size: Callable[[Type], int | None]) -> ir.Expr:
    """An arithmetic, bitwise, shift or comparison operator on two values, with the conversions it implies.

    `size` is needed for the difference of pointers only when it is folded, which it is not: pointers subtract in elements.
    """
    one, other = left.type, right.type
    if isinstance(one, Pointer) or isinstance(other, Pointer):
        return _pointer_operator(operator, left, right, model)
    if isinstance(one, Record | Void) or isinstance(other, Record | Void):
        return _not_modelled(operator)
    if operator in ("<<", ">>"):
        shifted = convert(left, promote(one))
        return _fold(operator, shifted, convert(right, promote(other)), shifted.type)
    if operator in ("==", "!=") and isinstance(left, ir.IntConst) and not isinstance(right, ir.IntConst):
        left, right, one, other = right, left, other, one
    common = arithmetic_type(one, other)
    return _fold(operator, convert(left, common), convert(right, common), INT if operator in COMPARISONS else common)


def _not_modelled(operator: str) -> ir.Expr:
    """An operator on values whose type is not modelled, such as a vector of GNU C. RefusedError where it could violate a rule in
    one of their elements."""
    if operator in COMPARISONS or operator in ("&", "|", "^"):
        return ir.Unknown(INT)
    raise RefusedError(f"`{operator}` of values whose type is not modelled")


def _pointer_operator(operator: str, left: ir.Expr, right: ir.Expr, model: DataModel) -> ir.Expr:
    one, other = left.type, right.type
    if operator in COMPARISONS:
        if operator in ("==", "!=") and isinstance(left, ir.IntConst):  # constants on the right, for those who look for them
            left, right, one, other = right, left, other, one
        if isinstance(one, Pointer) and (not isinstance(other, Pointer) or is_null(right)):
            right = convert(right, one)
        elif not isinstance(one, Pointer) or is_null(left):
            left = convert(left, other)
        return ir.Binary(operator, left, right, INT)  # type: ignore[arg-type]
    if operator == "-" and isinstance(one, Pointer) and isinstance(other, Pointer):
        return ir.Binary("-", left, right, model.intptr)
    if operator == "+" and not isinstance(one, Pointer):
        left, right = right, left
    if operator not in ("+", "-") or not isinstance(right.type, Integer) or not isinstance(left.type, Pointer):
        return ir.Unknown(left.type if isinstance(left.type, Pointer) else INT)
    if is_null(right):
        return left
    return ir.Binary("+" if operator == "+" else "-", left, convert(right, model.intptr), left.type)


def _fold(operator: str, left: ir.Expr, right: ir.Expr, type_: Type) -> ir.Expr:
    """The operation, computed when both operands are integer constants and the result is defined."""
    if isinstance(left, ir.IntConst) and isinstance(right, ir.IntConst) and isinstance(left.type, Integer):
        value = defined(operator, left.type)(left.value, right.value)
        if value is not None:
            return ir.IntConst(value, type_)
    return ir.Binary(operator, left, right, type_)  # type: ignore[arg-type]


def constant(expr: ir.Expr) -> ir.Expr:
    """An expression where C asks for a constant one (C11 6.6): computed at translation time, signed
    overflow as gcc takes it, so that `1 << 31` is the least int. What is not constant stays."""
    match expr:
        case ir.Cast(operand, type_) if isinstance(inner := constant(operand), ir.IntConst):
            return convert(inner, type_)
        case ir.Unary(operator, operand, type_) if isinstance(inner := constant(operand), ir.IntConst):
            value = machine_unary(operator, type_)(inner.value)
            return expr if value is None else ir.IntConst(value, type_)
        case ir.Binary(operator, left, right, type_):
            one, other = constant(left), constant(right)
            if isinstance(one, ir.IntConst) and isinstance(other, ir.IntConst) and isinstance(one.type, Integer):
                value = machine(operator, one.type)(one.value, other.value)
                return expr if value is None else ir.IntConst(value, type_)
    return expr


def dereference(pointer: ir.Expr) -> ir.Expr:
    """`*p`, where `p` is a value: the object, or a function's designator."""
    if isinstance(pointer, ir.AddressOf):
        return pointer.lvalue
    target = pointer.type.target if isinstance(pointer.type, Pointer) else INT
    if isinstance(pointer, ir.Binary) and pointer.operator == "+" and isinstance(pointer.left, ir.AddressOf):
        start = pointer.left.lvalue
        if isinstance(start, ir.Index) and is_null(start.index) and start.type == target:
            return ir.Index(start.array, pointer.right, target)
    return ir.Deref(pointer, target)


def address(lvalue: ir.Expr) -> ir.Expr:
    """`&e` of an object or function, simplified: `&*p` is `p`."""
    if isinstance(lvalue, ir.Deref):
        return lvalue.pointer
    return ir.AddressOf(lvalue, Pointer(lvalue.type))


def element(base: ir.Expr, index: ir.Expr, model: DataModel) -> ir.Expr:
    """`a[i]`: `base` is not decayed, `index` is a value. RefusedError where what it is an element of is not modelled."""
    if isinstance(index.type, Pointer):  # i[a]
        base, index = index, base
    wide = index if isinstance(index, ir.IntConst) else convert(index, model.intptr)
    if isinstance(index, ir.IntConst):
        wide = ir.IntConst(index.value, model.intptr)
    if isinstance(base.type, Array):
        return ir.Index(base, wide, base.type.element)
    if not isinstance(base.type, Pointer):
        raise RefusedError("an element of a value whose type is not modelled")
    return dereference(base if is_null(wide) else ir.Binary("+", base, wide, base.type))


def member(record: ir.Expr, name: str, lookup: Callable[[str], RecordDefinition | None]) -> ir.Expr | None:
    """`record.name`, through anonymous members by their explicit path; None when there is no such member."""
    if not isinstance(record.type, Record):
        return None
    definition = lookup(record.type.key)
    if definition is None:
        return None
    for found in definition.members:
        if found.name == name:
            return ir.Field(record, name, found.value_type)
    for found in definition.members:
        if found.name == "" and isinstance(found.type, Record):
            inner = member(ir.Field(record, "", found.type), name, lookup)
            if inner is not None:
                return inner
    return None


def truth(condition: ir.Expr) -> tuple[ir.Expr, bool]:
    """A condition without `!` at its top, and whether its truth is kept: `!e`, `e == 0` and `e != 0` of a comparison."""
    kept = True
    while True:
        match condition:
            case ir.Unary("!", operand):
                condition, kept = operand, not kept
            case ir.Binary("==" | "!=" as operator, inner, ir.IntConst(0)) if (bare := _zero_or_one(inner)) is not None:
                condition, kept = bare, kept == (operator == "!=")
            case ir.Cast(inner) if (bare := _zero_or_one(inner)) is not None:
                condition = bare
            case _:
                return condition, kept


def _zero_or_one(expr: ir.Expr) -> ir.Expr | None:
    bare = ir.strip_casts(expr)
    if isinstance(bare, ir.Binary) and bare.operator in COMPARISONS:
        return bare
    return bare if isinstance(bare, ir.Unary) and bare.operator == "!" else None


def constant_truth(expr: ir.Expr) -> bool | None:
    """The truth of a constant condition, None when it is not constant; an object's address is never null."""
    match ir.strip_casts(expr):
        case ir.IntConst(value):
            return None if _narrowed(expr) else value != 0
        case ir.StringConst() | ir.AddressOf(ir.Var()) | ir.AddressOf(ir.Index(ir.Var())):
            return None if _narrowed(expr) else True
        case _:
            return None


def _narrowed(expr: ir.Expr) -> bool:
    """Whether a cast above a constant, any of them, may have changed its truth."""
    while isinstance(expr, ir.Cast):
        if isinstance(expr.type, Floating | Integer) and expr.type.name != "_Bool":
            return True
        expr = expr.operand
    return False
