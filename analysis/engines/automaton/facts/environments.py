"""What a fact says of other values: the result of a call, and conditions on the parameters of the function that it leaves."""

from __future__ import annotations

from analysis.engines.automaton.facts.facts import RESULT_KEY, Environment
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.engines.automaton.functions.known_conditions import Known
from analysis.model import ir
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, interval_of, without_holes

PARAMETER_CONDITIONS = 3


def exit_environment(model: FunctionModel, value: ir.Expr | None, said: Known, known: Known) -> Environment:
    """What a fact takes along when the function is left, by name: the result's interval (RESULT_KEY), and conditions on
    unchanged parameters."""
    found: list[tuple[int | str, Interval]] = []
    if value is not None:
        interval = without_holes(model.conditions.evaluate(value, known))
        if interval != ANY:
            found.append((RESULT_KEY, interval))
    for number in sorted(said):
        key = model.conditions.keys[number]
        if isinstance(key, ir.Var) and key.name in model.parameters and key.name not in model.assignments.reassigned:
            found.append((key.name, said[number]))
    return tuple(found[:PARAMETER_CONDITIONS])


def complement(interval: Interval) -> Interval:
    """The smallest interval with all integers that are not in this one."""
    if interval == ZERO:
        return NONZERO
    if interval == NONZERO:
        return ZERO
    if interval.low is not None and interval.low == interval.high:
        return interval_of("!=", interval.low) or ANY
    if interval.low is None and interval.high is not None:
        return Interval(interval.high + 1, None, interval.high >= 0)
    if interval.high is None and interval.low is not None:
        return Interval(None, interval.low - 1, interval.low <= 0)
    return ANY
