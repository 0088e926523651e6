"""Sets of integers between two bounds, without some: what comparisons with constants tell (pointers: null is 0)."""

from __future__ import annotations

from bisect import bisect_left

import msgspec

_HOLES = 64  # more are forgotten, so that a chain of tests costs no more than in proportion to its length


class Interval(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """The integers from `low` to `high` (None: unbounded), without 0 if `nonzero`, and without `holes`: other integers between
    the bounds, in order. No bound is among those that are left out."""

    low: int | None = None
    high: int | None = None
    nonzero: bool = False
    holes: tuple[int, ...] = ()


ANY = Interval()
ZERO = Interval(0, 0)
NONZERO = Interval(None, None, True)


def make(low: int | None, high: int | None, nonzero: bool, holes: tuple[int, ...] = ()) -> Interval | None:
    """The interval in its normal form; None when it is empty. `holes` are in order."""
    if holes:
        return _with_holes(low, high, nonzero, holes)
    if nonzero and low == 0:
        low = 1
    if nonzero and high == 0:
        high = -1
    if low is not None and high is not None and low > high:
        return None
    if (low is not None and low > 0) or (high is not None and high < 0):
        nonzero = True
    return Interval(low, high, nonzero)


def _with_holes(low: int | None, high: int | None, nonzero: bool, holes: tuple[int, ...]) -> Interval | None:
    without = set(holes)
    if nonzero:
        without.add(0)
    while low is not None and low in without:
        low += 1
    while high is not None and high in without:
        high -= 1
    plain = make(low, high, nonzero)
    if plain is None:
        return None
    inside = tuple(x for x in holes if x != 0 and (low is None or x > low) and (high is None or x < high))
    left_out = plain.nonzero or 0 in holes
    return Interval(plain.low, plain.high, left_out, inside[:_HOLES])


def interval_of(operator: str, constant: int) -> Interval | None:
    """The integers x with `x operator constant`; None if the operator is no comparison."""
    match operator:
        case "==":
            return make(constant, constant, False)
        case "!=":
            return NONZERO if constant == 0 else Interval(holes=(constant,))
        case "<":
            return make(None, constant - 1, False)
        case "<=":
            return make(None, constant, False)
        case ">":
            return make(constant + 1, None, False)
        case ">=":
            return make(constant, None, False)
    return None


def meet(one: Interval, other: Interval) -> Interval | None:
    """The integers in both; None if there are none."""
    if one is other or other is ANY:
        return one
    if one is ANY:
        return other
    low, high = one.low, one.high
    if low is None or (other.low is not None and other.low > low):
        low = other.low
    if high is None or (other.high is not None and other.high < high):
        high = other.high
    holes, nonzero = one.holes, one.nonzero or other.nonzero
    if other.holes and other.holes != holes:
        holes = tuple(sorted({*holes, *other.holes})) if holes else other.holes
    if low is one.low and high is one.high and holes is one.holes and nonzero is one.nonzero and _is_normal(one):
        return one  # the very same, whose hash is known
    return make(low, high, nonzero, holes)


def _is_normal(interval: Interval) -> bool:
    low, high = interval.low, interval.high
    return interval.nonzero or ((low is None or low <= 0) and (high is None or high >= 0))


def join(one: Interval, other: Interval) -> Interval:
    """The smallest interval with the integers of both."""
    if one is other or one is ANY:
        return one
    if other is ANY:
        return other
    low, high = one.low, one.high
    if low is not None and (other.low is None or other.low < low):
        low = other.low
    if high is not None and (other.high is None or other.high > high):
        high = other.high
    holes = one.holes
    if holes or other.holes:
        some = (*(x for x in holes if not contains(other, x)), *(x for x in other.holes if not contains(one, x)))
        holes = tuple(sorted(set(some)))
    return make(low, high, one.nonzero and other.nonzero, holes) or ANY


def contains(interval: Interval, value: int) -> bool:
    """Whether the integer is in the interval."""
    if (interval.low is not None and value < interval.low) or (interval.high is not None and value > interval.high):
        return False
    if value == 0:
        return not interval.nonzero
    holes = interval.holes
    at = bisect_left(holes, value)
    return at == len(holes) or holes[at] != value


def within(one: Interval, other: Interval) -> bool:
    """Whether every integer of `one` is in `other`."""
    return meet(one, other) == one


def without_holes(interval: Interval) -> Interval:
    """The integers between the bounds, without 0 at most."""
    return Interval(interval.low, interval.high, interval.nonzero) if interval.holes else interval
