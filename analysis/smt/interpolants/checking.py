"""Asks a solver whether candidates are interpolants, whatever made them ([UPPROVER] Definition 1, equation 8).

All answers are "no" where the solver cannot tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.smt.interpolants.partitions import PartitionTree
from analysis.smt.logic.term_building import FALSE, not_
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.solver import Budget, Solver, is_unsat

_BUDGET = Budget()


def is_interpolant(solver: Solver, inside: Term, outside: Term, candidate: Term, budget: Budget = _BUDGET) -> bool:
    """Definition 1: A implies the candidate, it contradicts B, and its symbols occur in both. `solver` holds nothing else."""
    common = set(symbols((inside,))) & set(symbols((outside,)))
    return (
        common.issuperset(symbols((candidate,)))
        and is_unsat(solver, (inside, not_(candidate)), budget)
        and is_unsat(solver, (candidate, outside), budget)
    )


def broken_nodes(solver: Solver, tree: PartitionTree, found: Sequence[Term], budget: Budget = _BUDGET) -> tuple[int, ...]:
    """The nodes where the tree property fails: a node's partition and its children's interpolants must imply the node's
    (equation 8), its symbols must be shared, and the root's must be `false`.

    Where no node is broken, each interpolant fulfils Definition 1: from the leaves up, its subtree implies it; from the
    root down, it contradicts the rest. So one small query for each node replaces two that are as large as the tree."""
    if len(found) != len(tree):
        raise ValueError("one interpolant for each partition is wanted")
    return tuple(node for node in range(len(tree)) if not _holds_at(solver, tree, found, node, budget))


def _holds_at(solver: Solver, tree: PartitionTree, found: Sequence[Term], node: int, budget: Budget) -> bool:
    if node == 0 and found[0] is not FALSE:
        return False
    if not tree.shared(node).issuperset(symbols((found[node],))):
        return False
    below = [found[child] for child in tree.children[node]]
    return is_unsat(solver, (*below, tree.formulas[node], not_(found[node])), budget)


def has_tree_property(solver: Solver, tree: PartitionTree, found: Sequence[Term], budget: Budget = _BUDGET) -> bool:
    """Whether no node is broken."""
    return not broken_nodes(solver, tree, found, budget)
