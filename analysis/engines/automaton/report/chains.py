"""The edges from the program's entry to an entry state of a function, read off the derivation graph.

Inside a function, the shortest way to a configuration is taken, of several the first in the text: not the order of discovery,
which is another one after edits. Of the calls that enter a function in a state, `beginnings` chooses one, and may choose another
way to it. A call that was passed with a callee's summary is opened up when the tracked value went through the callee; else it is
one step.

Most edits change nothing that such a chain leads through. So its links, each inside one function, are kept while the graph and
the Delta stay what they are in the functions that were looked into. One that is made again and is equal is the same object, and
a chain of the same links is the same list as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import NamedTuple

import msgspec

from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.text_order import Site, TextOrder
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import DIRECT, DerivationGraph, Entry, FunctionGraph, pack, unpack


class Link(NamedTuple):
    """The edges from a function's entry to one of its configurations, opened callees one deeper; `functions` were looked into."""

    steps: tuple[Taken, ...]
    functions: frozenset[str]


class Call(NamedTuple):
    """A call that a chain leads down, with the link to its site, a configuration; `entry` is the callee's state."""

    link: Link
    caller: str
    site: int
    edge: int
    callee: str
    entry: int

    def taken(self, depth: int) -> Taken:
        """The call as a step."""
        return Taken("call", self.caller, depth, self.edge, unpack(self.site)[2], self.entry)


Choose = Callable[[str, int], Call]
Ways = dict[int, list[tuple[int, int]]]
"""The last derivations, as (edge id, configuration before), of ways to configurations."""
_Key = tuple[str, int, frozenset[str]]
_NESTED = 8  # calls that are opened in each other: each path of calls to a callee makes a link of its own
_COST_OF_OPENING = 16  # steps: a way through an opened callee, which may call itself, is taken where others are much longer


class Joined(NamedTuple):
    """A chain and a path in its last function: `steps` are all of their edges, `shown` those from the call number `first` on, or
    those after the `unchecked` steps of the path. `excluded`: no call was found that leads to what is shown. `wraps`: see
    `feasibility.error_paths.ErrorPath`."""

    calls: tuple[Call, ...]
    first: int
    path: tuple[Taken, ...]
    unchecked: int
    steps: list[Taken]
    shown: list[Taken]
    excluded: bool = False
    wraps: bool = False


class Chains:
    """The chains of one derivation graph, revision by revision. A callee is not opened for more than `limit` edges."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._links: dict[_Key, Link] = {}
        self._before: dict[_Key, Link] = {}
        self._ways: dict[Entry, Ways] = {}

    def changed(self, functions: Set[str]) -> None:
        """The graph or the Delta differs in these functions."""
        self._before.update(self._links)
        self._links = {key: link for key, link in self._links.items() if functions.isdisjoint(link.functions)}
        self._ways = {entry: ways for entry, ways in self._ways.items() if entry[0] not in functions}

    def forget(self) -> None:
        """The graph or the Delta is another one."""
        self._links, self._before, self._ways = {}, {}, {}

    def joined(
        self,
        calls: tuple[Call, ...],
        first: int,
        start: str,
        path: tuple[Taken, ...],
        before: Joined | None,
        unchecked: int = 0,
        *,
        excluded: bool = False,
        wraps: bool = False,
    ) -> Joined:
        """All edges from the program's entry down the calls, and then over a path in the function `start`; the very same as
        `before`, if all of them are; what is equal to what that has is the same list. What is before the call number `first` is
        not shown, nor the `unchecked` first steps of the path."""
        is_as_before = before is not None and before.path is path and (before.first, before.excluded) == (first, excluded)
        if before is not None and is_as_before and same_calls(before.calls, calls):
            return before
        steps = shown = _steps(calls, start, path, "entry")
        if unchecked:
            shown = _from_within(path[unchecked:])
        elif first:
            shown = _steps(calls[first:], start, path, "beginning")
        if before is not None and (before.steps, before.shown) == (steps, shown):
            steps, shown = before.steps, before.shown
        return Joined(calls, first, path, unchecked, steps, shown, excluded, wraps)

    def calls(self, graph: DerivationGraph, start: Entry, choose: Choose) -> tuple[Call, ...]:
        """The calls from where the program begins to an entry state. `choose` says which of those that enter one."""
        function, entry = start
        calls: list[Call] = []
        while entry not in graph.initial.get(function, ()):
            chosen = choose(function, entry)
            calls.append(chosen)
            function, entry = chosen.caller, unpack(chosen.site)[1]
        return tuple(reversed(calls))

    def call(self, order: TextOrder, over: Site, function: str, entry: int) -> Call:
        """A call that enters a function in a state, with the shortest way to it."""
        caller, site, edge = over
        return Call(self.link(order, caller, site), caller, site, edge.id, function, entry)

    def link(self, order: TextOrder, function: str, configuration: int, open_: frozenset[str] = frozenset()) -> Link:
        """The shortest way from a function's entry to a configuration of it. The functions `open_` are not opened again."""
        key = function, configuration, open_
        known = self._links.get(key)
        if known is None:
            made, before = self._inside(order, function, configuration, open_ | {function}), self._before.get(key)
            known = self._links[key] = before if before == made else made
        return known

    def _inside(self, order: TextOrder, function: str, configuration: int, open_: frozenset[str]) -> Link:
        delta = order.delta
        ways = self._ways_to(order, function, unpack(configuration)[1])
        functions = {function}
        backwards: list[list[Taken]] = []
        while last := ways[configuration]:
            edge, before = order.derivations(function, last)[0]
            taken = Taken("edge", function, 0, edge, unpack(before)[2], unpack(configuration)[2])
            through = _through(order.graph.functions[function], before, edge, configuration)
            opened = None
            if through:
                callee, entry, exit_ = order.summaries(through)[0]
                functions.add(callee)
                if callee not in open_ and len(open_) <= _NESTED:
                    inside = self.link(order, callee, pack(delta.exit(callee), entry, exit_), open_)
                    functions |= inside.functions
                    opened = self._opened(inside, taken, entry, exit_)
            backwards.append(opened or [taken, *_stretch(delta, taken, unpack(configuration)[0])])
            configuration = before
        return Link(tuple(taken for part_ in reversed(backwards) for taken in part_), frozenset(functions))

    def _ways_to(self, order: TextOrder, function: str, entry: int) -> Ways:
        """The last derivations of the shortest ways to each configuration of a function that was entered in a state."""
        known = self._ways.get((function, entry))
        if known is None:
            start = pack(order.delta.entry(function), entry, entry)
            known = self._ways[function, entry] = _shortest_ways(order.graph.functions[function], start)
        return known

    def _opened(self, inside: Link, taken: Taken, entry: int, exit_: int) -> list[Taken] | None:
        if not inside.steps or len(inside.steps) > self._limit:
            return None
        return [
            msgspec.structs.replace(taken, event="call", after=entry),
            *_deeper(inside.steps, 1),
            msgspec.structs.replace(taken, event="return", before=exit_),
        ]


