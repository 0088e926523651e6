"""Whether null comes only of a size of 0: `p = malloc(n); if (!p && n != 0) give_up(); return p;`.

Where nothing was asked for, `malloc` may answer with null or not (C11 7.22.3), and there is nothing that could be used.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.cfa.graph import Edge
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.engines.automaton.functions.known_conditions import condition_of
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.intervals import ZERO


def is_zero_asked(model: FunctionModel, own: Iterable[Edge]) -> bool:
    """Whether one of these steps of an activation passes a parameter to a call, and a later one finds it to be 0, where any other
    value makes the function end the program."""
    passed: set[ir.Expr] = set()
    for edge in own:
        effect = edge.effect
        if isinstance(effect, ir.Call):
            passed = {part for argument in effect.arguments for part in ir.walk(argument)}
        condition = condition_of(effect) if isinstance(effect, ir.Assume) else None
        if condition is None or condition[1] != ZERO or not isinstance(condition[0].type, Integer):
            continue
        if condition[0] in passed and condition[0] in model.cfa.parameters and _must_be_taken(model, edge):
            return True
    return False


def _must_be_taken(model: FunctionModel, branch: Edge) -> bool:
    """Whether the function does not return from where the other branches lead."""
    cfa = model.cfa
    work = [edge.target for edge in cfa.outgoing[branch.source] if edge.id != branch.id]
    seen = set(work)
    while work:
        for edge in cfa.outgoing.get(work.pop(), ()):
            if edge.target not in seen and model.cases.passes(edge):
                seen.add(edge.target)
                work.append(edge.target)
    return bool(seen) and cfa.exit not in seen
