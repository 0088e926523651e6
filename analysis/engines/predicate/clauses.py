"""The whole program as constrained Horn clauses, solved by Spacer: invariants for the heads of loops, where
refinement along single paths does not end [SPACER].

A predicate for each head of a loop in each context, over the state variables that matter there; a clause for each stretch between
two of them. What Spacer answers is an annotation like any other: it counts once the certificate checker has accepted it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from analysis.certificate.annotation import Annotation
from analysis.cpa.domains.location import CUT, END, Bounds, Location, LocationTransfer
from analysis.cpa.domains.predicate import Point
from analysis.cpa.framework.steps import Step
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.cpa.predicates.step_formulas import Contexts, departures, moved, obstacle
from analysis.cpa.predicates.violations import Violation, condition
from analysis.smt.logic.term_building import FALSE, and_
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.horn import Applied, Clause, solve
from analysis.smt.solving.solver import Budget
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import START, State, StateVariable

_MOST_STRETCH = 20_000  # locations between two heads of loops

_Arrival = tuple[State, Location | None]
"""A state, and the head of a loop that it has come to; None: what must not happen."""


class Clauses:
    """The clauses of one program. `solution` is z3's annotation, not yet checked."""

    def __init__(self, system: System, violations: Iterable[Violation], entry: str, bounds: Bounds) -> None:
        self._system = system
        self._violations = {(v.function, v.edge): v for v in violations}
        self._entry = entry
        self._locations = LocationTransfer(system.program, bounds)
        self._contexts = Contexts()
        self._heads = {name: loop_heads(cfa) for name, cfa in system.program.functions.items()}

    def solution(self, budget: Budget, *, guidance: bool = False) -> Annotation | None:
        """An annotation; None if none was found in the budget, or a stretch is too long. `guidance`: see `smt.solving.horn`."""
        stretches = self._stretches()
        if stretches is None:
            return None
        vocabulary = self._system.vocabulary
        variable_of = {vocabulary[variable]: variable for variable in vocabulary}
        numbers = {source: number for number, (source, _) in enumerate(stretches)}
        relevant = _relevant(stretches, variable_of)
        parameters = {number: tuple(vocabulary[variable] for variable in relevant[source]) for source, number in numbers.items()}
        clauses = []
        for source, arrivals in stretches:
            before = () if source is None else (Applied(numbers[source], parameters[numbers[source]]),)
            for state, after in arrivals:
                conclusion = None
                if after is not None:
                    values = tuple(state.values.get(variable, vocabulary[variable]) for variable in relevant[after])
                    conclusion = Applied(numbers[after], values)
                used = (*state.guard, *(conclusion.arguments if conclusion is not None else ()))
                clauses.append(Clause(before, and_(*state.guard, *vocabulary.axioms(used)), conclusion))
        wanted = {number: parameters[number] for source, number in numbers.items() if source is not None}
        found = solve(clauses, wanted, budget, guidance=guidance)
        return None if found is None else self._annotation(numbers, found)

    def _annotation(self, numbers: Mapping[Location | None, int], found: Mapping[int, Term]) -> Annotation:
        assertions: dict[Point, Term] = {}
        for number, stack in self._contexts.rows():
            function = self._entry if stack is None else stack.call.callee
            assertions.update({(number, head): FALSE for head in self._heads[function]})
        for location, number in numbers.items():
            if location is not None:
                assertions[self._contexts.number(location.stack), location.location] = found[number]
        properties = {violation.property for violation in self._violations.values()}
        stacks = tuple(stack for _, stack in self._contexts.rows())
        return Annotation(
            self._entry, properties.pop(), tuple(self._violations), self._system.vocabulary.mode, stacks, assertions
        )

    # -- stretches ----------------------------------------------------------------------------------------------

    def _stretches(self) -> list[tuple[Location | None, list[_Arrival]]] | None:
        """From the start (None) and from each head of a loop that is reached: where the program goes from there."""
        entry = self._locations.initial(self._entry)
        first = self._system.start(self._entry)
        if self._is_head(entry):
            begun: list[_Arrival] | None = [(first, entry)]
        else:
            begun = self._from(entry, first)
        found: list[tuple[Location | None, list[_Arrival]]] = []
        waiting: list[tuple[Location | None, list[_Arrival] | None]] = [(None, begun)]
        seen: set[Location] = set()
        while waiting:
            source, arrivals = waiting.pop()
            if arrivals is None:
                return None
            found.append((source, arrivals))
            for _, after in arrivals:
                if after is not None and after not in seen:
                    seen.add(after)
                    waiting.append((after, self._from(after, START)))
        return found

    def _is_head(self, location: Location) -> bool:
        return location.location in self._heads[location.function]

    def _from(self, source: Location, state: State) -> list[_Arrival] | None:
        order = self._order(source)
        if order is None:
            return None
        arrived: dict[Location, State] = {source: state}
        found: list[_Arrival] = []
        for location in order:
            here = arrived.pop(location, None)
            if here is None:
                continue
            for step, after in self._locations.moves(location):
                found += [(failing, None) for failing in self._failures(here, step, location, after)]
                if after.location in (CUT, END) or obstacle(self._system.program, step, after) is not None:
                    continue
                following = moved(self._system, self._contexts, here, step, location, after)
                if following is None:
                    continue
                if self._is_head(after):
                    found.append((following, after))
                elif after in arrived:
                    arrived[after] = self._system.merged(arrived[after], following)
                else:
                    arrived[after] = following
        return found

    def _failures(self, state: State, step: Step, before: Location, after: Location) -> Iterator[State]:
        violation = self._violations.get((step.function, step.edge.id)) if step.kind != "leave" else None
        if violation is not None:
            failing = condition(self._system, state, step, self._contexts.number(before.stack), violation)
            if failing is not None:
                yield failing
        if obstacle(self._system.program, step, after) is not None:
            yield state
        is_about_bounds = violation is not None and violation.property == "array-bounds"
        context = self._contexts.number(before.stack)
        for departing, _ in departures(self._system, state, step, context, bounds=not is_about_bounds):
            yield departing

    def _order(self, source: Location) -> list[Location] | None:
        """The locations up to the next heads of loops, each after all that lead to it; None if there are too many."""
        done: list[Location] = []
        seen = {source}
        stack = [(source, iter(self._following(source)))]
        while stack:
            location, rest = stack[-1]
            after = next((place for place in rest if place not in seen), None)
            if after is None:
                done.append(location)
                stack.pop()
            else:
                seen.add(after)
                stack.append((after, iter(self._following(after))))
                if len(seen) > _MOST_STRETCH:
                    return None
        done.reverse()
        return done

    def _following(self, location: Location) -> Iterator[Location]:
        for _, after in self._locations.moves(location):
            if after.location not in (CUT, END) and not self._is_head(after):
                yield after


def _relevant(
    stretches: list[tuple[Location | None, list[_Arrival]]], variable_of: Mapping[Term, StateVariable]
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
