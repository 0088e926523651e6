"""Proves that no run violates a property at some edges: predicate analysis with CEGAR ([IPA] sections 2 and
3, [SYMCEGAR] sections 3.2.3 and 3.3). `Proved` only with an annotation that the certificate checker accepted;
nothing is reported as violated here: that takes a run of the program.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import msgspec

from analysis.certificate.annotation import Proof
from analysis.certificate.checked_outcome import Proved, ReuseWork, Unproved, Work
from analysis.certificate.checker import check
from analysis.certificate.refusal import RefusedError
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Program
from analysis.cfa.marks import marked
from analysis.cpa.domains.location import Bounds
from analysis.cpa.domains.predicate import PredicatePrecision
from analysis.cpa.framework.algorithm import Cancellation
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.step_formulas import Contexts
from analysis.cpa.predicates.violations import Property, Violation, property_of
from analysis.engines.predicate.clauses import Clauses
from analysis.engines.predicate.predicate_options import PredicateOptions
from analysis.engines.predicate.predicate_refinement import path_of
from analysis.engines.predicate.predicate_search import PREDICATE, Explored, PredicateSearch
from analysis.engines.predicate.procedure_proof import SummaryClauses
from analysis.engines.predicate.reuse.earlier_proofs import UNREADABLE, EarlierProofs
from analysis.engines.predicate.reuse.reusing import Reused, Reusing
from analysis.engines.predicate.reuse.revalidation import MappedProof, revalidated
from analysis.engines.predicate.stretches import Stretches
from analysis.model import clock
from analysis.model.c_types import LP64, DataModel
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Sharing
from analysis.smt.transitions.system import System
from analysis.smt.transitions.vocabulary import TooLargeError

_NOTHING = Reused()
_SMALL = 3_000  # edges: of larger programs, clauses take long to make
_QUICK = 0.1  # of the seconds of refinement, to find a path that no clause excludes either
_EARLY = 0.1  # of the seconds, for the clauses before refinement
_LOCAL = 0.03  # of the seconds, for the clauses of only the loops that a change concerns
_REUSE = 0.3  # of the seconds, to find what is left of an earlier proof
_REVALIDATED = 0.1  # of the seconds, for an earlier proof as it is
_LOOK = 0.005  # of the work that an earlier proof took, for a search from nothing before its repair: it may be violated plainly
_LOOK_AT_MOST = 0.005  # of the seconds, for the same
_WORTH = 0.5  # of that work, for all that is tried to save it
_WORTH_AT_LEAST = 0.1  # seconds of work, for the same
_SEEDED_FIRST = 0.03  # of the seconds, for a search that begins with what is left of one, before the clauses
_SEEDED_LAST = 0.1  # of the seconds, for the same where all else finds nothing
_SEEDED = 0.5  # of the seconds for the search, for one that begins with that, where no clauses are asked


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
    began = clock.spent()
    try:
        found = _Proving(program, violations, property_, entry, model, options, cancellation).run(earlier)
    except TooLargeError as large:
        return Unproved(f"its code cannot be followed: {large}", Work())
    if isinstance(found, Unproved):
        return found
    worked = max(clock.spent() - began, 0.0 if earlier is None else earlier.worked)
    return msgspec.structs.replace(found, work=msgspec.structs.replace(found.work, worked=worked))


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
        self._search = self._new_search()
        self._share = options.clauses if options.mode == "int" else 0.0  # Spacer does not know when to stop on bit-vectors
        called = callees(program)
        self._is_recursive = any(len(group) > 1 or group[0] in called[group[0]] for group in components(program))
        self._reusing: Reusing | None = None
        self._is_not_plain = False  # a search from nothing, as long as the one that comes first from scratch, found no violation
        self._clauses: SummaryClauses | Clauses | None = None  # made when they are first asked

    def _new_search(self) -> PredicateSearch:
        return PredicateSearch(
            self._system, self._contexts, self._violations, self._property, self._entry, self._options, self._cancellation
        )

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
        """What an earlier proof says comes first: as it is, and repaired where the change is. Between the two comes a short
        search from nothing, as the change may have broken the program; behind them, if the proof cannot be repaired, the one that
        comes first from scratch, and then what is left of the proof: lemmas, and predicates that a search begins with.

        From scratch, the clauses are asked before and after refinement: what Spacer can solve it mostly solves at once, and what
        it cannot, it rarely can with more time. In small programs, a short search comes before them. Where it finds a feasible
        path to a violation, the clauses, which say the same, have no solution. All of that has its full time, whatever was
        reused before."""
        options, searching = self._options, self._searching
        reused: Reused | Proved | Unproved = _NOTHING
        if earlier is not None:
            with Sharing():  # to make a context takes longer than most of what is asked about an earlier proof
                reused = self._reused(earlier)
        if not isinstance(reused, Reused):
            return reused
        if reused.whole is not None:
            found = self._certified(reused.whole, Work(reuse=msgspec.structs.replace(reused.work, how=reused.how)))
            if isinstance(found, Proved):
                return found
        if not options.scratch:
            seeded, _ = self._seeded(reused, self._began + _SEEDED * searching)
            return seeded if isinstance(seeded, Proved) else self._with_broken(seeded)
        self._began = clock.spent()
        if self._looks:
            early = self._early(reused)
            if early is not None:
                return early
        else:
            seeded, is_open = self._seeded(reused, self._began + (_SEEDED_FIRST if self._share else _SEEDED) * searching)
            if not is_open:
                return seeded
        refined, is_open = self._by_refinement(_NOTHING, self._began + searching)
        if not is_open:
            return refined
        found = self._late_clauses() or self._seeded(reused, clock.spent() + _SEEDED_LAST * options.seconds)[0]
        return found if isinstance(found, Proved) else refined

    @property
    def _searching(self) -> float:
        """The seconds for the search."""
        return self._options.seconds * (1 - self._share)

    @cached_property
    def _is_small(self) -> bool:
        return sum(len(cfa.edges) for cfa in self._program.functions.values()) <= _SMALL

    def _early(self, reused: Reused) -> Proved | Unproved | None:
        """What is found in a short time: by a search, and then by the clauses. What the search proves from nothing counts only
        where the clauses say nothing: their proof says more to people (`c > 0`, not `c != 0`)."""
        seconds, is_open = self._options.seconds, True
        found: Proved | Unproved = Unproved("", Work())
        if reused.predicates or not self._is_not_plain:
            quick = _SEEDED_FIRST * seconds if reused.predicates else _QUICK * self._searching
            found, is_open = self._by_refinement(reused, clock.spent() + quick)
        violated = isinstance(found, Unproved) and found.may_violate and not is_open
        if violated or (isinstance(found, Proved) and reused.predicates):
            return found
        proved = found if isinstance(found, Proved) else None
        return self._by_clauses(clock.spent() + _EARLY * seconds, guidance=True, reused=reused) or proved

    def _seeded(self, reused: Reused, until: float) -> tuple[Proved | Unproved, bool]:
        """What CEGAR says from the predicates of an earlier proof, if there are any; and whether a proof may be found in another
        way."""
        if not reused.predicates:
            return Unproved("nothing of the earlier proof is left", Work(reuse=reused.work)), True
        return self._by_refinement(reused, until)

    def _reused(self, earlier: EarlierProofs) -> Reused | Proved | Unproved:
        """What is left of earlier proofs, nothing if they cannot be understood; the proof if one of them still is one, or is one
        after a repair; what is found by a look from nothing, if that is a violation."""
        options = self._options
        bounds = Bounds(options.recursion, options.depth)
        stretches = Stretches(self._system, self._violations, self._entry, bounds, self._contexts, options.ends)
        budget = Budget(options.query_milliseconds)
        reusing = self._reusing = Reusing(stretches, self._violations, self._property, budget)
        worth = max(_WORTH_AT_LEAST, _WORTH * earlier.worked) if earlier.worked else math.inf
        worth = min(_REUSE * options.seconds, worth)
        try:
            found = reusing.mapped(earlier, options.align)
            if found is not None and options.revalidates and options.reuse == "annotations":
                with clock.within(_REVALIDATED * options.seconds):
                    proof = revalidated(found, reusing.translated, options.ends, self._model, budget)
                seen = proof or self._repaired_unless_violated(reusing, found, earlier.worked, worth)
                if seen is not None:
                    return seen
            return _NOTHING if found is None else reusing.of(found, options.reuse, self._until(worth))
        except UNREADABLE:
            return _NOTHING

    def _repaired_unless_violated(
        self, reusing: Reusing, found: MappedProof, worked: float, worth: float
    ) -> Proved | Unproved | None:
        """The earlier proof repaired, or a violation that is found soon: in a moment before the repair, or behind it in as long
        as the search takes that comes first from scratch. `worked`: seconds of work that the earlier proof took."""
        moment = min(_LOOK * worked, _LOOK_AT_MOST * self._options.seconds)
        seen = self._plainly_violated(moment) or self._repaired(reusing, found, worth)
        seen = seen or self._plainly_violated(_QUICK * self._searching)
        self._is_not_plain = seen is None and self._looks
        return seen

    @property
    def _looks(self) -> bool:
        """Whether a short search comes first."""
        return bool(self._share) and self._is_small

    def _plainly_violated(self, seconds: float) -> Unproved | None:
        """A violation that is found soon, by a search from nothing. It is one by itself, so that a later one finds what it would
        find without it."""
        if not seconds or not self._looks:
            return None
        search = self._new_search()
        explored = search.explored(_NOTHING, PredicatePrecision({}), clock.spent() + seconds)
        if explored.ended.ending != "feasible":
            return None
        found, is_open = self._concluded(search, explored, ReuseWork())
        return found if isinstance(found, Unproved) and found.may_violate and not is_open else None

    def _repaired(self, reusing: Reusing, found: MappedProof, worth: float) -> Proved | None:
        """The proof that an earlier one is where only what the change concerns is found again; None if it is none. `worth`: the
        seconds of work that this may take, with what was done before."""
        seconds = min(worth, _LOCAL * self._options.seconds) if self._share and not self._is_recursive else 0.0
        repaired = reusing.repaired(found, self._until(worth), Budget(int(1000 * seconds)))
        if repaired.whole is None:
            return None
        proof = self._certified(repaired.whole, Work(reuse=msgspec.structs.replace(repaired.work, how=repaired.how)))
        return proof if isinstance(proof, Proved) else None

    def _with_broken(self, found: Unproved) -> Unproved:
        """With what of the earlier proof does not hold any more, where that is to be said."""
        if self._options.scratch or self._reusing is None:
            return found
        return msgspec.structs.replace(found, broken=self._reusing.broken(self._until(self._options.seconds)))

    def _until(self, seconds: float) -> Callable[[], bool]:
        """Says whether there is time left, of these seconds from the start."""
        until = self._began + seconds
        return lambda: clock.spent() < until and not self._is_cancelled

    @property
    def _is_cancelled(self) -> bool:
        return self._cancellation is not None and self._cancellation.cancelled()

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
            found = self._search.explored(reused, precision, until)
            target, (answer, is_open) = found.ended.target, self._concluded(self._search, found, reused.work)
            is_from_start = target is not None and not path_of(target.state[PREDICATE])[0].origin.seeded
            if isinstance(answer, Proved) or is_from_start:
                return answer, is_open
            precision, made = found.precision(), found.made
            reused = msgspec.structs.replace(reused, seeds={}, closed=frozenset())
        return self._concluded(self._search, self._search.explored(reused, precision, until, made), reused.work)

    def _concluded(self, search: PredicateSearch, found: Explored, reuse: ReuseWork) -> tuple[Proved | Unproved, bool]:
        reached, ended = found.reached, found.ended
        work = Work(found.made, search.abstractions, ended.refinements, reuse=reuse)
        if ended.ending == "safe":
            how: ReuseWork = msgspec.structs.replace(reuse, how="search") if reuse != ReuseWork() else reuse
            return self._certified(search.annotation(reached), msgspec.structs.replace(work, reuse=how)), False
        flaw = None if ended.target is None else ended.target.state[PREDICATE].flaw
        if ended.ending == "feasible" and isinstance(flaw, str):
            return Unproved(flaw, work), self._is_recursive
        if ended.ending == "feasible":
            where = "" if flaw is None else f" at {marked(self._program, flaw.function, flaw.edge)}"
            return Unproved(f"nothing rules out {self._property}{where}", work, may_violate=True), False
        return Unproved(ended.reason, work), True

    def _by_clauses(self, until: float, *, guidance: bool, reused: Reused = _NOTHING) -> Proved | None:
        """A proof from the program as Horn clauses, and from the lemmas that are left of an earlier one; None if none is found,
        or accepted, until then (of the clock)."""
        left = until - clock.spent()
        if left <= 0 or not self._share or self._is_cancelled:
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

    def _certified(self, annotation: Proof, work: Work) -> Proved | Unproved:
        try:
            checked = check(self._program, annotation, self._model)
        except RefusedError as refused:
            return Unproved(f"a proof was found that did not pass its check: {refused}", work)
        work = msgspec.structs.replace(work, questions=checked.questions)
        return Proved(annotation, checked.assumptions, work, checked.unreached)
