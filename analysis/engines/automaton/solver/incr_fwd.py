"""IncrFwd: repairs a derivation graph in the direction of execution ([ORION] section 3 and Fig. 4).

All functions are checked together when anything was deleted, and then what was added is explored as in Full. Theorem 2: the
graph is afterwards the one that Full makes of the new revision; so it is too when IncrBack had repaired the graph before, and
had left entry states behind that no execution leads to.
"""

from __future__ import annotations

from analysis.engines.automaton.solver.changes import Changes, Repaired
from analysis.engines.automaton.solver.full import Delta, DerivationGraph
from analysis.engines.automaton.solver.repair import Repair

_NONE: frozenset[tuple[str, int, int]] = frozenset()


class IncrFwd(Repair):
    """One repair; `run` does it."""

    def run(self) -> Repaired:
        """Repairs the graph in place."""
        self._begin()
        graph = self.graph
        fewer_starts = self._restart()
        if self._dirty or fewer_starts or graph.stale:
            self._check(tuple(graph.functions), _NONE)
            graph.stale = False
        again = [(name, follow) for name in tuple(graph.functions) for follow in self._to_follow(name)]
        for name, (configuration, edge, is_call) in again:
            self._follow_again(name, configuration, edge, is_call)
        self._enter_starts()
        self._explore()
        self._end()
        return self.repaired


def incr_fwd(delta: Delta, graph: DerivationGraph, changes: Changes, limit: int) -> Repaired:
    """Turns `graph`, which was made with another Delta, into the graph that Full makes with `delta`."""
    return IncrFwd(delta, graph, changes, limit).run()
