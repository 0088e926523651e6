"""Sums of Int and bit-vector terms in a normal form: constants folded and last, equal summands joined.

A sum is a mapping from summands to their factors, and a constant; bit-vectors add modulo 2 to their width. This form shows
base addresses plus offsets (`encoding.storage.path_memory`), and decides comparisons of sums that differ by a constant.
"""

from __future__ import annotations

from math import gcd

from analysis.smt.logic.terms import BOOL, Sort, Term

_MOST = 32  # summands of a sum that is still taken apart; beyond it sums of sums are nested, else adding were quadratic

Sum = tuple[dict[Term, int], int]


def parts(term: Term) -> Sum:
    """The factors of the summands, none of them 0, and the constant."""
    op = term.op
    if op == "value":
        return {}, term.data if isinstance(term.data, int) else 0
    if op in ("+", "bvadd"):
        factors: dict[Term, int] = {}
        constant = 0
        for argument in term.args:
            if argument.op == "value":
                constant += argument.data if isinstance(argument.data, int) else 0
            else:
                factor, summand = _factor(argument)
                factors[summand] = factor
        return factors, constant
    factor, summand = _factor(term)
    return {summand: factor}, 0


def _factor(term: Term) -> tuple[int, Term]:
    if term.op in ("*", "bvmul") and term.args[0].op == "value":
        factor = term.args[0].data
        return (factor if isinstance(factor, int) else 1), term.args[1]
    return 1, term


def _value(value: int, sort: Sort) -> Term:
    return Term("value", (), sort, value if sort.kind == "Int" else value & ((1 << sort.width) - 1))


def build(factors: dict[Term, int], constant: int, sort: Sort) -> Term:
    """The sum of the summands times their factors and the constant."""
    is_int = sort.kind == "Int"
    mask = 0 if is_int else (1 << sort.width) - 1
    summands: list[Term] = []
    for summand, factor in factors.items():
        kept = factor if is_int else factor & mask
        if kept == 1:
            summands.append(summand)
        elif kept:
            summands.append(Term("*" if is_int else "bvmul", (_value(kept, sort), summand), sort))
    if not is_int:
        constant &= mask
    if constant or not summands:
        summands.append(_value(constant, sort))
    return summands[0] if len(summands) == 1 else Term("+" if is_int else "bvadd", tuple(summands), sort)


def combine(one: Term, other: Term, factor: int) -> Term:
    """`one + factor * other`."""
    sort = one.sort
    if other.op == "value" and other.data == 0:
        return one
    if one.op == "value" and other.op == "value":
        return _value(_number(one) + factor * _number(other), sort)
    if len(one.args) > _MOST and one.op in ("+", "bvadd"):
        factors, constant = {one: 1}, 0
    else:
        factors, constant = parts(one)
    more, extra = parts(other) if len(other.args) <= _MOST else ({other: 1}, 0)
    for summand, times in more.items():
        total = factors.get(summand, 0) + factor * times
        if total:
            factors[summand] = total
        else:
            factors.pop(summand, None)
    return build(factors, constant + factor * extra, sort)


def _number(term: Term) -> int:
    return term.data if isinstance(term.data, int) else 0


def add(one: Term, other: Term) -> Term:
    """The sum of two Int or two bit-vector terms."""
    return combine(one, other, 1)


def subtract(one: Term, other: Term) -> Term:
    """The difference."""
    return combine(one, other, -1)


def negate(term: Term) -> Term:
    """The additive inverse."""
    return combine(_value(0, term.sort), term, -1)


def scale(factor: int, term: Term) -> Term:
    """A term times a constant."""
    return combine(_value(0, term.sort), term, factor)


def equal(one: Term, other: Term) -> Term:
    """Equality; the caller has handled terms that are the same."""
    factors, constant = parts(subtract(one, other))
    sort = one.sort
    true, false = Term("value", (), BOOL, 1), Term("value", (), BOOL, 0)
    if not factors:
        return true if _value(constant, sort).data == 0 else false
    if len(factors) == 1:
        (summand, factor), *_ = factors.items()
        if sort.kind == "Int":
            if constant % factor:
                return false
            return Term("=", (summand, _value(-constant // factor, sort)), BOOL)
        if factor == 1 or factor == (1 << sort.width) - 1:
            return Term("=", (summand, _value(-constant * factor, sort)), BOOL)
    if sort.kind == "Int" and constant % gcd(*factors.values()):
        return false
    if other.op == "value" or not one.args:
        return Term("=", (one, other), BOOL)
    return Term("=", (one, other), BOOL) if other.args else Term("=", (other, one), BOOL)


def _difference(one: Term, other: Term) -> Sum:
    """The parts of the difference of two Int terms, for which no term is built where that would tell nothing else."""
    if len(one.args) > _MOST or len(other.args) > _MOST:
        return parts(subtract(one, other))
    factors, constant = parts(one)
    more, extra = parts(other)
    for summand, times in more.items():
        total = factors.get(summand, 0) - times
        if total:
            factors[summand] = total
        else:
            factors.pop(summand, None)
    if len(factors) == 1 and next(iter(factors)).op == "+":  # a sum of sums of which one is left
        return parts(build(factors, constant - extra, one.sort))
    return factors, constant - extra


def at_most(one: Term, other: Term) -> Term:
    """`one <= other` of Int terms."""
    factors, constant = _difference(one, other)
    if not factors:
        return Term("value", (), BOOL, int(constant <= 0))
    if len(factors) == 1:
        (summand, factor), *_ = factors.items()
        if factor > 0:
            return Term("<=", (summand, _value(-constant // factor, one.sort)), BOOL)
        return Term(">=", (summand, _value(_ceiling(constant, -factor), one.sort)), BOOL)
    return Term("<=", (one, other), BOOL)


def _ceiling(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def less(one: Term, other: Term) -> Term:
    """`one < other` of Int terms."""
    return at_most(add(one, _value(1, one.sort)), other)
