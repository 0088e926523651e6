"""Counts of bits as terms of bit-vectors."""

from __future__ import annotations

from analysis.model.bit_counts import BitCount
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import extend, extract, operation
from analysis.smt.logic.term_building import bits, eq, ite
from analysis.smt.logic.terms import Term

_RESULT = 32  # bits of an `int`


def counted(value: Term, count: BitCount, otherwise: Term) -> Term:
    """The count for a value, as an `int`; `otherwise` where it is undefined."""
    digits = [extract(at, at, value) for at in range(count.bits)]
    one = bits(1, 1)
    match count.what:
        case "clz":
            return _first([(eq(digits[at], one), count.bits - 1 - at) for at in reversed(range(count.bits))], otherwise)
        case "ctz":
            return _first([(eq(digit, one), at) for at, digit in enumerate(digits)], otherwise)
        case "ffs":
            return _first([(eq(digit, one), at + 1) for at, digit in enumerate(digits)], bits(0, _RESULT))
    total = bits(0, _RESULT)
    for digit in digits:
        total = linear.add(total, extend(digit, _RESULT, signed=False))
    return total if count.what == "popcount" else operation("bvand", total, bits(1, _RESULT))


def _first(cases: list[tuple[Term, int]], otherwise: Term) -> Term:
    """The number of the first case that holds."""
    found = otherwise
    for condition, number in reversed(cases):
        found = ite(condition, bits(number, _RESULT), found)
    return found
