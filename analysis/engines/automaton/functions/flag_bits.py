"""Bits of flags: what `flags |= DONE` does to a test of `flags & OPEN`, and that `~flags & OPEN` is the opposite of it.

`(flags | OPEN) & OPEN` is not zero, whatever `flags` is: the callee of `open_file(flags | OPEN)` finds the bit.

A test of some bits is a condition on `x & mask` like on any other expression (`known_conditions`). An assignment that sets,
clears or turns other bits of the same `x` leaves it as it was; one of these bits makes its answer known.
"""

from __future__ import annotations

from functools import lru_cache

from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval
from analysis.model.ranges import is_bool


def without_complement(expr: ir.Expr) -> ir.Expr | None:
    """`x & bit`, for an expression `~x & bit` of a single bit, of which it is the opposite; None for others."""
    if not isinstance(expr, ir.Binary) or expr.operator != "&" or not isinstance(expr.right, ir.IntConst):
        return None
    left, bit = expr.left, expr.right.value
    if not isinstance(left, ir.Unary) or left.operator != "~" or bit <= 0 or bit & (bit - 1):
        return None
    return ir.Binary("&", left.operand, expr.right, expr.type)


def tested_bits(key: ir.Expr) -> tuple[ir.Expr, int] | None:
    """The object and the mask of a test of some of its bits."""
    if not isinstance(key, ir.Binary) or key.operator != "&" or not isinstance(key.right, ir.IntConst):
        return None
    tested, mask = _plain(key.left), key.right.value
    return (tested, mask) if isinstance(tested, ir.LVALUES) and mask > 0 else None


@lru_cache(maxsize=10_000)
def changed_bits(effect: ir.Assign) -> tuple[str, int, int] | None:
    """The operator and the mask of `x = x | mask`, or with `&` or `^`, and how many bits of the result `x` gets; None for other
    assignments."""
    value, bits = effect.value, _bits(effect.target)
    while isinstance(value, ir.Cast):
        value, bits = value.operand, min(bits, _bits(value))
    if not isinstance(value, ir.Binary) or value.operator not in ("|", "&", "^") or not isinstance(value.right, ir.IntConst):
        return None
    return (value.operator, value.right.value, bits) if _plain(value.left) == effect.target else None


def bits_after(effect: ir.Assign, key: ir.Expr) -> Interval | bool:
    """What an assignment makes of a test of bits: the values that are possible then; True if it stays as it was, False if nothing
    is known."""
    change, test = changed_bits(effect), tested_bits(key)
    if change is None or test is None or effect.target != test[0]:
        return False
    (operator, by, bits), mask = change, test[1]
    if mask >= 1 << bits:
        return False
    changed = mask & ~by if operator == "&" else mask & by
    if not changed:
        return True
    if operator == "|":
        return NONZERO
    return ZERO if operator == "&" and changed == mask else False


def of_constant_bits(expr: ir.Expr) -> Interval:
    """What is known of every value of an expression by the constants in it: `(x | 4) & 4` is not zero, `(x & 4) & 8` is."""
    ones, zeros = _constant_bits(expr)
    present = (1 << _bits(expr)) - 1
    if ones & present:
        return NONZERO
    return ZERO if present and not present & ~zeros else ANY


def _constant_bits(expr: ir.Expr) -> tuple[int, int]:
    """The bits that are one in every value of an expression, and those that are zero, as integers in two's complement."""
    match expr:
        case ir.IntConst(value=value):
            return value, ~value
        case ir.Binary(operator=("|" | "&") as operator, left=left, right=right):
            (some, none), (more, others) = _constant_bits(left), _constant_bits(right)
            return (some | more, none & others) if operator == "|" else (some & more, none | others)
        case ir.Unary(operator="~", operand=operand):
            ones, zeros = _constant_bits(operand)
            return zeros, ones
        case ir.Cast(operand=operand):
            ones, zeros = _constant_bits(operand)
            kept = (1 << min(_bits(expr), _bits(operand))) - 1  # what lies above is cut off, or copies the sign
            return ones & kept, zeros & kept
    return 0, 0


def _bits(expr: ir.Expr) -> int:
    """How many bits an expression has of an integer that is converted to its type; 0 where that is something else."""
    return expr.type.bits if isinstance(expr.type, Integer) and not is_bool(expr.type) else 0


def _plain(expr: ir.Expr) -> ir.Expr:
    """The expression without conversions to other types of integers with as many bits, or more."""
    while isinstance(expr, ir.Cast) and 0 < _bits(expr.operand) <= _bits(expr):
        expr = expr.operand
    return expr
