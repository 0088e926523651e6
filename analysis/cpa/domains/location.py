"""The location CPA ([SYMCEGAR] section 3.2.2) with a call stack: where the program is, and where it returns to.

The order is flat: every state covers itself only. The transfer relation knows the steps, so this is the first component of every
composition. Recursion is followed up to a bound: with more than `Bounds.recursion` activations of one function, or more than
`Bounds.depth` of all functions, the step is a `cut` to a location from which nothing follows; `domains.assumptions` makes a
reason of it why the result is not complete. A function that never returns leads to END, where the program is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from analysis.cfa.graph import Program
from analysis.cpa.framework.defaults import MergeSep, NoStrengthening, StopSep, TrivialAdjustment
from analysis.cpa.framework.interface import Cpa
from analysis.cpa.framework.reachability import Node
from analysis.cpa.framework.steps import Step, StepTable
from analysis.model.spelling import display_name

CUT = -1
END = -2


class Bounds(msgspec.Struct, frozen=True):
    """How many activations of one function, and of all functions, may be open at a time."""

    recursion: int = 3
    depth: int = 200


class Stack(msgspec.Struct, frozen=True, cache_hash=True):
    """The open calls, innermost first: the step that entered, and the calls below it. `depth` counts them."""

    call: Step
    below: Stack | None
    depth: int


class Location(msgspec.Struct, frozen=True, cache_hash=True):
    """A location of a function, reached through the open calls. `location` is CUT where a bound ended the exploration, END
    where the program ended."""

    function: str
    location: int
    stack: Stack | None = None


class LocationDomain:
    """The flat order of locations. There is no top element, and so no join of different locations: ValueError."""

    def less_or_equal(self, state: Location, other: Location) -> bool:
        """Whether they are the same."""
        return state == other

    def join(self, state: Location, other: Location) -> Location:
        """The location, if both are the same."""
        if state != other:
            raise ValueError("different locations have no join")
        return state


class LocationTransfer(NoStrengthening[Location, None]):
    """Follows edges, calls and returns. Locations are made once, so that equal ones are nearly always the same object."""

    def __init__(self, program: Program, bounds: Bounds = Bounds()) -> None:  # noqa: B008 - an immutable value
        self.steps = StepTable(program)
        self.bounds = bounds
        self._functions = program.functions
        self._externals = program.externals
        self._made: dict[Location, Location] = {}
        self._moves: dict[Location, tuple[tuple[Step, Location], ...]] = {}

    def initial(self, function: str) -> Location:
        """The entry of a function. KeyError if the program does not define it."""
        return self._one(Location(function, self._functions[function].entry))

    def _one(self, location: Location) -> Location:
        return self._made.setdefault(location, location)

    def moves(self, state: Location) -> tuple[tuple[Step, Location], ...]:
        """The steps from the state, each with the state that it leads to; always the same ones."""
        found = self._moves.get(state)
        if found is None:
            found = self._moves[state] = tuple(self._find_moves(state))
        return found

    def _find_moves(self, state: Location) -> list[tuple[Step, Location]]:
        if state.location < 0:
            return []
        stack = state.stack
        if state.location == self._functions[state.function].exit:
            if stack is None:
                return []
            call = stack.call
            return [(self.steps.back(call), self._one(Location(call.function, call.edge.target, stack.below)))]
        found: list[tuple[Step, Location]] = []
        for step in self.steps.leaving(state.function, state.location):
            if step.kind == "enter":
                found.append(self._enter(state, step))
            else:
                target = END if self._never_returns(step) else step.edge.target
                found.append((step, self._one(Location(state.function, target, stack))))
        return found

    def _enter(self, state: Location, step: Step) -> tuple[Step, Location]:
        depth = 0 if state.stack is None else state.stack.depth
        if depth >= self.bounds.depth:
            return self._cut(state, step, f"calls are only followed {self.bounds.depth} deep")
        if _activations(state, step.callee) >= self.bounds.recursion:
            return self._cut(
                state, step, f"the recursion of {display_name(step.callee)}() is only followed {self.bounds.recursion} deep"
            )
        below = Stack(step, state.stack, depth + 1)
        return step, self._one(Location(step.callee, self._functions[step.callee].entry, below))

    def _never_returns(self, step: Step) -> bool:
        known = self._externals.get(step.callee) if step.kind == "external" else None
        return known is not None and known.noreturn

    def _cut(self, state: Location, step: Step, reason: str) -> tuple[Step, Location]:
        return self.steps.cut(step, reason), self._one(Location(state.function, CUT, state.stack))

    def successors(self, state: Location, step: Step, precision: None) -> Sequence[Location]:
        """The location after the step, if it begins here."""
        return [location for taken, location in self.moves(state) if taken == step]


def _activations(state: Location, function: str) -> int:
    """How many activations of the function are open."""
    count = int(state.function == function)
    stack = state.stack
    while stack is not None:
        count += stack.call.function == function
        stack = stack.below
    return count


def location_cpa(transfer: LocationTransfer, targets: Mapping[str, frozenset[int]] | None = None) -> Cpa[Location, None]:
    """The component, with merge-sep and stop-sep. `targets` are the locations, by function, that violate the property."""
    wanted = targets or {}

    def is_target(state: Location) -> bool:
        return state.location in wanted.get(state.function, ())

    domain = LocationDomain()
    return Cpa(
        name="location",
        domain=domain,
        transfer=transfer,
        merge=MergeSep(),
        stop=StopSep(domain),
        adjustment=TrivialAdjustment(),
        precision=None,
        flat=True,
        is_target=is_target if wanted else None,
    )


def reverse_postorder(program: Program) -> Callable[[Node[Any, Any]], tuple[int, ...]]:
    """A priority for composite states that start with a location: reverse postorder, with callees before what follows their
    call. What comes before a join is explored before what comes after it; a loop that can go on for ever is never left."""
    orders = {name: cfa.reverse_postorder for name, cfa in program.functions.items()}
    stacks: dict[Stack, tuple[int, ...]] = {}

    def of_stack(stack: Stack | None) -> tuple[int, ...]:
        if stack is None:
            return ()
        known = stacks.get(stack)
        if known is None:
            place = orders[stack.call.function].get(stack.call.edge.source, 0)
            known = stacks[stack] = (*of_stack(stack.below), place)
        return known

    def priority(node: Node[Any, Any]) -> tuple[int, ...]:
        state: Location = node.state[0]
        return (*of_stack(state.stack), orders[state.function].get(state.location, 0))

    return priority
