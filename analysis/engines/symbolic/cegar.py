"""Proves that no run violates a property, by symbolic execution with CEGAR ([SYMCEGAR] sections 3.2.7 and 4.4): it begins with
nothing tracked, neither values nor constraints, and tracks what excludes the paths to a violation that it meets. `Proved` only
with an annotation that the certificate checker accepted. Signed sums wrap, as they do for the checker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from analysis.certificate.annotation import Annotation
from analysis.certificate.checked_outcome import Proved, Unproved, Work
from analysis.certificate.checker import check
from analysis.certificate.refusal import RefusedError
from analysis.cfa.graph import Program
from analysis.cpa.domains.location import Bounds, reverse_postorder
from analysis.cpa.framework.algorithm import Cancellation, start
from analysis.cpa.framework.path_interpolation import OutOfTimeError, PathInterpolation
from analysis.cpa.framework.reachability import Node, ReachabilityGraph
from analysis.cpa.framework.refinement_loop import Ended, Refined, Refinement, Stuck, cegar
from analysis.cpa.framework.waitlist import PriorityWaitlist
from analysis.cpa.predicates.error_locations import ErrorLocations, with_error_locations
from analysis.cpa.predicates.reaching import Reaching
from analysis.cpa.predicates.violations import Violation, property_of
from analysis.cpa.stores.precision import ConstraintPrecision
from analysis.cpa.symbolic_values.condition_formulas import Mode
from analysis.cpa.symbolic_values.symbolic_execution import (
    ASSUMPTIONS,
    CONSTRAINTS,
    LOCATION,
    VALUES,
    SymbolicExecution,
    SymbolicOptions,
)
from analysis.engines.symbolic.cegar_refinement import ByPredicates, Needed, SymbolicPost, needed
from analysis.engines.symbolic.explore import BudgetedSolver
from analysis.engines.symbolic.task import NOT_ASKED
from analysis.model import clock
from analysis.model.c_types import LP64, DataModel
from analysis.model.symbolic_operators import SymbolicOperators
from analysis.smt.solving.memo import Memo, MemoSolver
from analysis.smt.solving.solver import Solver
from analysis.smt.transitions.vocabulary import TooLargeError

_LONGEST = 2_000  # steps of a path that is interpolated
_PREFIXES = 6  # reasons why a path is infeasible that are compared


class CegarOptions(msgspec.Struct, frozen=True):
    """How to look for a proof: the operators that SYMCEGAR compares, and the bounds. Predicates give a precision by variables
    only (section 4.4.2). `seconds` of the clock for all, `states`: abstract states, `query_milliseconds` for one question;
    `recursion`: activations of one function that are followed."""

    operators: SymbolicOperators = SymbolicOperators()
    mode: Mode = "int"
    seconds: float = 10.0
    states: int = 20_000
    query_milliseconds: int = 1_000
    recursion: int = 1
    depth: int = 60


def prove(
    program: Program,
    violations: tuple[Violation, ...],
    entry: str = "main",
    model: DataModel = LP64,
    options: CegarOptions = CegarOptions(),  # noqa: B008 - an immutable value
    cancellation: Cancellation | None = None,
) -> Proved | Unproved:
    """Looks for a proof. KeyError if the program does not define the entry; ValueError if the violations are of more than one
    property, or the options do not go together."""
    property_ = property_of(violations)
    if property_ is None:
        return Unproved("nothing in the program could violate the property", Work())
    if options.operators.refine == "predicates" and options.operators.by != "variables":
        raise ValueError("predicates give a precision by variables")
    everywhere = with_error_locations(program, violations)
    if everywhere is None:
        return Unproved(f"{NOT_ASKED}{property_}", Work())
    try:
        return _Proving(program, violations, everywhere, entry, model, options).run(cancellation)
    except TooLargeError as large:
        return Unproved(f"its code cannot be followed: {large}", Work())


class _Proving:
    def __init__(
        self,
        program: Program,
        violations: tuple[Violation, ...],
        everywhere: ErrorLocations,
        entry: str,
        model: DataModel,
        options: CegarOptions,
    ) -> None:
        self._began = clock.spent()
        self._program, self._violations, self._everywhere = program, violations, everywhere
        self._entry, self._model, self._options = entry, model, options
        self._operators = operators = options.operators
        is_refined = operators.refine != "none"
        symbolic = SymbolicOptions(
            less_or_equal=operators.less_or_equal,
            merge=operators.merge,
            check_at=operators.check_at,
            definite=False,
            mode=options.mode,
            overflow="wrap",
            whole=entry == "main",
            model=model,
            bounds=Bounds(options.recursion, options.depth),
        )
        self._execution = SymbolicExecution(
            everywhere.program,
            self._solver(),
            everywhere.locations,
            symbolic,
            tracked_values={} if is_refined else None,
            tracked_constraints=ConstraintPrecision({}, operators.by) if is_refined else None,
        )
        order = "constraints-first" if operators.refine == "none" else operators.refine
        self._post = SymbolicPost(everywhere.program, self._solver(), symbolic, order)
        self._interpolation = PathInterpolation(self._post)
        self._by_predicates = ByPredicates(everywhere.program, symbolic, entry, options.query_milliseconds)

    def _solver(self) -> Solver:
        return MemoSolver(BudgetedSolver(self._options.query_milliseconds), Memo())

    def run(self, cancellation: Cancellation | None) -> Proved | Unproved:
        options, composite = self._options, self._execution.composite
        state = self._execution.initial(self._entry)
        waitlist = PriorityWaitlist(reverse_postorder(self._everywhere.program))
        reached, frontier = start(composite, state, composite.precision, waitlist)
        deadline = self._interpolation.deadline = self._began + options.seconds
        try:
            ended: Ended[Any, Any] = cegar(
                composite,
                reached,
                frontier,
                self._refine,
                states=options.states,
                deadline=deadline,
                cancellation=cancellation,
                restart=self._operators.restart,
            )
        except OutOfTimeError:
            ended = Ended("budget", "no proof was found within the budget")
        queries = self._execution.decide.checks + self._post.checks
        work = Work(reached.made, 0, ended.refinements, queries=queries)
        if ended.ending != "safe":
            return Unproved(ended.reason, work, may_violate=ended.ending == "stuck")
        reasons = sorted({reason for node in reached for reason in node.state[ASSUMPTIONS]})
        if reasons:
            return Unproved(reasons[0], work)
        return self._certified(reached, work)

    def _certified(self, reached: ReachabilityGraph[Any, Any], work: Work) -> Proved | Unproved:
        mode = self._options.mode
        reaching = Reaching(self._program, self._entry, mode, self._model)
        for node in reached:
            reaching.add(node.state[LOCATION], node.state[VALUES].store, node.state[CONSTRAINTS].conditions)
        contexts, assertions = reaching.assertions()
        edges = tuple((violation.function, violation.edge) for violation in self._violations)
        annotation = Annotation(self._entry, self._violations[0].property, edges, mode, contexts, assertions)
        try:
            checked = check(self._program, annotation, self._model)
        except RefusedError as refused:
            return Unproved(f"a proof was found that did not pass its check: {refused}", work)
        work = msgspec.structs.replace(work, questions=checked.questions)
        return Proved(annotation, checked.assumptions, work, checked.unreached)

    # -- refinement ---------------------------------------------------------------------------------------------

    def _refine(self, reached: ReachabilityGraph[Any, Any], target: Node[Any, Any]) -> Refinement[Any, Any]:
        path = reached.path(target)
        steps, at = [step.step for step in path], [step.node.state[LOCATION] for step in path]
        if self._operators.refine == "none" or len(steps) > _LONGEST:
            return Stuck(
                "a path to a violation is too long to be examined"
                if len(steps) > _LONGEST
                else "symbolic execution does not rule out a violation"
            )
        prefixes = self._interpolation.prefixes(steps, _PREFIXES)
        if not prefixes:
            return Stuck("symbolic execution does not rule out a violation")
        if self._operators.refine == "predicates":
            names = self._by_predicates.names(steps[: prefixes[0][-1] + 1], at[: prefixes[0][-1] + 1])
            if names is None:
                return Stuck("no conditions were found that rule out a violation")
            everywhere = self._by_predicates.everywhere(names)
            return self._finer(path, Needed(everywhere, {}), everywhere)
        more = min((needed(self._interpolation, steps, at, prefix) for prefix in prefixes), key=lambda one: len(one.names))
        precision: ConstraintPrecision = self._execution.composite.precision[CONSTRAINTS]
        return self._finer(path, more, {place: precision.words(origins) for place, origins in more.constraints.items()})

    def _finer(self, path: Sequence[Any], more: Needed, words: Any) -> Refinement[Any, Any]:
        def is_finer(node: Node[Any, Any]) -> bool:
            place = node.state[LOCATION].function, node.state[LOCATION].location
            values, constraints = node.precision[VALUES], node.precision[CONSTRAINTS]
            return not (
                more.values.get(place, frozenset()) <= values.at(*place)
                and words.get(place, frozenset()) <= constraints.at(*place)
            )

        pivot = next((step.node for step in path if is_finer(step.node)), None)
        if pivot is None:
            return Stuck("symbolic execution does not rule out a violation, and following it more closely did not help")

        def finer(precision: tuple[Any, ...]) -> tuple[Any, ...]:
            found = list(precision)
            found[VALUES] = found[VALUES].refined(more.values)
            found[CONSTRAINTS] = found[CONSTRAINTS].refined(words)
            return tuple(found)

        return Refined(pivot, finer)
