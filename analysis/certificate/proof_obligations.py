"""What a checker asks the solver. Whatever is not confirmed refuses the proof."""

from __future__ import annotations

from analysis.certificate.refusal import RefusedError
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import TRUE, not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Answer, Budget
from analysis.smt.solving.z3_backend import Z3Solver
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State


class Questions:
    """Questions about the states of a system. `count` counts those that the solver answered."""

    def __init__(self, system: System, budget: Budget) -> None:
        self.system = system
        self.count = 0
        self._solver = Z3Solver.near()
        self._budget = budget

    def holds(self, state: State, assertion: Term, reason: str) -> None:
        """Asks whether an assertion holds in all the states. RefusedError with the reason if it need not."""
        if assertion is TRUE:
            return
        symbols = self.system.vocabulary
        instance = Substitution({symbols[variable]: value for variable, value in state.values.items()})(assertion)
        failing = state.constrained(not_(instance))
        if failing is not None:
            self.impossible(failing, reason)

    def is_possible(self, state: State) -> bool:
        """Whether the set of states may be non-empty. It may if the solver does not know."""
        return self._ask(state).status != "unsat"

    def impossible(self, state: State, reason: str) -> None:
        """Asks whether there are no such states. RefusedError with the reason if there may be some."""
        answer = self._ask(state)
        if answer.status == "sat":
            raise RefusedError(reason)
        if answer.status == "unknown":
            raise RefusedError(f"the solver gave up ({answer.reason}): {reason}")

    def _ask(self, state: State) -> Answer:
        self.count += 1
        solver = self._solver
        solver.push()
        try:
            solver.add(*state.guard, *self.system.vocabulary.axioms(state.guard))
            return solver.check(budget=self._budget)
        finally:
            solver.pop()
