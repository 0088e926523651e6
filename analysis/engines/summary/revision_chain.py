"""A program verified revision by revision: summaries of the last revision that held are carried over and repaired ([UPPROVER]
section 4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import Literal, TypeVar

import msgspec

from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import Property, Violation
from analysis.engines.summary.body_partitions import CUT, ERROR, FLAW, Partition, conjuncts_of, functions_of, speaks_only_of
from analysis.engines.summary.bounded_answer import BoundedAnswer, Level, Status
from analysis.engines.summary.call_tree import CallTree, Node
from analysis.engines.summary.known_calls import KnownCall
from analysis.engines.summary.partition_abstraction import Abstractions
from analysis.engines.summary.substitution_schemes import Scheme, Summaries
from analysis.engines.summary.summary_refinement import Implication, implied
from analysis.engines.summary.summary_refinement import Status as StatusOfImplication
from analysis.engines.summary.tree_interpolation import BySolvers, ByTheory, Interpolator, LiteralsFirst
from analysis.engines.summary.unwound_program import CannotUnwindError, UnwoundProgram, in_theory, unwound
from analysis.engines.summary.validation import Validated, Validator
from analysis.engines.summary.validation_work import Work
from analysis.model import clock
from analysis.model.c_types import LP64, DataModel
from analysis.smt.encoding.numbers.formula import Mode
from analysis.smt.logic.term_building import and_, not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Sharing

_FEW = 4  # calls
_REPAIR = 0.5  # of what is left, at most: as much is left to begin anew
_T = TypeVar("_T")
PROPERTY = and_(not_(ERROR), not_(FLAW))
"""The summary of the root: property (7) holds of it by its form."""


_GENERAL: dict[Level, Callable[[], Interpolator]] = {
    "euf": lambda: ByTheory("euf"),
    "lra": lambda: ByTheory("lra-decomposed"),
    "int": BySolvers,
    "bv": BySolvers,
}


class ChainOptions(msgspec.Struct, frozen=True):
    """How a chain is verified. `level`: the theory of the formulas. `changes`: a function has changed if its formula is another
    one (`formula`), or also if the front end says that its text is (`text`).

    `first` is the scheme for the first revision ([UPPROVER] Algorithm 1), `scheme` that of later ones. `weakens`: see Validator.
    `milliseconds`: for one question to the solver."""

    property: Property = "assertion"
    bound: int = 5
    level: Level = "int"
    first: Scheme = "inline"
    scheme: Scheme = "lazy"
    changes: Literal["formula", "text"] = "formula"
    weakens: bool = True
    milliseconds: int = 20_000
    model: DataModel = LP64


class RevisionChain:
    """Verifies one revision after the other. `summaries` are those of the last one that held, by the keys of calls."""

    def __init__(self, options: ChainOptions, make: Interpolator | None = None, abstractions: Abstractions | None = None) -> None:
        """`abstractions` are those that are known of functions; they save time, and change no answer."""
        self._abstractions: Abstractions = {} if abstractions is None else abstractions
        self._options = options
        self._sharing = Sharing()
        with self._sharing:
            self._make = make or LiteralsFirst(_GENERAL[options.level]())
        self._budget = Budget(options.milliseconds)
        self._numbers: dict[str, int] = {}
        self._known: dict[str, KnownCall] = {}
        self._to_bound: frozenset[str] = frozenset()
        self._are_believed = True

    @property
    def known(self) -> Mapping[str, KnownCall]:
        """What is kept of the calls of the last revision that held, by their keys. What was taken from elsewhere and is not
        validated is no part of it, so that nobody takes it for ours."""
        return self._known if self._are_believed else {}

    @property
    def to_bound(self) -> frozenset[str]:
        """The keys of the calls whose bodies told the last time whether a run comes to the bound."""
        return self._to_bound

    def resume(self, known: Mapping[str, KnownCall], to_bound: Iterable[str] = (), *, are_believed: bool) -> None:
        """Goes on from what another chain with these options kept. If it is not believed, each summary is validated before it
        counts. `to_bound` saves time, and changes no answer."""
        self._known, self._to_bound, self._are_believed = dict(known), frozenset(to_bound), are_believed

    @property
    def summaries(self) -> Mapping[str, Term]:
        """The summaries that there are, by the keys of calls."""
        return {key: known.summary for key, known in self._known.items() if known.summary is not None}

    def verify(self, program: Program) -> BoundedAnswer:
        """The answer about a revision. If it holds, its summaries are those that the next one starts from."""
        options = self._options
        mode: Mode = "bv" if options.level == "bv" else "int"
        try:
            unrolled = unwound(program, options.property, options.bound, mode, self._numbers, options.model)
        except CannotUnwindError as error:
            return self._answer("unknown", Work(), reasons=(str(error),))
        return self.verify_unwound(unrolled)

    def verify_unwound(self, exact: UnwoundProgram, told: Callable[[], StatusOfImplication] = lambda: "unknown") -> BoundedAnswer:
        """The same about a revision whose formulas are those of the level's encoding: of whole numbers, for a light theory. If it
        holds, `told` is asked first whether the bound leaves out no run."""
        with self._sharing:
            return self._verified(self._of_level(exact), told)

    def _verified(self, unrolled: UnwoundProgram, told: Callable[[], StatusOfImplication]) -> BoundedAnswer:
        tree = unrolled.tree
        result, summaries = self._validated(unrolled)
        if result.status == "failed":
            return self._failed(tree, result, summaries, unrolled.assumptions)
        self._are_believed = True
        left_out = "valid" if tree.cuts_nothing else told()
        if left_out == "unknown":
            left_out = self._bound_implied(tree, summaries)
        self._known = {node.key: _kept(node, unrolled, summaries) for node in tree.nodes if not node.is_cut}
        is_complete, is_final = left_out == "valid", left_out != "unknown"
        return self._answer("holds", result.work, is_complete=is_complete, assumptions=unrolled.assumptions, is_final=is_final)

    def _validated(self, unrolled: UnwoundProgram) -> tuple[Validated, Summaries]:
        """What is known of the revision, and its summaries: from those of the revision before, if all of it takes no more than
        one question to the solver may, and half of what is left, and from none otherwise. So repair never costs much more than
        it can save, and what is answered without it is answered with it."""
        options, tree = self._options, unrolled.tree
        summaries, changed = self._carried(unrolled)
        if self._known and not _is_mostly_new(tree, summaries, changed):
            summaries[tree.root.key] = PROPERTY
            with clock.within(min(options.milliseconds / 1000, clock.part(_REPAIR))):
                result = self._validator(options.scheme).validate(tree, changed, summaries)
            if result.failed is None or result.failed.status == "invalid":
                return result, summaries
            summaries, changed = {}, [tree.root]
        if options.first == "inline":
            summaries, changed = {}, [tree.root]  # all bodies are in its check
        summaries[tree.root.key] = PROPERTY
        return self._validator(options.first).validate(tree, changed, summaries), summaries

    def _validator(self, scheme: Scheme) -> Validator:
        return Validator(scheme, self._make, self._budget, weakens=self._options.weakens)

    def leaves_out_no_run(self, exact: UnwoundProgram, seconds: float = inf) -> StatusOfImplication:
        """Whether the bound does, as far as the level can tell from the bodies alone, within some seconds of work. `exact`: see
        `verify_unwound`."""
        with self._sharing, clock.within(seconds):
            return self._bound_implied(self._of_level(exact).tree, {})

    def _of_level(self, exact: UnwoundProgram) -> UnwoundProgram:
        level = self._options.level
        return in_theory(exact, level, self._abstractions) if level in ("euf", "lra") else exact

    # -- what is carried over -----------------------------------------------------------------------------------

    def _carried(self, unrolled: UnwoundProgram) -> tuple[Summaries, list[Node]]:
        """The summaries of the revision before for the calls of this one, and the calls whose summaries have to be validated."""
        summaries: dict[str, Term] = {}
        changed: list[Node] = []
        keys = {node.key for node in unrolled.tree.nodes}
        gone = _GoneCalls(known for key, known in self._known.items() if key not in keys and known.summary is not None)
        # what others wrote may be about functions that no body has, which would cost time and say nothing
        functions = None if self._are_believed else functions_of(node.partition for node in unrolled.tree.nodes)
        for node in unrolled.tree.nodes:
            if node.is_cut:
                continue
            known = self._known.get(node.key)
            if known is None or self._has_changed(known, node, unrolled):
                changed.append(node)
            source = known or gone.alike(node)
            summary = None if source is None else _about(node.partition, source.summary, functions)
            if summary is not None:
                summaries[node.key] = summary
        return summaries, changed

    def _has_changed(self, known: KnownCall, node: Node, unrolled: UnwoundProgram) -> bool:
        if not self._are_believed or known.partition != node.partition.digest or known.function != node.function:
            return True
        return self._options.changes == "text" and known.text != unrolled.digests[node.function]

    # -- answers ------------------------------------------------------------------------------------------------

    def _failed(self, tree: CallTree, result: Validated, summaries: Summaries, assumptions: tuple[str, ...]) -> BoundedAnswer:
        """What is to be said where the property does not hold, or is not known to."""
        assert result.failed is not None
        if self._options.level in ("euf", "lra"):
            reason = f"it could be violated as far as {self._options.level} tells"
            return self._answer("unknown", result.work, reasons=(reason,), is_final=result.failed.status == "invalid")
        found = self._error(tree, result.failed, summaries)
        if found.status == "invalid":
            return self._answer(
                "possible", result.work, violated=_violated(found, self._options.property), assumptions=assumptions
            )
        reasons = _flaws(result.failed) if result.failed.status == "invalid" and found.status == "valid" else ()
        given_up = f"the solver gave up ({found.reason or result.failed.reason})"
        return self._answer("unknown", result.work, reasons=reasons or (given_up,), is_final=bool(reasons))

    def _error(self, tree: CallTree, failed: Implication, summaries: Summaries) -> Implication:
        """Whether no run comes to a violation. The model of the failed implication often shows that one may: all that the
        violation depends on has its body there, since the violation is a part of what was asked."""
        model = failed.model
        if failed.status == "invalid" and model is not None and model.value(tree.root.instance(ERROR)):
            return failed
        return self._implied(tree, not_(ERROR), summaries)

    def _bound_implied(self, tree: CallTree, summaries: Summaries) -> StatusOfImplication:
        """Whether no run comes to the bound. The bodies that showed it the last time are given at once."""
        at_first = [node for node in tree.nodes if node.key in self._to_bound]
        found = implied(tree.root, not_(CUT), self._scheme, summaries, self._budget, at_first=at_first)
        if found.status != "unknown":
            self._to_bound = frozenset(node.key for node in found.formula.bodies)
        return found.status

    def _implied(self, tree: CallTree, goal: Term, summaries: Summaries) -> Implication:
        return implied(tree.root, goal, self._scheme, summaries, self._budget)

    @property
    def _scheme(self) -> Scheme:
        return "lazy" if self._options.scheme == "inline" and self._known else self._options.scheme

    def _answer(
        self,
        status: Status,
        work: Work,
        *,
        is_complete: bool = False,
        reasons: tuple[str, ...] = (),
        violated: tuple[Violation, ...] = (),
        assumptions: tuple[str, ...] = (),
        is_final: bool = True,
    ) -> BoundedAnswer:
        options = self._options
        return BoundedAnswer(
            status, options.property, options.bound, work, is_complete, reasons, violated, assumptions, options.level, is_final
        )


def _kept(node: Node, unrolled: UnwoundProgram, summaries: Summaries) -> KnownCall:
    return KnownCall(node.function, node.partition.digest, unrolled.digests[node.function], summaries.get(node.key))


def _is_mostly_new(tree: CallTree, summaries: Summaries, changed: list[Node]) -> bool:
    """Whether the root has changed, and half of the calls or more have no summary from before. One proof of the whole tree then
    costs less than to find out by checks which summaries hold, unless there are few calls."""
    calls = [node for node in tree.nodes if not node.is_cut and node is not tree.root]
    new = sum(node.key not in summaries for node in calls)
    return tree.root in changed and len(calls) >= _FEW and 2 * new >= len(calls)


class _GoneCalls:
    """The calls of the revision before that are gone. Each of several that are alike is given in turn: where a function is
    renamed, its calls stay in order."""

    def __init__(self, calls: Iterable[KnownCall]) -> None:
        self._by_body: dict[bytes, deque[KnownCall]] = {}
        self._by_name: dict[str, deque[KnownCall]] = {}
        for call in calls:
            self._by_body.setdefault(call.partition, deque()).append(call)
            self._by_name.setdefault(call.function, deque()).append(call)

    def alike(self, node: Node) -> KnownCall | None:
        """One of a body that says the same, else one of a function of the same name."""
        found = self._by_body.get(node.partition.digest) or self._by_name.get(node.function)
        if found is None:
            return None
        found.rotate(-1)
        return found[-1]


def _about(partition: Partition, summary: Term | None, functions: frozenset[Term] | None) -> Term | None:
    """The conjuncts of a summary that a body has the symbols of; None if there are none. `functions`: see `speaks_only_of`."""
    if summary is None:
        return None
    kept = [part for part in conjuncts_of(summary) if speaks_only_of(part, partition.interface, functions)]
    return and_(*kept) if kept else None


def _violated(found: Implication, property_: Property) -> tuple[Violation, ...]:
    """The violations that the model of a check reaches, each once."""
    reached = _reached(found, lambda partition: partition.violations)
    return tuple(dict.fromkeys(Violation(node.function, edge, property_) for node, edge in reached))


def _flaws(found: Implication) -> tuple[str, ...]:
    """The flaws that the model of a check reaches, as sentences, each once."""
    return tuple(dict.fromkeys(said for _, said in _reached(found, lambda partition: partition.flaws)))


def _reached(found: Implication, named: Callable[[Partition], Iterable[tuple[Term, _T]]]) -> Iterator[tuple[Node, _T]]:
    """What the model of a check reaches, of what the body of each call names by literals, with the call."""
    assert found.model is not None
    for node in found.formula.bodies:
        if found.formula.was_called(node, found.model):
            yield from ((node, one) for literal, one in named(node.partition) if found.model.value(node.instance(literal)))
