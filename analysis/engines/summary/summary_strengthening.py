"""New summaries from a valid implication: interpolants of the calls that had their bodies in it ([UPPROVER] Algorithm 1, and
Algorithm 3, line 17)."""

from __future__ import annotations

from analysis.engines.summary.body_partitions import ERROR, FLAW, RETURNS, conjuncts_of, speaks_only_of
from analysis.engines.summary.call_tree import Node
from analysis.engines.summary.substitution_schemes import SubtreeFormula, Summaries
from analysis.engines.summary.tree_interpolation import Interpolator, TreeProblem
from analysis.model import clock
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import TRUE, and_, not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, Solver

_MOST = 0.5  # of what is left: summaries are for the next revision
_LIKELY = (not_(ERROR), not_(FLAW), not_(RETURNS))


def strengthen(
    formula: SubtreeFormula, goal: Term, summaries: Summaries, make: Interpolator, solver: Solver, budget: Budget
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Gives summaries to the calls that a valid implication needed: an interpolant, conjoined with the summary that there was, to
    a call with its body; `true` to one that stood for nothing. A call for which no interpolant is found has no summary any more,
    so that it counts as a part of its caller. Returns the keys of calls with new summaries, and of those without any.

    A call without a summary gets none if a call between it and the root has one: that holds with the body of the call below, and
    need not hold with less."""
    open_ = [node for node in (*formula.bodies, *formula.frontier) if _may_have(node, formula, summaries)]
    inner = [node for node in open_ if node in formula.bodies]
    found = _interpolants(formula, goal, inner, make, solver, budget)
    made: list[str] = []
    lost: list[str] = []
    for node in inner:
        before = summaries.get(node.key)
        if node in found:
            summaries[node.key] = conjoined(TRUE if before is None else before, found[node])
            made += [node.key] if summaries[node.key] is not before else []
        elif summaries.pop(node.key, None) is not None:
            lost.append(node.key)
    for node in open_:
        if node in formula.frontier and node.key not in summaries:
            summaries[node.key] = TRUE
            made.append(node.key)
    return tuple(made), tuple(lost)


def _interpolants(
    formula: SubtreeFormula, goal: Term, wanted: list[Node], make: Interpolator, solver: Solver, budget: Budget
) -> dict[Node, Term]:
    """Interpolants of calls, over canonical symbols, from what the formula says and that the goal does not hold."""
    if not wanted:
        return {}
    nodes = sorted((*formula.bodies, *formula.frontier), key=lambda node: node.number)
    position = {node: number for number, node in enumerate(nodes)}
    parents = [-1 if node.parent is None else position.get(node.parent, -1) for node in nodes]
    formulas = [formula.label(node) for node in nodes]
    formulas[0] = and_(formulas[0], not_(formula.root.instance(goal)))
    literals = {position[node]: [node.instance(literal) for literal in _LIKELY] for node in wanted}
    # each question has a bound, and there may be hundreds; time is left to ask what is known of this revision
    with clock.within(min(budget.seconds, clock.part(_MOST))):
        found = TreeProblem(formulas, parents, literals).solution(make, [position[node] for node in wanted], solver, budget)
    about = {node: _canonical(node, found[position[node]]) for node in wanted if position[node] in found}
    return {node: summary for node, summary in about.items() if summary is not None}


def _may_have(node: Node, formula: SubtreeFormula, summaries: Summaries) -> bool:
    """Whether a call may get a summary, or another one, without harm to those of the calls above it."""
    if node is formula.root or node.is_cut:
        return False
    if node.key in summaries:
        return True
    for above in node.above():
        if above is formula.root:
            return True
        if above.key in summaries:
            return False
    return True


def _canonical(node: Node, instance: Term) -> Term | None:
    """A formula about a call over canonical symbols; None if it speaks of anything else."""
    names = {node.instance.symbol(symbol): symbol for symbol in node.partition.interface}
    summary = Substitution(names)(instance)
    return summary if speaks_only_of(summary, node.partition.interface) else None


def conjoined(one: Term, other: Term) -> Term:
    """Two summaries of a call as one, with each conjunct once."""
    return and_(*dict.fromkeys((*conjuncts_of(one), *conjuncts_of(other))))
