"""Symbolic values ([SYMCEGAR] section 3.2.5): IR expressions whose only variables are symbolic identifiers.

An identifier is an `ir.Var` of scope `temporary`; it stands for one unknown value on a path. A condition is a symbolic value that
is known not to be zero. The constructors fold what does not need an identifier, so that a value without any is a number.

Expressions grow along a path; `SIZE_LIMIT` bounds them (what is larger is any value).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Protocol

from analysis.c.results import machine, machine_unary
from analysis.cpa.stores.scalar_values import Address, Known, Value, wrap
from analysis.model import ir
from analysis.model.c_types import INT, Floating, Integer, Pointer, Type, Void
from analysis.model.comparisons import COMPARISONS, NEGATED

SIZE_LIMIT = 400

Assumed = tuple[ir.Expr, bool]


class Assuming(Protocol):
    """A state that knows of the last step that a symbolic condition is true or false; None if it knows nothing new."""

    @property
    def assumed(self) -> Assumed | None:
        """The condition and its truth."""


class Deciding(Protocol):
    """A state that found out at the last step that identifiers can have one value only."""

    @property
    def decided(self) -> Mapping[ir.Var, int]:
        """The identifiers with their values."""


def identifier(origin: str, number: int, type_: Type) -> ir.Var:
    """The identifier that was made as the `number`-th at an origin on its path."""
    return ir.Var(f"{origin}${number}", "temporary", type_)


@lru_cache(maxsize=200_000)
def identifiers(expr: ir.Expr) -> frozenset[ir.Var]:
    """The identifiers in a symbolic value."""
    if isinstance(expr, ir.Var):
        return frozenset((expr,)) if expr.scope == "temporary" else frozenset()
    found: frozenset[ir.Var] = frozenset()
    for part in ir.operands(expr):
        found |= identifiers(part)
    return found


@lru_cache(maxsize=200_000)
def size(expr: ir.Expr) -> int:
    """How many nodes the expression has, as a tree."""
    return 1 + sum(size(part) for part in ir.operands(expr))


def lift(value: Known | ir.Expr, type_: Type) -> ir.Expr:
    """A value as an expression of the type."""
    if isinstance(value, int):
        return ir.IntConst(value, type_)
    if isinstance(value, Address):
        name = f"{value.root}+{value.offset}" if value.offset else value.root
        return ir.AddressOf(ir.Var(name, "global", Void()), type_)
    return value


def _constant(expr: ir.Expr) -> int | None:
    return expr.value if isinstance(expr, ir.IntConst) else None


def _folded(value: int | None, type_: Type) -> ir.Expr | None:
    return None if value is None else ir.IntConst(value, type_)


def binary(expr: ir.Binary, left: ir.Expr, right: ir.Expr) -> ir.Expr | None:
    """The operator and type of `expr` on other operands, folded; None if it would be too large."""
    operator, type_ = expr.operator, expr.type
    a, b = _constant(left), _constant(right)
    if isinstance(left.type, Integer) and isinstance(right.type, Integer):
        if a is not None and b is not None:
            folded = _folded(machine(operator, left.type)(a, b), type_)
            if folded is not None:
                return folded
        simple = _simplify(operator, left, right, type_)
        if simple is not None:
            return simple
    elif isinstance(left.type, Pointer) and isinstance(right.type, Integer) and operator in ("+", "-") and b == 0:
        return left
    if operator in ("==", "!=") and b == 0 and is_condition(left):
        return left if operator == "!=" else negation(left)
    if size(left) + size(right) >= SIZE_LIMIT:
        return None
    return ir.Binary(operator, left, right, type_)


def _simplify(operator: str, left: ir.Expr, right: ir.Expr, type_: Type) -> ir.Expr | None:
    a, b = _constant(left), _constant(right)
    if left == right:
        if operator in ("-", "^"):
            return ir.IntConst(0, type_)
        if operator in COMPARISONS:
            return ir.IntConst(int(operator in ("==", "<=", ">=")), type_)
    if operator in ("*", "&") and 0 in (a, b):
        return ir.IntConst(0, type_)
    if b == 0 and operator in ("+", "-", "|", "^", "<<", ">>"):
        return left
    if a == 0 and operator in ("+", "|", "^"):
        return right
    if b == 1 and operator in ("*", "/"):
        return left
    if b is not None and operator in ("+", "-") and isinstance(left, ir.Binary) and left.operator in ("+", "-"):
        inner = _constant(left.right)
        if inner is not None:
            total = (inner if left.operator == "+" else -inner) + (b if operator == "+" else -b)
            return _plus(left.left, total, type_)
    return None


def _plus(expr: ir.Expr, number: int, type_: Type) -> ir.Expr | None:
    """`expr + number`, so that the sum of two numbers is the same however it is written. Unsigned ones wrap. A number that is no
    value of a signed type stays two: neither sum need overflow where the one with the number modulo the width does."""
    wrapped = wrap(number, type_)
    if wrapped is None or (wrapped != number and isinstance(type_, Integer) and type_.signed):
        return None
    return expr if wrapped == 0 else ir.Binary("+", expr, ir.IntConst(wrapped, type_), type_)


def unary(expr: ir.Unary, operand: ir.Expr) -> ir.Expr | None:
    """The operator and type of `expr` on another operand, folded; None if it would be too large."""
    number = _constant(operand)
    if number is not None and isinstance(operand.type, Integer | Pointer):
        folded = _folded(machine_unary(expr.operator, expr.type)(number), expr.type)
        if folded is not None:
            return folded
    if expr.operator == "!":
        return negation(operand)
    return None if size(operand) >= SIZE_LIMIT else ir.Unary(expr.operator, operand, expr.type)


def cast(operand: ir.Expr, type_: Type) -> ir.Expr | None:
    """The operand converted, folded; None if it would be too large."""
    if operand.type == type_:
        return operand
    number = _constant(operand)
    is_plain = number is not None and (not isinstance(type_, Pointer) or 0 <= number < 1 << 31)  # whatever the data model
    if number is not None and is_plain and not isinstance(operand.type, Floating):
        wrapped = wrap(number, type_)
        if wrapped is not None:
            return ir.IntConst(wrapped, type_)
    if isinstance(operand, ir.Cast) and isinstance(operand.type, Pointer) and isinstance(type_, Pointer):
        return cast(operand.operand, type_)
    return None if size(operand) >= SIZE_LIMIT else ir.Cast(operand, type_)


def is_condition(expr: ir.Expr) -> bool:
    """Whether the value of the expression is 0 or 1 by its form."""
    return (isinstance(expr, ir.Binary) and expr.operator in COMPARISONS) or (isinstance(expr, ir.Unary) and expr.operator == "!")


def negation(condition: ir.Expr) -> ir.Expr:
    """The condition that holds when this one does not; the negation of a negation of a condition is the condition."""
    match condition:
        case ir.IntConst(value):
            return ir.IntConst(int(value == 0), INT)
        case ir.Binary(operator, left, right) if operator in COMPARISONS and not isinstance(left.type, Floating):
            return ir.Binary(NEGATED[operator], left, right, condition.type)  # type: ignore[arg-type]  # an operator of the table
        case ir.Unary("!", operand) if is_condition(operand):
            return operand
        case ir.Unary("!", operand):
            return ir.Binary("!=", operand, ir.IntConst(0, operand.type), INT)
        case ir.Binary(operator) if operator in COMPARISONS:
            return ir.Unary("!", condition, INT)
    if isinstance(condition.type, Integer | Pointer):
        return ir.Binary("==", condition, ir.IntConst(0, condition.type), INT)
    return ir.Unary("!", condition, INT)


def condition_of(assumed: Assumed) -> ir.Expr:
    """What a branch implies, as a condition."""
    expr, truth = assumed
    if not truth:
        return negation(expr)
    if is_condition(expr) or not isinstance(expr.type, Integer | Pointer):
        return expr
    number = _constant(expr)
    if number is not None:
        return ir.IntConst(int(number != 0), INT)
    return ir.Binary("!=", expr, ir.IntConst(0, expr.type), INT)


def substitute(expr: ir.Expr, values: Mapping[ir.Var, ir.Expr]) -> ir.Expr:
    """The value with identifiers replaced, folded."""
    if not identifiers(expr) & values.keys():
        return expr
    match expr:
        case ir.Var():
            return values.get(expr, expr)
        case ir.Binary(_, left, right):
            replaced = binary(expr, substitute(left, values), substitute(right, values))
            return expr if replaced is None else replaced
        case ir.Unary(_, operand):
            replaced = unary(expr, substitute(operand, values))
            return expr if replaced is None else replaced
        case ir.Cast(operand, type_):
            replaced = cast(substitute(operand, values), type_)
            return expr if replaced is None else replaced
    return expr


def as_value(expr: ir.Expr | None) -> Value:
    """The expression as a value: a number if it is one."""
    if isinstance(expr, ir.IntConst) and isinstance(expr.type, Integer | Pointer):
        return expr.value
    return expr


class Renaming:
    """A bijection between identifiers, as it is being found (the function `alias` of sections 3.2.5 and 3.2.6). Those of the
    `fixed` names stay what they are."""

    def __init__(self, forward: Mapping[ir.Var, ir.Var] | None = None, fixed: Iterable[str] = ()) -> None:
        self.forward = dict(forward or {})
        self.fixed = frozenset(fixed)
        self.taken = set(self.forward.values())

    def copy(self) -> Renaming:
        """An independent copy."""
        return Renaming(self.forward, self.fixed)

    def match(self, pattern: ir.Expr, expr: ir.Expr) -> bool:
        """Extends the bijection so that it takes `pattern` to `expr`. If it cannot, the bijection is of no more use."""
        if isinstance(pattern, ir.Var):
            return isinstance(expr, ir.Var) and self._pair(pattern, expr)
        if not identifiers(pattern):
            return pattern == expr
        if type(pattern) is not type(expr) or pattern.type != expr.type:
            return False
        if getattr(pattern, "operator", None) != getattr(expr, "operator", None):
            return False
        parts, others = ir.operands(pattern), ir.operands(expr)
        return len(parts) == len(others) and all(map(self.match, parts, others))

    def _pair(self, pattern: ir.Var, expr: ir.Var) -> bool:
        if pattern.scope != "temporary" or expr.scope != "temporary" or {pattern.name, expr.name} & self.fixed:
            return pattern == expr
        known = self.forward.get(pattern)
        if known is not None:
            return known == expr
        if expr in self.taken or pattern.type != expr.type:
            return False
        self.forward[pattern] = expr
        self.taken.add(expr)
        return True
