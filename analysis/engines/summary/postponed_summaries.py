"""Summaries from implications that were found valid: which are made at once, and which wait for one proof that serves several.

An implication is *postponed* if the summary of its call is known to follow from the bodies that it has, and some of these calls
have no summary yet, or need a stronger one. As long as it waits, property (8) need not hold of its call: that may not follow from
the summaries alone. The summary is true all the same, so that calls above may rely on it. When a call above turns out to need the
same bodies, one proof serves both. When all are made, property (8) holds of all calls.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from analysis.engines.summary.call_tree import Node
from analysis.engines.summary.substitution_schemes import Summaries
from analysis.engines.summary.summary_refinement import Implication
from analysis.engines.summary.summary_strengthening import conjoined, strengthen
from analysis.engines.summary.tree_interpolation import Interpolator
from analysis.engines.summary.validation_work import Work
from analysis.engines.summary.weakening import weaken
from analysis.smt.logic.term_building import not_
from analysis.smt.logic.terms import Term
from analysis.smt.solving.solver import Budget, is_unsat
from analysis.smt.solving.z3_backend import Z3Solver


class _Strengthened(msgspec.Struct, frozen=True):
    """What came of strengthening: the summaries of all calls of the formula, in its order, and which of these are new or lost, by
    their keys behind that of the root."""

    after: tuple[Term | None, ...]
    made: tuple[str, ...]
    lost: tuple[str, ...]


class PostponedSummaries:
    """The valid implications of one validation whose interpolants are not made yet. `make` finds interpolants. `weakens`: see
    `Validator`."""

    def __init__(self, make: Interpolator, solver: Z3Solver, budget: Budget, *, weakens: bool) -> None:
        self._make, self._solver, self._budget, self._weakens = make, solver, budget, weakens
        self._postponed: list[Implication] = []
        self._known: dict[tuple[object, ...], _Strengthened] = {}

    def add(self, valid: Implication) -> None:
        """Takes a valid implication."""
        self._postponed.append(valid)

    def make_all(self, summaries: Summaries, work: Work) -> None:
        """Makes all that are left."""
        while self._postponed:
            self.make_last(summaries, work)

    def make_last(self, summaries: Summaries, work: Work) -> None:
        """Strengthens what the last of the valid implications needed, and what those needed that it has the bodies of; these are
        no longer postponed. Where a call of which it has the body turned out to need more than its summary says, one proof
        serves both: the call gets what it says of it, and keeps of its summary what follows from that."""
        last = self._postponed.pop()
        below = [one for one in self._postponed if one.formula.root in last.formula.bodies]
        self._postponed = [one for one in self._postponed if one not in below]
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
        return served if served and is_unsat(self._solver, (*labels, not_(goal)), self._budget) else {}

    def _keep_what_follows(self, node: Node, before: Term, summaries: Summaries, work: Work) -> None:
        """Conjoins with the new summary of a call what the one `before` said, as far as it follows from the body of the call and
        the summaries below. Without a new one, the call counts as a part of its caller, and has none."""
        made = summaries.pop(node.key, None)
        if made is None:
            work.invalid.append(node.key)
            return
        summaries[node.key] = before
        work.checks += weaken(node, summaries, self._solver, self._budget)
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
        known = self._known.get(shape)
        if known is None:
            made, lost = strengthen(formula, goal, summaries, self._make, self._solver, self._budget)
            after = tuple(summaries.get(one.key) for one in nodes)
            known = _Strengthened(after, tuple(key[start:] for key in made), tuple(key[start:] for key in lost))
            self._known[shape] = known
        for one, summary in zip(nodes, known.after, strict=True):
            if summary is not None:
                summaries[one.key] = summary
            else:
                summaries.pop(one.key, None)
        work.strengthened += (formula.root.key + key for key in known.made)
        work.invalid += (formula.root.key + key for key in known.lost)


def is_due(answer: Implication, waiting: Mapping[int, Node], summaries: Summaries) -> bool:
    """Whether what a valid implication needed is to be strengthened now: nothing that waits above it will serve both."""
    has_new = any(not body.is_cut and body.key not in summaries for body in answer.formula.bodies)
    return not has_new or waiting.keys().isdisjoint(above.number for above in answer.formula.root.above())


def needs_interpolants(answer: Implication) -> bool:
    """Whether a valid implication has bodies of calls, so that these get summaries from it, or others."""
    return any(not node.is_cut for node in answer.formula.bodies if node is not answer.formula.root)
