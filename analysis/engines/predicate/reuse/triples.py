"""Hoare triples over the stretches of a program: whether what holds before implies what is asserted behind ([IPA] 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE, TRUE, and_, not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, Solver
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State


class Triples:
    """Asks about the triples of one system. `asked` counts the questions."""

    def __init__(self, system: System, solver: Solver, budget: Budget) -> None:
        self._system = system
        self._solver = solver
        self._budget = budget
        self.asked = 0

    def is_possible(self, known: Term, state: State) -> bool:
        """Whether a run may take a stretch from where `known` holds; also if that is not known."""
        return self._status(known, *state.guard) != "unsat"

    def holds(self, known: Term, state: State, assertion: Term) -> bool:
        """Whether the assertion surely holds after the stretch."""
        if assertion is TRUE or known is FALSE:
            return True
        return self._status(known, *state.guard, not_(self._after(state)(assertion))) == "unsat"

    def failing(self, state: State, assertion: Term) -> State | None:
        """The states after which the assertion does not hold; None if there are plainly none."""
        return state.constrained(not_(self._after(state)(assertion)))

    def surviving(self, known: Term, state: State, lemmas: Sequence[Term]) -> tuple[Term, ...]:
        """Those of the lemmas that surely hold after the stretch: what a model contradicts is left out until none does."""
        left, after = list(lemmas), self._after(state)
        instances = {lemma: after(lemma) for lemma in lemmas}
        solver = self._solver
        solver.push()
        try:
            formulas = (known, *state.guard)
            solver.add(*formulas, *self._system.vocabulary.axioms((*formulas, *instances.values())))
            while left:
                self.asked += 1
                status = solver.check(not_(and_(*(instances[lemma] for lemma in left))), budget=self._budget).status
                if status == "unsat":
                    break
                if status != "sat":
                    return ()
                values = solver.model().values(tuple(instances[lemma] for lemma in left))
                kept = [lemma for lemma in left if values[instances[lemma]]]
                if len(kept) == len(left):
                    return ()  # the model says nothing of some of them
                left = kept
            return tuple(left)
        finally:
            solver.pop()

    def _after(self, state: State) -> Substitution:
        vocabulary = self._system.vocabulary
        return Substitution({vocabulary[variable]: value for variable, value in state.values.items()})

    def _status(self, *formulas: Term) -> str:
        self.asked += 1
        solver = self._solver
        solver.push()
        try:
            solver.add(*formulas, *self._system.vocabulary.axioms(formulas))
            return solver.check(budget=self._budget).status
        finally:
            solver.pop()
