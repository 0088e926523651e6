"""Building terms over bit-vectors and over mathematical integers beyond sums. Constants are folded.

Division by zero is left to the solver (SMT-LIB gives it a value): callers say what C makes of it.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.c.operators import quotient, remainder
from analysis.model.ranges import signed_value
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import FALSE, TRUE, bits, boolean, constant_of, integer, ite, not_
from analysis.smt.logic.terms import BOOL, Term, bit_vector

_FOLD: dict[str, Callable[[int, int, int], int]] = {
    "bvand": lambda a, b, _: a & b,
    "bvor": lambda a, b, _: a | b,
    "bvxor": lambda a, b, _: a ^ b,
    "bvmul": lambda a, b, _: a * b,
    "bvshl": lambda a, b, w: a << b if b < w else 0,
    "bvlshr": lambda a, b, w: a >> b if b < w else 0,
    "bvashr": lambda a, b, w: signed_value(a, w) >> min(b, w - 1),
    "bvudiv": lambda a, b, _: a // b,
    "bvurem": lambda a, b, _: a % b,
    "bvsdiv": lambda a, b, w: quotient(signed_value(a, w), signed_value(b, w)),
    "bvsrem": lambda a, b, w: remainder(signed_value(a, w), signed_value(b, w)),
}
_DIVISIONS = frozenset(("bvudiv", "bvurem", "bvsdiv", "bvsrem"))


def operation(op: str, one: Term, other: Term) -> Term:
    """A binary operator of FixedSizeBitVectors (SMT-LIB's name) that gives a bit-vector of the width of its operands."""
    if op == "bvadd":
        return linear.add(one, other)
    if op == "bvsub":
        return linear.subtract(one, other)
    width = one.sort.width
    left, right = constant_of(one), constant_of(other)
    if left is not None and right is not None and not (op in _DIVISIONS and right == 0):
        return bits(_FOLD[op](left, right, width), width)
    if op == "bvmul" and (left is not None or right is not None):
        return linear.scale(left, other) if left is not None else linear.scale(right or 0, one)
    return _neutral(op, one, other, left, right) or Term(op, (one, other), one.sort)


def _neutral(op: str, one: Term, other: Term, left: int | None, right: int | None) -> Term | None:
    """What is left of an operation with 0, or with all ones, None if it is not one of these."""
    width = one.sort.width
    ones = (1 << width) - 1
    if op in ("bvand", "bvor") and one is other:
        return one
    if op == "bvxor" and one is other:
        return bits(0, width)
    if op == "bvand" and (left == 0 or right == 0):
        return bits(0, width)
    if op == "bvand" and ones in (left, right):
        return other if left == ones else one
    if right == 0 and op in ("bvor", "bvxor", "bvshl", "bvlshr", "bvashr"):
        return one
    if left == 0 and op in ("bvor", "bvxor"):
        return other
    if left == 0 and op in ("bvshl", "bvlshr", "bvashr"):
        return one
    if right == 1 and op in ("bvudiv", "bvsdiv"):
        return one
    return None


def product_overflows(one: Term, other: Term) -> Term:
    """The condition that the product of two bit-vectors, read as signed, does not fit into their width
    (`bvsmulo` of SMT-LIB 2.7)."""
    width = one.sort.width
    left, right = constant_of(one), constant_of(other)
    if left is not None and right is not None:
        product = signed_value(left, width) * signed_value(right, width)
        return boolean(not -(1 << (width - 1)) <= product < 1 << (width - 1))
    if _digits(one) + _digits(other) <= width:
        return FALSE
    return Term("bvsmulo", (one, other), BOOL)


def _digits(term: Term) -> int:
    """How many of its lowest bits hold all that the term says as a signed number, its sign included."""
    width = term.sort.width
    if term.op == "value":
        value = signed_value(constant_of(term) or 0, width)
        return (value if value >= 0 else ~value).bit_length() + 1
    if term.op == "sign_extend":
        return term.args[0].sort.width
    return term.args[0].sort.width + 1 if term.op == "zero_extend" else width


def complement(term: Term) -> Term:
    """All bits flipped: -t - 1."""
    return linear.combine(bits(-1, term.sort.width), term, -1)


def compare(op: str, one: Term, other: Term) -> Term:
    """`bvult`, `bvule`, `bvslt` or `bvsle`."""
    width = one.sort.width
    signed = op[2] == "s"
    if one is other:
        return boolean(op.endswith("le"))
    left, right = constant_of(one), constant_of(other)
    if left is not None and right is not None:
        a, b = (signed_value(left, width), signed_value(right, width)) if signed else (left, right)
        return boolean(a <= b if op.endswith("le") else a < b)
    lowest = 1 << (width - 1) if signed else 0
    highest = lowest - 1 if signed else (1 << width) - 1
    if op.endswith("lt"):
        if right == lowest or left == highest:
            return FALSE
        return not_(compare(op[:3] + "le", other, one))
    if left == lowest or right == highest:
        return TRUE
    return Term(op, (one, other), BOOL)


def extract(high: int, low: int, term: Term) -> Term:
    """Bits `high` to `low`, counted from 0 at the lowest."""
    width = term.sort.width
    if low == 0 and high == width - 1:
        return term
    if term.op == "value":
        return bits((constant_of(term) or 0) >> low, high - low + 1)
    if term.op == "extract" and isinstance(term.data, tuple):
        return extract(high + term.data[1], low + term.data[1], term.args[0])
    if term.op in ("zero_extend", "sign_extend"):
        inner = term.args[0].sort.width
        if high < inner:
            return extract(high, low, term.args[0])
        if term.op == "zero_extend" and low >= inner:
            return bits(0, high - low + 1)
    if term.op == "concat":
        upper, lower = term.args
        if high < lower.sort.width:
            return extract(high, low, lower)
        if low >= lower.sort.width:
            return extract(high - lower.sort.width, low - lower.sort.width, upper)
    if term.op == "ite" and all(a.op == "value" for a in term.args[1:]):
        return ite(term.args[0], extract(high, low, term.args[1]), extract(high, low, term.args[2]))
    return Term("extract", (term,), bit_vector(high - low + 1), (high, low))


def concat(upper: Term, lower: Term) -> Term:
    """Two bit-vectors one after the other, the first one's bits above."""
    width = upper.sort.width + lower.sort.width
    if upper.op == "value" and lower.op == "value":
        return bits(((constant_of(upper) or 0) << lower.sort.width) | (constant_of(lower) or 0), width)
    if upper.op == "value" and upper.data == 0:
        return extend(lower, width, signed=False)
    one, other = _slice(upper), _slice(lower)
    if one[0] is other[0] and one[2] == other[1] + 1:
        return extract(one[1], other[2], one[0])
    if lower.op == "concat":  # (u . (a . b)) where u and a are neighbours of one term
        joined = _slice(lower.args[0])
        if one[0] is joined[0] and one[2] == joined[1] + 1:
            return concat(extract(one[1], joined[2], one[0]), lower.args[1])
    return Term("concat", (upper, lower), bit_vector(width))


def _slice(term: Term) -> tuple[Term, int, int]:
    """The term as bits of another: that one, the highest and the lowest bit."""
    if term.op == "extract" and isinstance(term.data, tuple):
        return term.args[0], term.data[0], term.data[1]
    return term, term.sort.width - 1, 0


def extend(term: Term, width: int, signed: bool) -> Term:
    """The term made as wide as `width`, which is not less than its own, with its sign or with zeros."""
    more = width - term.sort.width
    if more == 0:
        return term
    if term.op == "value":
        value = constant_of(term) or 0
        return bits(signed_value(value, term.sort.width) if signed else value, width)
    if term.op == "ite" and all(a.op == "value" for a in term.args[1:]):
        return ite(term.args[0], extend(term.args[1], width, signed), extend(term.args[2], width, signed))
    if term.op == "zero_extend":  # its sign is 0
        return extend(term.args[0], width, signed=False)
    if signed and term.op == "sign_extend":
        return extend(term.args[0], width, signed=True)
    return Term("sign_extend" if signed else "zero_extend", (term,), bit_vector(width), (more,))


def multiply(one: Term, other: Term) -> Term:
    """The product of Int terms."""
    left, right = constant_of(one), constant_of(other)
    if left is not None:
        return linear.scale(left, other)
    if right is not None:
        return linear.scale(right, one)
    return Term("*", (one, other), one.sort)


def euclidean(op: str, one: Term, divisor: Term) -> Term:
    """`div` or `mod` of Int terms as SMT-LIB has it: the remainder is never negative. Summands that are multiples of the divisor
    are divided by themselves, and have no remainder."""
    left, right = constant_of(one), constant_of(divisor)
    if left is not None and right:
        remainder = left % abs(right)
        return integer(remainder if op == "mod" else (left - remainder) // right)
    if right == 1:
        return integer(0) if op == "mod" else one
    factors, constant = linear.parts(one)
    whole = {term: factor // right for term, factor in factors.items() if right and factor % right == 0}
    if not whole:
        return Term(op, (one, divisor), one.sort)
    left_over = linear.build({term: factor for term, factor in factors.items() if term not in whole}, constant, one.sort)
    rest = euclidean(op, left_over, divisor)
    return rest if op == "mod" else linear.add(linear.build(whole, 0, one.sort), rest)
