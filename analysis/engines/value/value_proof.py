"""Proves that no run violates a property, by explicit values of as few variables as it takes ([SYMCEGAR] sections 3.2.4, 3.3).
`Proved` only with an annotation that the certificate checker accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved, Unproved, Work
from analysis.certificate.checker import check
from analysis.certificate.refusal import RefusedError
from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Cfa, Program
from analysis.cpa.domains.assumptions import NONE, assumptions_cpa
from analysis.cpa.domains.location import Bounds, Location, LocationTransfer, location_cpa, reverse_postorder
from analysis.cpa.domains.value import ExplicitTransfer, value_cpa
from analysis.cpa.framework.algorithm import Cancellation, start
from analysis.cpa.framework.composite import AnyCpa, Composite
from analysis.cpa.framework.path_interpolation import OutOfTimeError
from analysis.cpa.framework.reachability import Node, PathStep, ReachabilityGraph
from analysis.cpa.framework.refinement_loop import Ended, Refined, Refinement, Stuck, cegar
from analysis.cpa.framework.waitlist import PriorityWaitlist
from analysis.cpa.predicates.error_locations import ErrorLocations, with_error_locations
from analysis.cpa.predicates.reaching import Reaching
from analysis.cpa.predicates.violations import Violation, property_of
from analysis.cpa.stores.precision import VariablePrecision, tracked_name
from analysis.cpa.symbolic_values.condition_formulas import Mode
from analysis.engines.value.value_interpolation import ValueInterpolation
from analysis.model import clock, ir
from analysis.model.c_types import LP64, DataModel
from analysis.smt.transitions.vocabulary import TooLargeError

_LOCATION, _REASONS, _VALUES = range(3)
_LONGEST = 2_000  # steps of a path that is interpolated
_PREFIXES = 6  # reasons why a path is infeasible that are compared

Tracked = dict[tuple[str, int], frozenset[str]]
"""Variables by function and location, named as in `VariablePrecision`."""


def prove(
    program: Program,
    violations: tuple[Violation, ...],
    entry: str = "main",
    model: DataModel = LP64,
    *,
    seconds: float = 5.0,
    states: int = 20_000,
    cancellation: Cancellation | None = None,
) -> Proved | Unproved:
    """Looks for a proof. KeyError if the program does not define the entry; ValueError if the violations are of more than one
    property."""
    property_ = property_of(violations)
    if property_ is None:
        return Unproved("nothing in the program could violate the property", Work())
    everywhere = with_error_locations(program, violations)
    if everywhere is None:
        return Unproved(f"the values of variables say nothing about {property_}", Work())
    try:
        return _Proving(program, violations, everywhere, entry, model).run(states, clock.spent() + seconds, cancellation)
    except TooLargeError as large:
        return Unproved(f"its code cannot be followed: {large}", Work())


class _Proving:
    def __init__(
        self, program: Program, violations: tuple[Violation, ...], everywhere: ErrorLocations, entry: str, model: DataModel
    ) -> None:
        self._program, self._violations, self._everywhere = program, violations, everywhere
        self._entry, self._model = entry, model
        self._values = ExplicitTransfer(everywhere.program, model, whole=entry == "main")
        self._interpolation = ValueInterpolation(self._values)
        self._counters = frozenset(name for cfa in program.functions.values() for name in _changed_in_loops(cfa))

    def run(self, states: int, deadline: float, cancellation: Cancellation | None) -> Proved | Unproved:
        locations = LocationTransfer(self._everywhere.program, Bounds())
        targets = location_cpa(locations, self._everywhere.locations)
        components: list[AnyCpa] = [targets, assumptions_cpa(), value_cpa(self._values, precision={})]
        composite: Any = Composite(components, locations)
        state = (locations.initial(self._entry), NONE, self._values.initial())
        reached, frontier = start(
            composite, state, composite.precision, PriorityWaitlist(reverse_postorder(self._everywhere.program))
        )
        self._interpolation.deadline = deadline
        try:
            ended = cegar(composite, reached, frontier, self._refine, states=states, deadline=deadline, cancellation=cancellation)
        except OutOfTimeError:
            ended = Ended("budget", "no proof was found within the budget")
        work = Work(reached.made, 0, ended.refinements)
        if ended.ending != "safe":
            return Unproved(ended.reason, work, may_violate=ended.ending == "stuck")
        reasons = sorted({reason for node in reached for reason in node.state[_REASONS]})
        if reasons:
            return Unproved(reasons[0], work)
        try:
            return self._certified(reached, work, "int")
        except RefusedError as refused:
            if clock.spent() > deadline:
                return Unproved(f"a proof was found that did not pass its check: {refused}", work)
        try:
            return self._certified(reached, work, "bv")  # operations on bits are exact there
        except RefusedError as refused:
            return Unproved(f"a proof was found that did not pass its check: {refused}", work)

    # -- refinement ---------------------------------------------------------------------------------------------

    def _refine(self, reached: ReachabilityGraph[Any, Any], target: Node[Any, Any]) -> Refinement[Any, Any]:
        path = reached.path(target)
        prefixes = self._interpolation.prefixes([step.step for step in path], _PREFIXES)
        if not prefixes:
            return Stuck("tracking the values of variables does not rule out a violation")
        if len(prefixes[0]) > _LONGEST:
            return Stuck("a path to a violation is too long to be examined")
        more = min((self._needed(path, prefix) for prefix in prefixes if len(prefix) <= _LONGEST), key=self._cost)
        pivot = next((step.node for step in path if self._is_finer(step.node, more)), None)
        if pivot is None:
            return Stuck("tracking the values of more variables does not rule out a violation")

        def finer(precision: tuple[Any, ...]) -> tuple[Any, ...]:
            return (*precision[:_VALUES], precision[_VALUES].refined(more), *precision[_VALUES + 1 :])

        return Refined(pivot, finer)

    def _needed(self, path: Sequence[PathStep[Any, Any]], prefix: Sequence[int]) -> Tracked:
        """The variables that must be tracked for the prefix to be seen as infeasible."""
        found: Tracked = {}
        interpolants = dict(zip(prefix, self._interpolation.interpolants([path[at].step for at in prefix]), strict=False))
        names: frozenset[str] = frozenset()
        for position in range(prefix[-1]):
            if position in interpolants:  # else a branch that was left out: what is known stays
                roots = interpolants[position].store.map
                names = frozenset(name for root in roots if (name := tracked_name(root)) is not None)
            location: Location = path[position].node.state[_LOCATION]
            place = (location.function, location.location)
            if names:
                found[place] = found.get(place, frozenset()) | names
        return found

    def _cost(self, tracked: Tracked) -> tuple[int, int]:
        """Variables that change in loops have many values: the fewer of them the better, then the fewer variables."""
        names = frozenset().union(*tracked.values())
        return len(names & self._counters), len(names)

    def _is_finer(self, node: Node[Any, Any], tracked: Tracked) -> bool:
        location: Location = node.state[_LOCATION]
        place = (location.function, location.location)
        own: VariablePrecision = node.precision[_VALUES]
        return not tracked.get(place, frozenset()) <= own.at(*place)

    # -- the certificate ----------------------------------------------------------------------------------------

    def _certified(self, reached: ReachabilityGraph[Any, Any], work: Work, mode: Mode) -> Proved:
        """[IPA] Algorithm 2, at the heads of loops: the disjunction of the known values."""
        reaching = Reaching(self._program, self._entry, mode, self._model)
        for node in reached:
            reaching.add(node.state[_LOCATION], node.state[_VALUES].store)
        contexts, assertions = reaching.assertions()
        edges = tuple((violation.function, violation.edge) for violation in self._violations)
        annotation = Annotation(self._entry, self._violations[0].property, edges, mode, contexts, assertions)
        checked = check(self._program, annotation, self._model)
        work = msgspec.structs.replace(work, questions=checked.questions)
        return Proved(annotation, checked.assumptions, work, checked.unreached)


def _changed_in_loops(cfa: Cfa) -> Iterator[str]:
    """The variables that are assigned to, or take results, in loops, named as in precisions."""
    graph = {str(location): [str(edge.target) for edge in edges] for location, edges in cfa.outgoing.items()}
    graph.setdefault(str(cfa.exit), [])
    group_of = {location: number for number, group in enumerate(strongly_connected(graph)) for location in group}
    for edge in cfa.edges:
        if group_of.get(str(edge.source)) == group_of.get(str(edge.target)):
            target = getattr(edge.effect, "target", None) or getattr(edge.effect, "result", None)
            for var in ir.variables(target) if target is not None else ():
                yield f"@{var.name}" if var.scope == "global" else f"{cfa.name}:{var.name}"
