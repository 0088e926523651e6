"""Unsigned sums with something positive, as `n + 1`: they are 0 only where they wrap (C11 6.2.5p9), which is seldom meant."""

from __future__ import annotations

from analysis.engines.automaton.functions.known_conditions import bare
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.ranges import bounds


class Sums:
    """Whether unsigned sums that are passed to functions or compared may wrap to 0 (`may_wrap`), and whether a search depended on
    that."""

    def __init__(self) -> None:
        self.may_wrap = False
        self.mattered = False


def is_positive_sum(expr: ir.Expr) -> bool:
    """Whether an expression is a sum of unsigned numbers, one of which is a positive constant."""
    expr = ir.strip_casts(expr)
    if not isinstance(expr, ir.Binary) or expr.operator != "+" or not isinstance(expr.type, Integer) or expr.type.signed:
        return False
    sides = [bare(side) for side in (expr.left, expr.right)]
    return any(is_positive_sum(side) or (isinstance(side, ir.IntConst) and is_small(side.value, expr.type)) for side in sides)


def is_small(value: int, type_: Integer) -> bool:
    """Whether a number is positive, and not so large that adding it is a way to subtract (C11 6.2.5p9)."""
    return 0 < value <= bounds(type_)[1] // 2
