"""What stands outside of a call while the interpolants of a tree are made: asked about again and again, and asserted once.

From one call to the next, what is outside differs in a few formulas. So one solver has them all, each behind a literal, and a
question says which of them count. The solver keeps what it has learned, and does not read the whole tree anew for each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from analysis.smt.logic.term_building import and_, not_, or_, symbol
from analysis.smt.logic.terms import BOOL, Term, symbols
from analysis.smt.solving.solver import Budget, Solver, is_unsat
from analysis.smt.solving.z3_backend import Z3Solver


class StandingFormulas:
    """Formulas of which some count at a time. `small` is asked about what is inside of a call. Each question has the budget."""

    def __init__(self, small: Solver, budget: Budget) -> None:
        self.small, self.budget = small, budget
        self._solver = Z3Solver.near()
        self._solver.push()  # without a scope, z3 would simplify all of it together, which a later formula undoes
        self._literals: dict[Term, Term] = {}
        self._symbols: dict[Term, frozenset[Term]] = {}

    def contradiction(self, formulas: Sequence[Term]) -> tuple[Term, ...] | None:
        """Those of the formulas that suffice for a contradiction; None if the solver finds none."""
        literals = {self._literal(formula): formula for formula in formulas}
        if self._solver.check(*literals, budget=self.budget).status != "unsat":
            return None
        core = set(self._solver.core())
        return tuple(formula for literal, formula in literals.items() if literal in core)

    def symbols(self, formula: Term) -> frozenset[Term]:
        """The symbols of a formula."""
        if formula not in self._symbols:
            self._symbols[formula] = frozenset(symbols((formula,)))
        return self._symbols[formula]

    def _literal(self, formula: Term) -> Term:
        literal = self._literals.get(formula)
        if literal is None:
            literal = self._literals[formula] = symbol(f"stands!{len(self._literals)}", BOOL)
            self._solver.add(or_(not_(literal), formula))
        return literal


class Outside:
    """The conjunction of what stands outside of a call. The same question is asked once."""

    def __init__(self, standing: StandingFormulas, formulas: Sequence[Term]) -> None:
        self._standing = standing
        self._formulas = formulas
        self._answers: dict[Term, tuple[Term, ...] | None] = {}

    @cached_property
    def symbols(self) -> frozenset[Term]:
        """Its symbols."""
        return frozenset().union(*map(self._standing.symbols, self._formulas))

    def with_(self, formula: Term) -> Outside:
        """It and a formula."""
        return Outside(self._standing, (*self._formulas, formula))

    def contradicts(self, formula: Term) -> bool:
        """Whether the solver says that a formula cannot hold with it."""
        return self._contradiction(formula) is not None

    def against(self, formula: Term) -> Term | None:
        """What of it a formula contradicts; None if the solver does not say."""
        found = self._contradiction(formula)
        return None if found is None else and_(*(one for one in found if one is not formula))

    def has_interpolant(self, inside: Term, candidate: Term) -> bool:
        """Whether a candidate is an interpolant of what is inside and this: it follows from the one, contradicts the other, and
        has symbols of both alone ([UPPROVER] Definition 1)."""
        standing = self._standing
        if not self.symbols.intersection(standing.symbols(inside)).issuperset(symbols((candidate,))):
            return False
        return is_unsat(standing.small, (inside, not_(candidate)), standing.budget) and self.contradicts(candidate)

    def _contradiction(self, formula: Term) -> tuple[Term, ...] | None:
        if formula not in self._answers:
            self._answers[formula] = self._standing.contradiction((*self._formulas, formula))
        return self._answers[formula]
