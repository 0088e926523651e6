"""Sets of integers between two bounds, with or without zero: what a comparison with a constant tells (pointers: null is 0)."""

from __future__ import annotations

import msgspec


class Interval(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """The integers from `low` to `high` (None: unbounded), without 0 if `nonzero`. Then no bound is zero."""

    low: int | None = None
    high: int | None = None
    nonzero: bool = False


ANY = Interval()
ZERO = Interval(0, 0)
NONZERO = Interval(None, None, True)


def make(low: int | None, high: int | None, nonzero: bool) -> Interval | None:
    """The interval in its normal form; None when it is empty."""
    if nonzero and low == 0:
        low = 1
    if nonzero and high == 0:
        high = -1
    if low is not None and high is not None and low > high:
        return None
    if (low is not None and low > 0) or (high is not None and high < 0):
        nonzero = True
    return Interval(low, high, nonzero)


def interval_of(operator: str, constant: int) -> Interval | None:
    """The integers x with `x operator constant`, as the smallest interval; None if the operator is no comparison."""
    match operator:
        case "==":
            return make(constant, constant, False)
        case "!=":
            return NONZERO if constant == 0 else ANY
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
    return make(low, high, one.nonzero or other.nonzero)


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
    return make(low, high, one.nonzero and other.nonzero) or ANY


def within(one: Interval, other: Interval) -> bool:
    """Whether every integer of `one` is in `other`."""
    return meet(one, other) == one
