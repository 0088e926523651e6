"""The interprocedural steps of a program as changes of symbolic states, with a context for each way that calls were made.

What a proof must not pass over is an obstacle: control flow that CFAs do not have. A proof has to show that it cannot be reached.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.cfa.graph import Program
from analysis.cpa import library
from analysis.cpa.domains.location import CUT, Location, Stack
from analysis.cpa.passed_code import leads_to_code
from analysis.cpa.steps import Step
from analysis.model import ir
from analysis.model.spelling import display_name
from analysis.smt.transitions.state import State
from analysis.smt.transitions.system import System

At = Location
"""Where a program is: a location, reached by way of the open calls."""

_BACK = frozenset({"longjmp", "siglongjmp", "_longjmp", "atexit", "at_quick_exit", "on_exit", "pthread_atfork"})


class Contexts:
    """Numbers for stacks of open calls; the empty one is 0."""

    def __init__(self) -> None:
        self._numbers: dict[Stack | None, int] = {None: 0}
        self._stacks: list[Stack | None] = [None]

    def __len__(self) -> int:
        return len(self._stacks)

    def number(self, stack: Stack | None) -> int:
        """The number of a stack."""
        known = self._numbers.get(stack)
        if known is None:
            assert stack is not None
            self.number(stack.below)
            known = self._numbers[stack] = len(self._stacks)
            self._stacks.append(stack)
        return known

    def rows(self) -> Iterator[tuple[int, Stack | None]]:
        """All of them, outer calls first."""
        return enumerate(self._stacks)


def moved(system: System, contexts: Contexts, state: State, step: Step, before: Location, after: Location) -> State | None:
    """The state after a step; None if it cannot be taken. `cut` steps lead nowhere."""
    function, edge = step.function, step.edge
    match step.kind:
        case "edge":
            return system.take(state, edge, function, contexts.number(before.stack))
        case "enter":
            outer, inner = contexts.number(before.stack), contexts.number(after.stack)
            return system.enter(state, edge, function, outer, step.callee, inner)
        case "leave":
            outer, inner = contexts.number(after.stack), contexts.number(before.stack)
            return system.leave(state, edge, function, outer, step.callee, inner)
        case "external":
            return system.external(state, edge, function, contexts.number(before.stack), step.callee)
        case _:
            return None


def obstacle(program: Program, step: Step, after: Location) -> str | None:
    """Why no proof may pass over a step; None if it may."""
    effect = step.edge.effect
    name = display_name(step.function)
    if step.kind == "cut" or after.location == CUT:
        return step.reason or "a bound on calls"
    if isinstance(effect, ir.Unsupported):
        return f"{name}: {effect.reason} is not modelled"
    if step.kind != "external":
        return None
    assert isinstance(effect, ir.Call)
    if not step.callee:
        return f"{name}: a call through a pointer that can reach no known function"
    if step.callee in library.UNMODELLED or step.callee in _BACK:
        return f"{name}: {step.callee}() is not modelled"
    if any(leads_to_code(program, argument) for argument in effect.arguments):
        return f"{name}: {step.callee}(), which has no body, may call functions that are passed to it"
    return None
