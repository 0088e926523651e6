"""Summaries of functions by Spacer, for programs with recursion [SPACER]: the stretches and calls of
`analysis.cpa.predicates.procedures` as Horn clauses, in which a call has two premises, what is known before
it and the callee's summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analysis.certificate.annotation import Summaries
from analysis.cpa.predicates.procedures import Called, Place, Procedures
from analysis.cpa.predicates.violations import Violation
from analysis.smt.logic.term_building import and_
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.horn import Applied, Clause, solve
from analysis.smt.solving.solver import Budget
from analysis.smt.transitions.object_cells import RESULT
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State, StateVariable


class SummaryClauses:
    """The clauses of one program. Raises TooLargeError."""

    def __init__(self, system: System, violations: Iterable[Violation], entry: str) -> None:
        self._system = system
        self._violations = tuple(violations)
        self._entry = entry
        self._procedures = Procedures(system, self._violations, entry)
        self._procedures.explore()
        self._returned = [(call, *self._procedures.returned(call)) for call in self._procedures.calls]
        self._numbers: dict[Place, int] = {}

    def solution(self, budget: Budget, *, guidance: bool = False) -> Summaries | None:
        """Summaries that z3 believes in; None if none were found in the budget. `guidance`: see `smt.solving.horn`."""
        relevant = self._relevant()
        parameters: dict[Place, tuple[StateVariable, ...]] = {}
        self._numbers = {}
        for place in self._places():
            self._numbers[place] = len(self._numbers)
            parameters[place] = self._procedures.parameters(place, relevant)
        vocabulary = self._system.vocabulary
        own = {self._numbers[place]: tuple(vocabulary[v] for v in variables) for place, variables in parameters.items()}
        found = solve(list(self._clauses(parameters)), own, budget, guidance=guidance)
        if found is None:
            return None
        edges = tuple((violation.function, violation.edge) for violation in self._violations)
        assertions = {place: found[number] for place, number in self._numbers.items()}
        return Summaries(self._entry, self._violations[0].property, edges, vocabulary.mode, assertions)

    def _places(self) -> Iterable[Place]:
        functions = self._system.program.functions
        found: dict[Place, None] = {(self._entry, functions[self._entry].entry): None}
        for arrival in self._procedures.arrivals:
            found.update(dict.fromkeys(place for place in (arrival.source, arrival.target) if place is not None))
        for call in self._procedures.calls:
            callee = functions[call.step.callee]
            found.update(dict.fromkeys((call.source, call.target, (callee.name, callee.entry), (callee.name, callee.exit))))
        return found

    # -- clauses ------------------------------------------------------------------------------------------------

    def _clauses(self, parameters: Mapping[Place, tuple[StateVariable, ...]]) -> Iterable[Clause]:
        vocabulary, functions = self._system.vocabulary, self._system.program.functions

        def known(place: Place) -> Applied:
            return Applied(self._numbers[place], tuple(vocabulary[variable] for variable in parameters[place]))

        def said(place: Place, state: State) -> Applied:
            values = tuple(state.values.get(variable, vocabulary[variable]) for variable in parameters[place])
            return Applied(self._numbers[place], values)

        def applied(place: Place, of: Mapping[Term, Term]) -> Applied:
            return Applied(self._numbers[place], tuple(of[vocabulary[variable]] for variable in parameters[place]))

        start = self._system.start(self._entry)
        entry = (self._entry, functions[self._entry].entry)
        yield self._clause((), start, said(entry, start))
        for arrival in self._procedures.arrivals:
            conclusion = None if arrival.target is None else said(arrival.target, arrival.state)
            yield self._clause((known(arrival.source),), arrival.state, conclusion)
        for call, after, at_exit in self._returned:
            callee = functions[call.step.callee]
            entering = applied((callee.name, callee.entry), self._procedures.entering(call))
            yield self._clause((known(call.source),), call.entered, entering)
            if after is not None:
                premises = (known(call.source), applied((callee.name, callee.exit), at_exit))
                yield self._clause(premises, after, said(call.target, after))

    def _clause(self, premises: tuple[Applied, ...], state: State, conclusion: Applied | None) -> Clause:
        used = [*state.guard, *(term for applied in premises for term in applied.arguments)]
        used += [] if conclusion is None else conclusion.arguments
        return Clause(premises, and_(*state.guard, *self._system.vocabulary.axioms(used)), conclusion)

    # -- what matters -------------------------------------------------------------------------------------------

    def _relevant(self) -> frozenset[StateVariable]:
        """The variables on which it depends whether something is violated (the least solution)."""
        vocabulary = self._system.vocabulary
        variable_of = {vocabulary[variable]: variable for variable in list(vocabulary)}
        states = [arrival.state for arrival in self._procedures.arrivals]
        states += [state for call, after, _ in self._returned for state in (call.entered, after) if state is not None]
        found: set[StateVariable] = set()
        waiting = [term for state in states for term in state.guard]
        waiting += [term for term, variable in variable_of.items() if f":{RESULT}" in variable.name]
        given = [(variable, value) for state in states for variable, value in state.values.items()]
        given += [pair for call in self._procedures.calls for pair in self._passed(call, variable_of)]
        by_variable: dict[StateVariable, list[Term]] = {}
        for variable, value in given:
            by_variable.setdefault(variable, []).append(value)
        while waiting:
            found |= {variable_of[term] for term in symbols(waiting) if term in variable_of}
            waiting = [value for variable in found for value in by_variable.pop(variable, ())]
        return frozenset(found)

    def _passed(self, call: Called, variable_of: Mapping[Term, StateVariable]) -> Iterable[tuple[StateVariable, Term]]:
        for term, value in self._procedures.entering(call).items():
            if term in variable_of:
                yield variable_of[term], value
