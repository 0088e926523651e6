"""Checks an annotation whose calls are inlined: the initial states are covered, each stretch of the program between points with
assertions leads from one to the next, and nothing that is annotated leads to a violation ([IPA] Definitions 3.2, 3.3, Lemma 3.4).

With an assertion at every location this is one Hoare triple for each edge; with fewer, the strongest postcondition is followed
over the loop-free stretch in between.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.certificate.annotation import Annotation
from analysis.certificate.claimed import Place, watched
from analysis.certificate.proof_obligations import Questions
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cfa.marks import marked
from analysis.cpa.domains.location import CUT, END, Bounds, Location, LocationTransfer, Stack
from analysis.cpa.framework.steps import Step
from analysis.cpa.predicates.step_formulas import Contexts, departures, moved, obstacle
from analysis.cpa.predicates.violations import Violation, condition
from analysis.model.spelling import display_name
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.transition_state import START, State

_MOST_LOCATIONS = 50_000  # of one stretch without assertions
_DEEP = Bounds(recursion=1_000, depth=1_000)


class Inlined:
    """The check of one annotation; `run` raises RefusedError if it is no proof."""

    def __init__(self, program: Program, annotation: Annotation, questions: Questions) -> None:
        self._program = program
        self._annotation = annotation
        self._questions = questions
        self.system = questions.system
        self._locations = LocationTransfer(program, _DEEP)
        self._contexts = _known_contexts(annotation)
        self._watched = dict(watched(program, annotation.edges))
        self._reached: set[Place] = set()
        self._claims = {(f, e): Violation(f, e, annotation.property) for f, e in annotation.edges}

    def run(self) -> frozenset[Place]:
        """All stretches. Gives the claimed places that the annotated states come to."""
        entry = self._locations.initial(self._annotation.entry)
        first = self.system.start(self._annotation.entry)
        if self._assertion(entry) is not None:
            self._arrive(first, entry, "the start")
        else:
            self._stretch(entry, first)
        for number, location in self._annotation.assertions:
            stack = self._annotation.contexts[number]
            function = self._annotation.entry if stack is None else stack.call.callee
            if location not in self._program.functions[function].locations:
                raise RefusedError(f"it mentions a location that {display_name(function)} does not have")
            at = Location(function, location, stack)
            held = START.constrained(self._annotation.assertions[number, location])
            if held is not None:
                self._stretch(at, held)
        return frozenset(self._reached)

    def _number(self, stack: Stack | None) -> int | None:
        return self._contexts.get(stack)

    def _assertion(self, location: Location) -> Term | None:
        number = self._number(location.stack)
        return None if number is None else self._annotation.assertions.get((number, location.location))

    # -- stretches ----------------------------------------------------------------------------------------------

    def _stretch(self, source: Location, state: State) -> None:
        """Everything that can be reached from a point without passing over another one with an assertion."""
        arrived: dict[Location, list[State]] = {source: [state]}
        for location in self._order(source):
            states = arrived.pop(location, [])
            if not states:
                continue
            here = states[0]
            for other in states[1:]:
                here = self.system.merged(here, other)
            self._look(location, here)
            for step, after in self._moves(location):
                following = self._step(here, step, location, after)
                if following is None:
                    continue
                if self._assertion(after) is not None:
                    self._arrive(following, after, _named(self._program, step))
                else:
                    arrived.setdefault(after, []).append(following)

    def _look(self, location: Location, state: State) -> None:
        """Notes the claimed places that are reached here, if there are such states."""
        shown = self._watched.get((location.function, location.location), frozenset())
        if not shown <= self._reached and self._questions.is_possible(state):
            self._reached |= shown

    def _moves(self, location: Location) -> tuple[tuple[Step, Location], ...]:
        return self._locations.moves(location)

    def _order(self, source: Location) -> list[Location]:
        """The locations of a stretch, each after all that lead to it. RefusedError if there is a cycle."""
        done: list[Location] = []
        state: dict[Location, bool] = {source: False}  # whether all that follows was seen
        stack = [(source, iter(self._following(source)))]
        while stack:
            location, rest = stack[-1]
            after = next(rest, None)
            if after is None:
                state[location] = True
                done.append(location)
                stack.pop()
            elif after not in state:
                if len(state) >= _MOST_LOCATIONS:
                    raise RefusedError("a stretch without assertions is too long")
                state[after] = False
                stack.append((after, iter(self._following(after))))
            elif not state[after]:
                raise RefusedError(f"a loop of {display_name(after.function)} has a cycle without an assertion")
        done.reverse()
        return done

    def _following(self, location: Location) -> list[Location]:
        return [
            after
            for _, after in self._moves(location)
            if after.location not in (CUT, END) and self._number(after.stack) is not None and self._assertion(after) is None
        ]

    # -- questions ----------------------------------------------------------------------------------------------

    def _step(self, state: State, step: Step, before: Location, after: Location) -> State | None:
        """The state after a step, after the violation and the obstacle on it were found impossible."""
        number = self._number(before.stack)
        assert number is not None
        where = _named(self._program, step)
        violation = self._claims.get((step.function, step.edge.id)) if step.kind != "leave" else None
        if violation is not None:
            failing = condition(self.system, state, step, number, violation)
            if failing is not None:
                self._questions.impossible(failing, f"nothing rules out {violation.property} at {where}")
        reason = obstacle(self._program, step, after)
        if reason is not None:
            self._questions.impossible(state, reason)
            return None
        is_about_bounds = violation is not None and violation.property == "array-bounds"
        for departing, said in departures(self.system, state, step, number, bounds=not is_about_bounds):
            self._questions.impossible(departing, said)
        numbers = _Numbered(self._contexts)
        if self._number(after.stack) is None:
            self._questions.impossible(
                state, f"the certificate does not follow the call of {display_name(step.callee)} at {where}"
            )
            return None
        return None if after.location in (CUT, END) else moved(self.system, numbers, state, step, before, after)

    def _arrive(self, state: State, after: Location, step: str) -> None:
        """The assertion must hold at a point."""
        wanted = self._assertion(after)
        assert wanted is not None
        self._questions.holds(state, wanted, f"an assertion in {display_name(after.function)} need not hold after {step}")


def _named(program: Program, step: Step) -> str:
    return marked(program, step.function, step.edge.id)


def _known_contexts(annotation: Annotation) -> Mapping[Stack | None, int]:
    known = {stack: number for number, stack in enumerate(annotation.contexts)}
    if len(known) != len(annotation.contexts) or not annotation.contexts or annotation.contexts[0] is not None:
        raise RefusedError("two contexts of the certificate are the same")
    return known


class _Numbered(Contexts):
    """The contexts of an annotation; there are no others."""

    def __init__(self, known: Mapping[Stack | None, int]) -> None:
        super().__init__()
        self._known = known

    def number(self, stack: Stack | None) -> int:
        """The number of a stack. KeyError for an unknown one."""
        return self._known[stack]
