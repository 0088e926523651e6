"""Putting terms in the place of symbols, and rebuilding terms so that they are simplified on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from analysis.smt.logic import bitvectors, linear, real_sums, term_building
from analysis.smt.logic.terms import Term

_ORDERS = frozenset(("<=", ">=", "<", ">"))
_BIT_OPERATIONS = frozenset(
    ("bvand", "bvor", "bvxor", "bvmul", "bvshl", "bvlshr", "bvashr", "bvudiv", "bvurem", "bvsdiv", "bvsrem", "bvsub")
)


def _sum(args: tuple[Term, ...]) -> Term:
    total = args[0]
    for argument in args[1:]:
        total = linear.add(total, argument)
    return total


_REBUILD: dict[str, Callable[[tuple[Term, ...]], Term]] = {
    "not": lambda a: term_building.not_(*a),
    "and": lambda a: term_building.and_(*a),
    "or": lambda a: term_building.or_(*a),
    "ite": lambda a: term_building.ite(*a),
    "=": lambda a: term_building.eq(*a),
    "select": lambda a: term_building.select(*a),
    "+": _sum,
    "bvadd": _sum,
    "*": lambda a: bitvectors.multiply(*a) if len(a) == 2 else Term("*", a, a[0].sort),
    "<=": lambda a: linear.at_most(*a),
    ">=": lambda a: linear.at_most(a[1], a[0]),
    "<": lambda a: linear.less(*a),
    ">": lambda a: linear.less(a[1], a[0]),
    "div": lambda a: bitvectors.euclidean("div", *a),
    "mod": lambda a: bitvectors.euclidean("mod", *a),
    "concat": lambda a: bitvectors.concat(*a),
}


def rebuilt(term: Term, args: tuple[Term, ...]) -> Term:
    """The operator of a term, applied to other arguments (of the same sorts)."""
    if args == term.args:
        return term
    op = term.op
    if op in _ORDERS and args[0].sort.kind != "Int":
        return Term(op, args, term.sort)
    if op in ("+", "*") and args[0].sort.kind == "Real":
        return real_sums.rebuilt(op, args)
    make = _REBUILD.get(op)
    if make is not None:
        return make(args)
    if op in _BIT_OPERATIONS:
        return bitvectors.operation(op, *args)
    if op in ("bvult", "bvule", "bvslt", "bvsle"):
        return bitvectors.compare(op, *args)
    if op == "extract" and isinstance(term.data, tuple):
        return bitvectors.extract(term.data[0], term.data[1], args[0])
    if op in ("zero_extend", "sign_extend"):
        return bitvectors.extend(args[0], term.sort.width, op == "sign_extend")
    return Term(op, args, term.sort, term.data)


class Substitution:
    """Replaces symbols. What was replaced once is remembered, so that one object should be used for terms that share parts."""

    def __init__(self, replace: Mapping[Term, Term] | Callable[[Term], Term]) -> None:
        self._replace = replace if callable(replace) else lambda symbol: replace.get(symbol, symbol)
        self._done: dict[Term, Term] = {}

    def __call__(self, term: Term) -> Term:
        """The term with every symbol replaced."""
        done, waiting = self._done, [term]
        while waiting:
            part = waiting[-1]
            missing = [a for a in part.args if a not in done]
            if missing and part not in done:
                waiting.extend(reversed(missing))
                continue
            waiting.pop()
            if part not in done:
                is_symbol = part.op == "symbol"
                done[part] = self._replace(part) if is_symbol else rebuilt(part, tuple([done[a] for a in part.args]))
        return done[term]

    def all(self, terms: Iterable[Term]) -> tuple[Term, ...]:
        """Several terms."""
        return tuple([self(term) for term in terms])
