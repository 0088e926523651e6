"""The whole program as constrained Horn clauses, solved by Spacer: invariants for the heads of loops, where
refinement along single paths does not end [SPACER].

A predicate for each head of a loop in each context, over the state variables that matter there; a clause for each stretch between
two of them. What Spacer answers is an annotation like any other: it counts once the certificate checker has accepted it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from analysis.certificate.annotation import Annotation
from analysis.cpa.domains.location import Location
from analysis.cpa.domains.predicate import Point
from analysis.cpa.predicates.violations import Violation
from analysis.engines.predicate.stretches import Arrival, Stretches
from analysis.smt.logic.term_building import FALSE, TRUE, and_
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.horn import Applied, Clause, solve
from analysis.smt.solving.solver import Budget
from analysis.smt.transitions.transition_state import StateVariable
from analysis.smt.transitions.vocabulary import Vocabulary


class Clauses:
    """The clauses of one program, whose `stretches` are from the entry and end at the violations. `known`: what is known to hold
    at heads of loops, so that it need not be found. `solution` is z3's annotation, with that, not yet checked."""

    def __init__(
        self,
        stretches: Stretches,
        violations: Iterable[Violation],
        known: Mapping[Location, Term] = MappingProxyType({}),
    ) -> None:
        self._system = stretches.system
        self._violations = {(v.function, v.edge): v for v in violations}
        self._entry = stretches.entry
        self._stretches = stretches
        self._known = known

    def solution(self, budget: Budget, *, guidance: bool = False) -> Annotation | None:
        """An annotation; None if none was found in the budget, or a stretch is too long. `guidance`: see `smt.solving.horn`."""
        stretches = self._stretches.all()
        found = None if stretches is None else solved(self._system.vocabulary, stretches, self._known, budget, guidance=guidance)
        return None if found is None else self._annotation(found)

    def _annotation(self, found: Mapping[Location, Term]) -> Annotation:
        assertions: dict[Point, Term] = {}
        for number, stack in self._stretches.contexts.rows():
            function = self._entry if stack is None else stack.call.callee
            assertions.update({(number, head): FALSE for head in self._stretches.heads[function]})
        for location, assertion in found.items():
            assertions[self._stretches.contexts.number(location.stack), location.location] = assertion
        properties = {violation.property for violation in self._violations.values()}
        stacks = tuple(stack for _, stack in self._stretches.contexts.rows())
        return Annotation(
            self._entry, properties.pop(), tuple(self._violations), self._system.vocabulary.mode, stacks, assertions
        )


def solved(
    vocabulary: Vocabulary,
    stretches: list[tuple[Location | None, list[Arrival]]],
    known: Mapping[Location, Term],
    budget: Budget,
    *,
    guidance: bool,
) -> Mapping[Location, Term] | None:
    """What holds at the heads that the stretches begin at, with what is known to hold there; None if nothing was found."""
    variable_of = {vocabulary[variable]: variable for variable in vocabulary}
    numbers = {source: number for number, (source, _) in enumerate(stretches)}
    relevant = _relevant(stretches, variable_of)
    parameters = {number: tuple(vocabulary[variable] for variable in relevant[source]) for source, number in numbers.items()}
    clauses = []
    for source, arrivals in stretches:
        before = () if source is None else (Applied(numbers[source], parameters[numbers[source]]),)
        holds = TRUE if source is None else known.get(source, TRUE)
        for state, after in arrivals:
            conclusion = None
            if after is not None:
                values = tuple(state.values.get(variable, vocabulary[variable]) for variable in relevant[after])
                conclusion = Applied(numbers[after], values)
            used = (holds, *state.guard, *(conclusion.arguments if conclusion is not None else ()))
            clauses.append(Clause(before, and_(holds, *state.guard, *vocabulary.axioms(used)), conclusion))
    wanted = {number: parameters[number] for source, number in numbers.items() if source is not None}
    found = solve(clauses, wanted, budget, guidance=guidance)
    if found is None:
        return None
    heads = {source: at for source, at in numbers.items() if source is not None}
    return {head: and_(known.get(head, TRUE), vocabulary.without_ranges(found[at])) for head, at in heads.items()}


def _relevant(
    stretches: list[tuple[Location | None, list[Arrival]]], variable_of: Mapping[Term, StateVariable]
) -> dict[Location | None, tuple[StateVariable, ...]]:
    """The state variables at each head of a loop on which it depends what happens later (the least solution)."""
    found: dict[Location | None, dict[StateVariable, None]] = {source: {} for source, _ in stretches}
    changed = True
    while changed:
        changed = False
        for source, arrivals in stretches:
            own = found[source]
            before = len(own)
            for state, after in arrivals:
                kept = () if after is None else tuple(found[after])
                terms = [*state.guard, *(state.values[variable] for variable in kept if variable in state.values)]
                own.update((variable, None) for variable in kept if variable not in state.values)
                own.update((variable_of[term], None) for term in symbols(terms) if term in variable_of)
            changed = changed or len(own) > before
    return {source: tuple(variables) for source, variables in found.items()}
