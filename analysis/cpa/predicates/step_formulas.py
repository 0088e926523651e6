"""The interprocedural steps of a program as changes of symbolic states, with a context for each chain of calls.

What a proof must not pass over is an obstacle: control flow that CFAs do not have. A proof has to show that it cannot be reached.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.c.control import UNMODELLED
from analysis.cfa.graph import Program
from analysis.cpa.domains.location import CUT, Location, Stack
from analysis.cpa.framework.steps import Step
from analysis.cpa.obstacles.completeness import calls_back, leads_nowhere, not_modelled, not_supported
from analysis.cpa.obstacles.passed_code import may_call_back
from analysis.cpa.predicates.subscripts import open_subscripts
from analysis.model import ir
from analysis.model.spelling import display_name
from analysis.model.verifiers import is_assumption
from analysis.smt.logic.term_building import distinct, number
from analysis.smt.transitions.access import Access
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State

At = Location
"""Where a program is: a location, reached through the open calls."""


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
    name = step.function
    if step.kind == "cut" or after.location == CUT:
        return step.reason or "a bound on calls"
    if isinstance(effect, ir.Unsupported):
        return not_supported(name, effect.reason)
    if step.kind != "external":
        return None
    assert isinstance(effect, ir.Call)
    if not step.callee:
        return leads_nowhere(name)
    if step.callee in UNMODELLED:
        return not_modelled(name, step.callee)
    if may_call_back(program, step.callee, effect):
        return calls_back(name, step.callee)
    return None


def departures(system: System, state: State, step: Step, context: int, *, bounds: bool = True) -> Iterator[tuple[State, str]]:
    """The states in which a step does what is not modelled, and what to say of them: a proof has to show that there are none.
    `bounds`: also subscripts outside of their arrays, which are else the violation that is asked about."""
    for found in (strays(system, state, step, context), open_subscripts(system, state, step, context) if bounds else None):
        if found is not None:
            yield found


def strays(system: System, state: State, step: Step, context: int) -> tuple[State, str] | None:
    """The states in which a call goes through a pointer that is not null and leads to none of the functions that it is taken to
    reach, and what to say of them; None if there are plainly none. The sentence names the first of these
    functions."""
    call, program = step.edge.effect, system.program
    if not isinstance(call, ir.Call) or ir.direct_callee(call) is not None or step.kind not in ("enter", "external"):
        return None
    targets = program.targets(call)
    if step.callee != next((name for name in targets if not is_assumption(name)), ""):
        return None
    access = Access(system.vocabulary, state, step.function, context)
    value = access.expressions.value(call.callee)
    others = [distinct(value, number(0, value.sort))]
    for name in targets:
        type_ = program.function_type(name)
        if type_ is not None:
            others.append(distinct(value, access.address(ir.Var(name, "function", type_))))
    found = state.constrained(*access.ledger.constraints, *others)
    name = display_name(step.function)
    return (
        None
        if found is None
        else (found, f"a call through a pointer in {name}() may lead to a function that is not known to fit")
    )
