"""Linear constraints, and weighted sums of them decomposed into smaller sums ([UPPROVER] section 5.2, Itp^D).

A sum that eliminates all local symbols is an interpolant. If its weights are a sum of vectors of weights that each
eliminate all local symbols, the smaller sums conjoined are one too, and say more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction

import msgspec

from analysis.smt.logic import real_sums
from analysis.smt.logic.terms import Term

_MOST = 40  # constraints that are decomposed; elimination costs the cube of their number
_ONE = Fraction(1)


class Constraint(msgspec.Struct, frozen=True):
    """`sum <= 0`, or `sum < 0`: the factors of the summands, none of them 0, and the constant of the sum."""

    factors: Mapping[Term, Fraction]
    constant: Fraction
    is_strict: bool

    def term(self) -> Term:
        """The constraint as a term in normal form."""
        return real_sums.not_above_zero(self.factors, self.constant, self.is_strict)

    @property
    def is_contradiction(self) -> bool:
        """Whether no values satisfy it."""
        return not self.factors and (self.constant > 0 or (self.is_strict and self.constant == 0))


def added(weighted: Sequence[tuple[Constraint, Fraction]]) -> Constraint:
    """The sum of constraints times weights of at least 0. Without constraints: `0 <= 0`."""
    factors, constant = real_sums.total(((dict(one.factors), one.constant), weight) for one, weight in weighted)
    return Constraint(factors, constant, any(one.is_strict and weight for one, weight in weighted))


def decomposed(constraints: Sequence[Constraint], shared: AbstractSet[Term]) -> list[Constraint]:
    """Constraints without symbols other than the shared ones whose sum is the sum of the given ones, which must have none
    either. Each is a sum of given ones, times weights of at least 0, of which none can be left out.

    Weights are moved along vectors that change no local symbol until one of them is 0; what is left at the end is such a sum.
    It is subtracted as often as it fits, and the rest decomposed again. More than 40 constraints are not decomposed."""
    found = [one for one in constraints if shared >= one.factors.keys()]
    linked = [one for one in constraints if not shared >= one.factors.keys()]
    if len(linked) > _MOST:
        return [*found, added([(one, _ONE) for one in linked])]
    local = list(dict.fromkeys(summand for one in linked for summand in one.factors if summand not in shared))
    rows = [[one.factors.get(summand, Fraction(0)) for one in linked] for summand in local]
    weights = [_ONE] * len(linked)
    while any(weights):
        ray = _smallest(rows, weights)
        times = min(weight / part for weight, part in zip(weights, ray, strict=True) if part)
        found.append(added([(one, part * times) for one, part in zip(linked, ray, strict=True) if part]))
        weights = [weight - part * times for weight, part in zip(weights, ray, strict=True)]
    return found


def _smallest(rows: list[list[Fraction]], weights: list[Fraction]) -> list[Fraction]:
    """Weights that the rows take to 0, of which none can be made 0, at places where the given ones are not 0."""
    while True:
        places = [place for place, weight in enumerate(weights) if weight]
        direction = _other_solution([[row[place] for place in places] for row in rows], [weights[place] for place in places])
        if direction is None:
            return weights
        if not any(part > 0 for part in direction):
            direction = [-part for part in direction]
        times = min(weights[place] / part for place, part in zip(places, direction, strict=True) if part > 0)
        weights = list(weights)
        for place, part in zip(places, direction, strict=True):
            weights[place] -= part * times


def _other_solution(rows: list[list[Fraction]], weights: list[Fraction]) -> list[Fraction] | None:
    """A vector that the rows take to 0 and that is no multiple of the weights, None if there is none."""
    for solution in _solutions(rows, len(weights)):
        ratio = next(part / weight for part, weight in zip(solution, weights, strict=True))
        if any(part != weight * ratio for part, weight in zip(solution, weights, strict=True)):
            return solution
    return None


def _solutions(rows: list[list[Fraction]], width: int) -> list[list[Fraction]]:
    """A basis of the vectors that the rows take to 0, by elimination."""
    reduced: list[tuple[int, list[Fraction]]] = []  # each row with the column that only it has
    for row in rows:
        left = list(row)
        for column, other in reduced:
            _subtract(left, other, left[column])
        pivot = next((column for column, value in enumerate(left) if value), None)
        if pivot is None:
            continue
        left = [value / left[pivot] for value in left]
        for _, other in reduced:
            _subtract(other, left, other[pivot])
        reduced.append((pivot, left))
    pivots = {column for column, _ in reduced}
    found = []
    for free in range(width):
        if free not in pivots:
            solution = [Fraction(0)] * width
            solution[free] = _ONE
            for column, row in reduced:
                solution[column] = -row[free]
            found.append(solution)
    return found


def _subtract(row: list[Fraction], other: list[Fraction], times: Fraction) -> None:
    if times:
        for place, value in enumerate(other):
            row[place] -= value * times
