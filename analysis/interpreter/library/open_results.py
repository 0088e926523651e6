"""Results of library functions of which C leaves open what they are exactly, or whether the function fails.

Models return one of the results that a function may return. Where another one could make the run another, the run says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from analysis.c.functions import Function
from analysis.interpreter.memory import LEFT_OPEN
from analysis.interpreter.running_machine import RunningMachine
from analysis.model.c_types import Type
from analysis.model.comparisons import HOLDS

Model = Callable[[RunningMachine, list[Any], tuple[Type, ...], bool], Any]
Compared = Collection[tuple[str, int]]
"""Comparison operators, each with the constant on its right."""

_GREATEST = (1 << 31) - 1
_POSITIVE, _NEGATIVE = (1, _GREATEST), (-_GREATEST - 1, -1)


def is_about_result(assumption: str) -> bool:
    """Whether an assumption of a run is that a function returns a certain one of the numbers that it may return."""
    return assumption.endswith(LEFT_OPEN)


def noting_open(model: Model, function: Function, compared: Compared | None) -> Model:
    """The model, with what it takes for given where the result is used as `compared` says (None: in any way)."""
    if function.besides.isdisjoint(("sign", "truth", "nonnegative", "may-fail")):
        return model

    def run(machine: RunningMachine, arguments: list[Any], types: tuple[Type, ...], wanted: bool) -> Any:
        result = model(machine, arguments, types, wanted)
        if wanted and _may_fail(function, result):
            machine.assume(f"{function.name}() succeeds")
        if wanted and isinstance(result, int) and not _is_enough(_possible(function, result), compared):
            machine.assume(f"{function.name}() returns {result}{LEFT_OPEN}")
        return result

    return run


def _may_fail(function: Function, result: Any) -> bool:
    """Whether the function may return another number because it fails. What returns how many there are returns fewer then."""
    if "size_t" in function.besides and result == 0:
        return False
    return not function.besides.isdisjoint(("nonnegative", "may-fail"))


def _possible(function: Function, result: int) -> list[tuple[int, int]]:
    """The least and the greatest numbers of the ranges that C allows where the model returns this."""
    if "nonnegative" in function.besides:
        return [(0, _GREATEST)]
    if "sign" in function.besides and result:
        return [_POSITIVE if result > 0 else _NEGATIVE]
    if "truth" in function.besides and result:
        return [_POSITIVE, _NEGATIVE]
    return []


def _is_enough(possible: list[tuple[int, int]], compared: Compared | None) -> bool:
    """Whether all comparisons come out the same for all possible numbers."""
    if not possible or compared is None:
        return not possible
    for operator, constant in compared:
        near = [number for low, high in possible for number in (constant - 1, constant, constant + 1) if low <= number <= high]
        ends = [end for ends in possible for end in ends]
        if len({HOLDS[operator](number, constant) for number in (*ends, *near)}) > 1:
            return False
    return True
