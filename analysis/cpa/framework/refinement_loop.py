"""Counterexample-guided abstraction refinement over the CPA algorithm ([SYMCEGAR] Algorithm 3), for any domain.

Lazy abstraction: after a refinement only what was reached from the pivot on is explored again, with the finer precision; or
everything, if asked so.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, Literal, TypeVar

import msgspec

from analysis.cpa.framework.algorithm import Budget, Cancellation, explore
from analysis.cpa.framework.interface import Analysis
from analysis.cpa.framework.reachability import Node, ReachabilityGraph
from analysis.cpa.framework.waitlist import Waitlist
from analysis.model import clock

S = TypeVar("S", bound=Hashable)
P = TypeVar("P")


class Refined(msgspec.Struct, Generic[S, P]):
    """The path to the target is infeasible. `pivot` is the first node on it that a finer precision changes; `precision` makes a
    precision finer."""

    pivot: Node[S, P]
    precision: Callable[[P], P]


class Feasible(msgspec.Struct, Generic[S, P]):
    """The path to the target may be feasible."""

    target: Node[S, P]


class Stuck(msgspec.Struct):
    """The path to the target is infeasible, or it is not known; why nothing finer is found."""

    reason: str


Refinement = Refined[S, P] | Feasible[S, P] | Stuck
Ending = Literal["safe", "feasible", "stuck", "budget", "cancelled"]


class Ended(msgspec.Struct, Generic[S, P]):
    """How it ended. safe: no target is reached, and nothing is left to explore."""

    ending: Ending
    reason: str = ""
    target: Node[S, P] | None = None
    refinements: int = 0


def cegar(
    analysis: Analysis[S, P],
    reached: ReachabilityGraph[S, P],
    waitlist: Waitlist,
    refine: Callable[[ReachabilityGraph[S, P], Node[S, P]], Refinement[S, P]],
    *,
    states: int,
    deadline: float,
    cancellation: Cancellation | None = None,
    restart: Literal["pivot", "full"] = "pivot",
) -> Ended[S, P]:
    """Explores from the waitlist, and refines where a target is reached. `deadline` is of `model.clock`; `states` bounds the
    nodes that are made in all."""
    token = cancellation or Cancellation()
    count = 0
    while True:
        left = Budget(states - reached.made, deadline - clock.spent())
        outcome = explore(analysis, reached, waitlist, budget=left, cancellation=token)
        targets = reached.targets()
        if outcome.ending == "cancelled":
            return Ended("cancelled", "it was cancelled", refinements=count)
        if not targets:
            if outcome.ending == "finished":
                return Ended("safe", refinements=count)
            return Ended(
                "budget",
                f"no proof was found within the budget{' of states' if outcome.ending == 'states' else ''}",
                refinements=count,
            )
        found = refine(reached, targets[0])
        if isinstance(found, Stuck):
            return Ended("stuck", found.reason, targets[0], count)
        if isinstance(found, Feasible):
            return Ended("feasible", target=found.target, refinements=count)
        count += 1
        root = found.pivot if restart == "pivot" else reached.path(found.pivot)[0].node
        for node in reached.remove_subtree(root, found.precision):
            waitlist.push(node)
        if clock.spent() > deadline:
            return Ended("budget", "no proof was found within the budget", refinements=count)
