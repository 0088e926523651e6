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

A search that finds nothing has excluded all chains, whichever was tried first. But which one is tried first decides where the
next search begins, and so whether the budget is used up before. So calls are tried in an order that follows from the program
alone (`Feasibility.callers`): the order in which they stand in the graph is another one after edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.error_paths import Descent, ErrorPath, Feasibility
from analysis.engines.automaton.feasibility.kept_searches import (
    ENTERED,
    Cells,
    Differences,
    Edges,
    KeptSearches,
    all_of,
    bits,
    both,
    merged,
)
from analysis.engines.automaton.feasibility.text_order import Site
from analysis.engines.automaton.feasibility.walk import edges_passed
from analysis.engines.automaton.report.chains import Call, Chains, same_calls
from analysis.engines.automaton.report.raised_errors import Sought, must_be_sure
from analysis.engines.automaton.report.site_links import SiteLinks
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.solver.full import DerivationGraph, Entry, unpack

Key = tuple[str, frozenset[int]]  # `Sought.at`
_LEVELS = 4
_STATES = 1_500  # for one search, which is one of several
_CALLS = 12  # of one function, whose arguments are looked at
_SITES = 6  # of an entry state, when the path to the first one contradicts itself


class Beginning(msgspec.Struct, frozen=True):
    """What became of the path `given`: `path` is the same one or another, without steps if the error is refuted. `calls` lead to
    it, and agree with it from the one with the number `first` on. `excluded`: the arguments of each call that could come before
    these contradict the path, and another one was not found. This depends on the calls that led to each path that was `tried`, on
    what the searches from `further` up found, and on the `sites` of calls that could come before; `returning` are the callees
    that return. For the rest, see `kept_searches.Searched`."""

    given: ErrorPath
    tried: tuple[tuple[ErrorPath, tuple[Call, ...]], ...]
    further: tuple[ErrorPath, ...]
    path: ErrorPath
    calls: tuple[Call, ...]
    first: int
    functions: frozenset[str]
    read: frozenset[str]
    cells: Cells | None
    edges: Edges | None
    called: frozenset[str]
    dead: bool
    sites: tuple[Site, ...]
    returning: frozenset[str]
    excluded: bool = False


