"""What differences of integers imply: `left - right <= most`, of mathematical integers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from analysis.model import ir
from analysis.model.c_types import INT, Integer
from analysis.model.ranges import bounds

ZERO = ir.IntConst(0, INT)
"""Stands for the number 0, of whatever type."""


class Difference(NamedTuple):
    """`left - right <= most`."""

    left: ir.Expr
    right: ir.Expr
    most: int


class Differences:
    """What some differences imply, with the bounds of types."""

    def __init__(self, given: Iterable[Difference]) -> None:
        self.given = frozenset(given)
        self._known: dict[ir.Expr, dict[ir.Expr, int]] = {}

    @cached_property
    def _right_of(self) -> dict[ir.Expr, list[tuple[ir.Expr, int]]]:
        found: dict[ir.Expr, list[tuple[ir.Expr, int]]] = {ZERO: []}
        for left, right, most in sorted(self.given, key=lambda one: one.most):
            found.setdefault(left, []).append((right, most))
            found.setdefault(right, [])
        return found

    def most(self, left: ir.Expr, right: ir.Expr) -> int | None:
        """The least number that is known not to be less than the difference; None if there is none."""
        if left == right:
            return 0
        own = self._from(left).get(right)
        if right in self._right_of or right == ZERO:
            return own
        to_zero = self._from(left).get(ZERO)  # nothing is known of it but its type
        least = _bounds(right)[0]
        return None if to_zero is None or least is None else to_zero - least

    def range(self, term: ir.Expr) -> tuple[int | None, int | None]:
        """The least and the greatest value that a term can have."""
        below = self.most(ZERO, term)
        return None if below is None else -below, self.most(term, ZERO)

    def implies(self, other: Difference) -> bool:
        """Whether a difference follows."""
        found = self.most(other.left, other.right)
        return found is not None and found <= other.most

    @property
    def is_contradiction(self) -> bool:
        """Whether no values satisfy all that is given."""
        return any((back := self.most(one.right, one.left)) is not None and back + one.most < 0 for one in self.given)

    def _from(self, start: ir.Expr) -> dict[ir.Expr, int]:
        """How much larger than others a term can be at most: shortest paths (Bellman and Ford)."""
        if start in self._known:
            return self._known[start]
        found, nodes = {start: 0}, {*self._right_of, start}
        for _ in range(len(nodes)):
            changed = False
            for node in list(found):
                for right, most in self._next(node, nodes):
                    if right not in found or found[node] + most < found[right]:
                        found[right], changed = found[node] + most, True
            if not changed:
                break
        self._known[start] = found
        return found

    def _next(self, node: ir.Expr, nodes: set[ir.Expr]) -> Iterable[tuple[ir.Expr, int]]:
        yield from self._right_of.get(node, ())
        if node == ZERO:
            yield from ((one, -least) for one in nodes if one != ZERO and (least := _bounds(one)[0]) is not None)
        elif (greatest := _bounds(node)[1]) is not None:
            yield ZERO, greatest


def _bounds(term: ir.Expr) -> tuple[int | None, int | None]:
    """The bounds of the type of a term."""
    if term == ZERO:
        return 0, 0
    return bounds(term.type) if isinstance(term.type, Integer) else (None, None)
