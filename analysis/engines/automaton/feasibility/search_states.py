"""What a search for a path (`path_search`) goes by: its states, what it follows, and where it looks."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Edge
from analysis.engines.automaton.feasibility.graph_slices import Slice
from analysis.engines.automaton.feasibility.known_values import Item
from analysis.engines.automaton.feasibility.path_values import Store
from analysis.engines.automaton.feasibility.remaining_steps import RemainingSteps
from analysis.engines.automaton.feasibility.shortest_ways import ShortestWays, Way, edges_taken
from analysis.engines.automaton.feasibility.walk import Last
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import Via, unpack
from analysis.model import ir


class Frame(msgspec.Struct, frozen=True, cache_hash=True):
    """A call that is open: the caller and its configuration, the call edge, what is derived after it, the summary of the callee
    that is followed, and the edges to take after the return."""

    function: str
    configuration: int
    edge: int
    derived: int
    via: Via
    rest: tuple[Edge, ...] = ()


class State:
    """A node of the search: open calls, configuration, store, and how it was reached: from state `before` by `steps` and then
    over the edges of `stretch`; `way` is taken after the first of the steps."""

    __slots__ = ("before", "configuration", "depth", "frames", "function", "key", "length", "steps", "store", "stretch", "way")

    def __init__(
        self,
        frames: tuple[Frame, ...],
        depth: int,
        function: str,
        configuration: int,
        store: Store,
        before: State | None,
        steps: tuple[Taken, ...],
        stretch: tuple[Edge, ...] = (),
        way: Way | None = None,
    ) -> None:
        self.frames = frames
        self.depth = depth
        self.function = function
        self.configuration = configuration
        self.store = store
        self.before = before
        self.steps = steps
        self.stretch = stretch
        self.way = way
        own = len(steps) + len(stretch) + (0 if way is None else way.length)
        self.length: int = own if before is None else before.length + own
        self.key = -1

    def taken(self) -> tuple[Taken, ...]:
        """The steps from the state before."""
        if self.way is not None:
            return (self.steps[0], *self.way.steps(self.depth + 1), *self.steps[1:])
        if not self.stretch or self.before is None:
            return self.steps
        entered, left = unpack(self.before.configuration)[2], unpack(self.configuration)[2]
        return self.steps + edges_taken(self.function, self.depth, self.stretch, entered, left)

    def path(self) -> tuple[tuple[Taken, ...], State]:
        """The steps to here, and the state where they begin."""
        parts: list[tuple[Taken, ...]] = []
        state = self
        while True:
            parts.append(state.taken())
            if state.before is None:
                break
            state = state.before
        steps = tuple(taken for part in reversed(parts) for taken in part)
        return steps, state


class Followed:
    """The expressions that a search follows, by function; those of globals alone in all functions."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = set(items)
        self._globals = {expr for _, expr in self._items if all(var.scope == "global" for var in ir.variables(expr))}
        self._functions = {name for name, expr in self._items if expr not in self._globals}

    def __call__(self, function: str, expr: ir.Expr) -> bool:
        """Whether an expression of a function is followed."""
        return (function, expr) in self._items or expr in self._globals

    def of(self, function: str) -> frozenset[ir.Expr]:
        """What is followed in a function."""
        return frozenset(expr for name, expr in self._items if name == function) | self._globals

    def only_globals(self, function: str) -> Set[ir.Expr] | None:
        """The globals that are followed, if nothing else is in a function."""
        return None if function in self._functions else self._globals


class Aim(NamedTuple):
    """Where searches look for a path: in `part`, from one of the configurations `starts` of functions to one of the `errors`, of
    which `remaining` knows. `ways` knows the ways through callees. `is_late`: they do not start at the entries of functions.
    `last`: how much is known of what the edges say that all paths to the start take last."""

    part: Slice
    starts: tuple[tuple[str, int], ...]
    errors: frozenset[int]
    remaining: RemainingSteps
    ways: ShortestWays
    is_late: bool = False
    last: Last = "nothing"
