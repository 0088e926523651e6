"""Bitwise operators on mathematical integers, read as infinite two's complement.

With a constant on one side, `a & m` is a sum of slices of `a`, one for each run of ones in `m`, which division and remainder by
powers of two cut out: exact for every mask. Of two unknown operands that share no bits, as where a number is put together from
its bytes, the conjunction is 0. Else their bits are taken one by one if they are few, or the value is left open between the
bounds that it has in any case. `|` and `^` follow from `&`: a | b = a + b - (a & b).
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
_MOST_ZEROS = 1 << 12  # low bits of 0, which are all 0
_DEPTH = 4  # of the terms that are looked into for low bits


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
    if _is_below(low, high, _zeros(other)) or _is_below(other_low, other_high, _zeros(one)):
        return integer(0)
    if low >= 0 and other_low >= 0 and min(high, other_high) < 1 << _FEW_BITS:
        return _bit_by_bit(one, other, int(min(high, other_high)).bit_length())
    return opened(one, other)


def _is_below(low: float, high: float, bits: int) -> bool:
    """Whether numbers between the bounds have no bits but this many low ones."""
    return low >= 0 and math.isfinite(high) and int(high).bit_length() <= bits


def _zeros(term: Term, depth: int = _DEPTH) -> int:
    """How many low bits of a term are 0 whatever its symbols are: at least so many."""
    if term.op == "ite" and depth:
        return min(_zeros(branch, depth - 1) for branch in term.args[1:])
    if term.op == "mod" and depth and constant_of(term.args[1]):  # by 2^k, or a multiple of it, k bits stay; by 0, none need
        return min(_zeros(part, depth - 1) for part in term.args)
    summands, constant = linear.parts(term)
    inner = depth - 1 if term not in summands and depth else None
    zeros = (_low(factor) + (0 if inner is None else _zeros(one, inner)) for one, factor in summands.items())
    return min((_low(constant), *zeros))


def _low(number: int) -> int:
    """How many low bits of a number are 0."""
    return (number & -number).bit_length() - 1 if number else _MOST_ZEROS


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
