"""A formula in partitions that form a tree, as that of a program's calls does ([UPPROVER] Definition 2).

The interpolant of a node separates the partitions in its subtree (the A part) from all others (the B part).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analysis.smt.logic.term_building import TRUE
from analysis.smt.logic.terms import BOOL, Term, symbols


class Partition(msgspec.Struct, frozen=True):
    """One partition: a formula (of sort Bool), and the position of its parent in the sequence, None for the root."""

    formula: Term
    parent: int | None = None


class PartitionTree:
    """Partitions in preorder: the first is the root, each other comes after its parent. ValueError for anything else.

    To have an interpolant of a whole program, make the root the partition of the error and the program its child."""

    def __init__(self, partitions: Sequence[Partition]) -> None:
        if not partitions or partitions[0].parent is not None:
            raise ValueError("the first partition of a tree is its root")
        self.formulas = tuple(partition.formula for partition in partitions)
        self.parents = tuple(partition.parent for partition in partitions)
        children: list[list[int]] = [[] for _ in partitions]
        for node, parent in enumerate(self.parents[1:], 1):
            if parent is None or not 0 <= parent < node:
                raise ValueError(f"partition {node} comes before its parent, or has none")
            children[parent].append(node)
        self.children = tuple(tuple(below) for below in children)
        self._subtrees = self._computed_subtrees()
        self._occurrences: dict[Term, set[int]] = {}
        for node, formula in enumerate(self.formulas):
            for symbol in symbols((formula,)):
                self._occurrences.setdefault(symbol, set()).add(node)

    def __len__(self) -> int:
        return len(self.formulas)

    def _computed_subtrees(self) -> tuple[frozenset[int], ...]:
        below: list[frozenset[int]] = [frozenset()] * len(self.formulas)
        for node in range(len(self.formulas) - 1, -1, -1):
            below[node] = frozenset((node,)).union(*(below[child] for child in self.children[node]))
        return tuple(below)

    def subtree(self, node: int) -> frozenset[int]:
        """The node and all nodes below it."""
        return self._subtrees[node]

    def shared(self, node: int) -> frozenset[Term]:
        """The symbols that occur both in the subtree and outside of it: an interpolant has no others."""
        return self.symbols_inside(node) & self.symbols_outside(node)

    def symbols_inside(self, node: int) -> frozenset[Term]:
        """The symbols that occur in the subtree."""
        inside = self._subtrees[node]
        return frozenset(symbol for symbol, where in self._occurrences.items() if not inside.isdisjoint(where))

    def symbols_outside(self, node: int) -> frozenset[Term]:
        """The symbols that occur outside of the subtree."""
        inside = self._subtrees[node]
        return frozenset(symbol for symbol, where in self._occurrences.items() if not where <= inside)

    def first_with(self, term: Term) -> int | None:
        """The first partition that has all symbols of a term, None if there is none, or if the term has no symbols."""
        having = [self._occurrences.get(symbol, set[int]()) for symbol in symbols((term,))]
        return min(set.intersection(*having), default=None) if having else None

    def meeting(self, one: int, other: int) -> int:
        """The lowest node whose subtree has both nodes."""
        while other not in self._subtrees[one]:
            one = self.parents[one] or 0
        return one

    def inside(self, node: int) -> Term:
        """The conjunction of the subtree: the A part. It is not simplified, so that it has all symbols."""
        return _conjunction([self.formulas[at] for at in sorted(self._subtrees[node])])

    def outside(self, node: int) -> Term:
        """The conjunction of all other partitions: the B part."""
        return _conjunction([formula for at, formula in enumerate(self.formulas) if at not in self._subtrees[node]])


def _conjunction(formulas: list[Term]) -> Term:
    return Term("and", tuple(formulas), BOOL) if formulas else TRUE
