"""Bitwise operators on mathematical integers, read as infinite two's complement.

With a constant on one side, `a & m` is a sum of slices of `a`, one for each run of ones in `m`, which division and remainder by
powers of two cut out: exact for every mask. Of two unknown operands the bits are taken one by one if they are few. Else the value
is left open between the bounds that it has in any case. `|` and `^` follow from `&`: a | b = a + b - (a & b).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from analysis.smt.encoding.numbers.term_intervals import Interval
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import euclidean
from analysis.smt.logic.term_building import and_, constant_of, eq, integer, ite
from analysis.smt.logic.terms import Term

_FEW_BITS = 8


def conjunction(one: Term, other: Term, interval: Callable[[Term], Interval], opened: Callable[[Term, Term], Term]) -> Term:
    """`one & other`; `opened` gives an unknown value within the bounds of the conjunction."""
    if one is other:
        return one
    left, right = constant_of(one), constant_of(other)
    if left is not None and right is not None:
        return integer(left & right)
    if left is not None:
        return masked(other, left, interval(other))
    if right is not None:
        return masked(one, right, interval(one))
    for choice, rest in ((one, other), (other, one)):
        if choice.op == "ite" and choice.args[1].op == "value" and choice.args[2].op == "value":
            chosen = [conjunction(branch, rest, interval, opened) for branch in choice.args[1:]]
            return ite(choice.args[0], *chosen)
    (low, high), (other_low, other_high) = interval(one), interval(other)
    if low >= 0 and other_low >= 0 and min(high, other_high) < 1 << _FEW_BITS:
        return _bit_by_bit(one, other, int(min(high, other_high)).bit_length())
    return opened(one, other)


def masked(term: Term, mask: int, interval: Interval) -> Term:
    """`term & mask`."""
    low, high = interval
    if low >= 0 and math.isfinite(high):
        digits = (1 << int(high).bit_length()) - 1
        mask &= digits  # the other bits of the term are zero
        if mask == digits:
            return term
    total = integer(0)
    position = 0
    while mask not in (0, -1):
        zeros = (mask & -mask).bit_length() - 1
        position, mask = position + zeros, mask >> zeros
        if mask == -1:
            break
        ones = (~mask & -~mask).bit_length() - 1
        cut = euclidean("mod", _shifted(term, position), integer(1 << ones))
        total = linear.combine(total, cut, 1 << position)
        position, mask = position + ones, mask >> ones
    if mask == -1:
        rest = linear.scale(1 << position, _shifted(term, position))
        if position:  # t - t mod 2^k, which solvers find easier than (t div 2^k) * 2^k
            rest = linear.subtract(term, euclidean("mod", term, integer(1 << position)))
        total = linear.add(total, rest)
    return total


def _shifted(term: Term, position: int) -> Term:
    return euclidean("div", term, integer(1 << position)) if position else term


def _bit_by_bit(one: Term, other: Term, bits: int) -> Term:
    total = integer(0)
    for position in range(bits):
        both = [eq(euclidean("mod", _shifted(term, position), integer(2)), integer(1)) for term in (one, other)]
        total = linear.add(total, ite(and_(*both), integer(1 << position), integer(0)))
    return total
