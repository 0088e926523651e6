"""Steps: the edges of the interprocedural control-flow graph, which transfer relations follow.

A CFA is the automaton of one function. A step is one of its edges, or the entry into a called function, or the return from it:

- `edge`: an assignment, an assumption, a return (to the function's own exit), or an unsupported edge;
- `enter`: from a call edge's source to the entry of `callee`, one of the defined functions that the call can reach;
- `leave`: from the exit of `callee` to the call edge's target;
- `external`: over a call edge whose `callee` has no body, or is not known at all (`callee` is empty); calls of
  `__VERIFIER_assume` and the like are `edge` steps with an assumption instead;
- `cut`: where the exploration ends because of a bound; `reason` says which one.

In `enter` and `leave`, `function` and `edge` are those of the call in the caller.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.cfa.graph import Edge, Program
from analysis.model import ir
from analysis.model.verifiers import is_assumption

StepKind = Literal["edge", "enter", "leave", "external", "cut"]


class Step(msgspec.Struct, frozen=True, cache_hash=True):
    """One step; `function` is the linkage name of the function that `edge` belongs to."""

    kind: StepKind
    function: str
    edge: Edge
    callee: str = ""
    reason: str = ""

    @property
    def effect(self) -> ir.Effect:
        """The effect of the step's edge."""
        return self.edge.effect


class StepTable:
    """The steps of one program; each step is made once, so that equal steps are the same object."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._from: dict[tuple[str, int], tuple[Step, ...]] = {}
        self._leaving: dict[Step, Step] = {}
        self._cuts: dict[tuple[Step, str], Step] = {}

    def leaving(self, function: str, location: int) -> tuple[Step, ...]:
        """The steps from a location, in source order; a call with several targets has one step for each of them."""
        key = (function, location)
        found = self._from.get(key)
        if found is None:
            edges = self.program.functions[function].outgoing.get(location, ())
            found = self._from[key] = tuple(step for edge in edges for step in self._steps(function, edge))
        return found

    def _steps(self, function: str, edge: Edge) -> list[Step]:
        if not isinstance(edge.effect, ir.Call):
            return [Step("edge", function, edge)]
        targets = self.program.targets(edge.effect)
        if not targets:
            return [Step("external", function, edge)]
        return [self._call(function, edge, edge.effect, target) for target in targets]

    def _call(self, function: str, edge: Edge, call: ir.Call, target: str) -> Step:
        if target in self.program.functions:
            return Step("enter", function, edge, target)
        if is_assumption(target) and len(call.arguments) == 1:
            assume = ir.Assume(call.arguments[0], True)
            return Step("edge", function, Edge(edge.id, edge.source, edge.target, assume))
        return Step("external", function, edge, target)

    def back(self, enter: Step) -> Step:
        """The step out of the function that `enter` went into."""
        step = self._leaving.get(enter)
        if step is None:
            step = self._leaving[enter] = Step("leave", enter.function, enter.edge, enter.callee)
        return step

    def cut(self, step: Step, reason: str) -> Step:
        """The step that takes the place of one that a bound forbids."""
        key = (step, reason)
        found = self._cuts.get(key)
        if found is None:
            found = self._cuts[key] = Step("cut", step.function, step.edge, step.callee, reason)
        return found
