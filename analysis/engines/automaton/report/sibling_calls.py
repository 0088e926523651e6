"""How the calls of a function treat its result, in the whole program: whether they test it [DEVIANT].

Where most calls of a function test its result, one that does not has probably forgotten it. Where most do not, they know
something that the analysis does not. A result that is handed on to the caller says neither, and is not counted. Each function is
counted once; an edit counts those anew that are other functions than before.
"""

from __future__ import annotations

from typing import NamedTuple

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.model import ir


class Calls(NamedTuple):
    """So many calls use a function's result for themselves, and so many of these test it."""

    used: int = 0
    tested: int = 0


class SiblingCalls:
    """The calls of one program, revision by revision."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._by_function: dict[str, tuple[Cfa, dict[str, Calls]]] = {}
        self._known: dict[str, Calls] = {}

    def of(self, delta: ProgramDelta, callee: str) -> Calls:
        """All calls of a function that name it."""
        if self._program is not delta.program:
            self._revise(delta)
        known = self._known.get(callee)
        if known is None:
            counted = [calls[callee] for _, calls in self._by_function.values() if callee in calls]
            known = self._known[callee] = Calls(sum(one.used for one in counted), sum(one.tested for one in counted))
        return known

    def _revise(self, delta: ProgramDelta) -> None:
        before, self._by_function = self._by_function, {}
        for name, cfa in delta.program.functions.items():
            known = before.get(name)
            self._by_function[name] = known if known is not None and known[0] is cfa else (cfa, _counted(delta.lookup(name)))
        self._program, self._known = delta.program, {}


def _counted(model: FunctionModel) -> dict[str, Calls]:
    found: dict[str, Calls] = {}
    for edge in model.cfa.calls:
        callee = ir.direct_callee(edge.effect) if isinstance(edge.effect, ir.Call) else None
        is_tested = None if callee is None else tests(model, edge)
        if callee is not None and is_tested is not None:
            before = found.get(callee, Calls())
            found[callee] = Calls(before.used + 1, before.tested + is_tested)
    return found


def tests(model: FunctionModel, edge: Edge) -> bool | None:
    """Whether the function tests the result of a call somewhere; None if it does not use it, or hands it to its caller."""
    result = edge.effect.result if isinstance(edge.effect, ir.Call) else None
    if result is None:
        return None
    held = {result, *model.assignments.copied.get(result, ())}
    if not held.isdisjoint(model.conditions.tested):
        return True
    return None if not held.isdisjoint(model.assignments.returned) else False
