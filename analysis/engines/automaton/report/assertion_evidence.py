"""What speaks for the failure of an assertion, and what it needs: what its condition is about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from analysis.engines.automaton.report.places_in_memory import is_memory
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.report.tracked_path import TrackedPath
from analysis.model import ir
from analysis.model.evidence import Evidence


class AssertedPath(TrackedPath):
    """The path to the failure of an assertion."""

    def _of_assertion(self) -> Iterator[Evidence]:
        """What a failing assertion is about: the last condition before it, if it is a condition of the same place."""
        own = [taken for taken in self._path[:-1] if taken.event == "edge" and self._is_own(taken)]
        if not own or not self._is_condition(own[-1]) or not self.stood.in_one_line(self._places, own[-1], self._last):
            yield "never-asserted"
            return
        names = {var.name for var in self._variables(own[-1])}
        asked = [call for target, call in self._calls().items() if target.name in names]
        if not names:  # `assert(!"reached")`
            yield "never-asserted"
        elif asked:
            of_program = all(self._program.only_target(call) in self._program.functions for call in asked)
            yield "own-result-asserted" if of_program else "result-asserted"
        elif any(map(is_memory, self._asserted(own, names))):
            yield "in-memory"
        elif any(var.scope == "parameter" for var in self._variables(own[-1])):
            yield "argument-asserted"

    def _calls(self) -> dict[ir.Var, ir.Call]:
        """The variables that are set to results of calls in the function of the assertion, each with the last such call."""
        found: dict[ir.Var, ir.Call] = {}
        for taken in self._path[:-1]:
            effect = self._edge(taken).effect if taken.event in ("edge", "call") and self._is_own(taken) else None
            if isinstance(effect, ir.Call) and isinstance(effect.result, ir.Var):
                found[effect.result] = effect
        return found

    def _asserted(self, own: Sequence[Taken], names: set[str]) -> Iterator[ir.Expr]:
        """The condition of an assertion, and what was assigned to its variables last."""
        yield from ir.values_of(self._edge(own[-1]).effect)
        for name in sorted(names):
            assigned = (e for t in reversed(own) if isinstance(e := self._edge(t).effect, ir.Assign))
            values = (e.value for e in assigned if isinstance(e.target, ir.Var) and e.target.name == name)
            yield from islice(values, 1)

    def _variables(self, taken: Taken) -> Iterator[ir.Var]:
        for expr in ir.values_of(self._edge(taken).effect):
            yield from ir.variables(expr)
