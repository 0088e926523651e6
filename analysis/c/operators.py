"""The operators of C on numbers: one row for each operator and class of types (C11 6.5).

Operands are numbers in the range of their type; pointers are unsigned integers. Both operands have
one type, but for shifts, whose result has the type of the left one. Types narrower than `int` need
no rows: their values are promoted first (6.3.1.1p2). How pointers move in elements is not here, as
it needs layouts.

A row says what the operator computes on mathematical integers, which right operands it takes, and
what becomes of a result that is no value of its type. All else follows from it: `fault` tells
whether C defines the operation on two numbers, `limits` which exact results it defines, `rules_of`
what an expression can violate by its form; `results` has what is computed.
"""

from __future__ import annotations

import math
import operator as python
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple

from analysis.c.undefined import OperatorRule
from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer, Type
from analysis.model.ranges import bounds, width

Class = Literal["signed", "unsigned", "pointer", "floating"]
Overflow = Literal["never", "wraps", "undefined"]


class Row(NamedTuple):
    """An operator on operands of a class.

    `exact`: what it computes, of one or two operands; it is asked only about right operands that
    the operator takes. `right`: `none`, as the operator is unary; `any`; `nonzero`; or a
    `distance`, which is not negative and less than the width of the left operand's type. `gives`:
    the type of the result, that of the left operand or `int`. `overflow`: what becomes of an exact
    result that is no value of that type; `never`: there is none. `section`: of C11.
    """

    operator: str
    operands: Class
    exact: Callable[..., Any]
    right: Literal["none", "any", "nonzero", "distance"]
    gives: Literal["operand", "int"]
    overflow: Overflow
    section: str


def quotient(one: int, other: int) -> int:
    """The quotient without its fractional part (C11 6.5.5p6); `other` is not 0."""
    found = abs(one) // abs(other)
    return found if (one < 0) == (other < 0) else -found


def remainder(one: int, other: int) -> int:
    """What the quotient leaves: it has the sign of `one` (C11 6.5.5p6); `other` is not 0."""
    rest = abs(one) % abs(other)
    return rest if one >= 0 else -rest


def float_quotient(one: float, other: float) -> float:
    """The quotient as IEEE 754 has it. That by zero is undefined by C11 6.5.5p5, not by its annex F (F.3)."""
    if other != 0:
        return one / other
    if one == 0 or one != one:
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, other)


def _row(
    operator: str,
    classes: str,
    exact: Callable[..., Any],
    right: Literal["none", "any", "nonzero", "distance"],
    gives: Literal["operand", "int"],
    section: str,
    *overflow: Overflow,
) -> list[Row]:
    named: dict[str, Class] = {"s": "signed", "u": "unsigned", "p": "pointer", "f": "floating"}
    never: Overflow = "never"
    each = overflow or (never,) * len(classes)
    return [Row(operator, named[c], exact, right, gives, of, section) for c, of in zip(classes, each, strict=True)]


# unary operators, by their class: signed, unsigned, pointer, floating; then what overflow is, class by class
UNARY: dict[tuple[str, Class], Row] = {
    (row.operator, row.operands): row
    for row in (
        *_row("-", "suf", python.neg, "none", "operand", "6.5.3.3", "undefined", "wraps", "never"),
        *_row("~", "su", python.invert, "none", "operand", "6.5.3.3", "never", "wraps"),
        *_row("!", "supf", python.not_, "none", "int", "6.5.3.3"),
    )
}
BINARY: dict[tuple[str, Class], Row] = {
    (row.operator, row.operands): row
    for row in (
        *_row("+", "suf", python.add, "any", "operand", "6.5.6", "undefined", "wraps", "never"),
        *_row("-", "suf", python.sub, "any", "operand", "6.5.6", "undefined", "wraps", "never"),
        *_row("*", "suf", python.mul, "any", "operand", "6.5.5", "undefined", "wraps", "never"),
        *_row("/", "su", quotient, "nonzero", "operand", "6.5.5", "undefined", "never"),
        *_row("/", "f", float_quotient, "any", "operand", "6.5.5"),
        *_row("%", "su", remainder, "nonzero", "operand", "6.5.5", "undefined", "never"),  # the quotient overflows (6.5.5p6)
        *_row("<<", "su", python.lshift, "distance", "operand", "6.5.7", "undefined", "wraps"),
        *_row(">>", "su", python.rshift, "distance", "operand", "6.5.7"),  # of negative values as gcc does it: rounded down
        *_row("&", "su", python.and_, "any", "operand", "6.5.10"),
        *_row("^", "su", python.xor, "any", "operand", "6.5.11"),
        *_row("|", "su", python.or_, "any", "operand", "6.5.12"),
        *_row("<", "supf", python.lt, "any", "int", "6.5.8"),
        *_row("<=", "supf", python.le, "any", "int", "6.5.8"),
        *_row(">", "supf", python.gt, "any", "int", "6.5.8"),
        *_row(">=", "supf", python.ge, "any", "int", "6.5.8"),
        *_row("==", "supf", python.eq, "any", "int", "6.5.9"),
        *_row("!=", "supf", python.ne, "any", "int", "6.5.9"),
    )
}


