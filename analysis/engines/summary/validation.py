"""Summaries validated after a change, from the changed calls upward ([UPPROVER] Algorithm 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from analysis.engines.summary.call_tree import CallTree, Node
from analysis.engines.summary.postponed_summaries import PostponedSummaries, is_due, needs_interpolants
from analysis.engines.summary.substitution_schemes import Scheme, Summaries
from analysis.engines.summary.summary_refinement import Implication, implied
from analysis.engines.summary.tree_interpolation import Interpolator
from analysis.engines.summary.validation_work import Work
from analysis.engines.summary.weakening import weaken
from analysis.model import clock
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver

_MANY = 8  # calls that have changed: so many checks cost more than one of the whole tree


class Validated(msgspec.Struct, frozen=True):
    """The result. `holds`: the summary of the root holds, and so does every other. Else `failed` is the implication that does not
    hold, or is not known to."""

    status: Literal["holds", "failed"]
    work: Work
    failed: Implication | None = None


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

    def validate(self, tree: CallTree, changed: Iterable[Node], summaries: Summaries) -> Validated:
        """Validates and repairs summaries. Those of calls that are not `changed` must hold before, by property (8). Afterwards
        all that are left hold, except that of the root if the result is `failed`. The summary of the root is the property: it
        must be there, and it is never weakened. Where the work that `clock.within` allows does not suffice, the result is
        `failed` by an implication that is not known, and none need hold."""
        work = Work()
        postponed = PostponedSummaries(self._make, self._solver, self.budget, weakens=self._weakens)
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
                    postponed.add(answer)
                    if is_due(answer, waiting, summaries):
                        failed = root.failed(waiting) if waiting and needs_interpolants(answer) else None
                        if failed is not None:
                            return Validated("failed", work, failed)
                        postponed.make_last(summaries, work)
                    continue
                if node is tree.root or (answer.status == "unknown" and not clock.left()):
                    return Validated("failed", work, answer)
                refuted[node] = tuple(answer.formula.bodies)
                self._weaken(node, summaries, work)
            assert node.parent is not None
            waiting[node.parent.number] = node.parent
        postponed.make_all(summaries, work)
        return Validated("holds", work)

    def _check(self, node: Node, summaries: Summaries, work: Work, refuted: Mapping[Node, tuple[Node, ...]]) -> Implication:
        answer = implied(node, summaries[node.key], self.scheme, summaries, self.budget, refuted)
        work.validated.append(node.key)
        work.checks += answer.checks
        work.bodies += [body.key for body in answer.formula.bodies]
        if answer.status == "valid":
            work.held.append(node.key)
        return answer

    def _weaken(self, node: Node, summaries: Summaries, work: Work) -> None:
        if self._weakens:
            work.checks += weaken(node, summaries, self._solver, self.budget)
        else:
            del summaries[node.key]
        (work.weakened if node.key in summaries else work.invalid).append(node.key)
