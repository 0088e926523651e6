"""What the callers of a function believe of its result [DEVIANT].

A function can return null for two reasons.

- Something failed: a library function that may return null whatever it is passed (`malloc`, `fopen`). No caller can know that
  this will not happen, so the result is evidence at every call. A rule marks such values by its `failure-states`;
  `facts.transfer` says which functions hand a failure on.
- An argument or the program's state asks for it: nothing was found, a list is empty. A call may exclude that, as where it looks
  up what it has just added. In a small program, paths are followed from the start, and each call counts. In a larger one, a
  call counts if it tests the result or hands it on. One that does neither counts if most of the other calls test theirs, or if
  there are no others: its author has probably forgotten the test. Where most calls do without it, they know something that the
  analysis does not.

`facts.call_mapping` asks for the second kind only. Zero is a number like others: it says nothing of functions that test it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.functions.function_model import FunctionModel
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
        calls, tests = self.counts.get(callee, (0, 0))
        if isinstance(edge.effect, ir.Call) and edge.effect.result is not None and ir.direct_callee(edge.effect) == callee:
            calls -= 1
        return calls <= 0 or 2 * tests > calls

    def revised(
        self,
        program: Program,
        lookup: Callable[[str], FunctionModel],
        old: Iterable[FunctionModel],
        new: Iterable[FunctionModel],
    ) -> tuple[Beliefs, set[str]]:
        """The same for a program in which the `new` models of functions take the place of the `old` ones; and the functions of
        which that is another count."""
        counts, concerned = dict(self.counts), set[str]()
        for sign, models in ((-1, old), (1, new)):
            for model in models:
                for callee, (calls, tests) in model.calls_and_tests.items():
                    before = counts.get(callee, (0, 0))
                    counts[callee] = before[0] + sign * calls, before[1] + sign * tests
                    concerned.add(callee)
        differ = {callee for callee in concerned if counts[callee] != self.counts.get(callee, (0, 0))}
        for callee in differ:
            if not counts[callee][0]:
                del counts[callee]
        found = Beliefs(program, lookup)
        found._counts = counts
        return found, differ

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """How many calls use each function's result, and how many of these test it."""
        if self._counts is None:
            self._counts = {}
            for name in self._program.functions:
                for callee, (calls, tests) in self._lookup(name).calls_and_tests.items():
                    before = self._counts.get(callee, (0, 0))
                    self._counts[callee] = before[0] + calls, before[1] + tests
        return self._counts


def result_type(program: Program, function: str) -> Type | None:
    """The type of a function's result."""
    type_ = program.function_type(function)
    return None if type_ is None else type_.result
