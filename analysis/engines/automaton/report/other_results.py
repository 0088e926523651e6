"""What a function gives in other runs than the one on a path, where it allocates or opens something in this one.

`len = format(&text); if (len < 0) return;` leaves no text behind where `format` returns constants when it fails, and else what
it has counted. And `out = open_output(name);` need not be closed where `open_output("-")` gives `stdout`: the caller knows the
name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.cfa.graph import Cfa
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import path_of
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.intervals import Interval, meet


def is_taken_for_failure(delta: ProgramDelta, steps: Sequence[Taken], home: Taken) -> bool:
    """Whether the function that gives the value, not as its result, returns a number here that it has computed, and the code goes
    on as it does after one of the constants that the function returns elsewhere."""
    number = _return(steps, home)
    call = None if number is None else _effect(delta, steps[number])
    if number is None or not isinstance(call, ir.Call) or call.result is None or not isinstance(call.result.type, Integer):
        return False
    last = _effect(delta, steps[number - 1])
    if not isinstance(last, ir.Return) or last.value is None:
        return False
    callee = delta.model(steps[number - 1].function)
    own = _constants(callee, last.value)
    others = [one for value in _returned(callee.cfa) for one in _constants(callee, value) if one not in own]
    said = _said(delta, steps[number:], home, call.result)
    return any(not any(_fits(one, test) for one in own) and any(_fits(one, test) for one in others) for test in said)


def is_sometimes_given(delta: ProgramDelta, steps: Sequence[Taken], home: Taken) -> bool:
    """Whether the function whose result the value is returns in other runs what it has from elsewhere: a global, a member, a
    constant."""
    number = _return(steps, home)
    call = None if number is None else _effect(delta, steps[number])
    if number is None or not isinstance(call, ir.Call) or call.result is None:
        return False
    if path_of(call.result) not in delta.facts[steps[number].after].paths:
        return False
    cfa = delta.program.functions[steps[number - 1].function]
    return any(_is_from_elsewhere(value) for value in _given(cfa))


def _return(steps: Sequence[Taken], home: Taken) -> int | None:
    """The number of the step by which the value comes to an activation from a function that it calls."""
    own = ((taken.function, taken.depth) == (home.function, home.depth) and taken.event == "return" for taken in steps)
    return next((number for number, is_back in enumerate(own) if is_back and number), None)


def _said(delta: ProgramDelta, steps: Sequence[Taken], home: Taken, answer: ir.Expr) -> Iterator[Interval]:
    """What the branches of an activation say of an answer, or of a variable that has it."""
    answers = {answer}
    conditions = delta.model(home.function).conditions
    for taken in steps:
        if taken.event != "edge" or (taken.function, taken.depth) != (home.function, home.depth):
            continue
        effect = _effect(delta, taken)
        if isinstance(effect, ir.Assign) and ir.strip_casts(effect.value) in answers:
            answers.add(effect.target)
        test = conditions.of_edge.get(taken.edge) if isinstance(effect, ir.Assume) else None
        if test is not None and ir.strip_casts(conditions.keys[test[0]]) in answers:
            yield test[1]


def _effect(delta: ProgramDelta, taken: Taken) -> ir.Effect | None:
    return None if taken.edge < 0 else delta.program.functions[taken.function].by_id[taken.edge].effect


def _returned(cfa: Cfa) -> list[ir.Expr]:
    return [edge.effect.value for edge in cfa.edges if isinstance(edge.effect, ir.Return) and edge.effect.value is not None]


def _given(cfa: Cfa) -> set[ir.Expr]:
    """What a function may return: what its returns name, and what is assigned to variables that they name."""
    found = set(map(ir.strip_casts, _returned(cfa)))
    assigned = [edge.effect for edge in cfa.edges if isinstance(edge.effect, ir.Assign)]
    while (
        more := {ir.strip_casts(one.value) for one in assigned if isinstance(one.target, ir.Var) and one.target in found} - found
    ):
        found |= more
    return found


def _is_from_elsewhere(value: ir.Expr) -> bool:
    if isinstance(value, ir.Var):
        return value.scope in ("global", "function") and isinstance(value.type, Pointer)
    return isinstance(value, ir.AddressOf | ir.StringConst | ir.Deref | ir.Field | ir.Index)


def _constants(model: FunctionModel, value: ir.Expr) -> list[Interval]:
    """The numbers that a value is, or that are assigned to the variable that it is."""
    bare = ir.strip_casts(value)
    effects = (edge.effect for edge in model.cfa.edges)
    assigned = [one.value for one in effects if isinstance(one, ir.Assign) and one.target == bare and isinstance(bare, ir.Var)]
    known = (model.conditions.evaluate(one, {}) for one in (bare, *assigned))
    return [one for one in known if one.low is not None and one.low == one.high]


def _fits(number: Interval, said: Interval) -> bool:
    return meet(number, said) is not None
