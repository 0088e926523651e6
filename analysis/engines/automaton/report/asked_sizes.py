"""Whether null comes only of a size of 0: `p = malloc(n); if (!p && n != 0) give_up(); return p;`.

Where nothing was asked for, `malloc` may answer with null or not (C11 7.22.3), and there is nothing that could be used.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.cfa.graph import Cfa
from analysis.engines.automaton.functions.known_conditions import condition_of
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.intervals import ZERO


def is_zero_asked(cfa: Cfa, own: Iterable[ir.Effect]) -> bool:
    """Whether one of the steps of an activation, of which these are the effects, finds a parameter to be 0 that another one
    passes to a call."""
    passed: set[ir.Expr] = set()
    zero: set[ir.Expr] = set()
    for effect in own:
        if isinstance(effect, ir.Call):
            passed |= {part for argument in effect.arguments for part in ir.walk(argument)}
        condition = condition_of(effect) if isinstance(effect, ir.Assume) else None
        if condition is not None and condition[1] == ZERO and isinstance(condition[0].type, Integer):
            zero.add(condition[0])
    return not zero.isdisjoint(passed & set(cfa.parameters))
