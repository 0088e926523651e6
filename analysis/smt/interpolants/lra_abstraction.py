"""Weakens formulas of the encodings to linear real arithmetic: what is not linear becomes a symbol that may be anything.

A model of a formula gives a model of its abstraction: an Int or a bit-vector (unsigned) is taken as the real number that
it is. So if abstractions contradict each other, the formulas do. It does not hold the other way, and not for the negation of an
abstraction: abstract the negation instead.

What whole numbers add is kept where it is linear: what is not equal differs by at least 1, a quotient and a remainder by a
constant have their defining equation, bit-vectors their range.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from analysis.smt.logic import real_sums
from analysis.smt.logic.bitvectors import euclidean
from analysis.smt.logic.term_building import and_, constant_of, not_, or_, real, symbol
from analysis.smt.logic.terms import BOOL, REAL, Sort, Term, subterms, symbols

_TAGS = ("opaque!", "real!", "bits", "int!", "choice!")
_NUMBERS = frozenset(("Int", "Real", "BitVec"))
_COMPARISONS = frozenset(("=", "<=", "<", ">=", ">", "bvult", "bvule"))
_ONE = Fraction(1)


class LraAbstraction:
    """Abstracts formulas. One term has one name wherever it occurs, so that abstractions can be conjoined.

    `meaning` has the terms that new symbols stand for. A new symbol is named after what the term says and after `scope`: give
    each partition a scope of its own, and no interpolant has new symbols."""

    def __init__(self) -> None:
        self.meaning: dict[Term, Term] = {}

    def __call__(self, formula: Term, scope: str = "") -> Term:
        """A formula of linear real arithmetic with if-then-else in no term, which a model of the given one satisfies. Symbols of
        sort Int keep their names, and so do Boolean ones."""
        return _Abstracting(scope, self.meaning).formula(formula)


def real_symbol(term: Term) -> Term:
    """The symbol of sort Real for one of sort Int, Real or BitVec. No two have the same."""
    name = str(term.data)
    if term.sort.kind == "Int":
        return symbol(f"int!{name}" if name.startswith(_TAGS) else name, REAL)
    return symbol(f"real!{name}" if term.sort.kind == "Real" else f"bits{term.sort.width}!{name}", REAL)


class _Abstracting:
    """The abstraction of one formula: `_numbers` has each term of a number as a sum, `_truth` each Boolean term and its
    negation, both weakened; `_facts` what is known of a new symbol, or of one whose sort has a range."""

    def __init__(self, scope: str, meaning: dict[Term, Term]) -> None:
        self._scope, self._meaning = scope, meaning
        self._numbers: dict[Term, Term] = {}
        self._truth: dict[Term, tuple[Term, Term]] = {}
        self._facts: dict[Term, Term] = {}

    def formula(self, formula: Term) -> Term:
        for part in subterms((formula,)):
            if part.sort.kind == "Bool":
                self._truth[part] = self._weakened(part)
            elif part.sort.kind in _NUMBERS:
                self._numbers[part] = self._number(part)
        found, known = [self._truth[formula][0]], set[Term]()
        waiting = list(symbols(found))
        while waiting:
            one = waiting.pop()
            if one not in known:
                known.add(one)
                if one in self._facts:
                    found.append(self._facts[one])
                    waiting.extend(symbols((self._facts[one],)))
        return and_(*found)

    # -- Boolean terms -------------------------------------------------------------------------------------------

    def _weakened(self, term: Term) -> tuple[Term, Term]:
        """The term and its negation, each weakened."""
        parts = [self._truth[argument] for argument in term.args if argument.sort.kind == "Bool"]
        match term.op:
            case "not":
                return parts[0][1], parts[0][0]
            case "and":
                return and_(*(yes for yes, _ in parts)), or_(*(no for _, no in parts))
            case "or":
                return or_(*(yes for yes, _ in parts)), and_(*(no for _, no in parts))
            case "ite":
                (yes, no), one, other = parts
                return or_(and_(yes, one[0]), and_(no, other[0])), or_(and_(yes, one[1]), and_(no, other[1]))
            case "=" if len(parts) == 2:
                (yes, no), (also, neither) = parts
                return or_(and_(yes, also), and_(no, neither)), or_(and_(yes, neither), and_(no, also))
            case "symbol" | "value":
                return term, not_(term)
        if term.op in _COMPARISONS and term.args[0].sort.kind in _NUMBERS:
            return self._compared(term)
        opaque = self._new(term, BOOL)
        return opaque, not_(opaque)

    def _compared(self, term: Term) -> tuple[Term, Term]:
        one, other = (self._numbers[argument] for argument in term.args)
        gap = Fraction(0) if term.args[0].sort.kind == "Real" else _ONE  # by which whole numbers differ at least
        match term.op:
            case "=":
                equal = and_(_below(one, other), _below(other, one))
                return equal, or_(_below(one, other, gap, not gap), _below(other, one, gap, not gap))
            case "<" | "bvult":
                return _below(one, other, gap, not gap), _below(other, one)
            case ">":
                return _below(other, one, gap, not gap), _below(one, other)
            case ">=":
                return _below(other, one), _below(one, other, gap, not gap)
        return _below(one, other), _below(other, one, gap, not gap)

    # -- numbers -------------------------------------------------------------------------------------------------

    def _number(self, term: Term) -> Term:
        make = _NUMBER.get(term.op)
        found = None if make is None else make(self, term)
        return self._new(term, REAL) if found is None else found

    def _new(self, term: Term, sort: Sort) -> Term:
        """The symbol for a term of which nothing is kept but its range."""
        made = symbol(f"opaque!{self._scope}{term.digest.hex()}", sort)
        self._meaning[made] = term
        self._give_range(made, term)
        return made

    def _give_range(self, made: Term, term: Term) -> None:
        if term.sort.kind == "BitVec":
            most = real(Fraction(2**term.sort.width - 1))
            self._facts[made] = and_(_below(real(Fraction(0)), made), _below(made, most))

    def symbol(self, term: Term) -> Term | None:
        made = real_symbol(term)
        self._give_range(made, term)
        return made

    def value(self, term: Term) -> Term | None:
        if isinstance(term.data, tuple):
            return real(Fraction(*term.data))
        return real(Fraction(int(term.data or 0)))

    def sum(self, term: Term) -> Term | None:
        return real_sums.rebuilt("+", tuple(self._numbers[argument] for argument in term.args))

    def product(self, term: Term) -> Term | None:
        factors = [self._numbers[argument] for argument in term.args]
        if sum(bool(real_sums.parts(factor)[0]) for factor in factors) > 1:
            return None
        return real_sums.rebuilt("*", tuple(factors))

    def same(self, term: Term) -> Term | None:
        return self._numbers[term.args[0]]

    def choice(self, term: Term) -> Term | None:
        """A new symbol that is one or the other."""
        made = self._new(term, REAL)
        (yes, no), then, otherwise = self._truth[term.args[0]], *(self._numbers[argument] for argument in term.args[1:])
        chosen = and_(or_(no, _equal(made, then)), or_(yes, _equal(made, otherwise)))
        self._facts[made] = and_(self._facts[made], chosen) if made in self._facts else chosen
        return made

    def division(self, term: Term) -> Term | None:
        """The quotient as a new symbol q: the dividend is `divisor * q` and a remainder from 0 to |divisor| - 1. As q is whole,
        it is 0 or at least 1 away from that: so the remainder of a dividend in this range is the dividend."""
        dividend, divisor = self._numbers[term.args[0]], constant_of(term.args[1])
        if not divisor:
            return None
        quotient = self._new(euclidean("div", *term.args), REAL)
        multiple = real_sums.rebuilt("*", (real(Fraction(-divisor)), quotient))
        remainder = real_sums.rebuilt("+", (dividend, multiple))
        zero, one = real(Fraction(0)), real(_ONE)
        whole = or_(_equal(quotient, zero), _below(quotient, real(-_ONE)), _below(one, quotient))
        self._facts[quotient] = and_(_below(zero, remainder), _below(remainder, real(Fraction(abs(divisor) - 1))), whole)
        return quotient if term.op == "div" else remainder


_NUMBER: dict[str, Callable[[_Abstracting, Term], Term | None]] = {
    "symbol": _Abstracting.symbol,
    "value": _Abstracting.value,
    "+": _Abstracting.sum,
    "*": _Abstracting.product,
    "ite": _Abstracting.choice,
    "div": _Abstracting.division,
    "mod": _Abstracting.division,
    "to_real": _Abstracting.same,
    "zero_extend": _Abstracting.same,
}


def _below(one: Term, other: Term, gap: Fraction = Fraction(0), is_strict: bool = False) -> Term:
    """`one + gap <= other`, or `<`."""
    factors, constant = real_sums.total(((real_sums.parts(one), _ONE), (real_sums.parts(other), -_ONE)))
    return real_sums.not_above_zero(factors, constant + gap, is_strict)


def _equal(one: Term, other: Term) -> Term:
    return and_(_below(one, other), _below(other, one))
