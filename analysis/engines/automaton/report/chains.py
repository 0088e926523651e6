"""The edges from the program's entry to an entry state of a function, read off the derivation graph.

Every configuration knows the first configuration that it was derived from, and every entry state the first call site that
asked for it; both were discovered earlier, so the way back ends at an initial state. `beginnings` may choose another site, or
other edges to it. A call that was passed with a callee's summary is opened up when the tracked value went through the callee;
else it is one step.

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
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import DIRECT, DerivationGraph, Entry, pack, unpack


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


Choose = Callable[[str, int], Call | None]


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
        self._links: dict[tuple[str, int], Link] = {}
        self._before: dict[tuple[str, int], Link] = {}

    def changed(self, functions: Set[str]) -> None:
        """The graph or the Delta differs in these functions."""
        self._before.update(self._links)
        self._links = {key: link for key, link in self._links.items() if functions.isdisjoint(link.functions)}

    def forget(self) -> None:
        """The graph or the Delta is another one."""
        self._links, self._before = {}, {}

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
        `before`, if all of them are. What is before the call number `first` is not shown, nor the `unchecked` first steps of the
        path."""
        is_as_before = before is not None and before.path is path and (before.first, before.excluded) == (first, excluded)
        if before is not None and is_as_before and same_calls(before.calls, calls):
            return before
        steps = shown = _steps(calls, start, path, "entry")
        if unchecked:
            shown = _from_within(path[unchecked:])
        elif first:
            shown = _steps(calls[first:], start, path, "beginning")
        return Joined(calls, first, path, unchecked, steps, shown, excluded, wraps)

    def calls(self, graph: DerivationGraph, delta: ProgramDelta, start: Entry, choose: Choose) -> tuple[Call, ...]:
        """The calls from where the program begins to an entry state. `choose` says which of the sites of an entry state, or
        None for the first one."""
        function, entry = start
        calls: list[Call] = []
        while entry not in graph.initial.get(function, ()):
            chosen = choose(function, entry)
            if chosen is None:
                caller, site, edge = graph.functions[function].sites[entry][0]
                chosen = Call(self.link(graph, delta, caller, site), caller, site, edge.id, function, entry)
            calls.append(chosen)
            function, entry = chosen.caller, unpack(chosen.site)[1]
        return tuple(reversed(calls))

    def link(self, graph: DerivationGraph, delta: ProgramDelta, function: str, configuration: int) -> Link:
        """The edges from a function's entry to a configuration of it, as they were derived first."""
        known = self._links.get((function, configuration))
        if known is None:
            made, before = self._inside(graph, delta, function, configuration), self._before.get((function, configuration))
            known = self._links[function, configuration] = before if before == made else made
        return known

    def _inside(self, graph: DerivationGraph, delta: ProgramDelta, function: str, configuration: int) -> Link:
        part = graph.functions[function]
        functions = {function}
        backwards: list[list[Taken]] = []
        while (parent := part.parent(configuration)) is not None:
            edge, before = parent
            taken = Taken("edge", function, 0, edge, unpack(before)[2], unpack(configuration)[2])
            via = part.via.get((before, edge, configuration))
            opened = None
            if via is not None and via[0] != DIRECT and _is_followed(via[0], taken):
                callee, entry, exit_ = via[0]
                inside = self.link(graph, delta, callee, pack(delta.exit(callee), entry, exit_))
                functions |= inside.functions
                opened = self._opened(inside, taken, entry, exit_)
            backwards.append(opened or [taken, *_stretch(delta, taken, unpack(configuration)[0])])
            configuration = before
        return Link(tuple(taken for part_ in reversed(backwards) for taken in part_), frozenset(functions))

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


def _is_followed(via: tuple[str, int, int], taken: Taken) -> bool:
    """Whether the tracked value went through the callee, or came out of it."""
    _, entry, exit_ = via
    return entry != NOTHING or (exit_ != NOTHING and taken.before == NOTHING)


def _stretch(delta: ProgramDelta, taken: Taken, place: int) -> list[Taken]:
    """The edges on which nothing happens between an edge and the place to which its derivation leads."""
    first = delta.program.functions[taken.function].by_id[taken.edge]
    if first.target == place:
        return []
    paths = delta.stretches(taken.function, first, taken.before, place)
    return [msgspec.structs.replace(taken, edge=edge.id, before=taken.after) for edge in min(paths, key=len)[1:]]


def _deeper(steps: Iterable[Taken], by: int) -> Iterable[Taken]:
    return (msgspec.structs.replace(taken, depth=taken.depth + by) for taken in steps) if by else steps
