"""Symbolic execution towards some locations ([SYMCEGAR] section 3.2.7), nearest states first.

States from which no edges lead to one of them are left out. Two ways to explore: with the stop operator, where a state that
another covers is left out, which ends on many programs with loops; and as a tree, where every path is a candidate of its own.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Literal

from analysis.cfa.graph import Program
from analysis.cfa.open_functions import is_main
from analysis.cpa.domains.location import Bounds
from analysis.cpa.framework.algorithm import Budget, Cancellation, explore, start
from analysis.cpa.framework.composite import Composite, Precision, State
from analysis.cpa.framework.reachability import Node, ReachabilityGraph
from analysis.cpa.framework.steps import Step as CpaStep
from analysis.cpa.framework.waitlist import AnyNode
from analysis.cpa.predicates.error_locations import Locations
from analysis.cpa.symbolic_values.condition_formulas import Mode
from analysis.cpa.symbolic_values.symbolic_execution import ASSUMPTIONS, LOCATION, SymbolicExecution, SymbolicOptions
from analysis.engines.symbolic.distance import Distance
from analysis.engines.symbolic.task import Effort
from analysis.interpreter.outcome import Step
from analysis.model import clock
from analysis.model.c_types import DataModel
from analysis.smt.logic.terms import Term
from analysis.smt.solving.memo import Memo, MemoSolver
from analysis.smt.solving.solver import Answer
from analysis.smt.solving.solver import Budget as QueryBudget
from analysis.smt.solving.z3_backend import Z3Solver

Ending = Literal["finished", "budget", "cancelled", "found"]
_DEPTH = 200  # calls that may be open besides those of a recursion
_TURNS = 4  # one state in so many is the oldest one, not the nearest


class GuidedWaitlist:
    """The nearest state first, and now and then the oldest. States from which no path leads there are not taken in."""

    def __init__(self, distance: Distance) -> None:
        self._distance = distance
        self._near: list[tuple[float, int, AnyNode]] = []
        self._old: deque[AnyNode] = deque()
        self._pushed = 0
        self._popped = 0
        self._size = 0

    def push(self, node: AnyNode) -> None:
        """Adds the node, if it is not there and can come to the location."""
        far = self._distance.of(node.state[LOCATION])
        if node.waiting or far == float("inf"):
            return
        node.waiting = True
        self._pushed += 1
        self._size += 1
        heapq.heappush(self._near, (far, -self._pushed, node))
        self._old.append(node)

    def pop(self) -> AnyNode | None:
        """Takes the next node; None if there is none. What waits is in both lists; the other one skips it once it is taken."""
        if not self._size:
            return None
        self._popped += 1
        while True:
            node = self._old.popleft() if self._popped % _TURNS == 0 else heapq.heappop(self._near)[2]
            if node.waiting:
                node.waiting = False
                self._size -= 1
                if node.reached:
                    return node
                if not self._size:
                    return None

    def __iter__(self) -> Iterator[AnyNode]:
        return (node for node in self._old if node.waiting and node.reached)

    def __bool__(self) -> bool:
        return self._size > 0


class Tree:
    """An `Analysis` in which no state covers another."""

    def __init__(self, composite: Composite) -> None:
        self._composite = composite
        self.moves = composite.moves
        self.adjust = composite.adjust
        self.is_target = composite.is_target

    def merge(self, state: State, reached: State, precision: Precision) -> State:
        """Nothing merges."""
        return reached

    def merges(self) -> bool:
        """No."""
        return False

    def stop(self, state: State, reached: Iterable[State], precision: Precision) -> bool:
        """No."""
        return False

    def partition(self, state: State) -> Hashable:
        """Every state is alone."""
        return object()

    def rank(self, state: State) -> int | None:
        """None."""
        return None


class Exploration:
    """The exploration from one entry. `reasons`: what was left out; `states` counts abstract states."""

    def __init__(
        self,
        program: Program,
        locations: Locations,
        entry: str,
        effort: Effort,
        model: DataModel,
        distance: Distance,
        mode: Mode,
        *,
        allocation_fails: bool = True,
    ) -> None:
        self._entry = entry
        self._distance = distance
        options = SymbolicOptions(
            mode=mode,
            whole=is_main(entry),
            model=model,
            bounds=Bounds(effort.recursion, _DEPTH + effort.recursion),
            definite=False,
            allocation_fails=allocation_fails,
        )
        solver = BudgetedSolver(effort.query_milliseconds)
        self._execution = SymbolicExecution(program, MemoSolver(solver, Memo()), locations, options)
        self.states = 0
        self.reasons: tuple[str, ...] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the questions to the solver took for given of the program: what does not keep to it was not explored."""
        return self._execution.formulas.assumptions

    def run(
        self,
        most: int,
        deadline: float,
        judge: Callable[[Sequence[Step]], bool],
        cancellation: Cancellation,
        *,
        tree: bool,
    ) -> Ending:
        """Explores; `judge` is called with each path to the location, and ends it by True. `deadline`: of `model.clock`."""
        composite = self._execution.composite
        analysis: Any = Tree(composite) if tree else composite
        waitlist = GuidedWaitlist(self._distance)
        reached, frontier = start(analysis, self._execution.initial(self._entry), composite.precision, waitlist)
        ending: Ending | None = None
        while ending is None:
            left = Budget(most - reached.made, deadline - clock.spent())
            outcome = explore(analysis, reached, frontier, budget=left, cancellation=cancellation)
            if outcome.ending == "finished":
                ending = "finished"
            elif outcome.ending == "cancelled":
                ending = "cancelled"
            elif outcome.ending != "target":
                ending = "budget"
            elif any(judge(self._path(reached, node)) for node in outcome.found):
                ending = "found"
        self.states += reached.made
        self.reasons = tuple(sorted({reason for node in reached for reason in node.state[ASSUMPTIONS]}))
        return ending

    def _path(self, reached: ReachabilityGraph[Any, Any], node: Node[Any, Any]) -> list[Step]:
        taken: list[CpaStep] = [step.step for step in reached.path(node)][:-1]  # the last one is the violation
        return [Step(step.function, step.edge.id) for step in taken if step.kind != "leave"]


class BudgetedSolver(Z3Solver):
    """z3 with another default budget for each question."""

    def __init__(self, milliseconds: int) -> None:
        super().__init__()
        self._default = QueryBudget(milliseconds)

    def check(self, *assumptions: Term, budget: QueryBudget | None = None) -> Answer:
        """See solver.Solver."""
        return super().check(*assumptions, budget=budget or self._default)
