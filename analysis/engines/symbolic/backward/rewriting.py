"""Rewriting expressions: the reads in them are replaced, and what then can be computed is folded.

Symbols stand for values that are not known: `?` any value, `!` the address of an object that nothing before can point to.
Variables of calls that are open below the outermost function have the depth of their activation in their names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from analysis.cpa.effects.state_places import base_of
from analysis.cpa.symbolic_values.symbolic import binary, cast, condition_of, unary
from analysis.model import ir
from analysis.model.c_types import INT, Array, Floating, Pointer, Type
from analysis.model.spelling import spell_expr

OnRead = Callable[[ir.Expr], ir.Expr]
OnAddress = Callable[[ir.Expr], ir.Expr]


class TooLargeError(Exception):
    """A rewritten expression that nothing should be done with any more."""


def is_symbol(expr: ir.Expr) -> bool:
    """Whether it stands for a value that is not known."""
    return isinstance(expr, ir.Var) and expr.name[0] in "?!"


def symbol(name: str, type_: Type, *, address: bool = False) -> ir.Var:
    """A symbol."""
    return ir.Var(("!" if address else "?") + name, "temporary", type_)


def same(lvalue: ir.Expr) -> ir.Expr:
    """Replaces nothing."""
    return lvalue


def rewritten(expr: ir.Expr, on_read: OnRead, on_address: OnAddress = same) -> ir.Expr:
    """A value with its reads replaced, inner ones first: `on_read` is called with each lvalue that is read,
    `on_address` each one whose address is taken as `AddressOf`."""
    match expr:
        case ir.Var(type=type_, scope=scope):
            return expr if is_symbol(expr) or scope == "function" or isinstance(type_, Array) else on_read(expr)
        case ir.Deref() | ir.Field() | ir.Index():
            return on_read(lvalue(expr, on_read, on_address))
        case ir.AddressOf(inner):
            return _address(lvalue(inner, on_read, on_address), expr.type, on_address)
        case ir.Binary(_, left, right):
            return _binary(expr, rewritten(left, on_read, on_address), rewritten(right, on_read, on_address))
        case ir.Unary(_, operand):
            return _there(unary(expr, rewritten(operand, on_read, on_address)))
        case ir.Cast(operand, type_):
            return _there(cast(rewritten(operand, on_read, on_address), type_))
    return expr


def lvalue(expr: ir.Expr, on_read: OnRead, on_address: OnAddress = same) -> ir.Expr:
    """Returns an lvalue in which the pointers and indices that it reads are replaced."""
    match expr:
        case ir.Field(record, name, type_):
            return ir.Field(lvalue(record, on_read, on_address), name, type_)
        case ir.Index(array, index, type_):
            return ir.Index(lvalue(array, on_read, on_address), rewritten(index, on_read, on_address), type_)
        case ir.Deref(pointer, type_):
            return pointee(rewritten(pointer, on_read, on_address), type_)
    return expr


def pointee(pointer: ir.Expr, type_: Type) -> ir.Expr:
    """The object that a pointer leads to: the variable's name, if it is the address of one."""
    bare = ir.strip_casts(pointer)
    if isinstance(bare, ir.AddressOf) and bare.lvalue.type == type_:
        return bare.lvalue
    if isinstance(bare, ir.Binary) and bare.operator == "+" and isinstance(bare.left, ir.AddressOf):
        inner = bare.left.lvalue
        if isinstance(inner, ir.Index) and inner.type == type_ and inner.index == ir.IntConst(0, inner.index.type):
            return ir.Index(inner.array, bare.right, type_)
    return ir.Deref(pointer, type_)


def _there(expr: ir.Expr | None) -> ir.Expr:
    if expr is None:
        raise TooLargeError
    return expr


def _address(inner: ir.Expr, type_: Type, on_address: OnAddress) -> ir.Expr:
    if isinstance(inner, ir.Deref):
        return _there(cast(inner.pointer, type_))
    changed = on_address(inner)
    return ir.AddressOf(inner, type_) if changed is inner else changed


