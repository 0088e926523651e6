"""Summaries validated after a change, from the changed calls upward ([UPPROVER] Algorithm 3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from analysis.engines.summary.call_tree import CallTree, Node
from analysis.engines.summary.substitution_schemes import Scheme, Summaries
from analysis.engines.summary.summary_refinement import Implication, implied
from analysis.engines.summary.summary_strengthening import strengthen
from analysis.engines.summary.tree_interpolation import Interpolator
from analysis.engines.summary.weakening import weaken
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_backend import Z3Solver


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
        all hold, except that of the root if the result is `failed`. The summary of the root is the property: it must be there,
        and it is never weakened."""
        work = Work()
        waiting = {node.number: node for node in changed if not node.is_cut}
        while waiting:
            node = waiting.pop(max(waiting))  # calls have higher numbers than those that lead to them
            if node.key in summaries:
                answer = self._check(node, summaries, work)
                if answer.status == "valid":
                    self._strengthen(answer, summaries, work)
                    continue
                if node is tree.root:
                    return Validated("failed", work, answer)
                self._weaken(node, summaries, work)
            assert node.parent is not None
            waiting[node.parent.number] = node.parent
        return Validated("holds", work)

    def _check(self, node: Node, summaries: Summaries, work: Work) -> Implication:
        answer = implied(node, summaries[node.key], self.scheme, summaries, self.budget)
        work.validated.append(node.key)
        work.checks += answer.checks
        work.bodies += [body.key for body in answer.formula.bodies]
        if answer.status == "valid":
            work.held.append(node.key)
        return answer

    def _strengthen(self, answer: Implication, summaries: Summaries, work: Work) -> None:
        goal = summaries[answer.formula.root.key]
        made, lost = strengthen(answer.formula, goal, summaries, self._make, self._solver, self.budget)
        work.strengthened += made
        work.invalid += lost

    def _weaken(self, node: Node, summaries: Summaries, work: Work) -> None:
        if self._weakens:
            work.checks += weaken(node, summaries, self._solver, self.budget)
        else:
            del summaries[node.key]
        (work.weakened if node.key in summaries else work.invalid).append(node.key)
