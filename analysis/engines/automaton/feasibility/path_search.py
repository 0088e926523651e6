"""A search for the shortest path through a slice of the derivation graph, with values of some followed expressions.

It looks first where the path so far, and what is left of it at least, are shortest together (`remaining_steps`)."""

from __future__ import annotations

from collections.abc import Iterable, Set
from heapq import heappop, heappush
from typing import NamedTuple

import msgspec

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.feasibility.graph_slices import Slice, Via
from analysis.engines.automaton.feasibility.known_values import Item
from analysis.engines.automaton.feasibility.path_values import Store
from analysis.engines.automaton.feasibility.remaining_steps import RemainingSteps
from analysis.engines.automaton.feasibility.shortest_ways import ShortestWays, Stretch, Way, edges_taken
from analysis.engines.automaton.feasibility.touched_edges import Touched
from analysis.engines.automaton.feasibility.walk import Last, Walk, expressions_in
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import Entry, pack, unpack
from analysis.model import ir
from analysis.model.interruption import step_done

_DEPTH = 6
_LONGEST = 1_000  # steps through a callee that are taken at once


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
        stretch: Stretch = (),
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


class Search:
    """One search. `thorough`: calls that can change something followed are opened; `sure`: the last branch before the error must
    be decided by what is known. `wanted` are the items that would make more known."""

    def __init__(self, walk: Walk, aim: Aim, items: Iterable[Item], budget: int, *, thorough: bool, sure: bool) -> None:
        self._walk = walk
        self._aim = aim
        self._part = aim.part
        self._followed = Followed(items)
        self._budget = budget
        self._thorough = thorough
        self._sure = sure
        self._numbers: dict[object, int] = {}  # of states, which are hashed once
        self._shortest: list[int] = []  # by number
        self._effects: dict[tuple[str, int, int, int], tuple[Stretch, tuple[int, ...]]] = {}
        self._touched: dict[str, Touched] = {}
        self._mattering: dict[str, bool] = {}
        self._queue: list[tuple[int, int, int, State]] = []  # by the least length of a path over the state; then the longest
        self.wanted: set[Item] = set()
        self.states = 0
        self.exhausted = False

    def run(self) -> State | None:
        """The end of a shortest path, None if there is none or the budget is used up (`exhausted`)."""
        for function, configuration in self._aim.starts:
            wanted = self.wanted if self._thorough else None
            store = self._walk.store(function, self._followed, wanted, is_entry=not self._aim.is_late)
            self._walk.come(store, unpack(configuration)[0], self._aim.last)
            self._add(State((), 0, function, configuration, store, None, ()))
        while self._queue:
            _, _, _, state = heappop(self._queue)
            if state.length > self._shortest[state.key]:
                continue  # a shorter path to the same state was found after this one
            if not state.frames and state.configuration in self._aim.errors and (state.store.sure or not self._sure):
                return state
            if self.states > self._budget:
                self.exhausted = True
                return None
            step_done()
            self._expand(state)
        return None

    def _add(self, state: State) -> None:
        remaining = self._left(state)
        if remaining is None:
            return
        state.store = state.store.without_dead(self._walk.live(state.function)[unpack(state.configuration)[0]])
        sure = self._sure and state.store.sure
        known = (state.frames, state.function, state.configuration, sure, state.store.key(self._walk.number))
        key = state.key = self._numbers.setdefault(known, len(self._numbers))
        is_new = key == len(self._shortest)
        if is_new:
            self._shortest.append(state.length)
        if is_new or state.length < self._shortest[key]:
            self._shortest[key] = state.length
            self.states += 1
            heappush(self._queue, (state.length + remaining, -state.length, self.states, state))

    def _left(self, state: State) -> int | None:
        """How many steps there are at least from a state to an error; None if none leads there."""
        if not state.frames:
            return self._aim.remaining.after(state.function, state.configuration)
        outermost = state.frames[0]
        remaining = self._aim.remaining.after(outermost.function, outermost.derived)
        if remaining is None or self._thorough:
            return None if remaining is None else remaining + sum(1 + len(frame.rest) for frame in state.frames)
        at = state.configuration
        for frame in reversed(state.frames):
            inside = self._aim.ways.rest(frame.via).steps.get(at)
            if inside is None:
                return None
            remaining += inside + 1
            at = frame.derived
        return remaining

    def _expand(self, state: State) -> None:
        if state.frames and self._return(state):
            return
        _, entry, fact = unpack(state.configuration)
        allowed = self._walk.inside(state.frames[-1].via) if state.frames else self._part.open((state.function, entry))
        for edge, derived, through, passed in self._walk.derivations(state.function, state.configuration):
            if derived not in allowed:
                continue
            if passed:
                for stretch in self._walk.stretches(state.function, edge, fact, unpack(derived)[0]):
                    self._pass(state, state.store, stretch, derived, ())
            for via in through:
                taken = Taken("call", state.function, state.depth, edge, fact, via[1])
                way = self._unfollowed(via)
                if way is not None:
                    self._cross(state, taken, derived, via, way)
                    continue
                if len(state.frames) >= _DEPTH:
                    self.exhausted = True
                    continue
                if not self._thorough:
                    self._walk.open(self._aim.ways.rest(via).callees)
                frame = Frame(state.function, state.configuration, edge, derived, via)
                self._enter(state, state.store, (taken,), (*state.frames, frame), (via[0], via[1]))
        if not state.frames:
            for call, below in self._part.descents.get((state.function, state.configuration), ()):
                taken = Taken("descent", state.function, state.depth, call.id, fact, below[1])
                self._enter(state, state.store, (taken,), (), below)

    def _unfollowed(self, via: Via) -> Way | None:
        """A shortest way through a callee, if nothing is followed on it: then the caller knows no more after another way."""
        if self._thorough or self._matters(via[0]):
            return None
        way = self._aim.ways.way(via)
        if way is None or way.length > _LONGEST or any(self._matters(name) for name, _, _ in way.callees):
            return None
        return way

    def _matters(self, function: str) -> bool:
        """Whether something that is followed depends on which way is taken in a function. Of a global that it does not mention, a
        function tells its caller nothing; and what it can change, the caller forgets."""
        found = self._mattering.get(function)
        if found is None:
            globals_ = self._followed.only_globals(function)
            found = globals_ is None or self._walk.mentions(function, globals_)
            self._mattering[function] = found
        return found

    def _cross(self, state: State, call: Taken, derived: int, via: Via, way: Way) -> None:
        """Takes a call, the shortest way through the callee, and the return."""
        store = state.store.copy()
        if not self._walk.advance(store, call, via[0]):
            return
        self._walk.open(way.callees)
        back = Taken("return", state.function, state.depth, call.edge, via[2], unpack(derived)[2])
        self._walk.advance(store, back, "")
        self._add(State(state.frames, state.depth, state.function, derived, store, state, (call, back), way=way))

    def _pass(self, state: State, store: Store, stretch: Stretch, derived: int, before: tuple[Taken, ...]) -> None:
        """Takes edges of the innermost function, of which `before` are steps that were taken already."""
        own = store
        entered, left = unpack(state.configuration)[2], unpack(derived)[2]
        for index in self._effective(state.function, stretch):
            edge = stretch[index]
            callee = self._openable(state, edge)
            if callee is not None:
                frame = Frame(
                    state.function, state.configuration, edge.id, derived, (callee, NOTHING, NOTHING), stretch[index + 1 :]
                )
                steps = before + edges_taken(state.function, state.depth, stretch[: index + 1], entered, left)
                steps = (*steps[:-1], msgspec.structs.replace(steps[-1], event="call", after=NOTHING))
                self._enter(state, store, steps, (*state.frames, frame), (callee, NOTHING))
                return
            store = store.copy() if store is own else store
            taken = Taken("edge", state.function, state.depth, edge.id, left if index else entered, left)
            if not self._walk.advance(store, taken, ""):
                return
        self._add(State(state.frames, state.depth, state.function, derived, store, state, before, stretch))

    def _effective(self, function: str, stretch: Stretch) -> tuple[int, ...]:
        """The places in a stretch of the edges that can do something to the store."""
        key = (function, stretch[0].id, stretch[-1].id, len(stretch))
        found = self._effects.get(key)
        if found is None or found[0] is not stretch:
            changing, mentioning = self._touching(function)
            places = tuple(index for index, edge in enumerate(stretch) if edge.id in changing or edge.id in mentioning)
            found = self._effects[key] = (stretch, places)
        return found[1]

    def _openable(self, state: State, edge: Edge) -> str | None:
        """The function that is called at the edge, if what it does to followed values should be looked at."""
        if not self._thorough or len(state.frames) >= _DEPTH:
            return None
        callee = self._walk.returning_callee(edge)
        if callee is None or edge.id not in self._touching(state.function).changing:
            return None
        return callee

    def _touching(self, function: str) -> Touched:
        """The edges that can do something to a store that follows only some items."""
        found = self._touched.get(function)
        if found is None:
            found = self._touched[function] = self._walk.touching(function, self._followed.of(function))
        return found

    def _enter(self, state: State, store: Store, steps: tuple[Taken, ...], frames: tuple[Frame, ...], callee: Entry) -> None:
        store = store.copy()
        if not self._walk.advance(store, steps[-1], callee[0]):
            return
        if self._thorough:
            for inner, outer in self._walk.entering(steps[-1].function, self._walk.edge(steps[-1]), callee[0]):
                if self._followed(callee[0], inner):
                    self.wanted.update((state.function, part) for part in expressions_in(outer))
                elif any(self._followed(state.function, part) for part in expressions_in(outer)):
                    self.wanted.add((callee[0], inner))
        configuration = pack(self._walk.delta.entry(callee[0]), callee[1], callee[1])
        self._add(State(frames, state.depth + 1, callee[0], configuration, store, state, steps))

    def _return(self, state: State) -> bool:
        """Whether the innermost opened call ends here; then the path goes on in the caller."""
        frame = state.frames[-1]
        callee, entry, exit_ = frame.via
        if state.configuration != pack(self._walk.delta.exit(callee), entry, exit_):
            return False
        store = state.store.copy()
        quiet = (entry, exit_) == (NOTHING, NOTHING)
        after = unpack(frame.configuration if frame.rest or quiet else frame.derived)[2]
        taken = Taken("return", frame.function, state.depth - 1, frame.edge, exit_, after)
        self._walk.advance(store, taken, "")
        back = State(state.frames[:-1], state.depth - 1, frame.function, frame.configuration, store, state, ())
        if frame.rest:
            self._pass_on(back, taken, frame)
        else:
            self._add(State(back.frames, back.depth, frame.function, frame.derived, store, state, (taken,)))
        return True

    def _pass_on(self, back: State, taken: Taken, frame: Frame) -> None:
        """Takes the edges after an opened call; `back` stands in the middle of a stretch and is no node of its own."""
        back.steps = (taken,)
        back.length += 1
        self._pass(back, back.store, frame.rest, frame.derived, ())
