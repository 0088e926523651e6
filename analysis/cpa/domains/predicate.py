"""The predicate CPA with adjustable blocks ([SYMCEGAR] section 3.2.3; [ABE]; [IPA] section 2.2).

An abstract state is an abstraction, a formula over predicates that holds at the start of a block, and the symbolic state that the
block has come to since. At the end of a block the two together are abstracted by the predicates of the precision there. Within a
block, states that meet are made one, without any loss.

A state that violates the property is a target, and so is one that comes to an obstacle: both must be shown not to be reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from analysis.cpa.framework.defaults import StopSep, TrivialAdjustment
from analysis.cpa.framework.interface import Cpa
from analysis.cpa.framework.steps import Step
from analysis.cpa.predicates.abstraction import Abstraction
from analysis.cpa.predicates.adjustable_blocks import BlockEnds, block_ends
from analysis.cpa.predicates.step_formulas import At, Contexts, departures, moved, obstacle
from analysis.cpa.predicates.violations import Violation, condition
from analysis.smt.logic.term_building import TRUE
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import START, State

Point = tuple[int, int]
"""A context and a location of its function."""


class PredicatePrecision(msgspec.Struct, frozen=True):
    """The predicates at each point, over the symbols of state variables."""

    predicates: Mapping[Point, tuple[Term, ...]]

    def at(self, point: Point) -> tuple[Term, ...]:
        """The predicates at a point."""
        return self.predicates.get(point, ())

    def refined(self, more: Mapping[Point, Iterable[Term]]) -> PredicatePrecision:
        """This precision, with more predicates."""
        table = dict(self.predicates)
        for point, terms in more.items():
            table[point] = tuple(dict.fromkeys((*table.get(point, ()), *terms)))
        return PredicatePrecision(table)


class Predicated:
    """An abstract state. `flaw`: the violation or the obstacle that it has come to. `origin` is the state at the start of the
    block, this one itself there; `came` is the last state of the block before. Two states are equal if they
    stand for the same program states and took the same path within the block: refinement needs the path. `seeded`: the state was
    not reached, but is where an earlier proof says that a block starts ([IPA] Algorithm 7)."""

    __slots__ = ("abstraction", "came", "flaw", "origin", "parts", "point", "seeded", "state")

    def __init__(
        self,
        point: Point,
        abstraction: Term,
        state: State,
        origin: Predicated | None,
        parts: frozenset[int],
        flaw: Violation | str | None = None,
        came: Predicated | None = None,
        *,
        seeded: bool = False,
    ) -> None:
        self.point = point
        self.abstraction = abstraction
        self.state = state
        self.origin: Predicated = self if origin is None else origin
        self.parts = parts
        self.flaw = flaw
        self.came = came
        self.seeded = seeded

    @property
    def is_abstracted(self) -> bool:
        """Whether a block starts here."""
        return self.origin is self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Predicated) or self.flaw != other.flaw or self.is_abstracted != other.is_abstracted:
            return False
        if self.is_abstracted:
            return self.abstraction is other.abstraction and self.state is other.state
        return self.origin is other.origin and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((self.abstraction, self.parts if not self.is_abstracted else None))


class PredicateDomain:
    """Ordered by implication at the ends of blocks; within them by the paths that were taken."""

    def __init__(self, abstraction: Abstraction) -> None:
        self._abstraction = abstraction

    def less_or_equal(self, state: Predicated, other: Predicated) -> bool:
        """Whether `other` surely stands for all that `state` stands for."""
        if state == other:
            return True
        if state.flaw is not None or other.flaw is not None or state.is_abstracted != other.is_abstracted:
            return False
        if state.is_abstracted:
            return state.state is START is other.state and self._abstraction.implies(state.abstraction, other.abstraction)
        return state.origin is other.origin and state.parts <= other.parts

    def join(self, state: Predicated, other: Predicated) -> Predicated:
        """An upper bound of two states of one block; ValueError for others."""
        if state.is_abstracted or state.origin is not other.origin or state.point != other.point:
            raise ValueError("only states of one block have a join")
        both = self._abstraction.system.merged(state.state, other.state)
        return Predicated(state.point, state.abstraction, both, state.origin, state.parts | other.parts)


class PredicateMerge:
    """Makes states of one block one; others stay separate."""

    def __init__(self, domain: PredicateDomain) -> None:
        self._domain = domain

    def merge(self, state: Predicated, reached: Predicated, precision: PredicatePrecision) -> Predicated:
        """See MergeOperator."""
        fits = not state.is_abstracted and state.origin is reached.origin and not reached.is_abstracted
        if not fits or state.flaw is not None or reached.flaw is not None or state.parts <= reached.parts:
            return reached
        return self._domain.join(state, reached)


class PredicateTransfer:
    """Follows steps, and abstracts at the ends of blocks. `location` is the index of the location's component."""

    def __init__(
        self,
        abstraction: Abstraction,
        contexts: Contexts,
        violations: Iterable[Violation],
        ends: BlockEnds,
        location: int,
    ) -> None:
        self._abstraction = abstraction
        self._system: System = abstraction.system
        self._contexts = contexts
        self._violations: dict[tuple[str, int], Violation] = {(v.function, v.edge): v for v in violations}
        self._ends = {name: block_ends(cfa, ends) for name, cfa in self._system.program.functions.items()}
        self._location = location
        self._made = 0

    def initial(self, entry: At) -> Predicated:
        """The state at the entry of the program."""
        point = (self._contexts.number(entry.stack), entry.location)
        return Predicated(point, TRUE, self._system.start(entry.function), None, frozenset())

    def seed(self, at: At, assertion: Term) -> Predicated:
        """The state in which a block starts at a place where an assertion holds."""
        return Predicated((self._contexts.number(at.stack), at.location), assertion, START, None, frozenset(), seeded=True)

    def successors(self, state: Predicated, step: Step, precision: PredicatePrecision) -> Sequence[Predicated]:
        """The state before the step: where it leads, only the location knows (`strengthen`)."""
        return (state,)

    def strengthen(
        self, state: Predicated, others: Sequence[Any], step: Step, precision: PredicatePrecision, before: Sequence[Any]
    ) -> Sequence[Predicated]:
        """The states after the step, the violation and the obstacle on it among them."""
        source: At = before[self._location]
        after: At = others[self._location]
        found = [*self._flawed(state, step, source, after)]
        if obstacle(self._system.program, step, after) is not None:
            return found
        here = moved(self._system, self._contexts, state.state, step, source, after)
        if here is None:
            return found
        point = (self._contexts.number(after.stack), after.location)
        self._made += 1
        inner = Predicated(point, state.abstraction, here, state.origin, frozenset((self._made,)))
        if after.location not in self._ends[after.function]:
            return (*found, inner)
        abstracted = self._abstraction.compute(state.abstraction, here, precision.at(point))
        if abstracted is None:
            return found
        return (*found, Predicated(point, abstracted, START, None, frozenset(), None, inner))

    def _flawed(self, state: Predicated, step: Step, source: At, after: At) -> Iterable[Predicated]:
        point = (self._contexts.number(source.stack), source.location)
        violation = self._violations.get((step.function, step.edge.id)) if step.kind != "leave" else None
        if violation is not None:
            failing = condition(self._system, state.state, step, point[0], violation)
            if failing is not None and self._abstraction.is_possible(state.abstraction, failing):
                yield Predicated(point, state.abstraction, failing, state.origin, frozenset((-1,)), violation)
        is_about_bounds = violation is not None and violation.property == "array-bounds"
        for number, (departing, said) in enumerate(
            departures(self._system, state.state, step, point[0], bounds=not is_about_bounds)
        ):
            if self._abstraction.is_possible(state.abstraction, departing):
                yield Predicated(point, state.abstraction, departing, state.origin, frozenset((-3 - number,)), said)
        reason = obstacle(self._system.program, step, after)
        if reason is not None:
            flaw = reason if self._abstraction.is_possible(state.abstraction, state.state) else None
            if flaw is not None:
                yield Predicated(point, state.abstraction, state.state, state.origin, frozenset((-2,)), flaw)


def predicate_cpa(
    abstraction: Abstraction,
    contexts: Contexts,
    violations: Iterable[Violation],
    precision: PredicatePrecision,
    *,
    ends: BlockEnds = BlockEnds(),  # noqa: B008 - an immutable value
    location: int = 0,
) -> tuple[Cpa[Predicated, PredicatePrecision], PredicateTransfer]:
    """The component, and its transfer relation, which knows the initial state."""
    domain = PredicateDomain(abstraction)
    transfer = PredicateTransfer(abstraction, contexts, violations, ends, location)
    component = Cpa(
        name="predicate",
        domain=domain,
        transfer=transfer,
        merge=PredicateMerge(domain),
        stop=StopSep(domain),
        adjustment=TrivialAdjustment(),
        precision=precision,
        is_target=lambda state: state.flaw is not None,
    )
    return component, transfer
