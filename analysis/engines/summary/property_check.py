"""Properties (7) and (8) of [UPPROVER], from which safety follows, asked of a whole tree."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.engines.summary.body_partitions import ERROR, FLAW
from analysis.engines.summary.call_tree import CallTree, Node
from analysis.engines.summary.substitution_schemes import SubtreeFormula
from analysis.smt.logic.term_building import not_, or_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, Solver, is_unsat
from analysis.smt.solving.z3_backend import Z3Solver


def broken(tree: CallTree, summaries: Mapping[str, Term], budget: Budget) -> list[Node]:
    """The calls whose summaries need not follow from their bodies and the summaries of the calls that they make (the bodies,
    where these have none); the root, too, if its summary does not exclude violations. Empty: no run within the bound violates."""
    solver = Z3Solver.near()
    found = [node for node in tree.nodes if node.key in summaries and not _follows(node, summaries, solver, budget)]
    at_root = summaries.get(tree.root.key)
    if at_root is None or not is_unsat(solver, (at_root, or_(ERROR, FLAW)), budget):
        found.append(tree.root)
    return found


def _follows(node: Node, summaries: Mapping[str, Term], solver: Solver, budget: Budget) -> bool:
    formula = SubtreeFormula(node, "eager", summaries)
    return is_unsat(solver, (*formula.first, not_(node.instance(summaries[node.key]))), budget)
