"""Branches that need null in memory: `char *end = NULL; for (...) { if (b->at == end) last->size += n; ... end = b->at + n; }`.

A variable that is null before a loop stands for "none yet". That what is read from memory equals it is meant for later turns; in
the first, it would have to be null as well, and nothing says that it can be.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.cfa.graph import Edge
from analysis.engines.automaton.report.places_in_memory import is_memory
from analysis.model import ir
from analysis.model.c_types import Pointer


def needs_null_in_memory(edges: Iterable[Edge]) -> bool:
    """Whether the last branch needs that a pointer in memory equals a variable that the edges have set to null. Edges are of one
    activation, in the order in which they are taken."""
    null: set[ir.Expr] = set()
    needs = False
    for edge in edges:
        effect = edge.effect
        target = ir.target_of(effect)
        if isinstance(effect, ir.Assume):
            needs = _equates(effect, null)
        elif isinstance(effect, ir.Assign) and isinstance(target, ir.Var) and _is_null(effect.value):
            null.add(target)
        elif target is not None:
            null.discard(target)
    return needs


def _is_null(value: ir.Expr) -> bool:
    bare = ir.strip_casts(value)
    return isinstance(value.type, Pointer) and isinstance(bare, ir.IntConst) and bare.value == 0


def _equates(assume: ir.Assume, null: set[ir.Expr]) -> bool:
    """Whether a branch finds that one of the variables equals a pointer in memory."""
    condition = assume.condition
    if not isinstance(condition, ir.Binary) or condition.operator != ("==" if assume.truth else "!="):
        return False
    left, right = ir.strip_casts(condition.left), ir.strip_casts(condition.right)
    pairs = (left, right), (right, left)
    return any(one in null and other not in null and isinstance(other.type, Pointer) and is_memory(other) for one, other in pairs)
