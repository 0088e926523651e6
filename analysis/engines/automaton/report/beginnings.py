"""How the program gets to the function where the path to an error begins, without contradicting the path.

A path is found from the entry of the function in which the value begins to be tracked (`feasibility.error_paths`). What a trace
shows before that is a chain of calls (`chains`). Its links are those of the graph. A link that contradicts itself is replaced by
a path that is searched for, or by a link from another call.

Then the chain and the path are run together, with all values that the store knows. If they contradict each other, a path is
searched for that begins further up, at the call where the contradiction is. This ends in one of three ways:

- A path agrees with the chain that leads to where it begins.
- There is no path from further up. Then no call leads to the error, and the error is refuted.
- The budget is used up. Then the trace shows the last path that was found, with the calls that agree with it. It says that it
  leaves out the calls before these. If what these pass, such as constants, excludes the path at each of them, it is `excluded`.

No order of exploration decides whether an error is refuted: a search that finds nothing has excluded all chains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

import msgspec

from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.error_paths import Descent, ErrorPath, Feasibility
from analysis.engines.automaton.report.chains import Call, Chains, Link, same_calls
from analysis.engines.automaton.report.raised_errors import Sought
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import DerivationGraph, Entry, unpack

Key = tuple[str, frozenset[int]]  # `Sought.at`

_LEVELS = 4
_STATES = 1_500  # for one search, which is one of several
_LINK_STATES = 400
_CALLS = 12  # of one function, whose arguments are looked at
_SITES = 6  # of an entry state, when the path to the first one contradicts itself


class Beginning(msgspec.Struct, frozen=True):
    """What became of the path `given`: `path` is the same one or another, without steps if the error is refuted. `calls` lead to
    it, and agree with it from the one with the number `first` on. `excluded`: the arguments of each call that could come before
    these contradict the path, and another one was not found. This depends on the `functions`, on what writes the `cells`
    there (None: any), on the calls that were `tried` first, on the callers of those that are `called`, and on which callers are
    `dead` (see `ErrorPath`)."""

    given: ErrorPath
    tried: tuple[Call, ...]
    path: ErrorPath
    calls: tuple[Call, ...]
    first: int
    functions: frozenset[str]
    cells: frozenset[str] | None
    called: frozenset[str]
    dead: bool
    excluded: bool = False


class _Mended(msgspec.Struct, frozen=True):
    """A link to a call site that does not contradict itself, None if none was found; it depends on the `functions`, and on what
    writes the `cells` there (None: any)."""

    link: Link | None
    functions: frozenset[str]
    cells: frozenset[str] | None


class Beginnings:
    """The beginnings of the paths of one analysis, revision by revision. What holds no more is kept as `doubtful` until all is
    computed again."""

    def __init__(self, chains: Chains) -> None:
        self._chains = chains
        self._known: dict[Key, Beginning] = {}
        self._mended: dict[tuple[str, int], _Mended] = {}
        self._stuck: set[str] = set()  # functions in which a search for a link came to no end: it is not tried for other calls
        self.doubtful: dict[Key, Beginning] = {}

    def changed(self, functions: Set[str], rewritten: Mapping[str, Set[str]], recalled: Set[str]) -> None:
        """The graph or the Delta differs in `functions`. In those `rewritten`, calls write something else. Those `recalled` have
        other callers."""

        def same(found: Beginning | _Mended) -> bool:
            if not functions.isdisjoint(found.functions):
                return False
            concerned = rewritten.keys() & found.functions
            return not concerned or (found.cells is not None and all(found.cells.isdisjoint(rewritten[n]) for n in concerned))

        stay = {
            key: found
            for key, found in self._known.items()
            if not found.dead and same(found) and recalled.isdisjoint(found.called)
        }
        self.doubtful.update((key, found) for key, found in self._known.items() if key not in stay)
        self._known = stay
        self._stuck -= functions | rewritten.keys()
        self._mended = {site: mended for site, mended in self._mended.items() if same(mended)}

    def forget(self) -> None:
        """The graph or the Delta is another one."""
        self._known, self._mended, self._stuck, self.doubtful = {}, {}, set(), {}

    def known(
        self, graph: DerivationGraph, delta: ProgramDelta, feasibility: Feasibility, key: Key, path: ErrorPath
    ) -> Beginning | None:
        """What became of the path, if it is known and still holds."""
        found = self._known.get(key)
        if found is None or found.given is not path:
            return None
        return found if same_calls(found.tried, self._calls(graph, delta, feasibility, path)) else None

    def find(
        self,
        graph: DerivationGraph,
        delta: ProgramDelta,
        feasibility: Feasibility,
        sought: Sought,
        path: ErrorPath,
        must_be_sure: bool,
    ) -> Beginning:
        """Looks for what becomes of the path to what is sought."""
        name, configurations = sought.error[0], sought.configurations
        tried = calls = self._calls(graph, delta, feasibility, path)
        first, cells = _agreeing(feasibility, calls, path)
        functions = path.functions.union(*(call.link.functions for call in calls))
        found, called, dead = path, frozenset[str](), False
        cells = _both(cells, path.cells)
        above = 0
        while first and above + len(calls) - first < _LEVELS:
            above += len(calls) - first + 1
            further = feasibility.error_path(name, configurations, must_be_sure, above, _STATES, sought.over)
            functions, called, dead = functions | further.functions, called | further.called, dead or further.dead
            cells = _both(cells, further.cells)
            if further.steps is None:
                if further.decided:
                    found, calls, first = further, (), 0
                break
            found, calls = further, self._calls(graph, delta, feasibility, further)
            first, more = _agreeing(feasibility, calls, further)
            cells = _both(cells, more)
            functions = functions.union(*(call.link.functions for call in calls))
        excluded = False
        if first:
            callers, excluded, more = _excluded(graph, feasibility, calls, first, found)
            functions, called, cells = functions | callers, called | {_start(calls, first, found)[0]}, _both(cells, more)
        beginning = Beginning(path, tried, found, calls, first, functions, cells, called, dead, excluded)
        self._known[sought.at] = beginning
        return beginning

    def _calls(self, graph: DerivationGraph, delta: ProgramDelta, feasibility: Feasibility, path: ErrorPath) -> tuple[Call, ...]:
        """The calls that lead to where the path begins, if possible over links that do not contradict themselves."""
        assert path.start is not None
        above = {path.start}

        def choose(function: str, entry: int) -> Call | None:
            for number, (caller, site, edge) in enumerate(graph.functions[function].sites[entry][:_SITES]):
                over = (caller, unpack(site)[1])
                if number and (over in above or not feasibility.live(*over)):
                    continue
                link = self._link(graph, delta, feasibility, caller, site)
                if link is not None:
                    above.add(over)
                    return Call(link, caller, site, edge.id, function, entry)
            return None

        return self._chains.calls(graph, delta, path.start, choose)

    def _link(self, graph: DerivationGraph, delta: ProgramDelta, feasibility: Feasibility, caller: str, site: int) -> Link | None:
        """A link to a call site that does not contradict itself, None if none was found."""
        known = self._mended.get((caller, site))
        if known is None:
            link: Link | None = self._chains.link(graph, delta, caller, site)
            assert link is not None
            functions = link.functions
            is_possible, asked = feasibility.agrees(caller, (), link.steps)
            cells: frozenset[str] | None = asked
            if not is_possible:
                link = None
                if caller not in self._stuck:
                    path = feasibility.error_path(caller, frozenset((site,)), budget=_LINK_STATES)
                    functions |= path.functions
                    cells = _both(cells, path.cells)
                    if path.steps is not None and path.start == (caller, unpack(site)[1]):
                        link = Link(path.steps, path.functions)
                    elif not path.decided:
                        self._stuck.add(caller)
            known = self._mended[caller, site] = _Mended(link, functions, cells)
        return known.link


def _agreeing(feasibility: Feasibility, calls: tuple[Call, ...], path: ErrorPath) -> tuple[int, frozenset[str] | None]:
    """The number of the first call from which on the calls agree with each other and with the path, and the cells whose writers
    were asked for."""
    assert path.steps is not None
    cells = frozenset[str]()
    for first, call in enumerate(calls):
        agreement = feasibility.agrees(call.caller, _descents(calls[first:]), path.steps)
        cells |= agreement.cells
        if agreement.is_possible:
            return first, cells
    return len(calls), cells


def _start(calls: tuple[Call, ...], first: int, path: ErrorPath) -> Entry:
    """The entry state where what is shown begins."""
    assert path.start is not None
    return path.start if first == len(calls) else (calls[first].caller, unpack(calls[first].site)[1])


def _excluded(
    graph: DerivationGraph, feasibility: Feasibility, calls: tuple[Call, ...], first: int, path: ErrorPath
) -> tuple[frozenset[str], bool, frozenset[str] | None]:
    """The callers of the function where what is shown begins, whether each of their calls passes what contradicts it, and the
    cells whose writers were asked for."""
    assert path.steps is not None
    function, entry = _start(calls, first, path)
    sites = {(caller, edge.id): (site, edge) for caller, site, edge in graph.functions[function].sites[entry]}
    callers = frozenset(caller for caller, _ in sites)
    if not sites or len(sites) > _CALLS or entry in graph.initial.get(function, ()):
        return callers, False, frozenset()
    cells = frozenset[str]()
    for (caller, edge_id), (site, edge) in sites.items():
        call = Taken("call", caller, 0, edge_id, unpack(site)[2], entry)
        descents = (Descent((), call, function, edge), *_descents(calls[first:]))
        agreement = feasibility.agrees(caller, descents, path.steps, is_entry=False)
        cells |= agreement.cells
        if agreement.is_possible:
            return callers, False, cells
    return callers, True, cells


def _both(cells: frozenset[str] | None, more: frozenset[str] | None) -> frozenset[str] | None:
    return None if cells is None or more is None else cells | more


def _descents(calls: Iterable[Call]) -> Iterator[Descent]:
    for depth, call in enumerate(calls):
        yield Descent(call.link.steps, call.taken(depth), call.callee, call.link)
