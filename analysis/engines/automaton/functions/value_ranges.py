"""Which values an expression can have: by its type, and by what operators make of intervals.

Unsigned arithmetic wraps (C11 6.2.5p9). Signed arithmetic that overflows is undefined (6.5p5); then nothing is said of
the result.
"""

from __future__ import annotations

from functools import lru_cache

from analysis.c.results import results
from analysis.engines.automaton.functions.flag_bits import of_constant_bits
from analysis.model import ir
from analysis.model.c_types import Integer, Type
from analysis.model.intervals import ANY, NONZERO, Interval, make, meet
from analysis.model.ranges import bounds, keeps, width

Bounds = tuple[int, int]
_NOT_NEGATIVE = Interval(0, None)


def natural_range(expr: ir.Expr) -> Interval:
    """What is known of every value of the expression and is worth noting; not the bounds of its type."""
    if isinstance(expr, ir.AddressOf | ir.StringConst):
        return NONZERO
    type_ = expr.type
    if not isinstance(type_, Integer):
        return ANY
    known = _NOT_NEGATIVE if not type_.signed else ANY
    if isinstance(expr, ir.Binary) and expr.operator in ("&", "|"):
        return meet(known, of_constant_bits(expr)) or known
    return known


def limits(expr: ir.Expr) -> Interval:
    """The values that the expression can have, whatever the variables in it hold."""
    if isinstance(expr, ir.IntConst):
        return Interval(expr.value, expr.value, expr.value != 0)
    found: Interval | None = None
    if isinstance(expr, ir.Binary) and isinstance(expr.type, Integer):
        found = computed(expr.operator, limits(expr.left), limits(expr.right), expr.type)
    elif isinstance(expr, ir.Cast) and isinstance(expr.type, Integer) and isinstance(expr.operand.type, Integer):
        found = converted(limits(expr.operand), expr.type)
    return bounded(natural_range(expr) if found is None else found, expr.type)


def bounded(interval: Interval, type_: Type) -> Interval:
    """The interval with the bounds of the type where it has none."""
    if not isinstance(type_, Integer) or (interval.low is not None and interval.high is not None):
        return interval
    return meet(interval, _range_of(type_)) or interval


@lru_cache(maxsize=100)
def _range_of(type_: Integer) -> Interval:
    return Interval(*bounds(type_))


def converted(interval: Interval, type_: Integer) -> Interval | None:
    """The values as those of another integer type (C11 6.3.1.3); None where nothing is known of them."""
    if interval.low is None or interval.high is None:
        return None
    if fits(interval, type_):
        return interval
    return None if type_.name == "_Bool" else _wrapped(interval.low, interval.high, type_)


def is_stored_as_it_is(given: Type, type_: Type) -> bool:
    """Whether each value of one type is the same number in a variable of another."""
    return not isinstance(given, Integer) or not isinstance(type_, Integer) or keeps(given, type_)


def stored_as(interval: Interval, given: Type, type_: Type) -> Interval:
    """The values of one type as those of another, as where the result of a call goes into a variable of another type."""
    if is_stored_as_it_is(given, type_) or not isinstance(given, Integer) or not isinstance(type_, Integer):
        return interval
    found = converted(bounded(interval, given), type_)
    if found is None:
        return NONZERO if interval.nonzero and width(type_) >= width(given) else ANY
    return found


def fits(interval: Interval, type_: Integer) -> bool:
    """Whether both bounds are known to be values of the type."""
    low, high = bounds(type_)
    return interval.low is not None and interval.high is not None and low <= interval.low and interval.high <= high


def computed(operator: str, left: Interval, right: Interval, type_: Integer) -> Interval | None:
    """The results, of the type, of an arithmetic operator on operands with known bounds; None where nothing is known of them."""
    if left.low is None or left.high is None or right.low is None or right.high is None:
        return None
    exact = _exact(operator, (left.low, left.high), (right.low, right.high), type_)
    if exact is None:
        return None
    found = Interval(*exact)
    if fits(found, type_):
        return make(*exact, operator == "*" and left.nonzero and right.nonzero)
    return None if type_.signed else _wrapped(*exact, type_)


def _exact(operator: str, left: Bounds, right: Bounds, type_: Integer) -> Bounds | None:
    """Bounds of the results as if no number were too large; only those of operators for which they are simple."""
    (low, high), (least, most) = left, right
    match operator:
        case "+" | "-" | "*" | "&" | "|" | "^":
            return results(operator, left, right)
        case "%" if least > 0:
            return _remainders(low, high, least, most)
        case "/" if least > 0 and low >= 0:
            return low // most, high // least
        case ">>" if low >= 0 and least >= 0 and most < width(type_):
            return low >> most, high >> least
        case "<<" if low >= 0 and least >= 0 and most < width(type_):
            return low << least, high << most
    return None


def _remainders(low: int, high: int, least: int, most: int) -> Bounds:
    """Bounds of `a % b` for a positive b; the result has the sign of `a` (C11 6.5.5p6)."""
    if -least < low and high < least:
        return low, high
    return (max(low, 1 - most) if low < 0 else 0), (min(high, most - 1) if high > 0 else 0)


def _wrapped(low: int, high: int, type_: Integer) -> Interval | None:
    """The numbers between two bounds, modulo 2 to the power of the type's width, if they stay next to each other."""
    least, most = bounds(type_)
    count = most - least + 1
    turns = (low - least) // count
    if turns != (high - least) // count:
        return None
    return make(low - turns * count, high - turns * count, False)
