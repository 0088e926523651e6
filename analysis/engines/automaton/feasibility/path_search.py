"""A search for the shortest path through a slice of the derivation graph, with values of some followed expressions.

It looks first where the path so far, and what is left of it at least, are shortest together (`remaining_steps`)."""

from __future__ import annotations

from collections.abc import Iterable, Set
from heapq import heappop, heappush

import msgspec

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.feasibility.graph_view import Stretch, stretch_of
from analysis.engines.automaton.feasibility.known_values import Item
from analysis.engines.automaton.feasibility.path_values import Store
from analysis.engines.automaton.feasibility.search_states import Aim, Followed, Frame, State
from analysis.engines.automaton.feasibility.shortest_ways import Way, edges_taken
from analysis.engines.automaton.feasibility.touched_edges import Touched
from analysis.engines.automaton.feasibility.walk import Walk, expressions_in
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import Entry, Via, pack, unpack
from analysis.model.interruption import step_done

_DEPTH = 6
_LONGEST = 1_000  # steps through a callee that are taken at once


class Search:
    """One search. `thorough`: calls that can change something followed are opened; `sure`: the last branch before the error must
    be decided by what is known. `wanted` are the items that would make more known."""

    def __init__(self, walk: Walk, aim: Aim, items: Iterable[Item], budget: int, *, thorough: bool, sure: bool) -> None:
        self._walk = walk
        self._view = walk.view
        self._aim = aim
        self._part = aim.part
        self._followed = Followed(items)
        self._budget = budget
        self._thorough = thorough
        self._sure = sure
        self._numbers: dict[object, int] = {}  # of states, which are hashed once
        self._shortest: list[int] = []  # by number
        self._touched: dict[str, Touched] = {}
        self._effective: dict[str, frozenset[int]] = {}  # the edges that can do something to the store
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
            self._walk.see(function, configuration)
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
        state.store = state.store.without_dead(self._view.live(state.function)[unpack(state.configuration)[0]])
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
        self._walk.see(state.function, state.configuration)
        _, entry, fact = unpack(state.configuration)
        allowed = self._allowed(state, entry)
        for edge, derived, through, passed in self._view.derivations(state.function, state.configuration):
            if derived not in allowed:
                continue
            if passed:
                for stretch in self._view.stretches(state.function, edge, fact, unpack(derived)[0]):
                    self._pass(state, state.store, stretch, derived, ())
            for via in through:
                taken = Taken("call", state.function, state.depth, edge, fact, via[1])
                way = self._unfollowed(via)
                if way is not None:
                    self._cross(state, taken, derived, via, way)
                    continue
                if len(state.frames) >= _DEPTH:
                    self.exhausted = True
                    self._walk.open((via,))  # it was asked what the callee mentions
                    continue
                if not self._thorough:
                    self._walk.open(self._aim.ways.rest(via).callees)
                frame = Frame(state.function, state.configuration, edge, derived, via)
                self._enter(state, state.store, (taken,), (*state.frames, frame), (via[0], via[1]))
        if not state.frames:
            for call, below in self._part.descents.get((state.function, state.configuration), ()):
                taken = Taken("descent", state.function, state.depth, call.id, fact, below[1])
                self._enter(state, state.store, (taken,), (), below)

    def _allowed(self, state: State, entry: int) -> Set[int]:
        """The configurations of a state's function on ways to an error, or to the end of an open call."""
        if not state.frames:
            return self._part.open((state.function, entry))
        via = state.frames[-1].via
        self._walk.open((via,))
        return self._view.inside(via)

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
        effective = self._effective_in(state.function)
        if not effective.isdisjoint(stretch.ids):
            entered, left = unpack(state.configuration)[2], unpack(derived)[2]
            edges = stretch.edges
            for index, edge in enumerate(edges):
                if edge.id not in effective:
                    continue
                callee = self._openable(state, edge)
                if callee is not None:
                    frame = Frame(
                        state.function, state.configuration, edge.id, derived, (callee, NOTHING, NOTHING), edges[index + 1 :]
                    )
                    steps = before + edges_taken(state.function, state.depth, edges[: index + 1], entered, left)
                    steps = (*steps[:-1], msgspec.structs.replace(steps[-1], event="call", after=NOTHING))
                    self._enter(state, store, steps, (*state.frames, frame), (callee, NOTHING))
                    return
                store = store.copy() if store is own else store
                if not self._walk.take(store, state.function, edge, left):
                    return
        self._add(State(state.frames, state.depth, state.function, derived, store, state, before, stretch.edges))

    def _effective_in(self, function: str) -> frozenset[int]:
        """The edges of a function that can do something to the store."""
        found = self._effective.get(function)
        if found is None:
            changing, mentioning = self._touching(function)
            found = self._effective[function] = changing | mentioning
        return found

    def _openable(self, state: State, edge: Edge) -> str | None:
        """The function that is called at the edge, if what it does to followed values should be looked at."""
        if not self._thorough or len(state.frames) >= _DEPTH:
            return None
        callee = self._view.returning_callee(edge)
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
            for inner, outer in self._walk.calls.entering(steps[-1].function, self._walk.edge(steps[-1]), callee[0]):
                if self._followed(callee[0], inner):
                    self.wanted.update((state.function, part) for part in expressions_in(outer))
                elif any(self._followed(state.function, part) for part in expressions_in(outer)):
                    self.wanted.add((callee[0], inner))
        configuration = pack(self._walk.delta.entry(callee[0]), callee[1], callee[1])
        self._walk.enter(callee[0], configuration)
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
        self._pass(back, back.store, stretch_of(frame.rest), frame.derived, ())
