"""The search of predicate analysis: abstract reachability with CEGAR ([IPA] Algorithm 7, phases 1 to 3), and the annotation
that a reached set gives ([IPA] Algorithm 2).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

from analysis.certificate.annotation import Annotation
from analysis.cpa.domains.location import Bounds, Location, LocationTransfer, location_cpa, reverse_postorder
from analysis.cpa.domains.predicate import Predicated, PredicatePrecision, predicate_cpa
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.framework.composite import Composite
from analysis.cpa.framework.reachability import ReachabilityGraph
from analysis.cpa.framework.refinement_loop import Ended, cegar
from analysis.cpa.framework.waitlist import PriorityWaitlist
from analysis.cpa.predicates.abstraction import Abstraction
from analysis.cpa.predicates.adjustable_blocks import block_ends
from analysis.cpa.predicates.step_formulas import Contexts
from analysis.cpa.predicates.violations import Property, Violation
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_refinement import Refiner
from analysis.engines.predicate.reuse.reusing import Reused
from analysis.smt.logic.term_building import FALSE, and_, eq, or_
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State

_LOCATION, PREDICATE = 0, 1
"""The components of an abstract state: its location, and its predicates."""


class Explored(msgspec.Struct, frozen=True):
    """A reached set, how the exploration ended, and the states that were made so far."""

    reached: ReachabilityGraph[Any, Any]
    ended: Ended[Any, Any]
    made: int

    def precision(self) -> PredicatePrecision:
        """All predicates that any state has."""
        found = PredicatePrecision({})
        for node in self.reached:
            found = found.refined(node.precision[PREDICATE].predicates)
        return found


class PredicateSearch:
    """Searches of one program, from an entry, for paths to violations. Their solvers are made when they are first needed: that
    takes longer than to validate an earlier proof."""

    def __init__(
        self,
        system: System,
        contexts: Contexts,
        violations: tuple[Violation, ...],
        property_: Property,
        entry: str,
        options: PredicateOptions,
        cancellation: Cancellation | None,
    ) -> None:
        self._system, self._program, self._contexts = system, system.program, contexts
        self._violations, self._property, self._entry = violations, property_, entry
        self._options, self._cancellation = options, cancellation

    @cached_property
    def _abstraction(self) -> Abstraction:
        options = self._options
        return Abstraction(self._system, Z3Solver.near(), options.abstraction, Budget(options.query_milliseconds))

    @cached_property
    def _refiner(self) -> Refiner:
        methods, budget = self._options.interpolation, Budget(2 * self._options.query_milliseconds)
        return Refiner(self._system, Z3Solver.near(), component=PREDICATE, methods=methods, budget=budget)

    @property
    def abstractions(self) -> int:
        """How many abstractions were computed."""
        return self._abstraction.computed

    def explored(self, reused: Reused, precision: PredicatePrecision, until: float, made: int = 0) -> Explored:
        """[IPA] Algorithm 7, phases 1 to 3. `made`: the states that were made before."""
        options = self._options
        locations = LocationTransfer(self._program, Bounds(options.recursion, options.depth))
        component, transfer = predicate_cpa(
            self._abstraction, self._contexts, self._violations, precision, ends=options.ends, location=_LOCATION
        )
        composite: Any = Composite([location_cpa(locations), component], locations, merge="agree")
        initial = locations.initial(self._entry)
        state = (initial, transfer.initial(initial))
        frontier = PriorityWaitlist(reverse_postorder(self._program))
        reached: ReachabilityGraph[Any, Any] = ReachabilityGraph(composite)
        begun: list[tuple[Location | None, Any]] = [(None, state)]
        begun += [(place, (place, transfer.seed(place, cube))) for place, cubes in reused.seeds.items() for cube in cubes]
        for place, first in begun:
            node = reached.add_initial(first, composite.precision)
            if place not in reused.closed:
                frontier.push(node)
        ended = cegar(
            composite,
            reached,
            frontier,
            self._refiner.refine,
            states=options.states - made,
            deadline=until,
            cancellation=self._cancellation,
            restart=options.restart,
        )
        return Explored(reached, ended, made + reached.made)

    def annotation(self, reached: ReachabilityGraph[Any, Any]) -> Annotation:
        """[IPA] Algorithm 2, at the ends of blocks."""
        found: dict[tuple[int, int], list[Term]] = {}
        for number, stack in self._contexts.rows():
            function = self._entry if stack is None else stack.call.callee
            for location in block_ends(self._program.functions[function], self._options.ends):
                found[number, location] = []
        for node in reached:
            state: Predicated = node.state[PREDICATE]
            if state.is_abstracted and state.point in found:
                is_first = state.came is None and not state.seeded
                found[state.point].append(self._first(state.state) if is_first else state.abstraction)
        return Annotation(
            self._entry,
            self._property,
            tuple((violation.function, violation.edge) for violation in self._violations),
            self._options.mode,
            tuple(stack for _, stack in self._contexts.rows()),
            {point: or_(*terms) if terms else FALSE for point, terms in found.items()},
        )

    def _first(self, state: State) -> Term:
        """The initial states, where a block ends right at the start: what can be said of them without inputs."""
        vocabulary = self._system.vocabulary
        known = {vocabulary[variable] for variable in vocabulary}
        parts = [*state.guard, *(eq(vocabulary[variable], value) for variable, value in state.values.items())]
        return and_(*(part for part in parts if known.issuperset(symbols((part,)))))
