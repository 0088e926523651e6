"""Predicate abstraction ([IPA] section 2.2; [PREDICATE-ABSTRACTION]).

Cartesian: the conjunction of the predicates, and negated predicates, that hold. Boolean: the strongest
combination of the predicates that holds, found by asking for all of its disjuncts [ALL-DISJUNCTS]; where
there are too many, what is certain is kept, as the cartesian abstraction has it.

A question that the solver does not settle counts as the answer that leaves more possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE, TRUE, and_, not_, or_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, Solver
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State

Kind = Literal["cartesian", "boolean"]
_MOST_CUBES = 24


class Abstraction:
    """Abstractions for one system. `computed` counts them."""

    def __init__(self, system: System, solver: Solver, kind: Kind = "boolean", budget: Budget = Budget(2_000)) -> None:  # noqa: B008
        self.system = system
        self._solver = solver
        self._kind = kind
        self._budget = budget
        self._implied: dict[tuple[Term, Term], bool] = {}
        self.computed = 0

    def is_possible(self, start: Term, state: State) -> bool:
        """Whether the state can be reached from where the formula holds; also if it is not known."""
        return self._ask(start, *state.guard) != "unsat"

    def implies(self, one: Term, other: Term) -> bool:
        """Whether a formula over state variables surely implies another."""
        if one is other or other is TRUE or one is FALSE:
            return True
        key = one, other
        known = self._implied.get(key)
        if known is None:
            known = self._implied[key] = self._ask(one, not_(other)) == "unsat"
        return known

    def compute(self, start: Term, state: State, predicates: Sequence[Term]) -> Term | None:
        """The abstraction of the state, which was reached from where `start` holds; None if there is no such state."""
        self.computed += 1
        then = self.after(state)
        instances = then.all(predicates)
        known = (start, *state.guard)
        solver = self._solver
        solver.push()
        try:
            solver.add(*known, *self.system.vocabulary.axioms((*known, *instances)))
            if solver.check(budget=self._budget).status == "unsat":
                return None
            return self._abstracted(predicates, instances)
        finally:
            solver.pop()

    def after(self, state: State) -> Substitution:
        """Puts the values of a state in the place of the symbols of state variables."""
        symbols = self.system.vocabulary
        return Substitution({symbols[variable]: value for variable, value in state.values.items()})

    def _abstracted(self, predicates: Sequence[Term], instances: Sequence[Term]) -> Term:
        certain: list[Term] = []
        open_: list[tuple[Term, Term]] = []
        for predicate, instance in zip(predicates, instances, strict=True):
            if self._surely(instance):
                certain.append(predicate)
            elif self._surely(not_(instance)):
                certain.append(not_(predicate))
            elif instance.op != "value":
                open_.append((predicate, instance))
        if self._kind == "boolean" and len(open_) > 1:
            certain.append(self._cubes(open_))
        return and_(*certain)

    def _surely(self, instance: Term) -> bool:
        if instance.op == "value":
            return bool(instance.data)
        return self._solver.check(not_(instance), budget=self._budget).status == "unsat"

    def _cubes(self, open_: list[tuple[Term, Term]]) -> Term:
        """The disjunction of all conjunctions of the predicates or their negations that are possible; `true`
        if the search takes too long."""
        solver = self._solver
        cubes: list[Term] = []
        solver.push()
        try:
            while True:
                answer = solver.check(budget=self._budget)
                if answer.status == "unsat":
                    return or_(*cubes)
                if answer.status == "unknown" or len(cubes) >= _MOST_CUBES:
                    return TRUE
                values = solver.model().values(tuple(instance for _, instance in open_))
                cubes.append(and_(*(p if values[i] else not_(p) for p, i in open_)))
                solver.add(or_(*(not_(i) if values[i] else i for _, i in open_)))
        finally:
            solver.pop()

    def _ask(self, *formulas: Term) -> str:
        solver = self._solver
        solver.push()
        try:
            solver.add(*formulas, *self.system.vocabulary.axioms(formulas))
            return solver.check(budget=self._budget).status
        finally:
            solver.pop()
