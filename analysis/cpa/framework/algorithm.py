"""The CPA algorithm with an initial reached set and waitlist ([SYMCEGAR] Algorithms 1 and 2).

`explore` changes the reached set and the waitlist that it is given and returns how it ended. However it ends, the two together
are a state to go on from: an interrupted exploration that is resumed reaches the same set as one that was not interrupted.

Deviations from Algorithm 1, none of which changes the reached set of an exploration that ends by itself without a target:

- All successors of a state are handled before the algorithm returns with a target (line 9), so that going on afterwards
  loses none of them. Targets are in the reached set, are never explored further, and cover and merge with nothing.
- Only states of the same partition are merged and compared, and none is merged if the analysis never merges.
- A state whose successors were being computed when it was cancelled goes back into the waitlist.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, Literal, TypeVar

import msgspec

from analysis.cpa.framework.interface import Analysis
from analysis.cpa.framework.reachability import Node, ReachabilityGraph
from analysis.cpa.framework.waitlist import SequentialWaitlist, Waitlist
from analysis.model.clock import COMPARISON, STATE, spent, work

S = TypeVar("S", bound=Hashable)
P = TypeVar("P")

Ending = Literal["finished", "target", "states", "seconds", "cancelled"]


class Budget(msgspec.Struct, frozen=True):
    """How much one call of `explore` may do. `states`: nodes made, over which it goes by the successors of one state at most.
    `seconds`: of work, see `analysis.model.clock`. None: no bound."""

    states: int | None = None
    seconds: float | None = None


UNBOUNDED = Budget()


class Cancellation:
    """A request to stop, made by another thread or a signal handler. It cannot be withdrawn."""

    def __init__(self) -> None:
        self._wanted = False

    def cancel(self) -> None:
        """Requests the computations that check this object to stop."""
        self._wanted = True

    def cancelled(self) -> bool:
        """Whether a stop was requested."""
        return self._wanted


class Outcome(msgspec.Struct, Generic[S, P]):
    """How an exploration ended, and where to go on.

    finished: the waitlist is empty, nothing more is reachable. target: `found` are the new targets. states, seconds: out of
    budget. cancelled: a stop was requested. `steps` counts abstract successors that were computed.
    """

    ending: Ending
    reached: ReachabilityGraph[S, P]
    waitlist: Waitlist
    found: tuple[Node[S, P], ...]
    steps: int


def start(
    analysis: Analysis[S, P], state: S, precision: P, waitlist: Waitlist | None = None
) -> tuple[ReachabilityGraph[S, P], Waitlist]:
    """The reached set and waitlist that Algorithm 1 begins with: one state, in both. The waitlist is breadth-first by default."""
    reached: ReachabilityGraph[S, P] = ReachabilityGraph(analysis)
    frontier: Waitlist = SequentialWaitlist("breadth-first") if waitlist is None else waitlist
    frontier.push(reached.add_initial(state, precision))
    return reached, frontier


def explore(
    analysis: Analysis[S, P],
    reached: ReachabilityGraph[S, P],
    waitlist: Waitlist,
    *,
    budget: Budget = UNBOUNDED,
    cancellation: Cancellation | None = None,
    stop_at_target: bool = True,
    clock: Callable[[], float] = spent,
) -> Outcome[S, P]:
    """CPA(D, R0, W0): explores from the waitlist until it is empty, a target is found (unless not `stop_at_target`; targets are
    collected then), the budget is used up or it is cancelled. `clock` in seconds of work."""
    run = _Run(analysis, reached, waitlist)
    token = Cancellation() if cancellation is None else cancellation
    most = None if budget.states is None else reached.made + budget.states
    deadline = None if budget.seconds is None else clock() + budget.seconds
    found: list[Node[S, P]] = []
    ending: Ending | None = None
    while ending is None:
        if token.cancelled():
            ending = "cancelled"
        elif most is not None and reached.made >= most and waitlist:
            ending = "states"
        elif deadline is not None and clock() >= deadline and waitlist:
            ending = "seconds"
        else:
            node = waitlist.pop()
            if node is None:
                ending = "finished"
            else:
                successors = analysis.moves(node.state, node.precision)
                work(STATE * (1 + len(successors)))
                if token.cancelled():
                    waitlist.push(node)
                else:
                    targets = run.take(node, successors)
                    found.extend(targets)
                    if targets and stop_at_target:
                        ending = "target"
    return Outcome(ending, reached, waitlist, tuple(found), run.steps)


class _Run(Generic[S, P]):
    """Lines 6 to 17 of Algorithm 1."""

    def __init__(self, analysis: Analysis[S, P], reached: ReachabilityGraph[S, P], waitlist: Waitlist) -> None:
        self._analysis = analysis
        self._reached = reached
        self._waitlist = waitlist
        self._merges = analysis.merges()
        self.steps = 0

    def take(self, node: Node[S, P], successors: Sequence[tuple[Any, S]]) -> list[Node[S, P]]:
        """Handles all successors of a node; returns the new targets among them."""
        analysis, reached = self._analysis, self._reached
        targets: list[Node[S, P]] = []
        self.steps += len(successors)
        for step, successor in successors:
            state, precision = analysis.adjust(successor, node.precision)
            target = analysis.is_target(state)
            if self._merges and not target:
                self._merge(node, step, state, precision)
            same, others = reached.covers(state)
            work(COMPARISON * len(others))
            if same is not None or (others and not target and analysis.stop(state, others, precision)):
                node.covered = (*node.covered, (step, analysis.partition(state)))
                continue
            child = reached.add(state, precision, node, step, target)
            if target:
                targets.append(child)
            else:
                self._waitlist.push(child)
        return targets

    def _merge(self, parent: Node[S, P], step: Any, state: S, precision: P) -> None:
        merge = self._analysis.merge
        for other in self._reached.meeting(state):
            if other.target or not other.reached:
                continue
            merged = merge(state, other.state, precision)
            if merged != other.state:
                changed = self._reached.replace(other, merged, precision, parent, step)
                if not changed.target:
                    self._waitlist.push(changed)
