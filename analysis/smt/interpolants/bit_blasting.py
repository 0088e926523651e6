"""Formulas over bit-vectors as formulas over their bits.

A bit of a symbol is the atom `(= ((_ extract i i) x) 1)`. So an interpolant over bits is a formula over the symbols, and
means the same to any solver. Division, arrays and numbers are not supported.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from analysis.smt.interpolants.clauses import is_connective
from analysis.smt.interpolants.resolution import Unsupported
from analysis.smt.logic.bitvectors import extract
from analysis.smt.logic.substitution import rebuilt
from analysis.smt.logic.term_building import FALSE, TRUE, and_, bits, boolean, eq, ite, not_, or_
from analysis.smt.logic.terms import Term, subterms

Bits = list[Term]  # the lowest first


def blasted(formula: Term) -> Term:
    """An equivalent formula of connectives, Boolean symbols and bits of symbols. Raises Unsupported."""
    words: dict[Term, Bits] = {}
    truth: dict[Term, Term] = {}
    for part in subterms((formula,)):
        if part.sort.kind == "BitVec":
            words[part] = _word(part, words, truth)
        elif part.sort.kind == "Bool":
            truth[part] = _truth(part, words, truth)
        else:
            raise Unsupported(f"no bits: {part.sort}")
    return truth[formula]


def _truth(term: Term, words: dict[Term, Bits], truth: dict[Term, Term]) -> Term:
    if term.op in ("symbol", "value"):
        return term
    if is_connective(term):
        return rebuilt(term, tuple([truth[argument] for argument in term.args]))
    one, other = (words[argument] for argument in term.args)
    match term.op:
        case "=":
            return _equal(one, other)
        case "bvult":
            return _less(one, other)
        case "bvule":
            return not_(_less(other, one))
        case "bvslt":
            return _less(_turned(one), _turned(other))
        case "bvsle":
            return not_(_less(_turned(other), _turned(one)))
        case "bvsmulo":
            width = len(one)
            product = _product(_extended(one, width), _extended(other, width))
            return not_(_equal(product[width:], [product[width - 1]] * width))
    raise Unsupported(term.op)


def _word(term: Term, words: dict[Term, Bits], truth: dict[Term, Term]) -> Bits:
    width = term.sort.width
    if term.op == "symbol":
        return [eq(extract(place, place, term), bits(1, 1)) for place in range(width)]
    if term.op == "value" and isinstance(term.data, int):
        return [boolean(bool(term.data >> place & 1)) for place in range(width)]
    if term.op == "ite":
        condition, then, otherwise = truth[term.args[0]], words[term.args[1]], words[term.args[2]]
        return [ite(condition, one, other) for one, other in zip(then, otherwise, strict=True)]
    args = [words[argument] for argument in term.args]
    match term.op:
        case "concat":
            return [*args[1], *args[0]]
        case "extract" if isinstance(term.data, tuple):
            return args[0][term.data[1] : term.data[0] + 1]
        case "zero_extend":
            return args[0] + [FALSE] * (width - len(args[0]))
        case "sign_extend":
            return _extended(args[0], width - len(args[0]))
        case "bvnot":
            return [not_(one) for one in args[0]]
        case "bvneg":
            return _sum([FALSE] * width, [not_(one) for one in args[0]], TRUE)
    make = _OPERATIONS.get(term.op)
    if make is None:
        raise Unsupported(term.op)
    total = args[0]
    for other in args[1:]:
        total = make(total, other)
    return total


def _each(make: Callable[[Term, Term], Term]) -> Callable[[Bits, Bits], Bits]:
    return lambda one, other: [make(a, b) for a, b in zip(one, other, strict=True)]


def _exclusive(one: Term, other: Term) -> Term:
    return not_(eq(one, other))


def _sum(one: Bits, other: Bits, carry: Term = FALSE) -> Bits:
    found = []
    for a, b in zip(one, other, strict=True):
        found.append(_exclusive(_exclusive(a, b), carry))
        carry = or_(and_(a, b), and_(carry, or_(a, b)))
    return found


def _difference(one: Bits, other: Bits) -> Bits:
    return _sum(one, [not_(b) for b in other], TRUE)


def _product(one: Bits, other: Bits) -> Bits:
    width = len(one)
    total = [FALSE] * width
    for place, bit in enumerate(other):
        if bit is not FALSE:
            total = _sum(total, [FALSE] * place + [and_(bit, a) for a in one[: width - place]])
    return total


def _shift(one: Bits, distance: Bits, fill: Term, move: Callable[[Bits, int], Bits]) -> Bits:
    """Shifts by each power of two that the distance has; all bits are the fill where it is the width or more."""
    width = len(one)
    total, beyond = one, list[Term]()
    for place, bit in enumerate(distance):
        if 2**place < width:
            total = [ite(bit, a, b) for a, b in zip(move(total, 2**place), total, strict=True)]
        else:
            beyond.append(bit)
    return [ite(or_(*beyond), fill, a) for a in total]


def _left(one: Bits, distance: Bits) -> Bits:
    return _shift(one, distance, FALSE, lambda word, by: [FALSE] * by + word[: len(word) - by])


def _right(one: Bits, distance: Bits) -> Bits:
    return _shift(one, distance, FALSE, lambda word, by: word[by:] + [FALSE] * by)


def _right_signed(one: Bits, distance: Bits) -> Bits:
    return _shift(one, distance, one[-1], lambda word, by: word[by:] + [one[-1]] * by)


def _equal(one: Sequence[Term], other: Sequence[Term]) -> Term:
    return and_(*(eq(a, b) for a, b in zip(one, other, strict=True)))


def _less(one: Bits, other: Bits) -> Term:
    found = FALSE
    for a, b in zip(one, other, strict=True):
        found = or_(and_(not_(a), b), and_(eq(a, b), found))
    return found


def _turned(one: Bits) -> Bits:
    """The word whose order as an unsigned number is the order of the given one as a signed number."""
    return [*one[:-1], not_(one[-1])]


def _extended(one: Bits, more: int) -> Bits:
    return [*one, *itertools.repeat(one[-1], more)]


_OPERATIONS: dict[str, Callable[[Bits, Bits], Bits]] = {
    "bvand": _each(and_),
    "bvor": _each(or_),
    "bvxor": _each(_exclusive),
    "bvadd": _sum,
    "bvsub": _difference,
    "bvmul": _product,
    "bvshl": _left,
    "bvlshr": _right,
    "bvashr": _right_signed,
}
