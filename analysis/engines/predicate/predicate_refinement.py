"""From an infeasible path to finer predicates ([SYMCEGAR] sections 3.2.3 and 3.3, Algorithm 3): the blocks of
the path as a sequence of formulas in static single assignment, their interpolants, and the atoms of these as
predicates at the ends of the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.cpa.domains.predicate import Point, Predicated, PredicatePrecision
from analysis.cpa.framework.reachability import Node, ReachabilityGraph
from analysis.cpa.framework.refinement_loop import Feasible, Refined, Refinement, Stuck
from analysis.cpa.predicates.path_formulas import path_formulas, plain
from analysis.smt.logic.term_building import FALSE
from analysis.smt.logic.terms import BOOL, Term
from analysis.smt.solving.interpolation import METHODS, Method, interpolants
from analysis.smt.solving.solver import Budget, Solver
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State

_MOST_ATOMS = 24


class Refiner:
    """Refines precisions of the predicate analysis. `methods` are tried in this order. `component` is the index of the predicate
    component. `found` counts interpolants by method."""

    def __init__(
        self,
        system: System,
        solver: Solver,
        *,
        component: int,
        methods: Sequence[Method] = METHODS,
        budget: Budget = Budget(5_000),  # noqa: B008 - an immutable value
    ) -> None:
        self._system = system
        self._solver = solver
        self._component = component
        self._methods = tuple(methods)
        self._budget = budget
        self.found: dict[str, int] = {}

    def refine(self, reached: ReachabilityGraph[Any, Any], target: Node[Any, Any]) -> Refinement[Any, Any]:
        """What to do about a target that was reached."""
        blocks = path_of(target.state[self._component])
        formulas = path_formulas(self._system, [_begun(blocks[0]), *(block.state for block in blocks[1:])])
        status = self._status(formulas)
        if status == "sat":
            return Feasible(target)
        if status != "unsat":
            return Stuck("the solver could not decide whether a run can take a path")
        if len(blocks) < 2:
            return Stuck("no run can take a path that was looked at, but the condition that rules it out was not found")
        for method in self._methods:
            made = interpolants(self._solver, formulas, self._budget, (method,))
            if made is None:
                continue
            self.found[method] = self.found.get(method, 0) + 1
            refined = self._refined(reached, target, blocks, made[0])
            if refined is not None:
                return refined
        return Stuck("no conditions were found that rule out a violation")

    def _status(self, formulas: Sequence[Term]) -> str:
        self._solver.push()
        try:
            self._solver.add(*formulas)
            return self._solver.check(budget=self._budget).status
        finally:
            self._solver.pop()

    # -- predicates ---------------------------------------------------------------------------------------------

    def _refined(
        self,
        reached: ReachabilityGraph[Any, Any],
        target: Node[Any, Any],
        blocks: Sequence[Predicated],
        terms: Sequence[Term],
    ) -> Refined[Any, Any] | None:
        more: dict[Point, list[Term]] = {}
        pivot: Node[Any, Any] | None = None
        nodes = {id(step.node.state[self._component]): step.node for step in reached.path(target)}
        for origin, term in zip((block.origin for block in blocks[1:]), terms, strict=True):
            atoms = predicates_of(plain(term))
            node = nodes.get(id(origin))
            if node is None:
                return None
            known = node.precision[self._component].at(origin.point)
            new = [atom for atom in atoms if atom not in known]
            if new:
                more.setdefault(origin.point, []).extend(new)
                pivot = pivot or node
        if pivot is None:
            return None

        def finer(precision: tuple[Any, ...]) -> tuple[Any, ...]:
            own: PredicatePrecision = precision[self._component]
            return (*precision[: self._component], own.refined(more), *precision[self._component + 1 :])

        return Refined(pivot, finer)


def _begun(first: Predicated) -> State:
    """The first block of a path: from a seed, what is asserted there holds."""
    if not first.origin.seeded:
        return first.state
    return first.state.constrained(first.origin.abstraction) or State((FALSE,), {})


def path_of(flawed: Predicated) -> list[Predicated]:
    """The last states of the blocks on the way to a state, in the order in which they were passed."""
    found = [flawed]
    while found[-1].origin.came is not None:
        found.append(found[-1].origin.came)
    found.reverse()
    return found


def predicates_of(term: Term) -> list[Term]:
    """The atoms of a formula; the formula itself where there are very many."""
    atoms: dict[Term, None] = {}
    waiting = [term]
    while waiting:
        part = waiting.pop()
        if part.op in ("and", "or", "not", "ite", "=") and all(argument.sort == BOOL for argument in part.args):
            waiting.extend(part.args)
        elif part.op != "value":
            atoms[part] = None
    if len(atoms) > _MOST_ATOMS:
        return [term]
    return list(atoms)
