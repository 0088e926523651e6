"""Sums of Real terms in a normal form: a mapping from summands to factors, none of them 0, and a constant.

`linear` does the same for Int and bit-vectors, whose factors are whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm

from analysis.smt.logic.terms import BOOL, REAL, Term

Sum = tuple[dict[Term, Fraction], Fraction]


def parts(term: Term) -> Sum:
    """The factors of the summands, and the constant. A product of two summands is a summand itself."""
    done: dict[Term, Sum] = {}
    waiting = [term]
    while waiting:
        part = waiting[-1]
        missing = [a for a in part.args if a not in done] if part.op in ("+", "*") else []
        if missing:
            waiting.extend(missing)
        else:
            waiting.pop()
            done[part] = _parts(part, done)
    return done[term]


def _parts(term: Term, done: Mapping[Term, Sum]) -> Sum:
    if term.op == "value" and isinstance(term.data, tuple):
        return {}, Fraction(*term.data)
    if term.op == "+":
        return total((done[argument], Fraction(1)) for argument in term.args)
    if term.op == "*":
        constants = [done[argument][1] for argument in term.args if not done[argument][0]]
        others = [argument for argument in term.args if done[argument][0]]
        if len(others) <= 1:
            factor = Fraction(1)
            for constant in constants:
                factor *= constant
            return total([(done[others[0]], factor)]) if others else ({}, factor)
    return {term: Fraction(1)}, Fraction(0)


def total(summed: Iterable[tuple[Sum, Fraction]]) -> Sum:
    """The sum of sums, each times a factor."""
    factors: dict[Term, Fraction] = {}
    constant = Fraction(0)
    for (more, extra), times in summed:
        constant += extra * times
        for summand, factor in more.items():
            found = factors.get(summand, Fraction(0)) + factor * times
            if found:
                factors[summand] = found
            else:
                factors.pop(summand, None)
    return factors, constant


def build(factors: Mapping[Term, Fraction], constant: Fraction) -> Term:
    """The term of a sum: summands in the order of the mapping, the constant last."""
    summands = [
        summand if factor == 1 else Term("*", (_value(factor), summand), REAL) for summand, factor in factors.items() if factor
    ]
    if constant or not summands:
        summands.append(_value(constant))
    return summands[0] if len(summands) == 1 else Term("+", tuple(summands), REAL)


def _value(value: Fraction) -> Term:
    return Term("value", (), REAL, (value.numerator, value.denominator))


def rebuilt(op: str, args: tuple[Term, ...]) -> Term:
    """`+` or `*` of Real terms, in the normal form."""
    return build(*parts(Term(op, args, REAL)))


def not_above_zero(factors: Mapping[Term, Fraction], constant: Fraction, is_strict: bool) -> Term:
    """`sum <= 0`, or `sum < 0`: one term for all that say the same up to a positive factor, and its negation for their
    negations. Factors are whole and have no common divisor; the first summand by name has a positive factor."""
    if not factors:
        return Term("value", (), BOOL, int(constant < 0 or (constant == 0 and not is_strict)))
    order = sorted(factors, key=lambda summand: (str(summand.data), summand.digest))
    whole = lcm(*(factors[summand].denominator for summand in order))
    divisor = gcd(*(int(factors[summand] * whole) for summand in order))
    is_turned = factors[order[0]] < 0
    scale = Fraction(-whole if is_turned else whole, divisor)
    left = build({summand: factors[summand] * scale for summand in order}, Fraction(0))
    # turned: the sum is positive, or not negative
    atom = Term("<" if is_strict != is_turned else "<=", (left, _value(-constant * scale)), BOOL)
    return Term("not", (atom,), BOOL) if is_turned else atom
