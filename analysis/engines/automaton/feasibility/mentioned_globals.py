"""The globals that edges mention: found once for an edge, and once a revision for edges that are passed together."""

from __future__ import annotations

from collections.abc import Set

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.call_values import CallValues, called_pointer
from analysis.engines.automaton.feasibility.kept_searches import Edges, ids_of
from analysis.engines.automaton.functions.access_paths import root_of
from analysis.model import ir


class MentionedGlobals:
    """What the edges of one program mention, revision by revision. `calls` says what calls tell of values."""

    def __init__(self, calls: CallValues, delta: ProgramDelta) -> None:
        self._calls = calls
        self._by_edge: dict[str, dict[int, frozenset[str]]] = {}
        self.revise(delta)

    def revise(self, delta: ProgramDelta) -> None:
        """Takes the next revision."""
        self._delta = delta
        self._by_edges: dict[str, dict[int, frozenset[str]]] = {}  # as bits

    def forget(self, functions: Set[str]) -> None:
        """The models of these functions are other ones."""
        for name in functions:
            self._by_edge.pop(name, None)
            self._by_edges.pop(name, None)

    def of(self, edges: Edges) -> set[str]:
        """The cells of globals that edges mention, or of which calls over them tell something."""
        found: set[str] = set()
        for function, passed in edges.items():
            known = self._by_edges.setdefault(function, {})
            cells = known.get(passed)
            if cells is None:
                cells = known[passed] = frozenset[str]().union(*(self._at(function, id_) for id_ in ids_of(passed)))
            found |= cells
        return found

    def _at(self, function: str, id_: int) -> frozenset[str]:
        known = self._by_edge.setdefault(function, {})
        found = known.get(id_)
        if found is None:
            found = known[id_] = self._look(function, self._delta.program.functions[function].by_id[id_])
        return found

    def _look(self, function: str, edge: Edge) -> frozenset[str]:
        exprs = [*ir.expressions(edge.effect), *(expr for expr, _ in self._calls.told(function, edge))]
        if isinstance(edge.effect, ir.Call):
            called = self._calls.formula(function, edge, edge.effect), called_pointer(edge)
            exprs.extend(expr for expr in called if expr is not None)
        variables = (variable for expr in exprs for variable in ir.variables(expr))
        return frozenset(root_of(variable) for variable in variables if variable.scope == "global")