def class_of(type_: Type) -> Class | None:
    """The class of a scalar type; None for other types."""
    if isinstance(type_, Integer):
        return "signed" if type_.signed else "unsigned"
    return "pointer" if isinstance(type_, Pointer) else "floating" if isinstance(type_, Floating) else None


def row_of(operator: str, type_: Type) -> Row | None:
    """The row of a binary operator on (left) operands of a type; None if it is not in the table."""
    of = class_of(type_)
    return None if of is None else BINARY.get((operator, of))


# -- what C leaves undefined ----------------------------------------------------------------------------------------------


def limits(operator: str, type_: Type) -> tuple[int, int]:
    """The least and the greatest exact result that C defines, of a signed operator in whose row
    overflow is undefined. `%` is defined where the quotient is. Of `<<` a result below zero is that
    of a negative value (C11 6.5.7p4)."""
    low, high = bounds(type_)
    return (0 if operator == "<<" else low), high


def overflow_is_undefined(operator: str, type_: Type) -> bool:
    """Whether an exact result may be no value of the type, so that C leaves it undefined; `-` in both its rows."""
    row = row_of(operator, type_)
    return row is not None and row.overflow == "undefined"


def fault(operator: str, left: int, right: int | None, type_: Integer) -> OperatorRule | None:
    """What computing an operator on two values of integer types violates. `right` is None for unary
    operators, `type_` the type of the left operand. None: C defines the result, or the table does
    not have the operator."""
    row = UNARY.get((operator, sign_of(type_))) if right is None else BINARY.get((operator, sign_of(type_)))
    if row is None:
        return None
    if row.right == "nonzero" and right == 0:
        return "division-by-zero"
    if row.right == "distance" and right is not None and not 0 <= right < width(type_):
        return "shift-range"
    if row.overflow == "undefined":
        low, high = limits(operator, type_)
        exact = row.exact(left) if right is None else (quotient if operator == "%" else row.exact)(left, right)
        return None if low <= exact <= high else "signed-overflow"
    return None


def sign_of(type_: Integer) -> Class:
    """The class of an integer type."""
    return "signed" if type_.signed else "unsigned"


def rules_of(part: ir.Expr) -> frozenset[OperatorRule]:
    """What computing an operator can violate, by the operator and its type alone: nothing for other
    expressions, and for operators on pointers and floating values."""
    if not isinstance(part, ir.Binary | ir.Unary) or not isinstance(part.type, Integer):
        return frozenset()
    is_binary = isinstance(part, ir.Binary)
    return _rules(part.operator, is_binary, class_of(part.left.type if isinstance(part, ir.Binary) else part.operand.type))


@cache
def _rules(operator: str, is_binary: bool, operands: Class | None) -> frozenset[OperatorRule]:
    row = None if operands is None else (BINARY if is_binary else UNARY).get((operator, operands))
    if row is None:
        return frozenset()
    found: set[OperatorRule] = set()
    if row.right == "nonzero":
        found.add("division-by-zero")
    if row.right == "distance":
        found.add("shift-range")
    if row.overflow == "undefined":
        found.add("signed-overflow")
    return frozenset(found)


def possible_rules(part: ir.Expr) -> frozenset[OperatorRule]:
    """Those that it can violate with the right operand that it has, if that is a constant."""
    rules = rules_of(part)
    if not isinstance(part, ir.Binary) or not isinstance(part.right, ir.IntConst):
        return rules
    known = part.right.value
    if "division-by-zero" in rules:
        return frozenset(("division-by-zero",)) if known == 0 else rules & {"signed-overflow"} if known == -1 else frozenset()
    if "shift-range" in rules:
        return rules - {"shift-range"} if 0 <= known < width(part.type) else frozenset(("shift-range",))
    return rules


def may_give_anything(part: ir.Binary) -> bool:
    """Whether an operation may be one of those after which a run goes on with a value that differs
    between machines: a shift too far, and the least value divided by -1."""
    rules = possible_rules(part)
    return "shift-range" in rules or ("signed-overflow" in rules and part.operator in ("/", "%"))