class Beginnings:
    """The beginnings of the paths of one analysis, revision by revision. What holds no more is kept as `doubtful` until all is
    computed again."""

    def __init__(self, chains: Chains) -> None:
        self._chains = chains
        self._links = SiteLinks(chains)
        self._kept: KeptSearches[Key, Beginning] = KeptSearches()
        self.doubtful: dict[Key, Beginning] = {}

    def changed(self, differ: Differences) -> dict[Key, Beginning]:
        """Takes the next revision. Returns what was known, and is not any more."""
        left = self._kept.changed(differ)
        self.doubtful.update(left)
        self._links.changed(differ)
        return left

    def restore(self, found: Mapping[Key, Beginning]) -> None:
        """Takes up again what was known in another revision, and holds in this one."""
        self._kept.restore(found)

    def forget(self) -> None:
        """The graph or the Delta is another one."""
        self._kept.forget()
        self._links.forget()
        self.doubtful = {}

    def known(
        self,
        graph: DerivationGraph,
        delta: ProgramDelta,
        feasibility: Feasibility,
        sought: Sought,
        path: ErrorPath,
        patient: bool = True,
    ) -> Beginning | None:
        """What became of the path, if it is known and still holds; `patient`: also if that has to be looked up in the graph."""

        def holds(one: Beginning) -> bool:
            return one.given is path and self._holds(graph, delta, feasibility, sought, one)

        found = self._kept.get(sought.at, holds) if patient else self._kept.known.get(sought.at)
        if found is None or found.given is not path:
            return None
        return found if self._has_same_calls(graph, feasibility, found) else None

    def _holds(
        self, graph: DerivationGraph, delta: ProgramDelta, feasibility: Feasibility, sought: Sought, found: Beginning
    ) -> bool:
        """Whether the graph is as it was where it was looked at for what became of a path."""
        name, configurations, sure = sought.error[0], sought.configurations, must_be_sure(delta, sought)
        return (
            all(feasibility.still_holds(further, name, configurations, sure, sought.over) for further in found.further)
            and found.sites == (_sites(graph, feasibility, _start(found.calls, found.first, found.path)) if found.first else ())
            and found.returning == feasibility.returning(found.functions)
        )

    def _has_same_calls(self, graph: DerivationGraph, feasibility: Feasibility, found: Beginning) -> bool:
        """Whether the calls that lead to the paths that were tried are those that did. Functions that were not looked into can
        make another chain the shortest one."""
        return all(
            feasibility.is_entered(path) and same_calls(calls, self._calls(graph, feasibility, path))
            for path, calls in found.tried
        )

    def find(
        self,
        graph: DerivationGraph,
        delta: ProgramDelta,
        feasibility: Feasibility,
        sought: Sought,
        path: ErrorPath,
    ) -> Beginning:
        """Looks for what becomes of the path to what is sought."""
        name, configurations, sure = sought.error[0], sought.configurations, must_be_sure(delta, sought)
        calls = self._calls(graph, feasibility, path)
        first, asked = _agreeing(feasibility, calls, path)
        cells: Cells | None = asked
        tried, found, searched = [(path, calls)], path, list[ErrorPath]()
        above = 0
        while first and above + len(calls) - first < _LEVELS:
            above += len(calls) - first + 1
            further = feasibility.error_path(name, configurations, sure, above, _STATES, sought.over)
            searched.append(further)
            if further.steps is None:
                if further.decided and not _leads_to_itself(sought):
                    found, calls, first = further, (), 0
                break
            found, calls = further, self._calls(graph, feasibility, further)
            tried.append((found, calls))
            first, more = _agreeing(feasibility, calls, further)
            cells = both(cells, more)
        excluded, sites, leaves_out = False, tuple[Site, ...](), False
        if first:
            start = _start(calls, first, found)
            sites = _sites(graph, feasibility, start)
            leaves_out = len(sites) < len(_edges_in(graph, start))
            excluded, more = _excluded(feasibility, sites, calls, first, found)
            cells = both(cells, more)
        links = [call.link.functions for _, some in tried for call in some]
        calling = [*links, [caller for caller, _, _ in sites]]
        functions = path.functions.union(*calling, *(one.functions for one in searched))
        for one in (path, *searched):
            cells = both(cells, one.cells)
        beginning = Beginning(
            given=path,
            tried=tuple(tried),
            further=tuple(searched),
            path=found,
            calls=calls,
            first=first,
            functions=functions,
            read=frozenset(path.read).union(*calling, *(one.read for one in searched)),
            cells=cells,
            edges=_passed(tried, searched, sites),
            called=frozenset((_start(calls, first, found)[0],) if first else ()).union(*(one.called for one in searched)),
            dead=leaves_out or any(one.dead for one in searched),
            sites=sites,
            returning=feasibility.returning(functions),
            excluded=excluded,
        )
        self._kept.known[sought.at] = beginning
        return beginning

    def shortest(self, graph: DerivationGraph, feasibility: Feasibility, start: Entry) -> tuple[Call, ...]:
        """The fewest calls that lead to an entry state; the links to them may contradict themselves."""

        def choose(function: str, entry: int) -> Call:
            return self._chains.call(feasibility.order, feasibility.callers(function, entry)[0], function, entry)

        return self._chains.calls(graph, start, choose)

    def _calls(self, graph: DerivationGraph, feasibility: Feasibility, path: ErrorPath) -> tuple[Call, ...]:
        """The calls that lead to where the path begins, if possible over links that do not contradict themselves."""
        assert path.start is not None
        above = {path.start}

        def choose(function: str, entry: int) -> Call:
            callers = feasibility.callers(function, entry)
            for number, (caller, site, edge) in enumerate(callers[:_SITES]):
                over = (caller, unpack(site)[1])
                if number and over in above:
                    continue
                link = self._links.link(feasibility, caller, site)
                if link is not None:
                    above.add(over)
                    return Call(link, caller, site, edge.id, function, entry)
            return self._chains.call(feasibility.order, callers[0], function, entry)

        return self._chains.calls(graph, path.start, choose)


