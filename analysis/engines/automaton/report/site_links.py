"""Links to call sites: how the program gets from a function's entry to a call, without contradicting itself.

The link is that of the graph, if its branches do not contradict each other, and else a path that is searched for. Where such a
search comes to no end, none is made for other calls in the same function. So which links are found there, and with them the calls
that a trace shows, can depend on which were asked for first; whether an error is refuted does so only where a budget ends
(`beginnings`).
"""

from __future__ import annotations

import msgspec

from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.error_paths import ErrorPath, Feasibility
from analysis.engines.automaton.feasibility.kept_searches import Cells, Differences, Edges, KeptSearches, all_of, both
from analysis.engines.automaton.feasibility.walk import edges_passed
from analysis.engines.automaton.report.chains import Chains, Link
from analysis.engines.automaton.solver.full import DerivationGraph, unpack

_STATES = 400


class _SiteLink(msgspec.Struct, frozen=True):
    """A link to a call site that does not contradict itself, None if none was found. `derived` is that of the graph, and `path`
    what was searched instead, if that contradicts itself; nothing was where a search in the function had come to no end
    (`is_left`). For the rest, see `kept_searches.Searched`; `returning` are the callees that return."""

    link: Link | None
    derived: Link
    path: ErrorPath | None
    is_left: bool
    functions: frozenset[str]
    cells: Cells | None
    edges: Edges | None
    returning: frozenset[str]
    called: frozenset[str] = frozenset()
    dead: bool = False


class SiteLinks:
    """The links of one analysis, revision by revision."""

    def __init__(self, chains: Chains) -> None:
        self._chains = chains
        self._links: KeptSearches[tuple[str, int], _SiteLink] = KeptSearches()
        self._stuck: set[str] = set()  # functions in which a search for a link came to no end: it is not tried for other calls

    def changed(self, differ: Differences) -> None:
        """Takes the next revision."""
        self._links.changed(differ)
        self._stuck -= differ.in_graph | differ.rewritten.keys()

    def forget(self) -> None:
        """The graph or the Delta is another one."""
        self._links.forget()
        self._stuck = set()

    def link(self, graph: DerivationGraph, delta: ProgramDelta, feasibility: Feasibility, caller: str, site: int) -> Link | None:
        """A link to a call site that does not contradict itself, None if none was found."""
        derived = self._chains.link(graph, delta, caller, site)
        found = self._links.get((caller, site), lambda found: self._holds(found, derived, feasibility, caller, site))
        if found is None:
            found = self._links.known[caller, site] = self._find(derived, feasibility, caller, site)
        if found.path is not None and not found.path.decided and found.link is None:
            self._stuck.add(caller)
        return found.link

    def _holds(self, found: _SiteLink, derived: Link, feasibility: Feasibility, caller: str, site: int) -> bool:
        if found.derived is not derived or feasibility.returning(found.functions) != found.returning:
            return False
        if found.path is None:
            return not found.is_left or caller in self._stuck
        return feasibility.still_holds(found.path, caller, frozenset((site,)))

    def _find(self, derived: Link, feasibility: Feasibility, caller: str, site: int) -> _SiteLink:
        is_possible, asked = feasibility.agrees(caller, (), derived.steps)
        link: Link | None = derived if is_possible else None
        functions, path = derived.functions, None
        cells: Cells | None = asked
        edges: Edges | None = edges_passed(derived.steps)
        if not is_possible and caller not in self._stuck:
            path = feasibility.error_path(caller, frozenset((site,)), budget=_STATES)
            functions |= path.functions
            cells = both(cells, path.cells)
            edges = all_of(edges, path.edges)
            if path.steps is not None and path.start == (caller, unpack(site)[1]):
                link = Link(path.steps, path.functions)
        is_left = path is None and not is_possible
        return _SiteLink(link, derived, path, is_left, functions, cells, edges, feasibility.returning(functions))
