"""What bounds of variables are where a branch is taken."""

from __future__ import annotations

from analysis.certificate.ranges.bounded_values import Known, Range, met, range_of
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.comparisons import COMPARISONS, MIRRORED, NEGATED
from analysis.model.ranges import bounds

_MOST_DEEP = 6  # conditions in conditions


def assumed(known: Known, condition: ir.Expr, *, truth: bool, deep: int = 0) -> Known | None:
    """The bounds where a condition is not zero (`truth`), or is; None if it cannot be."""
    if not isinstance(condition.type, Integer) or deep > _MOST_DEEP:
        return known
    low, high = range_of(known, condition)
    if (low == high == 0) if truth else (low > 0 or high < 0):
        return None
    match condition:
        case ir.Unary("!", operand):
            return assumed(known, operand, truth=not truth, deep=deep + 1)
        case ir.Binary(operator, left, right) if operator in COMPARISONS:
            return _compared(known, operator if truth else NEGATED[operator], left, right)
        case ir.Cast(operand) if isinstance(operand.type, Integer) and _keeps(known, operand, condition.type):
            return assumed(known, operand, truth=truth, deep=deep + 1)
        case ir.Var() if truth:
            return narrowed(known, condition, low + (low == 0), high - (high == 0))
        case ir.Var():
            return narrowed(known, condition, 0, 0)
    return known


def _keeps(known: Known, operand: ir.Expr, type_: Integer) -> bool:
    """Whether a conversion leaves the value of an operand as it is."""
    (low, high), (least, most) = range_of(known, operand), bounds(type_)
    return least <= low and high <= most


def _compared(known: Known, operator: str, left: ir.Expr, right: ir.Expr) -> Known | None:
    if not isinstance(left.type, Integer) or not isinstance(right.type, Integer):
        return known
    one, other = range_of(known, left), range_of(known, right)
    found = _bounded(known, operator, left, one, other)
    return None if found is None else _bounded(found, MIRRORED[operator], right, other, one)


def _bounded(known: Known, operator: str, expr: ir.Expr, value: Range, other: Range) -> Known | None:
    """The bounds where an expression compares so with a value between others."""
    low, high = value
    match operator:
        case "<":
            high = min(high, other[1] - 1)
        case "<=":
            high = min(high, other[1])
        case ">":
            low = max(low, other[0] + 1)
        case ">=":
            low = max(low, other[0])
        case "==":
            low, high = max(low, other[0]), min(high, other[1])
        case "!=" if other[0] == other[1]:
            low, high = low + (low == other[0]), high - (high == other[0])
    if low > high:
        return None
    return narrowed(known, expr, low, high)


def narrowed(known: Known, expr: ir.Expr, low: int, high: int) -> Known | None:
    """The bounds where an expression is between these; None if it cannot be."""
    while isinstance(expr, ir.Cast) and isinstance(expr.operand.type, Integer) and isinstance(expr.type, Integer):
        if not _keeps(known, expr.operand, expr.type):
            return known
        expr = expr.operand
    if isinstance(expr, ir.Binary) and expr.operator in ("+", "-") and isinstance(expr.right, ir.IntConst):
        return _without_constant(known, expr, low, high)
    if not isinstance(expr, ir.Var) or expr.name not in known.variables:
        return known
    found = met(known.variables[expr.name], (low, high))
    return None if found is None else known._replace(variables={**known.variables, expr.name: found})


def _without_constant(known: Known, expr: ir.Binary, low: int, high: int) -> Known | None:
    """The same for a sum with a constant that does not overflow."""
    assert isinstance(expr.right, ir.IntConst)
    if not isinstance(expr.left.type, Integer) or not isinstance(expr.type, Integer):
        return known
    added = expr.right.value if expr.operator == "+" else -expr.right.value
    (least, most), (first, last) = range_of(known, expr.left), bounds(expr.type)
    if least + added < first or most + added > last:
        return known
    return narrowed(known, expr.left, low - added, high - added)
