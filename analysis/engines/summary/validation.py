"""Summaries validated after a change, from the changed calls upward ([UPPROVER] Algorithm 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from analysis.engines.summary.call_tree import CallTree, Node
from analysis.engines.summary.substitution_schemes import Scheme, Summaries
from analysis.engines.summary.summary_refinement import Implication, implied
from analysis.engines.summary.summary_strengthening import conjoined, strengthen
from analysis.engines.summary.tree_interpolation import Interpolator
from analysis.engines.summary.weakening import weaken
from analysis.model import clock
from analysis.smt.logic.term_building import not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, is_unsat
from analysis.smt.solving.z3_backend import Z3Solver

_MANY = 8  # calls that have changed: so many checks cost more than one of the whole tree


class Work(msgspec.Struct):
    """What was done, as keys of calls, in order: those whose summaries were `validated` against their bodies, and of these those
    that `held`; those whose summaries were `weakened`, `strengthened` (given one, if they had none), or lost (`invalid`).

    `bodies` are those whose bodies were in a check. `checks` counts the questions to the solver, but not those for
    interpolants."""

    validated: list[str] = msgspec.field(default_factory=list)
    held: list[str] = msgspec.field(default_factory=list)
    weakened: list[str] = msgspec.field(default_factory=list)
    strengthened: list[str] = msgspec.field(default_factory=list)
    invalid: list[str] = msgspec.field(default_factory=list)
    bodies: list[str] = msgspec.field(default_factory=list)
    checks: int = 0


class Validated(msgspec.Struct, frozen=True):
    """The result. `holds`: the summary of the root holds, and so does every other. Else `failed` is the implication that does not
    hold, or is not known to."""

    status: Literal["holds", "failed"]
    work: Work
    failed: Implication | None = None


class _Strengthened(msgspec.Struct, frozen=True):
    """What came of strengthening: the summaries of all calls of the formula, in its order, and which of these are new or lost, by
    their keys behind that of the root."""

    after: tuple[Term | None, ...]
    made: tuple[str, ...]
    lost: tuple[str, ...]


class _RootAhead:
    """Asks, once, whether the summary of the root holds before interpolants are made for it: they cost much, and are of no use if
    it does not. The summaries of calls that wait, and of those above them, are not known to hold, and do not count. If it does
    not hold, they are dropped: nobody may rely on them then."""

    def __init__(self, validator: Validator, root: Node, summaries: Summaries, work: Work) -> None:
        self._validator, self._root, self._summaries, self._work = validator, root, summaries, work
        self._is_asked = False

    def failed(self, waiting: Mapping[int, Node]) -> Implication | None:
        """The implication, if it is invalid; None if it is not, or was asked before."""
        if self._is_asked:
            return None
        self._is_asked = True
        unknown = {other.key for node in waiting.values() for other in (node, *node.above())}
        known = {key: summary for key, summary in self._summaries.items() if key not in unknown}
        answer = implied(self._root, self._summaries[self._root.key], self._validator.scheme, known, self._validator.budget)
        self._work.checks += answer.checks
        if answer.status != "invalid":
            return None
        for key in unknown - {self._root.key}:
            self._summaries.pop(key, None)
        return answer


class Validator:
    """How summaries are validated. `scheme`: how calls are substituted at first. `make` finds interpolants. `weakens`: summaries
    that do not hold are weakened; else they are lost."""

    def __init__(self, scheme: Scheme, make: Interpolator, budget: Budget, *, weakens: bool = True) -> None:
        self.scheme = scheme
        self.budget = budget
        self._make = make
        self._weakens = weakens
        self._solver = Z3Solver.near()
        self._strengthened: dict[tuple[object, ...], _Strengthened] = {}

    def validate(self, tree: CallTree, changed: Iterable[Node], summaries: Summaries) -> Validated:
        """Validates and repairs summaries. Those of calls that are not `changed` must hold before, by property (8). Afterwards
        all that are left hold, except that of the root if the result is `failed`. The summary of the root is the property: it
        must be there, and it is never weakened. Where the work that `clock.within` allows does not suffice, the result is
        `failed` by an implication that is not known, and none need hold."""
        work = Work()
        postponed: list[Implication] = []
        refuted: dict[Node, tuple[Node, ...]] = {}
        waiting = {node.number: node for node in changed if not node.is_cut}
        root = _RootAhead(self, tree.root, summaries, work)
        if tree.root.number in waiting and len(waiting) >= max(_MANY, sum(not node.is_cut for node in tree.nodes) / 2):
            failed = root.failed(waiting)
            if failed is not None:
                return Validated("failed", work, failed)
        while waiting:
            node = waiting.pop(max(waiting))  # calls have higher numbers than those that lead to them
            if node.key in summaries:
                answer = self._check(node, summaries, work, refuted)
                if answer.status == "valid":
                    postponed.append(answer)
                    if _is_due(answer, waiting, summaries):
                        failed = root.failed(waiting) if waiting and _needs_interpolants(answer) else None
                        if failed is not None:
                            return Validated("failed", work, failed)
                        self._strengthen(postponed, summaries, work)
                    continue
                if node is tree.root or (answer.status == "unknown" and not clock.left()):
                    return Validated("failed", work, answer)
                refuted[node] = tuple(answer.formula.bodies)
                self._weaken(node, summaries, work)
            assert node.parent is not None
            waiting[node.parent.number] = node.parent
        while postponed:
            self._strengthen(postponed, summaries, work)
        return Validated("holds", work)

    def _check(self, node: Node, summaries: Summaries, work: Work, refuted: Mapping[Node, tuple[Node, ...]]) -> Implication:
        answer = implied(node, summaries[node.key], self.scheme, summaries, self.budget, refuted)
        work.validated.append(node.key)
        work.checks += answer.checks
        work.bodies += [body.key for body in answer.formula.bodies]
        if answer.status == "valid":
            work.held.append(node.key)
        return answer

    def _strengthen(self, postponed: list[Implication], summaries: Summaries, work: Work) -> None:
        """Strengthens what the last of the valid implications needed, and what those needed that it has the bodies of; these are
        no longer postponed. Where a call of which it has the body turned out to need more than its summary says, one proof
        serves both: the call gets what it says of it, and keeps of its summary what follows from that."""
        last = postponed.pop()
        below = [one for one in postponed if one.formula.root in last.formula.bodies]
        postponed[:] = [one for one in postponed if one not in below]
        served = self._served(last, below, summaries) if self._weakens else {}
        for one in below:  # those below come first
            if one.formula.root not in served:
                self._strengthen_one(one, summaries, work)
        for node in served:
            del summaries[node.key]
        self._strengthen_one(last, summaries, work)
        for node, before in reversed(served.items()):
            self._keep_what_follows(node, before, summaries, work)

    def _served(self, last: Implication, below: list[Implication], summaries: Summaries) -> dict[Node, Term]:
        """The calls, each before those that it makes, that the proof of an implication can serve without their summaries, which
        are given; none if it does not hold without these."""
        formula = last.formula
        served: dict[Node, Term] = {}
        for node in sorted((one.formula.root for one in below), key=lambda node: node.number):
            if node.parent is formula.root or node.parent in served:
                served[node] = summaries[node.key]
        others = {key: summary for key, summary in summaries.items() if all(node.key != key for node in served)}
        labels = [formula.label(node, others) for node in (*formula.bodies, *formula.frontier)]
        goal = formula.root.instance(summaries[formula.root.key])
        return served if served and is_unsat(self._solver, (*labels, not_(goal)), self.budget) else {}

    def _keep_what_follows(self, node: Node, before: Term, summaries: Summaries, work: Work) -> None:
        """Conjoins with the new summary of a call what the one `before` said, as far as it follows from the body of the call and
        the summaries below. Without a new one, the call counts as a part of its caller, and has none."""
        made = summaries.pop(node.key, None)
        if made is None:
            work.invalid.append(node.key)
            return
        summaries[node.key] = before
        work.checks += weaken(node, summaries, self._solver, self.budget)
        kept = summaries.get(node.key)
        if kept is not before:
            work.weakened.append(node.key)
        summaries[node.key] = made if kept is None else conjoined(kept, made)

    def _strengthen_one(self, answer: Implication, summaries: Summaries, work: Work) -> None:
        """Strengthens what one implication needed. What an equal one of other calls needed is taken over: property (8) says
        nothing but of bodies and summaries, and these are equal."""
        formula = answer.formula
        start, goal = len(formula.root.key), summaries[formula.root.key]
        nodes = (*formula.bodies, *formula.frontier)
        shape = goal, *((one.key[start:], one.is_cut, one.partition.digest, summaries.get(one.key)) for one in nodes)
        known = self._strengthened.get(shape)
        if known is None:
            made, lost = strengthen(formula, goal, summaries, self._make, self._solver, self.budget)
            after = tuple(summaries.get(one.key) for one in nodes)
            known = _Strengthened(after, tuple(key[start:] for key in made), tuple(key[start:] for key in lost))
            self._strengthened[shape] = known
        for one, summary in zip(nodes, known.after, strict=True):
            if summary is not None:
                summaries[one.key] = summary
            else:
                summaries.pop(one.key, None)
        work.strengthened += (formula.root.key + key for key in known.made)
        work.invalid += (formula.root.key + key for key in known.lost)

    def _weaken(self, node: Node, summaries: Summaries, work: Work) -> None:
        if self._weakens:
            work.checks += weaken(node, summaries, self._solver, self.budget)
        else:
            del summaries[node.key]
        (work.weakened if node.key in summaries else work.invalid).append(node.key)


def _is_due(answer: Implication, waiting: Mapping[int, Node], summaries: Summaries) -> bool:
    """Whether what a valid implication needed is to be strengthened now: nothing that waits above it will serve both."""
    has_new = any(not body.is_cut and body.key not in summaries for body in answer.formula.bodies)
    return not has_new or waiting.keys().isdisjoint(above.number for above in answer.formula.root.above())


def _needs_interpolants(answer: Implication) -> bool:
    """Whether a valid implication has bodies of calls, so that these get summaries from it, or others."""
    return any(not node.is_cut for node in answer.formula.bodies if node is not answer.formula.root)
