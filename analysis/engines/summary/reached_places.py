"""Whether any run within the bound reaches a check, that is, a location where the property could be violated next. If none does,
it says nothing that no run violates the property."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.cfa.graph import Cfa
from analysis.engines.summary.call_tree import CallTree, Node
from analysis.model import ir
from analysis.smt.logic.term_building import FALSE
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, is_unsat
from analysis.smt.solving.z3_backend import Sharing, Z3Solver

_MOST = 50  # calls with checks; if there are more, none is asked about


def check_locations(cfa: Cfa, edges: Iterable[int], loops: Iterable[frozenset[int]]) -> frozenset[int]:
    """The locations where checks begin. `edges` are those that can violate the property. A check begins before the conditions
    that lead to its edge, so that a run reaches `assert(c)` even if `c` holds. `loops` are the locations of each loop: the
    condition of a loop is no part of a check behind the loop."""
    violations = frozenset(edges)
    around = [*loops]
    found = {cfa.by_id[edge].source for edge in violations}
    waiting = list(found)
    while waiting:
        for edge in cfa.incoming.get(waiting.pop(), ()):
            if edge.source in found or not isinstance(edge.effect, ir.Assume):
                continue
            apart = [loop for loop in around if (edge.source in loop) != (edge.target in loop)]
            # a failure inside a loop never jumps back, so its edges are outside of the loop's component
            if not apart or (all(edge.source in loop for loop in apart) and _fails(cfa, edge.target, violations)):
                found.add(edge.source)
                waiting.append(edge.source)
    return frozenset(found)


def _fails(cfa: Cfa, location: int, violations: frozenset[int]) -> bool:
    """Whether every path from the location leads to a violation, because it never branches."""
    seen: set[int] = set()
    while location not in seen and len(cfa.outgoing.get(location, ())) == 1:
        seen.add(location)
        (edge,) = cfa.outgoing[location]
        if edge.id in violations:
            return True
        location = edge.target
    return False


def may_reach_check(tree: CallTree, budget: Budget) -> bool:
    """False if it is certain that no run within the bound reaches a check. Each call with a check is asked about by itself: the
    bodies that lead to it are known, and all other calls may do anything."""
    found = [node for node in tree.nodes if node.partition.reached is not FALSE]
    found.sort(key=lambda node: len([*node.above()]))
    with Sharing():
        return len(found) > _MOST or any(not is_unsat(Z3Solver.near(), _leading_to(node), budget) for node in found)


def _leading_to(node: Node) -> list[Term]:
    """The condition that a run reaches the call, and a check in its body."""
    said = [node.instance(node.partition.reached)]
    while True:
        said += [node.instance(term) for term in node.partition.conjuncts]
        if node.parent is None:
            return said
        said.append(node.parent.instance(node.slot.called))
        node = node.parent