def _steps(calls: Sequence[Call], start: str, path: tuple[Taken, ...], event: str) -> list[Taken]:
    steps = [Taken(event, calls[0].caller if calls else start, 0, -1, NOTHING, NOTHING)]
    for depth, call in enumerate(calls):
        steps.extend(_deeper(call.link.steps, depth))
        steps.append(call.taken(depth))
    steps.extend(_deeper(path, len(calls)))
    return steps


def _from_within(path: Sequence[Taken]) -> list[Taken]:
    """Steps that begin within a function, with nothing said of how the program gets there."""
    first = path[0]
    return [Taken("within", first.function, 0, -1, NOTHING, NOTHING), *_deeper(path, -first.depth)]


def same_calls(one: Sequence[Call], other: Sequence[Call]) -> bool:
    """Whether two chains are of the very same links."""
    return len(one) == len(other) and all(a.link is b.link and a[1:] == b[1:] for a, b in zip(one, other, strict=True))


def _shortest_ways(part: FunctionGraph, start: int) -> Ways:
    """For each configuration that is derived from `start`: the last derivations of the shortest ways to it (Dial 1969). A
    callee that is opened counts as `_COST_OF_OPENING` steps."""
    found: dict[int, int] = {}
    ways: Ways = {start: []}
    waiting: list[list[tuple[int, int, int]]] = [[(-1, start, start)]]  # by the number of steps
    for steps, some in enumerate(waiting):  # grows while it is read
        for edge, before, configuration in some:
            known = found.setdefault(configuration, steps)
            if edge >= 0 and known == steps and configuration != start:
                ways.setdefault(configuration, []).append((edge, before))
            if known != steps or len(ways[configuration]) > 1:
                continue
            for further, derived in part.derivations(configuration):
                at = steps + (_COST_OF_OPENING if _through(part, configuration, further, derived) else 1)
                if found.get(derived, at) == at:
                    waiting.extend([] for _ in range(at + 1 - len(waiting)))
                    waiting[at].append((further, configuration, derived))
    return ways


def _through(part: FunctionGraph, before: int, edge: int, derived: int) -> list[tuple[str, int, int]]:
    """The summaries of a callee by which a configuration was derived, if the tracked value went through the callee, or came out
    of it, each time."""
    supports = part.via.get((before, edge, derived))
    if supports is None:
        return []
    begins = unpack(before)[2] == NOTHING
    followed = [one for one in supports if one != DIRECT and (one[1] != NOTHING or (one[2] != NOTHING and begins))]
    return followed if len(followed) == len(supports) else []


def _stretch(delta: ProgramDelta, taken: Taken, place: int) -> list[Taken]:
    """The edges on which nothing happens between an edge and the place to which its derivation leads."""
    first = delta.program.functions[taken.function].by_id[taken.edge]
    if first.target == place:
        return []
    paths = delta.stretches(taken.function, first, taken.before, place)
    return [msgspec.structs.replace(taken, edge=edge.id, before=taken.after) for edge in min(paths, key=len)[1:]]


def _deeper(steps: Iterable[Taken], by: int) -> Iterable[Taken]:
    return (msgspec.structs.replace(taken, depth=taken.depth + by) for taken in steps) if by else steps
