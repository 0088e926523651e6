"""Counts of references: members of an object that a function decrements, and then tests.

`if (--p->count == 0) free(p);` frees an object when its last holder lets go of it. Where the count is not zero, others hold the
object: it is not lost.
"""

from __future__ import annotations

from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.functions.access_paths import Path, path_of
from analysis.engines.automaton.functions.known_conditions import condition_of
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.intervals import Interval, make, meet, within


def still_held(cfa: Cfa, edge: Edge) -> Path | None:
    """The path to the object that others hold where this branch is taken; None if it says no such thing."""
    condition = condition_of(edge.effect) if isinstance(edge.effect, ir.Assume) else None
    if condition is None:
        return None
    key, interval = condition
    for before in cfa.incoming.get(edge.source, ()):
        counted = _decremented(cfa, before)
        least = None if counted is None else _least(cfa, before, counted, key)
        if counted is not None and least is not None and _is_at_least(interval, least):
            return _holder(counted)
    return None


def _decremented(cfa: Cfa, edge: Edge) -> ir.Field | None:
    """The member behind a pointer from which the edge takes away one."""
    effect = edge.effect
    if not isinstance(effect, ir.Assign) or not isinstance(effect.target, ir.Field) or _holder(effect.target) is None:
        return None
    value = _value(cfa, edge, ir.strip_casts(effect.value))
    match value:
        case ir.Binary("-", left, right) if _is_one(right) and _is_read(cfa, edge, left, effect.target):
            return effect.target
    return None


def _least(cfa: Cfa, edge: Edge, counted: ir.Field, key: ir.Expr) -> int | None:
    """The least value of a condition's key at which others hold the object: 1 for the count after the edge, 2 for that before."""
    if ir.strip_casts(key) == counted or (
        isinstance(edge.effect, ir.Assign) and ir.strip_casts(edge.effect.value) == ir.strip_casts(key)
    ):
        return 1
    return 2 if isinstance(ir.strip_casts(key), ir.Var) and _is_read(cfa, edge, key, counted) else None


def _is_at_least(interval: Interval, least: int) -> bool:
    """Whether the values of an interval are at least so many, if counts are not negative."""
    counts = meet(interval, make(0, None, False) or interval)
    return counts is not None and (within(counts, Interval(least, None, True)) or (least == 1 and counts.nonzero))


def _is_read(cfa: Cfa, edge: Edge, value: ir.Expr, counted: ir.Field) -> bool:
    """Whether a value is what the member holds before the edge."""
    return ir.strip_casts(value) == counted or ir.strip_casts(_value(cfa, edge, ir.strip_casts(value))) == counted


def _value(cfa: Cfa, edge: Edge, expr: ir.Expr) -> ir.Expr:
    """What was assigned to a temporary on the edges just before this one; the expression itself if it is none."""
    place = edge.source
    while isinstance(expr, ir.Var) and expr.scope == "temporary" and len(cfa.incoming.get(place, ())) == 1:
        (before,) = cfa.incoming[place]
        if not isinstance(before.effect, ir.Assign):
            break
        if before.effect.target == expr:
            return ir.strip_casts(before.effect.value)
        place = before.source
    return expr


def _holder(counted: ir.Field) -> Path | None:
    """The path of the pointer to the object that a member is part of."""
    root = ir.root(counted)
    return path_of(root.pointer) if isinstance(root, ir.Deref) and isinstance(counted.type, Integer) else None


def _is_one(expr: ir.Expr) -> bool:
    expr = ir.strip_casts(expr)
    return isinstance(expr, ir.IntConst) and expr.value == 1
