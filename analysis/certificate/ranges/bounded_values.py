"""Bounds of the values of expressions, where bounds of variables are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from analysis.c.operators import overflow_is_undefined, quotient, row_of
from analysis.c.results import compared, results
from analysis.model import ir
from analysis.model.c_types import Integer, Type
from analysis.model.comparisons import COMPARISONS
from analysis.model.ranges import bounds, width

Range = tuple[int, int]
"""The least and the greatest value."""
Ranges = Mapping[str, Range]
"""Of the variables of a function, by name."""
_TRUTH = (0, 1)


class Known(NamedTuple):
    """What is known of values: the bounds of `variables`. `defined`: in runs in which no signed computation overflows; else what
    overflows may be anything of its type."""

    variables: Ranges
    defined: bool = False


def range_of(known: Known, expr: ir.Expr) -> Range:
    """Bounds of an integer expression; those of its type, where nothing better is known. ValueError for other types."""
    type_ = expr.type
    if not isinstance(type_, Integer):
        raise ValueError("only integers have bounds")
    match expr:
        case ir.IntConst(value):
            return value, value
        case ir.Var(name):
            return known.variables.get(name) or bounds(type_)
        case ir.Cast(operand) if isinstance(operand.type, Integer):
            return converted(range_of(known, operand), type_)
        case ir.Unary("!", operand):
            return _negation(known, operand)
        case ir.Unary("-", operand):
            low, high = range_of(known, operand)
            return _fitting((-high, -low), "-", type_, defined=known.defined)
        case ir.Unary("~", operand):
            low, high = range_of(known, operand)
            return converted((~high, ~low), type_)
        case ir.Binary(operator, left, right) if isinstance(left.type, Integer) and isinstance(right.type, Integer):
            return _binary(known, expr, range_of(known, left), range_of(known, right))
        case ir.Binary(operator) if operator in COMPARISONS:
            return _TRUTH
    return bounds(type_)


def converted(value: Range, type_: Type) -> Range:
    """What numbers between bounds become as values of a type (C11 6.3.1.2, 6.3.1.3)."""
    low, high = bounds(type_)
    if low <= value[0] and value[1] <= high:
        return value
    if isinstance(type_, Integer) and type_.name == "_Bool":
        return (1, 1) if value[0] > 0 or value[1] < 0 else _TRUTH
    return low, high


def joined(one: Range, other: Range) -> Range:
    """The bounds of both."""
    return min(one[0], other[0]), max(one[1], other[1])


def met(one: Range, other: Range) -> Range | None:
    """What is between both bounds; None if nothing is."""
    low, high = max(one[0], other[0]), min(one[1], other[1])
    return (low, high) if low <= high else None


def _negation(known: Known, operand: ir.Expr) -> Range:
    if not isinstance(operand.type, Integer):
        return _TRUTH
    low, high = range_of(known, operand)
    if low > 0 or high < 0:
        return 0, 0
    return (1, 1) if low == high == 0 else _TRUTH


def _binary(known: Known, expr: ir.Binary, left: Range, right: Range) -> Range:
    operator, type_ = expr.operator, expr.type
    if operator in COMPARISONS:
        holds = compared(operator, left, right)
        return _TRUTH if holds is None else (int(holds), int(holds))
    if not isinstance(type_, Integer):
        return _TRUTH
    exact = exact_results(operator, left, right, type_)
    return bounds(type_) if exact is None else _fitting(exact, operator, type_, defined=known.defined)


def _fitting(exact: Range, operator: str, type_: Type, *, defined: bool) -> Range:
    """The bounds of exact results, if all of them are values of the type. What overflows may be any, or is excluded."""
    low, high = bounds(type_)
    if low <= exact[0] and exact[1] <= high:
        return exact
    is_excluded = defined and overflow_is_undefined(operator, type_)
    return (met(exact, (low, high)) if is_excluded else None) or (low, high)


def exact_results(operator: str, left: Range, right: Range, type_: Integer) -> Range | None:
    """Bounds of what an operator computes on mathematical integers; None where they are not known, or C does not define all."""
    match operator:
        case "+" | "-" | "*" | "&" | "|" | "^":
            return results(operator, left, right)
        case "/":
            return _quotients(left, right)
        case "%":
            return _remainders(left, right)
        case "<<" | ">>" if right[0] >= 0 and right[1] < width(type_):
            return _shifted(operator, left, right)
    return None


def _divisors(right: Range) -> list[int]:
    """The ends of the divisors, without 0, by which nothing is divided in a run that goes on."""
    return [end for end in {right[0], right[1], -1, 1} if end != 0 and right[0] <= end <= right[1]]


def _quotients(left: Range, right: Range) -> Range | None:
    found = [quotient(end, by) for end in left for by in _divisors(right)]
    if not found:
        return None
    if left[0] <= 0 <= left[1]:
        found.append(0)
    return min(found), max(found)


def _remainders(left: Range, right: Range) -> Range | None:
    """A remainder has the sign of the left operand, and is less than the right one (C11 6.5.5p6)."""
    if right == (0, 0):
        return None
    most = max(abs(right[0]), abs(right[1])) - 1
    return max(min(left[0], 0), -most), min(max(left[1], 0), most)


def _shifted(operator: str, left: Range, right: Range) -> Range:
    corners = [end << by if operator == "<<" else end >> by for end in left for by in right]
    return min(corners), max(corners)


def may_fail(rule: str, part: ir.Expr, known: Known) -> bool:
    """Whether computing an operator on integers may violate a rule, where its operands are between bounds. Only for operators
    that can violate it by their form (`c.operators.rules_of`)."""
    if isinstance(part, ir.Unary):
        return not isinstance(part.operand.type, Integer) or range_of(known, part.operand)[0] <= bounds(part.type)[0]
    if not isinstance(part, ir.Binary) or not isinstance(part.left.type, Integer) or not isinstance(part.right.type, Integer):
        return True
    left, right, type_ = range_of(known, part.left), range_of(known, part.right), part.left.type
    if rule == "division-by-zero":
        return right[0] <= 0 <= right[1]
    if rule == "shift-range":
        return not (right[0] >= 0 and right[1] < width(type_))
    return rule != "signed-overflow" or _may_overflow(part.operator, left, right, type_)


def _may_overflow(operator: str, left: Range, right: Range, type_: Integer) -> bool:
    row = row_of(operator, type_)
    if row is None or not overflow_is_undefined(operator, type_):
        return True
    low, high = bounds(type_)
    if operator in ("/", "%"):  # the least value by -1
        return left[0] == low and right[0] <= -1 <= right[1]
    exact = exact_results(operator, left, right, type_)
    least = 0 if operator == "<<" else low
    is_shift = operator == "<<" and left[0] < 0
    return is_shift or exact is None or not (least <= exact[0] and exact[1] <= high)
