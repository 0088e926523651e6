"""Bounds of one sum in a conjunction or disjunction as one bound of each direction: interpolants from proofs have many.

It reads the normal form of `real_sums.not_above_zero`, and leaves all else as it is.
"""

from __future__ import annotations

from fractions import Fraction

import msgspec

from analysis.smt.interpolants.clauses import is_connective
from analysis.smt.logic.substitution import rebuilt
from analysis.smt.logic.term_building import FALSE, TRUE, and_, or_
from analysis.smt.logic.terms import Term, subterms


class _Bound(msgspec.Struct, frozen=True):
    """A bound of a sum: at most `value` if it is an upper one, else at least. A strict bound excludes the value itself."""

    sum: Term
    is_upper: bool
    value: Fraction
    is_strict: bool

    @property
    def rank(self) -> tuple[Fraction, bool]:
        """Bounds of one sum and direction, from the strongest to the weakest."""
        return (self.value, not self.is_strict) if self.is_upper else (-self.value, not self.is_strict)


def merged(formula: Term) -> Term:
    """An equivalent formula in which no `and` or `or` has two bounds of one sum and direction among its arguments."""
    done: dict[Term, Term] = {}
    for part in subterms((formula,)):
        if part.sort.kind != "Bool":
            continue
        if not is_connective(part):
            done[part] = part
            continue
        again = rebuilt(part, tuple([done[argument] for argument in part.args]))
        done[part] = _merged(again) if again.op in ("and", "or") else again
    return done[formula]


def _merged(term: Term) -> Term:
    is_and = term.op == "and"
    kept: dict[tuple[Term, bool], tuple[_Bound, Term]] = {}
    others: list[Term] = []
    for part in term.args:
        bound = _bound(part)
        if bound is None:
            others.append(part)
            continue
        key = bound.sum, bound.is_upper
        known = kept.get(key)
        if known is None or (bound.rank < known[0].rank) == is_and:
            kept[key] = bound, part
    if _meets(kept, is_and):
        return FALSE if is_and else TRUE
    parts = [*(part for _, part in kept.values()), *others]
    return and_(*parts) if is_and else or_(*parts)


def _meets(kept: dict[tuple[Term, bool], tuple[_Bound, Term]], is_and: bool) -> bool:
    """Whether two bounds of one sum leave nothing, of a conjunction, or leave nothing out, of a disjunction."""
    for (summed, is_upper), (upper, _) in kept.items():
        lower = kept.get((summed, False)) if is_upper else None
        if lower is not None:
            gap = lower[0].value - upper.value
            if is_and and (gap > 0 or (gap == 0 and (upper.is_strict or lower[0].is_strict))):
                return True
            if not is_and and (gap < 0 or (gap == 0 and not (upper.is_strict and lower[0].is_strict))):
                return True
    return False


def _bound(term: Term) -> _Bound | None:
    is_upper = term.op != "not"
    atom = term if is_upper else term.args[0]
    if atom.op not in ("<=", "<") or atom.args[0].sort.kind != "Real" or not isinstance(atom.args[1].data, tuple):
        return None
    if atom.args[1].op != "value":
        return None
    return _Bound(atom.args[0], is_upper, Fraction(*atom.args[1].data), (atom.op == "<") == is_upper)
