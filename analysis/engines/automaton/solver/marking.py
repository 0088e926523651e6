"""CHECK-DERIVATIONS of [ORION] Fig. 4: which configurations of some functions still follow from their entries.

Derivations that a change invalidated are gone from the graph when this begins (`repair`). What is left is marked by going from
the entries of the functions over recorded derivations only; Delta is not asked. A derivation over a call holds when one of the
summaries that it came by is marked, or when it needs none. What is not marked is removed.

Marking is also what keeps `FunctionGraph.parent` right: a configuration gets as its parent what it was marked from, and the
summary by which it was marked comes first in `via`, so that parents were marked before their children, as in Full they were
found before. For the summaries of functions that are not checked the order is that of the call graph: the functions checked
together are a maximal strongly connected component of the recorded call graph (or all functions), so that no path leads from
there back here. In the same way the first of `sites[r]` is one outside the functions checked, or the one that r was marked from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Set

from analysis.cfa.graph import Edge
from analysis.engines.automaton.solver.changes import Repaired
from analysis.engines.automaton.solver.full import DIRECT, LOCATION_MASK, Delta, DerivationGraph, FunctionGraph, Via, pack, unpack


class _Marks:
    """One function while it is checked. `part` is the graph as it was; the rest is what is marked and will replace it."""

    def __init__(self, name: str, part: FunctionGraph, entry: int, exit_: int) -> None:
        self.name = name
        self.part = part
        self.entry = entry
        self.exit = exit_
        self.was_error = set(part.errors)
        self.derived: dict[int, list[int]] = {}
        self.errors: list[int] = []
        self.summaries: dict[int, list[int]] = {}
        self.sites: dict[int, list[tuple[str, int, Edge]]] = {}
        self.queue: deque[int] = deque()
        self.scheduled = False


class Check:
    """One call of CHECK-DERIVATIONS.

    `lost` are summaries of functions outside `functions` that hold no more. Afterwards `vanished` are the summaries of
    `functions` that were not marked, `left` the entry states of other functions that lost call sites, and `fresh` the entry
    configurations that must be explored, because the entry location is another one now.
    """

    def __init__(
        self, graph: DerivationGraph, delta: Delta, functions: Iterable[str], lost: Set[Via], repaired: Repaired
    ) -> None:
        self._graph = graph
        self._lost = lost
        self._repaired = repaired
        self._marks = {
            name: _Marks(name, graph.functions[name], delta.entry(name), delta.exit(name))
            for name in functions
            if name in graph.functions
        }
        self._pending: deque[_Marks] = deque()
        self._marked: set[Via] = set()
        self._waiting: dict[Via, list[tuple[_Marks, int, int, int]]] = {}
        self.vanished: set[Via] = set()
        self.left: set[tuple[str, int]] = set()
        self.fresh: list[tuple[str, FunctionGraph, int]] = []

    def run(self) -> None:
        """Marks, and removes what is not marked."""
        for marks in self._marks.values():
            self._enter_from_outside(marks)
        pending = self._pending
        while pending:
            marks = pending.popleft()
            self._mark(marks)
            marks.scheduled = False
        for marks in self._marks.values():
            self.vanished.update(
                via
                for entry, exits in marks.part.summaries.items()
                for exit_ in exits
                if (via := (marks.name, entry, exit_)) not in self._marked
            )
        gone = self.vanished | self._lost
        for marks in self._marks.values():
            self._replace(marks, gone)

    def _enter_from_outside(self, marks: _Marks) -> None:
        """EXT-INITS: the entries that a call outside the functions checked asks for, or the program's start."""
        initial = self._graph.initial.get(marks.name, ())
        for entry, sites in marks.part.sites.items():
            outside = [site for site in sites if site[0] not in self._marks]
            if outside or entry in initial:
                self._enter(marks, entry)
                marks.sites[entry] = outside

    def _enter(self, marks: _Marks, entry: int) -> None:
        marks.summaries[entry] = []
        marks.sites[entry] = []
        configuration = pack(marks.entry, entry, entry)
        flat = marks.part.derived.get(configuration)
        if flat is None:
            marks.derived[configuration] = [-1, -1]
            self.fresh.append((marks.name, marks.part, configuration))
        else:
            self._add_to_workset(marks, configuration, flat, -1, -1)

    def _add_to_workset(self, marks: _Marks, configuration: int, flat: list[int], edge: int, parent: int) -> None:
        flat[0] = edge
        flat[1] = parent
        marks.derived[configuration] = flat
        marks.queue.append(configuration)
        if not marks.scheduled:
            marks.scheduled = True
            self._pending.append(marks)

    def _mark(self, marks: _Marks) -> None:
        """CHECK-STEP for the configurations of one function that wait for it."""
        queue, derived, before, calls, exit_ = marks.queue, marks.derived, marks.part.derived, marks.part.calls, marks.exit
        while queue:
            configuration = queue.popleft()
            flat = derived[configuration]
            if configuration in calls:
                self._check_calls(marks, configuration, flat)
            elif len(flat) == 4:  # so are most
                after = flat[3]
                if after not in derived:
                    found = before[after]
                    found[0] = flat[2]
                    found[1] = configuration
                    derived[after] = found
                    queue.append(after)
            elif len(flat) > 2:
                for edge, after in zip(flat[2::2], flat[3::2], strict=True):
                    if after not in derived:
                        found = before[after]
                        found[0] = edge
                        found[1] = configuration
                        derived[after] = found
                        queue.append(after)
            elif configuration in marks.was_error:
                marks.errors.append(configuration)
            elif configuration & LOCATION_MASK == exit_:
                self._mark_summary(marks, configuration)

    def _check_calls(self, marks: _Marks, configuration: int, flat: list[int]) -> None:
        """CHECK-EDGE for all derivations from a configuration at which functions are called."""
        for edge, callee, entry in marks.part.calls[configuration]:
            called = self._marks.get(callee)
            if called is not None:
                if entry not in called.summaries:
                    self._enter(called, entry)
                called.sites[entry].append((marks.name, configuration, edge))
        for edge_id, after in zip(flat[2::2], flat[3::2], strict=True):
            supports = marks.part.via.get((configuration, edge_id, after))
            if supports is None or supports[0] == DIRECT:
                if after not in marks.derived:
                    self._add_to_workset(marks, after, marks.part.derived[after], edge_id, configuration)
                continue
            support = next((s for s in supports if self._holds(s)), None)
            if support is not None:
                self._follow(marks, configuration, edge_id, after, support)
                continue
            for support in supports:
                if support[0] in self._marks:
                    self._waiting.setdefault(support, []).append((marks, configuration, edge_id, after))

    def _holds(self, support: Via) -> bool:
        return support in self._marked if support[0] in self._marks else support not in self._lost

    def _follow(self, marks: _Marks, configuration: int, edge: int, after: int, support: Via) -> None:
        if after in marks.derived:
            return
        supports = marks.part.via[configuration, edge, after]
        if supports[0] != support:
            supports.remove(support)
            supports.insert(0, support)
        self._add_to_workset(marks, after, marks.part.derived[after], edge, configuration)

    def _mark_summary(self, marks: _Marks, configuration: int) -> None:
        _, entry, state = unpack(configuration)
        marks.summaries[entry].append(state)
        support = (marks.name, entry, state)
        self._marked.add(support)
        for caller, site, edge, after in self._waiting.pop(support, ()):
            self._follow(caller, site, edge, after, support)

    def _replace(self, marks: _Marks, gone: Set[Via]) -> None:
        """Removes what is not marked from a function's graph."""
        part, derived, repaired = marks.part, marks.derived, self._repaired
        fewer = max(len(part.derived) - len(derived), 0)  # a function that starts anew has fresh entries, and nothing before
        size = part.size
        repaired.checked.append(marks.name)
        repaired.configurations_checked += len(part.derived) - fewer
        repaired.configurations_removed += fewer
        if fewer or gone:
            if fewer:
                self._remove_calls(marks)
            part.via = self._supported(marks, gone)
        part.derived = derived
        part.errors = marks.errors
        part.summaries = marks.summaries
        part.sites = marks.sites
        part.callers = {}
        for sites in part.sites.values():
            for caller, _, _ in sites:
                part.callers[caller] = part.callers.get(caller, 0) + 1
        part.size = sum(map(len, derived.values())) // 2 - len(derived)
        repaired.derivations_checked += part.size
        repaired.derivations_removed += size - part.size
        if fewer or size != part.size:
            repaired.changed.add(marks.name)
        if not part.summaries:
            del self._graph.functions[marks.name]

    def _supported(self, marks: _Marks, gone: Set[Via]) -> dict[tuple[int, int, int], list[Via]]:
        """The supports of derivations over calls that hold; a derivation without any is dropped."""
        kept = {}
        for key, supports in marks.part.via.items():
            flat = marks.derived.get(key[0])
            if flat is None:
                continue
            if not gone.isdisjoint(supports):
                supports = [support for support in supports if support not in gone]
                self._repaired.changed.add(marks.name)
                if not supports:
                    drop(flat, key[1], key[2])
                    continue
                if supports == [DIRECT]:
                    continue
            kept[key] = supports
        return kept

    def _remove_calls(self, marks: _Marks) -> None:
        """Removes the calls at unmarked configurations. The call sites inside the checked functions were already rebuilt."""
        left: dict[tuple[str, int], None] = {}
        kept = {}
        for configuration, calls in marks.part.calls.items():
            if configuration in marks.derived:
                kept[configuration] = calls
            else:
                left.update(((callee, entry), None) for _, callee, entry in calls if callee not in self._marks)
        marks.part.calls = kept
        self.left.update(left)
        for callee, entry in left:
            part = self._graph.functions[callee]
            sites = [s for s in part.sites[entry] if s[0] != marks.name or s[1] in marks.derived]
            forget_callers(part, marks.name, len(part.sites[entry]) - len(sites))
            part.sites[entry] = sites


def drop(flat: list[int], edge: int, derived: int) -> None:
    """Removes one derivation from a configuration's."""
    for i in range(2, len(flat), 2):
        if flat[i] == edge and flat[i + 1] == derived:
            del flat[i : i + 2]
            return


def forget_callers(part: FunctionGraph, caller: str, sites: int) -> None:
    """Removes `sites` call sites of a caller from the count."""
    if sites:
        part.callers[caller] -= sites
        if not part.callers[caller]:
            del part.callers[caller]
