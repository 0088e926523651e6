"""Whether a finding has a path that its branches allow: a search over the derivation graph with values, refined on demand.

The automaton knows little of values, so that it is fast (`functions.known_conditions`). For the few errors that it finds,
this module looks for a path through the slice of the derivation graph that leads to them (`graph_slices`, `path_search`),
with a store of values along it (`path_values`, `walk`). What the store follows grows by counterexample-guided
refinement, as in explicit-value CEGAR ([SYMCEGAR] section 3.2.3; [EXPLICIT-CEGAR]): the shortest path is run
with everything followed; if its branches contradict each other, the expressions to blame are followed in the
next search. The search ends with a path whose branches do not contradict each other (then it is the finding's
trace, the shortest one such), or without any: then the error is refuted. When the budget runs out, a path is
searched that begins where the value does, with nothing known of how the program gets there (`late_path`). The
finding says so.

In small programs the paths begin at the program's start, and calls that change what a branch tests are opened (`thorough`). There
a rule can also ask that the branch to the error is *decided* by what is known on the path: an assertion says nothing of
values that nobody knows.

In larger ones they begin in the function in which the value begins to be tracked. `report.beginnings` puts calls before them, and
asks for a path that begins further up where these contradict it.

It refutes soundly as far as the derivation graph and the cells of `functions.access_paths` are sound: stores only forget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from operator import itemgetter
from typing import NamedTuple

import msgspec

from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.graph_slices import GraphSteps, Sites, Slice
from analysis.engines.automaton.feasibility.kept_searches import ENTERED, Cells, Differences, Edges, all_of, bits, both, merged
from analysis.engines.automaton.feasibility.known_values import Item
from analysis.engines.automaton.feasibility.path_judgements import judge, last_condition, read_on
from analysis.engines.automaton.feasibility.path_search import Search
from analysis.engines.automaton.feasibility.path_values import Store
from analysis.engines.automaton.feasibility.remaining_steps import RemainingSteps
from analysis.engines.automaton.feasibility.search_states import Aim, State
from analysis.engines.automaton.feasibility.shortest_ways import ShortestWays
from analysis.engines.automaton.feasibility.slice_outline import Outline, are_there, outline
from analysis.engines.automaton.feasibility.text_order import Site, TextOrder
from analysis.engines.automaton.feasibility.walk import Walk, edges_passed
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import Entry, Via, pack, unpack
from analysis.engines.automaton.solver.retrace import Retrace

_REFINEMENTS = 12
_STATES = 1_500
_DESCENTS = 1_000  # that are kept from revision to revision
_LATE_STATES = 400  # from where the value begins: most of these paths are short


class Searched(msgspec.Struct, frozen=True):
    """A slice of the graph that was searched, to the configurations `ends` of a function (None: those that were asked for), from
    `above` that function, and the callees that were `opened`; `outline` says what all that was (`slice_outline`)."""

    function: str
    ends: frozenset[int] | None
    above: int
    opened: tuple[Via, ...]
    outline: str


class ErrorPath(msgspec.Struct, frozen=True):
    """What the search found: the steps of a feasible path from the entry `start` (None: there is none), or that it gave up. The
    first `unchecked` steps may not be possible. `wraps`: it is possible only where an unsigned sum wraps to 0. `functions` are
    those in the slices, `cells` the cells whose writers it asked for (None: any), `edges` those that it looked at (None: any),
    `called` those whose callers it looked for; `dead`: it left out callers that no execution leads to. `slices` are those that it
    searched: where they are as they were, what was found still holds, whatever else differs in the graph. `is_sure`: the branch
    to the error had to be decided by what is known."""

    steps: tuple[Taken, ...] | None
    start: Entry | None = None
    decided: bool = True
    functions: frozenset[str] = frozenset()
    cells: Cells | None = None
    called: frozenset[str] = frozenset()
    dead: bool = False
    unchecked: int = 0
    wraps: bool = False
    slices: tuple[Searched, ...] = ()
    edges: Edges | None = None
    is_sure: bool = False

    @property
    def read(self) -> Set[str]:
        """The functions in which the search asked the Delta."""
        return self.functions if self.edges is None else self.edges.keys()


class Descent(NamedTuple):
    """A call that a trace goes down, after steps in the caller. `source` is the same object wherever the steps are."""

    steps: tuple[Taken, ...]
    call: Taken
    callee: str
    source: object


class Agreement(NamedTuple):
    """Whether a path is possible as far as is known, and the `cells` whose writers were asked for."""

    is_possible: bool
    cells: Cells


class _Descended(NamedTuple):
    """What is known at the end of a descent through `functions`, which is there as long as its `source`; no `store` if nothing
    gets there. The writers of `cells` were asked for, and `edges` were passed."""

    source: object
    store: Store | None
    cells: Cells
    functions: frozenset[str]
    edges: Edges


class _InSlice(NamedTuple):
    """A slice that was searched."""

    slice: Searched
    outline: Outline


class _Found(NamedTuple):
    """What a search found: the steps of a path from the state `first`, or that there is none, which is `decided` or not."""

    steps: tuple[Taken, ...] | None = None
    first: State | None = None
    decided: bool = True
    wraps: bool = False


class Feasibility:
    """Decides errors of one derivation graph, revision by revision; `thorough` for small programs."""

    def __init__(self, steps: GraphSteps, delta: ProgramDelta, retrace: Retrace, thorough: bool) -> None:
        self.steps = steps
        self._retrace = retrace
        self._walk = Walk(steps, delta)
        self._view = self._walk.view
        self._ways = ShortestWays(self._view)
        self._thorough = thorough
        self._descents: dict[tuple[int, object], _Descended] = {}
        self._callers: dict[Entry, list[Site]] = {}

    def still_holds(
        self, path: ErrorPath, function: str, errors: frozenset[int], must_be_sure: bool = False, over: Sites | None = None
    ) -> bool:
        """Whether the slices that were searched for a path are as they were. The models of the functions in them have to be the
        same at the edges that are passed: of these, nothing is asked here."""

        def is_same(one: Searched) -> bool:
            if not are_there(self.steps.graph, one.opened):
                return False
            if one.ends is not None:
                graph = self.steps.graph.functions.get(one.function)
                if graph is None or not graph.derived.keys() >= one.ends:
                    return False
                return outline(self._view, self._slice(one.function, one.ends), one.opened).digest == one.outline
            part = self._slice(function, errors, one.above, over)
            return one.function == function and outline(self._view, part, one.opened).digest == one.outline

        return bool(path.slices) and path.is_sure == must_be_sure and all(map(is_same, path.slices))

    def is_entered(self, path: ErrorPath) -> bool:
        """Whether executions lead to where a path begins, that was found in another revision."""
        return path.start is None or self._retrace.still(*path.start)

    def changed(self, differ: Differences) -> None:
        """Takes the next revision."""
        self.steps.forget(differ.in_graph)
        self._walk.forget(differ.in_graph | differ.rewritten.keys())
        self._ways.forget(differ.in_graph)
        self._descents = {
            key: known
            for key, known in self._descents.items()
            if differ.spare(known.functions, known.cells, known.edges) and differ.rederived.isdisjoint(known.functions)
        }

    def revise(self, delta: ProgramDelta, retrace: Retrace) -> None:
        """Takes the next revision, after `changed` was told what is another."""
        self._retrace = retrace
        if delta is not self._walk.delta:
            self._callers = {}
            self._walk.revise(delta)
        if len(self._descents) > _DESCENTS:
            self._descents = {}

    def error_path(
        self,
        function: str,
        errors: frozenset[int],
        must_be_sure: bool = False,
        above: int = 0,
        budget: int = _STATES,
        over: Sites | None = None,
    ) -> ErrorPath:
        """Searches a feasible path to one of the error configurations, which are all of one function. The path begins `above`
        calls above the function in which the value begins to be tracked, and leads over the call sites `over`. The search has at
        most `budget` states."""
        self._walk.begin(function)
        part = self._slice(function, errors, above, over)
        aim = Aim(part, self._entries(part), errors, RemainingSteps(self._view, part, function, errors), self._ways)
        found = self._search_twice(aim, must_be_sure, budget)
        start = None if found.first is None else _entry(found.first)
        slice_ = self._searched(part, function, None, above)
        path = ErrorPath(found.steps, start, found.decided, wraps=found.wraps, is_sure=must_be_sure)
        return self._with_causes(path, part, [slice_])

    def late_path(self, function: str, errors: frozenset[int], given_up: ErrorPath, over: Sites | None = None) -> ErrorPath:
        """Searches a feasible path to one of the error configurations that starts where the value begins to be tracked. What
        leads there from the function's entry follows the graph alone, and may not be possible. So this is for errors of which
        the search from the entry gave up, as `given_up` says. If there is no such path, the error is refuted."""
        self._walk.begin(function)
        self._walk.visited.update(given_up.functions)
        part = self._slice(function, errors, over=over)
        tracked = (start for start in self._entries(part) if unpack(start[1])[2] != NOTHING)
        starts = (*tracked, *self._beginnings(part))
        aim = Aim(part, starts, errors, RemainingSteps(self._view, part, function, errors), self._ways, is_late=True)
        found = self._search_twice(aim._replace(last="all"), must_be_sure=False, budget=_LATE_STATES)
        if found.steps is None and not found.decided:  # what is known may make a path long, as `n = 1000` does that of a loop
            found = self._search_twice(aim._replace(last="flags"), must_be_sure=False, budget=_LATE_STATES)
        before = None if found.first is None else self._shortest(found.first.function, found.first.configuration)
        slices = [self._searched(part, function)]
        last = [{name: bits(edge.id for edge in self._walk.last_edges(name, unpack(at)[0]))} for name, at in starts]
        if found.first is not None:
            start, ends = found.first.function, frozenset((found.first.configuration,))
            slices.append(self._searched(self._slice(start, ends), start, ends))
        if found.steps is None or before is None:
            return self._with_causes(ErrorPath(None, decided=found.decided), part, slices, given_up, last)
        steps, first = before.path()
        late = (msgspec.structs.replace(taken, depth=taken.depth + before.depth) for taken in found.steps)
        path = ErrorPath((*steps, *late), _entry(first), decided=False, unchecked=len(steps), wraps=found.wraps)
        return self._with_causes(path, part, slices, given_up, last)

    def _searched(self, part: Slice, function: str, ends: frozenset[int] | None = None, above: int = 0) -> _InSlice | None:
        """What says that a slice was searched. Paths in small programs are not kept when graphs differ."""
        if self._thorough:
            return None
        opened = tuple(self._walk.opened)
        seen = outline(self._view, part, opened)
        return _InSlice(Searched(function, ends, above, opened, seen.digest), seen)

    def _beginnings(self, part: Slice) -> Iterator[tuple[str, int]]:
        """The configurations at which a value begins to be tracked, by function, in order."""
        for name, entry in part.ends:
            if entry != NOTHING:
                continue
            allowed = part.open((name, entry))
            for configuration in self._view.order.configurations(name, allowed):
                after = (derived for _, derived, _, _ in self._view.derivations(name, configuration) if derived in allowed)
                if unpack(configuration)[2] == NOTHING and any(unpack(derived)[2] != NOTHING for derived in after):
                    yield name, configuration

    def _shortest(self, function: str, configuration: int) -> State | None:
        """The end of a shortest path to a configuration, whatever the values are."""
        ends = frozenset((configuration,))
        part = self._slice(function, ends)
        self._walk.visited.update(name for name, _ in part.ends)
        aim = Aim(part, self._entries(part), ends, RemainingSteps(self._view, part, function, ends), self._ways)
        return Search(self._walk, aim, (), _STATES, thorough=False, sure=False).run()

    def _slice(self, function: str, errors: frozenset[int], above: int = 0, over: Sites | None = None) -> Slice:
        live, order = self._retrace.live, self._view.order
        ends = order.configurations(function, errors)
        return Slice(self.steps, order, function, ends, self._thorough, live, above, over)

    def _entries(self, part: Slice) -> tuple[tuple[str, int], ...]:
        """The configurations at the entries where paths through a slice begin."""
        return tuple((name, pack(self._walk.delta.entry(name), entry, entry)) for name, entry in part.starts)

    def _with_causes(
        self,
        path: ErrorPath,
        part: Slice,
        searched: Iterable[_InSlice | None],
        before: ErrorPath | None = None,
        last: Iterable[Edges] = (),
    ) -> ErrorPath:
        """A path that was found, or not, with what that depends on: the slices `searched`, with the edges in them that searches
        looked at, and the `last` ones before where they began; also what the one `before` asked for."""
        known = [one for one in searched if one is not None]
        slices = tuple(one.slice for one in known)
        edges = None if self._thorough else all_of(self._passed(known), *last)
        asked = self._walk.asked() if edges is None else self._walk.that_matter(self._walk.asked(), edges)
        if before is not None:
            slices, edges = before.slices + slices, all_of(edges, before.edges)
        return msgspec.structs.replace(
            path,
            functions=frozenset(self._walk.visited),
            cells=asked if before is None else both(asked, before.cells),
            called=frozenset(part.called),
            dead=part.dead,
            slices=slices,
            edges=edges,
            is_sure=path.is_sure if before is None else before.is_sure,
        )

    def _passed(self, searched: Iterable[_InSlice]) -> Edges:
        """The edges in slices that searches looked at. On most ways through a slice a search does not get far; of callees that
        it opened it asks what any edge mentions."""
        inside = all_of(*(one.outline.edges for one in searched)) or {}
        seen = {name: edges & inside.get(name, 0) for name, edges in self._walk.passed().items()}
        return all_of(seen, *(one.outline.opened for one in searched)) or {}

    def agrees(self, root: str, descents: Iterable[Descent], path: Iterable[Taken], *, is_entry: bool = True) -> Agreement:
        """Whether no branches contradict each other on a path from the program's start: from the function `root` down the calls,
        and then along `path`. Not `is_entry`: the path begins somewhere in that function."""
        self._walk.sums.may_wrap = True  # the path may need that
        store = self._everything(root, is_entry=is_entry)
        cells: list[Cells] = []
        edges: list[Edges] = []
        steps = tuple(path)
        for descent in descents:
            known = self._descend(store, descent)
            cells.append(known.cells)
            edges.append(known.edges)
            if known.store is None:
                return self._agreement(False, cells, edges)
            store = known.store
        self._walk.forget_asked()
        is_possible = self._advance(store.copy(), steps)
        return self._agreement(is_possible, [*cells, self._walk.asked()], [*edges, edges_passed(steps)])

    def _agreement(self, is_possible: bool, asked: Iterable[Cells], passed: Iterable[Edges]) -> Agreement:
        """With the cells that are mentioned on the way, of those that were asked for."""
        cells, edges = merged(*asked), all_of(*passed)
        if self._thorough or edges is None:
            return Agreement(is_possible, cells)
        return Agreement(is_possible, self._walk.that_matter(cells, edges))

    def returning(self, functions: Iterable[str]) -> frozenset[str]:
        """The functions that are called in these by their names, and that were seen to return."""
        return frozenset(name for function in functions for name in self._view.returning_callees(function))

    @property
    def order(self) -> TextOrder:
        """The order of what is equally short."""
        return self._view.order

    def callers(self, function: str, entry: int) -> list[Site]:
        """The calls that enter a function in a state and that an execution leads to: first those with the fewest calls before
        them, and of these in the order of the text."""
        found = self._callers.get((function, entry))
        if found is None:
            depths = self._retrace.depths
            sites = ((depths.of((site[0], unpack(site[1])[1])), site) for site in self._view.order.sites((function, entry)))
            known = [(depth, site) for depth, site in sites if depth is not None]
            found = self._callers[function, entry] = [site for _, site in sorted(known, key=itemgetter(0))]
        return found

    def _everything(self, function: str, *, is_entry: bool = True) -> Store:
        """The store at a function's entry, or later, that follows all that it can."""
        return self._walk.store(function, self._walk.can_follow, is_entry=is_entry)

    def _descend(self, store: Store, descent: Descent) -> _Descended:
        """What is known at the entry of the called function. Traces share their beginnings."""
        key = id(descent.source), (descent.call.edge, descent.callee, store.key(self._walk.number))
        known = self._descents.get(key)
        if known is None:
            self._walk.forget_asked()
            after = store.copy()
            is_possible = self._advance(after, descent.steps)
            if is_possible:
                call = msgspec.structs.replace(descent.call, event="descent")
                self._walk.advance(after, call, descent.callee)
            functions = frozenset((descent.call.function, descent.callee, *(taken.function for taken in descent.steps)))
            kept, entered = after if is_possible else None, {descent.callee: ENTERED}
            edges = all_of(edges_passed((*descent.steps, descent.call)), entered) or {}
            known = self._descents[key] = _Descended(descent.source, kept, self._walk.asked(), functions, edges)
        return known

    def _advance(self, store: Store, steps: tuple[Taken, ...]) -> bool:
        """Takes the steps; whether the store allows them all."""
        for index, taken in enumerate(steps):
            following = steps[index + 1].function if index + 1 < len(steps) else ""
            if not self._walk.advance(store, taken, following):
                return False
        return True

    def _search_twice(self, aim: Aim, must_be_sure: bool, budget: int) -> _Found:
        """The search; if it finds nothing because an unsigned sum is not 0, once more without that."""
        sums = self._walk.sums
        sums.may_wrap, sums.mattered = False, False
        found = self._search(aim, must_be_sure, budget)
        if found.steps is None and found.decided and sums.mattered:
            sums.may_wrap = True
            found = self._search(aim, must_be_sure, budget)._replace(wraps=True)
        return found

    def _start(self, aim: Aim, first: State) -> Store:
        """The store at the beginning of a path, that follows all that it can."""
        store = self._everything(first.function, is_entry=not aim.is_late)
        self._walk.come(store, unpack(first.configuration)[0], aim.last)
        return store

    def _search(self, aim: Aim, must_be_sure: bool, budget: int) -> _Found:
        self._walk.visited.update(name for name, _ in aim.part.ends)
        followed: set[Item] = set()
        states = 0
        sure = False
        for _ in range(_REFINEMENTS):
            search = Search(self._walk, aim, followed, budget - states, thorough=self._thorough, sure=sure)
            end = search.run()
            states += search.states
            if end is None:
                more = frozenset(search.wanted)
                if not sure or search.exhausted or more <= followed:  # more that is known leaves no more paths, but decides more
                    return _Found(decided=aim.part.complete and not search.exhausted)
                followed |= more
                continue
            steps, first = end.path()
            judgement = judge(self._walk, self._start(aim, first), steps, opens=self._thorough)
            more = judgement.missing if judgement.contradiction is None else judgement.contradiction
            if judgement.contradiction is not None and more <= followed:
                more = read_on(self._walk, steps)  # what is to blame may be less than what it takes to see it
            if not more <= followed:
                followed |= more
            elif judgement.contradiction is not None:
                break
            elif must_be_sure and not judgement.sure and not sure:
                sure = True
                followed |= last_condition(self._walk, steps)
            else:
                return _Found(steps, first)
        return _Found(decided=False)


def _entry(state: State) -> Entry:
    return state.function, unpack(state.configuration)[1]
