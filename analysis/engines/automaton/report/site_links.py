"""Links to call sites: how the program gets from a function's entry to a call, without contradicting itself.

The link is the shortest way in the graph, if its branches do not contradict each other, and else a path that is searched for.
"""

from __future__ import annotations

import msgspec

from analysis.engines.automaton.feasibility.error_paths import ErrorPath, Feasibility
from analysis.engines.automaton.feasibility.kept_searches import Cells, Differences, Edges, KeptSearches, all_of, both
from analysis.engines.automaton.feasibility.walk import edges_passed
from analysis.engines.automaton.report.chains import Chains, Link
from analysis.engines.automaton.solver.full import unpack

_STATES = 400


class _SiteLink(msgspec.Struct, frozen=True):
    """A link to a call site that does not contradict itself, None if none was found. `derived` is that of the graph, and `path`
    what was searched instead, if that contradicts itself. For the rest, see `kept_searches.Searched`; `returning` are the callees
    that return."""

    link: Link | None
    derived: Link
    path: ErrorPath | None
    functions: frozenset[str]
    read: frozenset[str]
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

    def changed(self, differ: Differences) -> None:
        """Takes the next revision."""
        self._links.changed(differ)

    def forget(self) -> None:
        """The graph or the Delta is another one."""
        self._links.forget()

    def link(self, feasibility: Feasibility, caller: str, site: int) -> Link | None:
        """A link to a call site that does not contradict itself, None if none was found."""
        derived = self._chains.link(feasibility.order, caller, site)
        found = self._links.get((caller, site), lambda found: self._holds(found, derived, feasibility, caller, site))
        if found is None:
            found = self._links.known[caller, site] = self._find(derived, feasibility, caller, site)
        return found.link

    def _holds(self, found: _SiteLink, derived: Link, feasibility: Feasibility, caller: str, site: int) -> bool:
        if found.derived is not derived or feasibility.returning(found.functions) != found.returning:
            return False
        return found.path is None or feasibility.still_holds(found.path, caller, frozenset((site,)))

    def _find(self, derived: Link, feasibility: Feasibility, caller: str, site: int) -> _SiteLink:
        is_possible, asked = feasibility.agrees(caller, (), derived.steps)
        link: Link | None = derived if is_possible else None
        functions, read, path = derived.functions, derived.functions, None
        cells: Cells | None = asked
        edges: Edges | None = edges_passed(derived.steps)
        if not is_possible:
            path = feasibility.error_path(caller, frozenset((site,)), budget=_STATES)
            functions |= path.functions
            read = read.union(path.read)
            cells = both(cells, path.cells)
            edges = all_of(edges, path.edges)
            if path.steps is not None and path.start == (caller, unpack(site)[1]):
                link = Link(path.steps, path.functions)
        return _SiteLink(link, derived, path, functions, read, cells, edges, feasibility.returning(functions))
