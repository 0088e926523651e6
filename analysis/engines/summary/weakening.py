"""Summaries weakened to what still holds ([UPPROVER] Algorithm 4; Houdini)."""

from __future__ import annotations

from analysis.engines.summary.body_partitions import conjuncts_of
from analysis.engines.summary.call_tree import Node
from analysis.engines.summary.substitution_schemes import SubtreeFormula, Summaries
from analysis.smt.logic.term_building import and_, not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, Solver

_MOST_CHECKS = 32  # of one summary: a check may cost it no more than one conjunct, and a store may say that it has thousands


def weaken(node: Node, summaries: Summaries, solver: Solver, budget: Budget) -> int:
    """Leaves of the summary of a call the conjuncts that its subtree implies, where the calls below are their summaries, or their
    bodies where they have none. Where nothing is left, too many checks would settle what is, or the solver does not know, the
    call has no summary any more. Returns the number of checks. `solver` holds nothing else."""
    candidates = list(conjuncts_of(summaries[node.key]))
    solver.push()
    solver.add(*SubtreeFormula(node, "eager", summaries).first)
    checks = 0
    while candidates:
        if checks == _MOST_CHECKS:
            candidates = []
            break
        checks += 1
        solver.push()
        solver.add(not_(node.instance(and_(*candidates))))
        answer = solver.check(budget=budget)
        if answer.status == "unsat":
            solver.pop()
            break
        left: list[Term] = []
        if answer.status == "sat":
            model = solver.model()
            left = [part for part in candidates if model.value(node.instance(part))]
        solver.pop()
        candidates = left if len(left) < len(candidates) else []  # a model in which all hold settles nothing
    solver.pop()
    if candidates:
        summaries[node.key] = and_(*candidates)
    else:
        del summaries[node.key]
    return checks