def _leads_to_itself(sought: Sought) -> bool:
    """Whether the function of an error that was raised from a callee is one of those that the path is to lead through. Then the
    calls further up are left out as well as those that the path is not to lead over, and no path says nothing."""
    return sought.at[0] in sought.over


def _agreeing(feasibility: Feasibility, calls: tuple[Call, ...], path: ErrorPath) -> tuple[int, Cells]:
    """The number of the first call from which on the calls agree with each other and with the path, and the cells whose writers
    were asked for."""
    assert path.steps is not None
    cells: list[Cells] = []
    for first, call in enumerate(calls):
        agreement = feasibility.agrees(call.caller, _descents(calls[first:]), path.steps)
        cells.append(agreement.cells)
        if agreement.is_possible:
            return first, merged(*cells)
    return len(calls), merged(*cells)


def _start(calls: tuple[Call, ...], first: int, path: ErrorPath) -> Entry:
    """The entry state where what is shown begins."""
    assert path.start is not None
    return path.start if first == len(calls) else (calls[first].caller, unpack(calls[first].site)[1])


def _sites(graph: DerivationGraph, feasibility: Feasibility, start: Entry) -> tuple[Site, ...]:
    """The calls that lead to an entry state, one over each edge; none if the program begins there."""
    function, entry = start
    if not _edges_in(graph, start):
        return ()
    found: dict[tuple[str, int], Site] = {}
    for caller, site, edge in feasibility.callers(function, entry):
        found.setdefault((caller, edge.id), (caller, site, edge))
    return tuple(found.values())


def _edges_in(graph: DerivationGraph, start: Entry) -> set[tuple[str, int]]:
    """The edges of calls that lead to an entry state, executed or not; none if the program begins there."""
    function, entry = start
    part = graph.functions.get(function)
    if part is None or entry in graph.initial.get(function, ()):
        return set()
    return {(caller, edge.id) for caller, _, edge in part.sites.get(entry, ())}


def _excluded(
    feasibility: Feasibility, sites: Sequence[Site], calls: tuple[Call, ...], first: int, path: ErrorPath
) -> tuple[bool, Cells]:
    """Whether each of the calls that lead to where what is shown begins passes what contradicts it, and the cells whose writers
    were asked for."""
    assert path.steps is not None
    function, entry = _start(calls, first, path)
    cells: list[Cells] = []
    if not sites or len(sites) > _CALLS:
        return False, merged(*cells)
    for caller, site, edge in sites:
        call = Taken("call", caller, 0, edge.id, unpack(site)[2], entry)
        descents = (Descent((), call, function, edge), *_descents(calls[first:]))
        agreement = feasibility.agrees(caller, descents, path.steps, is_entry=False)
        cells.append(agreement.cells)
        if agreement.is_possible:
            return False, merged(*cells)
    return True, merged(*cells)


def _passed(
    tried: Iterable[tuple[ErrorPath, tuple[Call, ...]]], searched: Iterable[ErrorPath], sites: Iterable[Site]
) -> Edges | None:
    """The edges of the paths that were tried, with the calls that lead to them, of searches, and of calls above."""
    edges: list[Edges | None] = [one.edges for one in searched]
    for path, calls in tried:
        edges += [edges_passed((*_taken(calls), *(path.steps or ()))), dict.fromkeys((call.callee for call in calls), ENTERED)]
    return all_of(*edges, *({caller: bits((edge.id,))} for caller, _, edge in sites))


def _taken(calls: Iterable[Call]) -> Iterator[Taken]:
    """The steps of calls and of the links to them."""
    return (taken for call in calls for taken in (*call.link.steps, call.taken(0)))


def _descents(calls: Iterable[Call]) -> Iterator[Descent]:
    for depth, call in enumerate(calls):
        yield Descent(call.link.steps, call.taken(depth), call.callee, call.link)
