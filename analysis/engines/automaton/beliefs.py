"""What the callers of a function believe of its result (Engler and others, Bugs as Deviant Behavior, SOSP 2001).

That a function can return null, or zero, for some input says little about a call whose input excludes that. Where most callers
test the result, a caller that does not has probably forgotten it; where most do not, they know something that the analysis does
not. So a null result is evidence at a call when most of the other calls test theirs, or when there are no others.
Zero is a number like others, which says nothing of who tests it.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.function_model import FunctionModel
from analysis.model import ir
from analysis.model.c_types import Pointer, Type


class Beliefs:
    """How often the results of the functions of one program are tested, counted when first asked for."""

    def __init__(self, program: Program, lookup: Callable[[str], FunctionModel]) -> None:
        self._program = program
        self._lookup = lookup
        self._counts: dict[str, tuple[int, int]] | None = None

    def doubted(self, callee: str, model: FunctionModel, edge: Edge) -> bool:
        """Whether this call tests the result or hands it on, or the function's other callers think that it can be null."""
        if model.tests_result(edge):
            return True
        if not isinstance(result_type(self._program, callee), Pointer):
            return True
        if self._counts is None:
            self._counts = self._count()
        calls, tests = self._counts.get(callee, (0, 0))
        if isinstance(edge.effect, ir.Call) and edge.effect.result is not None and ir.direct_callee(edge.effect) == callee:
            calls -= 1
        return calls <= 0 or 2 * tests > calls

    def _count(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for name, cfa in self._program.functions.items():
            for edge in cfa.calls:
                assert isinstance(edge.effect, ir.Call)
                callee = ir.direct_callee(edge.effect)
                if callee is not None and callee in self._program.functions and edge.effect.result is not None:
                    calls, tests = found.get(callee, (0, 0))
                    found[callee] = calls + 1, tests + self._lookup(name).tests_result(edge)
        return found


def result_type(program: Program, function: str) -> Type | None:
    """The type of a function's result."""
    type_ = program.function_type(function)
    return None if type_ is None else type_.result