def _binary(expr: ir.Binary, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    if expr.operator in ("==", "!="):
        if expr.operator == "==" and isinstance(left.type, Pointer) and right == ir.IntConst(0, right.type):
            left = _object(left)
            right = ir.IntConst(0, left.type)
        if left == right and not isinstance(left.type, Floating) and not has_literal(left):
            return ir.IntConst(int(expr.operator == "=="), expr.type)
        if isinstance(left.type, Pointer) and _apart(left, right):
            return ir.IntConst(int(expr.operator == "!="), expr.type)
    return _there(binary(expr, left, right))


@lru_cache(maxsize=20_000)
def has_literal(expr: ir.Expr) -> bool:
    """Whether a string literal is in it: two that are written alike need not be one object (C11 6.4.5p7)."""
    return any(isinstance(part, ir.StringConst) for part in ir.walk(expr))


def _object(pointer: ir.Expr) -> ir.Expr:
    """A pointer that is null if this one is: the one that it was computed from (C11 6.5.6p8: no sum leads from an object to
    null)."""
    bare = ir.strip_casts(pointer)
    if isinstance(bare, ir.Binary) and bare.operator in ("+", "-") and isinstance(bare.left.type, Pointer):
        return _object(bare.left)
    if isinstance(bare, ir.AddressOf):
        base = base_of(bare.lvalue)
        return _object(base.pointer) if isinstance(base, ir.Deref) else bare
    return bare if isinstance(bare.type, Pointer) else pointer


def _apart(one: ir.Expr, other: ir.Expr) -> bool:
    """Whether two pointers surely differ."""
    a, b = _origin(ir.strip_casts(one)), _origin(ir.strip_casts(other))
    if a is None or b is None or a == b:
        return False
    if "" in (a, b):
        return "*" not in (a, b)  # null is no object's address
    if a[0] == "!" or b[0] == "!":
        new, old = (one, other) if a[0] == "!" else (other, one)
        return ir.strip_casts(new) not in ir.walk(old)
    return a != "*" and b != "*"


def _origin(expr: ir.Expr) -> str | None:
    """What a pointer is the address of: "" for null, "*" for any value that is read; None if it is not known."""
    if isinstance(expr, ir.IntConst):
        return "" if expr.value == 0 else None
    if isinstance(expr, ir.AddressOf):
        base = base_of(expr.lvalue)
        is_plain = isinstance(expr.lvalue, ir.Var) or (
            isinstance(expr.lvalue, ir.Index) and expr.lvalue.index == ir.IntConst(0, expr.lvalue.index.type)
        )
        return "&" + base.name if isinstance(base, ir.Var) and is_plain else None
    if isinstance(expr, ir.Var | ir.Deref | ir.Field | ir.Index):
        if not isinstance(expr, ir.Var) or not is_symbol(expr):
            return "*"
        return expr.name if expr.name[0] == "!" else None  # a value of later can be what is new now
    return None


@lru_cache(maxsize=20_000)
def leaves(expr: ir.Expr) -> frozenset[str]:
    """The variables and symbols in an expression."""
    return frozenset(part.name for part in ir.walk(expr) if isinstance(part, ir.Var) and part.scope != "function")


def is_known(name: str) -> bool:
    """Whether a leaf is a variable of the program."""
    return name[0] not in "?!"


@lru_cache(maxsize=20_000)
def at_depth(expr: ir.Expr, depth: int) -> ir.Expr:
    """The expression with the variables of its function as those of the activation at a depth."""
    if depth == 0:
        return expr
    return _renamed(expr, lambda var: ir.Var(f"{depth}|{var.name}", var.scope, var.type))


@lru_cache(maxsize=20_000)
def is_definite(expr: ir.Expr) -> bool:
    """Whether the expression has no part that is any value, each time another one."""
    return not any(isinstance(part, ir.Unknown | ir.Undefined) for part in ir.walk(expr))


def with_symbols(expr: ir.Expr, make: Callable[[Type], ir.Var]) -> ir.Expr:
    """The expression with a new symbol for each part that is any value."""
    return expr if is_definite(expr) else _renamed(expr, lambda var: var, make)


def _renamed(expr: ir.Expr, rename: Callable[[ir.Var], ir.Var], make: Callable[[Type], ir.Var] | None = None) -> ir.Expr:
    match expr:
        case ir.Unknown(type_) | ir.Undefined(type_) if make is not None:
            return make(type_)
        case ir.Var(scope="global" | "function"):
            return expr
        case ir.Var():
            return rename(expr)
        case ir.Deref(inner, type_):
            return ir.Deref(_renamed(inner, rename, make), type_)
        case ir.Field(inner, name, type_):
            return ir.Field(_renamed(inner, rename, make), name, type_)
        case ir.Index(inner, index, type_):
            return ir.Index(_renamed(inner, rename, make), _renamed(index, rename, make), type_)
        case ir.AddressOf(inner, type_):
            return ir.AddressOf(_renamed(inner, rename, make), type_)
        case ir.Unary(operator, inner, type_):
            return ir.Unary(operator, _renamed(inner, rename, make), type_)
        case ir.Binary(operator, left, right, type_):
            return ir.Binary(operator, _renamed(left, rename, make), _renamed(right, rename, make), type_)
        case ir.Cast(inner, type_):
            return ir.Cast(_renamed(inner, rename, make), type_)
    return expr


def equality(one: ir.Expr, other: ir.Expr) -> ir.Expr:
    """The condition that two scalars are equal, folded. TooLargeError if it would be too large."""
    if one.type != other.type:
        other = _there(cast(other, one.type))
    return _binary(ir.Binary("==", one, other, INT), one, other)


def not_null(pointer: ir.Expr) -> ir.Expr:
    """The condition that a pointer is not null, folded. TooLargeError if it would be too large."""
    zero = ir.IntConst(0, pointer.type)
    return _binary(ir.Binary("!=", pointer, zero, INT), pointer, zero)


def condition(expr: ir.Expr, truth: bool) -> ir.Expr:
    """What a branch implies, as a condition in the form that the constructors here give it. TooLargeError if that is too much."""
    return rewritten(condition_of((normal(expr), truth)), same)


def normal(expr: ir.Expr) -> ir.Expr:
    """The expression as the constructors here would build it."""
    return rewritten(expr, same)


@lru_cache(maxsize=20_000)
def text_of(expr: ir.Expr) -> str:
    """A text to put expressions in an order by, the same in each process."""
    return spell_expr(expr)
