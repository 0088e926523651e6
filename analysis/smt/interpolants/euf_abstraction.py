"""Weakens formulas of the encodings to equality and uninterpreted functions.

Every sort but Bool becomes Int, of which only equality is used; every operator becomes a function of which nothing is known but
that equal arguments give equal results. A function is a symbol of an array sort, which is applied by `select`: z3 and the
stored text need nothing new. Values stay different values.

A model of a formula gives a model of its abstraction: the values of its terms are numbered, and each function is the table of
its operator. So if abstractions contradict each other, the formulas do.
"""

from __future__ import annotations

from analysis.smt.interpolants.clauses import is_connective
from analysis.smt.logic import linear
from analysis.smt.logic.substitution import rebuilt
from analysis.smt.logic.term_building import eq, integer, ite, not_, select, symbol
from analysis.smt.logic.terms import BOOL, INT, Sort, Term, array, subterms


class EufAbstraction:
    """Abstracts formulas. One operator has one name wherever it occurs, so that abstractions can be conjoined.

    `meaning` has the symbols that new symbols stand for. Functions are not in it: their names begin with `fn!` and their
    operator."""

    def __init__(self) -> None:
        self.meaning: dict[Term, Term] = {}
        self._done: dict[Term, Term] = {}

    def __call__(self, formula: Term) -> Term:
        """A formula over Bool, Int and arrays of them, in which `select` is the only operator that is no connective, equality or
        choice."""
        for part in subterms((formula,)):
            if part not in self._done:
                self._done[part] = self._abstracted(part)
        return self._done[formula]

    def _abstracted(self, term: Term) -> Term:
        args = tuple([self._done[argument] for argument in term.args])
        if term.sort.kind == "Bool" and (is_connective(term) or term.op in ("symbol", "value")):
            return rebuilt(term, args)
        match term.op:
            case "symbol":
                return self._symbol(term)
            case "value":
                return self._value(term)
            case "ite":
                return ite(*args)
            case "=":
                return eq(*args)
            case "<=" | "<" | ">" | ">=" if term.args[0].sort.kind in ("Int", "Real"):
                return self._compared(term)
        return self._applied(term, term.op, args)

    def _compared(self, term: Term) -> Term:
        """An order as `<=` or its negation, of whole numbers with no constant on the left and none below 0 on the right: an atom
        and what constructors of terms make of its negation (of `a <= b`, `b + 1 <= a`) must be alike."""
        one, other = term.args[::-1] if term.op in (">", ">=") else term.args
        if term.op in ("<", ">"):
            return not_(self._at_most(term, other, one))
        if one.sort.kind == "Real":
            return self._at_most(term, one, other)
        first, second = linear.parts(one)[1], linear.parts(other)[1]
        one, other = linear.subtract(one, integer(first)), linear.subtract(other, integer(second))
        if first <= second:
            return self._at_most(term, one, linear.add(other, integer(second - first)))
        return not_(self._at_most(term, other, linear.add(one, integer(first - second - 1))))

    def _at_most(self, term: Term, one: Term, other: Term) -> Term:
        return self._applied(term, "<=", (self(one), self(other)))

    def _symbol(self, term: Term) -> Term:
        made = symbol(str(term.data) if _keeps_its_name(term) else f"of {term.sort}!{term.data}", INT)
        self.meaning[made] = term
        return made

    def _value(self, term: Term) -> Term:
        """A value as a number: one number for each of a sort. Fractions are symbols, so that they may be equal."""
        if isinstance(term.data, tuple):
            above, below = term.data
            return integer(above) if below == 1 else symbol(f"of {term.sort}!{above}/{below}", INT)
        return integer(int(term.data or 0))

    def _applied(self, term: Term, op: str, args: tuple[Term, ...]) -> Term:
        """A function of its arguments, one after the other; a Boolean is 1 or 0."""
        numbers = [ite(one, integer(1), integer(0)) if one.sort.kind == "Bool" else one for one in args]
        sorts = " ".join(str(argument.sort) for argument in term.args)
        data = "" if term.data is None else f" {term.data}"
        sort: Sort = BOOL if term.sort.kind == "Bool" else INT
        for _ in numbers:
            sort = array(INT, sort)
        applied = symbol(f"fn!{op}{data}: {sorts} -> {term.sort}", sort)
        for number in numbers:
            applied = select(applied, number)
        return applied


def _keeps_its_name(term: Term) -> bool:
    return term.sort.kind == "Int" and not str(term.data).startswith(("of ", "fn!"))
