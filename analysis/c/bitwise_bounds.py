"""The exact bounds of `&`, `|` and `^` on all numbers between bounds.

H. S. Warren, Hacker's Delight, second edition, section 4-3, for numbers without a sign. Others are split by their sign and taken
in two's complement (C11 6.2.6.2p2): the signs of the operands say which sign the result has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

Bounds = tuple[int, int]


def bitwise_bounds(operator: str, left: Bounds, right: Bounds) -> Bounds:
    """The least and the greatest result; KeyError for another operator."""
    bounds_of = _BOUNDS[operator]
    digits = max((value if value >= 0 else ~value).bit_length() for value in (*left, *right))
    sign = 1 << digits
    found = list[int]()
    for one in _split(left, sign):
        for other in _split(right, sign):
            least, most = bounds_of(one, other, 2 * sign)
            found += [value - 2 * (value & sign) for value in (least, most)]
    return min(found), max(found)


def _split(bounds: Bounds, sign: int) -> Iterator[Bounds]:
    """The numbers below 0 and the others, as numbers without a sign."""
    low, high = bounds
    if low < 0:
        yield low + 2 * sign, min(high, -1) + 2 * sign
    if high >= 0:
        yield max(low, 0), high


def _or(left: Bounds, right: Bounds, end: int) -> Bounds:
    return _least_or(left, right, end), _greatest_or(left, right, end)


def _and(left: Bounds, right: Bounds, end: int) -> Bounds:
    """By De Morgan's law."""
    low, high = _or(_complement(left, end), _complement(right, end), end)
    return end - 1 - high, end - 1 - low


def _complement(bounds: Bounds, end: int) -> Bounds:
    return end - 1 - bounds[1], end - 1 - bounds[0]


def _least_or(left: Bounds, right: Bounds, end: int) -> int:
    (a, b), (c, d) = left, right
    bit = end >> 1
    while bit:
        if ~a & c & bit and (raised := (a | bit) & -bit) <= b:
            return raised | c
        if a & ~c & bit and (raised := (c | bit) & -bit) <= d:
            return a | raised
        bit >>= 1
    return a | c


def _greatest_or(left: Bounds, right: Bounds, end: int) -> int:
    (a, b), (c, d) = left, right
    bit = end >> 1
    while bit:
        if b & d & bit:
            if (lowered := (b - bit) | (bit - 1)) >= a:
                return lowered | d
            if (lowered := (d - bit) | (bit - 1)) >= c:
                return b | lowered
        bit >>= 1
    return b | d


def _xor(left: Bounds, right: Bounds, end: int) -> Bounds:
    """The greatest result has all the bits that the least one of an operand and the complement of the other has not."""
    return _least_xor(left, right, end), end - 1 - _least_xor(left, _complement(right, end), end)


def _least_xor(left: Bounds, right: Bounds, end: int) -> int:
    (a, b), (c, d) = left, right
    bit = end >> 1
    while bit:
        if ~a & c & bit and (raised := (a | bit) & -bit) <= b:
            a = raised
        elif a & ~c & bit and (raised := (c | bit) & -bit) <= d:
            c = raised
        bit >>= 1
    return a ^ c


_BOUNDS: dict[str, Callable[[Bounds, Bounds, int], Bounds]] = {"&": _and, "|": _or, "^": _xor}
