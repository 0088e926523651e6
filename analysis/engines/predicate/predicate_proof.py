"""Proves that no run violates a property at some edges: predicate analysis with CEGAR ([IPA] sections 2 and
3, [SYMCEGAR] sections 3.2.3 and 3.3). `Proved` only with an annotation that the certificate checker accepted;
nothing is reported as violated here: that takes a run of the program.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import msgspec

from analysis.certificate.annotation import Annotation, Proof
from analysis.certificate.checked_outcome import Proved, ReuseWork, Unproved, Work
from analysis.certificate.checker import check
from analysis.certificate.refusal import RefusedError
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Program
from analysis.cfa.marks import marked
from analysis.cfa.revisions.match import Align, by_order
from analysis.cpa.domains.location import Bounds, Location, LocationTransfer, location_cpa, reverse_postorder
from analysis.cpa.domains.predicate import Predicated, PredicatePrecision, predicate_cpa
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.framework.composite import Composite
from analysis.cpa.framework.reachability import ReachabilityGraph
from analysis.cpa.framework.refinement_loop import Ended, cegar
from analysis.cpa.framework.waitlist import PriorityWaitlist
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.abstraction import Abstraction
from analysis.cpa.predicates.abstraction import Kind as AbstractionKind
from analysis.cpa.predicates.adjustable_blocks import BlockEnds, block_ends
from analysis.cpa.predicates.step_formulas import Contexts
from analysis.cpa.predicates.violations import Property, Violation, property_of
from analysis.engines.predicate.clauses import Clauses
from analysis.engines.predicate.predicate_refinement import Refiner, path_of
from analysis.engines.predicate.procedure_proof import SummaryClauses
from analysis.engines.predicate.reuse.earlier_proofs import UNREADABLE, EarlierProofs
from analysis.engines.predicate.reuse.reusing import Reuse, Reused, Reusing
from analysis.engines.predicate.reuse.revalidation import revalidated
from analysis.engines.predicate.stretches import Stretches
from analysis.model import clock
from analysis.model.c_types import LP64, DataModel
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.logic.term_building import FALSE, and_, eq, or_
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.interpolation import METHODS, Method
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State
from analysis.smt.transitions.vocabulary import TooLargeError

_LOCATION, _PREDICATE = 0, 1
_NOTHING = Reused()
_SMALL = 3_000  # edges: of larger programs, clauses take long to make
_QUICK = 0.1  # of the seconds of refinement, to find a path that no clause excludes either
_EARLY = 0.1  # of the seconds, for the clauses before refinement
_REUSE = 0.3  # of the seconds, to find what is left of an earlier proof
_REVALIDATED = 0.1  # of the seconds, for an earlier proof as it is
_SEEDED_FIRST = 0.03  # of the seconds, for a search that begins with what is left of one, before the clauses
_SEEDED = 0.5  # of the seconds for the search, for one that begins with that


class PredicateOptions(msgspec.Struct, frozen=True):
    """How to look for a proof. `seconds` of the clock for all, of which the share `clauses`, and a little before refinement, is
    for the program as Horn clauses (0: none); `states`: abstract states; `query_milliseconds` for one question; `recursion`:
    activations of one function that are followed, beyond which only summaries prove; `depth`: calls that may be open; `reuse`:
    what of an earlier proof is reused, if there is one; `scratch`: where that is not enough, all is looked for anew. If not, what
    is broken of the earlier proof is said instead; `align`: which edges of two revisions correspond; `revalidates`: an earlier
    annotation is tried as it is, before what a change impacts is taken out."""

    mode: Mode = "int"
    abstraction: AbstractionKind = "boolean"
    ends: BlockEnds = BlockEnds()
    restart: Literal["pivot", "full"] = "pivot"
    interpolation: tuple[Method, ...] = METHODS
    seconds: float = 10.0
    clauses: float = 0.4
    states: int = 50_000
    query_milliseconds: int = 2_000
    recursion: int = 1
    depth: int = 60
    reuse: Reuse = "annotations"
    scratch: bool = True
    align: Align = by_order
    revalidates: bool = True


def prove(
    program: Program,
    violations: tuple[Violation, ...],
    entry: str = "main",
    model: DataModel = LP64,
    options: PredicateOptions = PredicateOptions(),  # noqa: B008 - an immutable value
    cancellation: Cancellation | None = None,
    earlier: EarlierProofs | None = None,
) -> Proved | Unproved:
    """Looks for a proof, from `earlier` ones of another revision if there are any ([IPA] Algorithm 7). KeyError if the program
    does not define the entry; ValueError if the violations are of more than one property."""
    property_ = property_of(violations)
    if property_ is None:
        return Unproved("nothing in the program could violate the property", Work())
    try:
        return _Proving(program, violations, property_, entry, model, options, cancellation).run(earlier)
    except TooLargeError as large:
        return Unproved(f"formulas cannot follow it: {large}", Work())


class _Explored(msgspec.Struct, frozen=True):
    """A reached set, how the exploration ended, and the states that were made so far."""

    reached: ReachabilityGraph[Any, Any]
    ended: Ended[Any, Any]
    made: int

    def precision(self) -> PredicatePrecision:
        """All predicates that any state has."""
        found = PredicatePrecision({})
        for node in self.reached:
            found = found.refined(node.precision[_PREDICATE].predicates)
        return found


class _Proving:
    def __init__(
        self,
        program: Program,
        violations: tuple[Violation, ...],
        property_: Property,
        entry: str,
        model: DataModel,
        options: PredicateOptions,
        cancellation: Cancellation | None,
    ) -> None:
        self._began = clock.spent()
        self._program, self._violations, self._property = program, violations, property_
        self._entry, self._model, self._options, self._cancellation = entry, model, options, cancellation
        self._system = self._new_system()
        self._contexts = Contexts()
        self._share = options.clauses if options.mode == "int" else 0.0  # Spacer does not know when to stop on bit-vectors
        called = callees(program)
        self._is_recursive = any(len(group) > 1 or group[0] in called[group[0]] for group in components(program))
        self._reusing: Reusing | None = None
        self._clauses: SummaryClauses | Clauses | None = None  # made when they are first asked

    # these two are made when they are first needed: their solvers take longer to make than to validate an earlier proof

    @cached_property
    def _abstraction(self) -> Abstraction:
        options = self._options
        return Abstraction(self._system, Z3Solver(), options.abstraction, Budget(options.query_milliseconds))

    @cached_property
    def _refiner(self) -> Refiner:
        methods, budget = self._options.interpolation, Budget(2 * self._options.query_milliseconds)
        return Refiner(self._system, Z3Solver(), component=_PREDICATE, methods=methods, budget=budget)

    def _new_system(self) -> System:
        return System(
            self._program,
            self._options.mode,
            self._model,
            whole=self._entry == "main",
            exposed=exposed(self._program),
            definedness=self._property == "uninitialized-read",
        )

    def run(self, earlier: EarlierProofs | None) -> Proved | Unproved:
        """What an earlier proof says comes first. The clauses are asked before and after refinement: what Spacer can solve it
        mostly solves at once, and what it cannot, it rarely can with more time; lemmas that are left need not be found by it. A
        short search comes before them in small programs, unless something is left to begin with: where it finds a feasible path
        to a violation, the clauses, which say the same, have no solution. Where the search has predicates to begin with, that
        comes before one from scratch; where it ends without an answer, all is looked for as from scratch, so that what is found
        there is found here."""
        options, program = self._options, self._program
        searching = options.seconds * (1 - self._share)
        half = self._began + _SEEDED * searching
        reused = _NOTHING if earlier is None else self._reused(earlier)
        if isinstance(reused, Proved):
            return reused
        if reused.whole is not None:
            found = self._certified(reused.whole, Work(reuse=msgspec.structs.replace(reused.work, how=reused.how)))
            if isinstance(found, Proved):
                return found
        if not options.scratch:
            seeded, _ = self._seeded(reused, half)
            return seeded if isinstance(seeded, Proved) else self._with_broken(seeded)
        if self._share and sum(len(cfa.edges) for cfa in program.functions.values()) <= _SMALL:
            if not reused.predicates and not reused.lemmas:
                quick, is_open = self._by_refinement(_NOTHING, clock.spent() + _QUICK * searching)
                if isinstance(quick, Proved) or (quick.may_violate and not is_open):
                    return quick
            early = self._early(reused)
            if early is not None:
                return early
        seeded, is_open = self._seeded(reused, half)
        if not is_open:
            return seeded
        refined, is_open = self._by_refinement(_NOTHING, self._began + searching)
        return (self._late_clauses() or refined) if is_open else refined

    def _early(self, reused: Reused) -> Proved | Unproved | None:
        """What is found in a short time: by the clauses, if lemmas are left; else by a search, and then by the clauses."""
        if not reused.lemmas:
            first, is_open = self._seeded(reused, clock.spent() + _SEEDED_FIRST * self._options.seconds)
            if not is_open:
                return first
        return self._by_clauses(clock.spent() + _EARLY * self._options.seconds, guidance=True, reused=reused)

    def _seeded(self, reused: Reused, until: float) -> tuple[Proved | Unproved, bool]:
        """What CEGAR says from the predicates of an earlier proof, if there are any; and whether a proof may be found in another
        way."""
        if not reused.predicates:
            return Unproved("nothing of the earlier proof is left", Work(reuse=reused.work)), True
        return self._by_refinement(reused, until)

    def _reused(self, earlier: EarlierProofs) -> Reused | Proved:
        """What is left of earlier proofs, nothing if they cannot be understood; the proof if one of them still is one."""
        options = self._options
        until = self._began + _REUSE * options.seconds

        def goes_on() -> bool:
            return clock.spent() < until and not (self._cancellation is not None and self._cancellation.cancelled())

        bounds = Bounds(options.recursion, options.depth)
        stretches = Stretches(self._system, self._violations, self._entry, bounds, self._contexts, options.ends)
        budget = Budget(options.query_milliseconds)
        reusing = self._reusing = Reusing(stretches, self._violations, self._property, budget)
        try:
            found = reusing.earlier(earlier, options.align)
            if found is not None and options.revalidates and options.reuse == "annotations":
                with clock.within(_REVALIDATED * options.seconds):
                    proof = revalidated(found, self._system, options.ends, self._model, budget)
                if proof is not None:
                    return proof
            return _NOTHING if found is None else reusing.of(found, options.reuse, goes_on)
        except UNREADABLE:
            return _NOTHING

    def _with_broken(self, found: Unproved) -> Unproved:
        """With what of the earlier proof does not hold any more, where that is to be said."""
        options = self._options
        if options.scratch or self._reusing is None:
            return found
        until = self._began + options.seconds

        def goes_on() -> bool:
            return clock.spent() < until and not (self._cancellation is not None and self._cancellation.cancelled())

        return msgspec.structs.replace(found, broken=self._reusing.broken(goes_on))

    def _late_clauses(self) -> Proved | None:
        """What is left of the time is for the whole program at once."""
        until = self._began + self._options.seconds
        half = (clock.spent() + until) / 2
        return self._by_clauses(half, guidance=True) or self._by_clauses(until, guidance=False)

    def _by_refinement(self, reused: Reused, until: float) -> tuple[Proved | Unproved, bool]:
        """What CEGAR says, from what is reused; and whether a proof may be found in another way. A path to a violation that
        begins at a seed may be no path of the program: then the search begins anew without seeds."""
        precision, made = PredicatePrecision(reused.predicates), 0
        if reused.seeds:
            found = self._explored(reused, precision, until)
            target, (answer, is_open) = found.ended.target, self._concluded(found, reused.work)
            is_from_start = target is not None and not path_of(target.state[_PREDICATE])[0].origin.seeded
            if isinstance(answer, Proved) or is_from_start:
                return answer, is_open
            precision, made = found.precision(), found.made
            reused = msgspec.structs.replace(reused, seeds={}, closed=frozenset())
        return self._concluded(self._explored(reused, precision, until, made), reused.work)

    def _explored(self, reused: Reused, precision: PredicatePrecision, until: float, made: int = 0) -> _Explored:
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
        return _Explored(reached, ended, made + reached.made)

    def _concluded(self, found: _Explored, reuse: ReuseWork) -> tuple[Proved | Unproved, bool]:
        reached, ended = found.reached, found.ended
        work = Work(found.made, self._abstraction.computed, ended.refinements, reuse=reuse)
        if ended.ending == "safe":
            how: ReuseWork = msgspec.structs.replace(reuse, how="search") if reuse != ReuseWork() else reuse
            return self._certified(self._annotation(reached), msgspec.structs.replace(work, reuse=how)), False
        flaw = None if ended.target is None else ended.target.state[_PREDICATE].flaw
        if ended.ending == "feasible" and isinstance(flaw, str):
            return Unproved(flaw, work), self._is_recursive
        if ended.ending == "feasible":
            where = "" if flaw is None else f" at {marked(self._program, flaw.function, flaw.edge)}"
            return Unproved(f"{self._property} is not excluded{where}", work, may_violate=True), False
        return Unproved(ended.reason, work), True

    def _by_clauses(self, until: float, *, guidance: bool, reused: Reused = _NOTHING) -> Proved | None:
        """A proof from the program as Horn clauses, and from the lemmas that are left of an earlier one; None if none is found,
        or accepted, until then (of the clock)."""
        left = until - clock.spent()
        if left <= 0 or not self._share or (self._cancellation is not None and self._cancellation.cancelled()):
            return None
        work, clauses = Work(), self._clauses
        if reused.lemmas and self._reusing is not None and not self._is_recursive:
            work = Work(reuse=msgspec.structs.replace(reused.work, how="search"))
            clauses = Clauses(self._reusing.stretches, self._violations, reused.lemmas)
        elif clauses is None:
            clauses = self._clauses = self._new_clauses()
        left = until - clock.spent()
        if left <= 0:
            return None
        annotation = clauses.solution(Budget(int(1000 * left)), guidance=guidance)
        found = None if annotation is None else self._certified(annotation, work)
        return found if isinstance(found, Proved) else None

    def _new_clauses(self) -> SummaryClauses | Clauses:
        system, options = self._new_system(), self._options
        if self._is_recursive:
            return SummaryClauses(system, self._violations, self._entry)
        stretches = Stretches(system, self._violations, self._entry, Bounds(options.recursion, options.depth))
        return Clauses(stretches, self._violations)

    def _annotation(self, reached: ReachabilityGraph[Any, Any]) -> Annotation:
        """[IPA] Algorithm 2, at the ends of blocks."""
        found: dict[tuple[int, int], list[Term]] = {}
        for number, stack in self._contexts.rows():
            function = self._entry if stack is None else stack.call.callee
            for location in block_ends(self._program.functions[function], self._options.ends):
                found[number, location] = []
        for node in reached:
            state: Predicated = node.state[_PREDICATE]
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

    def _certified(self, annotation: Proof, work: Work) -> Proved | Unproved:
        try:
            checked = check(self._program, annotation, self._model)
        except RefusedError as refused:
            return Unproved(f"a proof was found that did not pass its check: {refused}", work)
        work = msgspec.structs.replace(work, questions=checked.questions)
        return Proved(annotation, checked.assumptions, work, checked.unreached)
