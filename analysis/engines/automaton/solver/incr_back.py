"""IncrBack: repairs a derivation graph inside out, from the functions that changed to their callers ([ORION] section 4, Fig. 5).

The strongly connected components of the call graph, as far as they can reach a changed function, are repaired bottom-up. A
component is affected when one of its functions lost a derivation or a call, or when it calls a function that lost a summary;
only then its derivations are checked. Theorem 3: the graph then has all that Full's graph of the new revision has, and
possibly entry states that no execution leads to any more; the errors in entry states that `retrace.Retrace` finds alive are
exactly Full's.

Where this goes further than the figure, which treats deletions only: what was added to a component is explored before the
components above it are looked at. So a summary that a deletion took away and an addition brought back, as most edits of one
statement do, was never lost for the callers. Three things keep the order sound:

- The call graph is the recorded one (`FunctionGraph.callers`), without the calls that the change took away. The `calls` that
  the caller of `incr_back` may give, those of the new revision in changed functions, only make the order better.
- A function is unsettled while its component, or one below it, is still to be repaired. A call that is entered anew and leads
  into an unsettled function (the change made a recursion, or the order was no good) waits until all components are repaired;
  from then on things are only added, and any order is right.
- A new summary wakes callers that are unsettled not at once, but when their turn comes and their derivations were checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.cfa.graph import Edge
from analysis.engines.automaton.solver.changes import Changes, Repaired
from analysis.engines.automaton.solver.components import bottom_up
from analysis.engines.automaton.solver.full import Delta, DerivationGraph, Entry, FunctionGraph, Via
from analysis.engines.automaton.solver.repair import Repair
from analysis.engines.automaton.solver.retrace import Retrace


class IncrBack(Repair):
    """One repair; `run` does it. `calls` are pairs of caller and callee (see the module)."""

    def __init__(
        self, delta: Delta, graph: DerivationGraph, changes: Changes, limit: int, calls: Iterable[tuple[str, str]] = ()
    ) -> None:
        super().__init__(delta, graph, changes, limit)
        self._calls = tuple(calls)
        self._unsettled: set[str] = set()
        self._lost: set[Via] = set()
        self._losing: set[str] = set()
        self._vanished: set[Via] = set()
        self._woken: dict[str, list[tuple[int, int, Entry, int]]] = {}
        self._waiting: list[tuple[str, int, Edge]] = []

    def run(self) -> Repaired:
        """Repairs the graph in place."""
        self._begin()
        if self._restart():
            self.graph.stale = True
        components = self._components()
        self._unsettled = {name for component in components for name in component}
        for component in components:
            self._unsettled.difference_update(component)
            self._repair(component)
        for name, configuration, edge in self._waiting:  # added after the check of their function, so still there
            self._follow_again(name, configuration, edge, True)
        self._enter_starts()
        self._explore()
        self._end()
        if not self.graph.stale:
            self.graph.stale = self._leaves_dead_ones()
        return self.repaired

    def _leaves_dead_ones(self) -> bool:
        """Whether no execution leads any more to an entry state that lost call sites. If one leads to each of them, so it does to
        all that follow from them, and the graph is that of Full."""
        retrace, functions = Retrace(self.graph), self.graph.functions
        left = [(name, entry) for name, entry in self.repaired.fewer_sites if name in functions]
        return not all(retrace.live(*one) for one in left if one[1] in functions[one[0]].summaries)

    def _components(self) -> list[list[str]]:
        """What can be affected: the components from which calls lead to a changed function, callees first."""
        functions = self.graph.functions
        given: dict[str, list[str]] = {}
        for caller, callee in self._calls:
            if caller in functions:
                given.setdefault(callee, []).append(caller)
        changed = dict.fromkeys([*self._dirty, *self._again])
        changed.update((name, None) for name, edges in self._changes.functions.items() if edges.added and name in functions)
        return bottom_up(changed, lambda name: (*functions[name].callers, *given.get(name, ())) if name in functions else ())

    def _repair(self, component: Sequence[str]) -> None:
        before: dict[str, dict[int, list[int]]] = {}
        if any(name in self._dirty or name in self._losing for name in component):
            before = {name: self.graph.functions[name].summaries for name in component}
            self._vanished |= self._check(component, self._lost).vanished
        again = [(name, follow) for name in component for follow in self._to_follow(name)]
        for name in component:
            self._wake(name)
        for name, (configuration, edge, is_call) in again:
            self._follow_again(name, configuration, edge, is_call)
        self._explore()
        for name, summaries in before.items():
            self._note_lost(name, summaries)

    def _note_lost(self, name: str, before: dict[int, list[int]]) -> None:
        """AFFECTED: which callers outside lost a summary."""
        part = self.graph.functions.get(name)
        if part is None:
            return
        for entry, exits in before.items():
            now = part.summaries.get(entry)
            if now is not None:
                lost = [(name, entry, exit_) for exit_ in exits if exit_ not in now]
                if lost:
                    self._lost.update(lost)
                    for caller, _, _ in part.sites[entry]:
                        self._losing.add(caller)
                        self.repaired.reasons.setdefault(caller, ("summary", name))

    def _wake(self, name: str) -> None:
        """Follows the new summaries of functions below, at the call sites that are still there."""
        woken = self._woken.pop(name, ())
        part = self.graph.functions.get(name)
        if part is None:
            return
        for configuration, edge_id, callee, exit_ in woken:
            for edge, called, entry in tuple(part.calls.get(configuration, ())):
                if edge.id == edge_id and (called, entry) == callee:
                    self.repaired.reasons.setdefault(name, ("summary", called))
                    self._return_to(name, part, configuration, edge, callee, exit_)

    def _add_site(self, function: str, graph: FunctionGraph, configuration: int, edge: Edge, entered: Entry) -> None:
        if entered[0] in self._unsettled:
            self._waiting.append((function, configuration, edge))
        else:
            super()._add_site(function, graph, configuration, edge, entered)

    def _summarise(self, graph: FunctionGraph, function: str, entry: int, state: int) -> None:
        """As in Full; callers that are unsettled wait, or need nothing when the summary was there before."""
        if state in graph.summaries[entry]:
            return
        graph.summaries[entry].append(state)
        support = (function, entry, state)
        for caller, configuration, edge in tuple(graph.sites[entry]):
            if caller not in self._unsettled:
                self.repaired.reasons.setdefault(caller, ("summary", function))
                self._return_to(caller, self.graph.functions[caller], configuration, edge, (function, entry), state)
            elif support not in self._vanished:
                self._woken.setdefault(caller, []).append((configuration, edge.id, (function, entry), state))


def incr_back(
    delta: Delta, graph: DerivationGraph, changes: Changes, limit: int, calls: Iterable[tuple[str, str]] = ()
) -> Repaired:
    """Repairs `graph`, made with another Delta; `retrace.Retrace` then tells the errors that Full finds with `delta`."""
    return IncrBack(delta, graph, changes, limit, calls).run()
