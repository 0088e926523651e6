"""Sets of conditions over symbolic identifiers, read as their conjunction, and what is asked of a solver about them ([SYMCEGAR]
sections 3.2.6 and 5.2). A solver's `unknown` counts as satisfiable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from immutables import Map

from analysis.cpa.stores.precision import Origin
from analysis.cpa.symbolic_values.condition_formulas import ConditionFormulas
from analysis.cpa.symbolic_values.symbolic import identifiers
from analysis.model import ir
from analysis.smt.logic.term_building import distinct, not_, or_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Solver

NO_ORIGINS: Map[ir.Expr, frozenset[str]] = Map()


class Constraints(msgspec.Struct, frozen=True, eq=False, gc=False):
    """Conditions in the order in which they came, none twice, none the negation of another.

    `definite` are identifiers with their only values, `decided` those that the last step found; both follow from the conditions.
    `origins` has the variables of the branches that conditions came from. States are equal that have the same conditions.
    """

    conditions: tuple[ir.Expr, ...] = ()
    definite: tuple[tuple[ir.Var, int], ...] = ()
    decided: Mapping[ir.Var, int] = {}
    members: frozenset[ir.Expr] = frozenset()
    origins: Map[ir.Expr, frozenset[str]] = Map()

    def origin(self, condition: ir.Expr) -> Origin:
        """One of the conditions, with the variables of the branch that it came from."""
        return Origin(condition, self.origins.get(condition, frozenset()))

    def without(self, dropped: Sequence[ir.Expr]) -> Constraints:
        """The state without some conditions: it says less. What followed from all of them is not known any more."""
        left = tuple(c for c in self.conditions if c not in dropped)
        return self if len(left) == len(self.conditions) else constraints_of(left, origins=self.origins)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraints) and self.members == other.members

    def __hash__(self) -> int:
        return hash(self.members)


TRUE = Constraints()


def constraints_of(
    conditions: Sequence[ir.Expr],
    definite: tuple[tuple[ir.Var, int], ...] = (),
    decided: Mapping[ir.Var, int] | None = None,
    origins: Map[ir.Expr, frozenset[str]] = NO_ORIGINS,
) -> Constraints:
    """The state with these conditions."""
    return Constraints(tuple(conditions), definite, decided or {}, frozenset(conditions), origins)


class Decide:
    """The questions that constraints ask the solver. `checks` counts them, `unsettled` those that it did not answer: without any,
    a path is explored only if its constraints can hold together."""

    def __init__(self, solver: Solver, formulas: ConditionFormulas) -> None:
        self._solver = solver
        self._formulas = formulas
        self.checks = 0
        self.unsettled = 0

    def _check(self, *formulas: Term) -> str:
        self.checks += 1
        status = self._solver.check(*formulas).status
        self.unsettled += status == "unknown"
        return status

    def is_possible(self, conditions: Sequence[ir.Expr]) -> bool:
        """Whether the conditions can hold together, as far as the solver can tell."""
        return self._check(*self._formulas.of(conditions)) != "unsat"

    def definite(self, conditions: Sequence[ir.Expr]) -> dict[ir.Var, int] | None:
        """Algorithm 9, GetDefiniteAssignments: the identifiers of integer and pointer type that have one value only; None if the
        conditions cannot hold together.

        The paper asks for each identifier of a model whether it can differ. Here they are asked together whether one of them can:
        those that do in the answer are out, and the rest is asked again, until none can.
        """
        formulas = self._formulas.of(conditions)
        status = self._check(*formulas)
        if status != "sat":
            return None if status == "unsat" else {}
        variables = sorted({v for c in conditions for v in identifiers(c)}, key=lambda v: v.name)
        terms = {v: term for v in variables if (term := self._formulas.symbol(v)) is not None}
        left = self._values(terms)
        while left:
            differs = [distinct(terms[v], self._formulas.number(value, v)) for v, value in left.items()]
            status = self._check(*formulas, or_(*differs))
            if status == "unsat":
                return {v: self._formulas.decode(value, v) for v, value in left.items()}
            if status != "sat":
                return {}
            values = self._values({v: terms[v] for v in left})
            left = {v: value for v, value in left.items() if values.get(v) == value}
        return {}

    def _values(self, terms: Mapping[ir.Var, Term]) -> dict[ir.Var, int]:
        values = self._solver.model().values(tuple(terms.values()))
        return {v: value for v, term in terms.items() if isinstance(value := values[term], int)}

    def implies(self, state: Constraints, other: Constraints) -> bool:
        """Whether the conditions of `other` hold wherever those of `state` do."""
        wanted = self._formulas.conjunctions([c for c in other.conditions if c not in state.members])
        given = self._formulas.of(state.conditions)
        return self._check(*given, or_(*(not_(c) for c in wanted))) == "unsat"
