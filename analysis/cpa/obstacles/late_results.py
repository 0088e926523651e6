"""The target of an assignment from a call is evaluated after the call: in `*p = f()`, `f` may change `p` (C11
6.5.16p3 leaves the order open; compilers call first). So what holds for the target before the call need not
hold when the result is written.
"""

from __future__ import annotations

from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Edge
from analysis.model import ir


def is_late(cfa: Cfa, edge: Edge) -> bool:
    """Whether the edge is a call that may change where its result goes."""
    effect = edge.effect
    if not isinstance(effect, ir.Call) or effect.result is None:
        return False
    return _reads_others(cfa, effect.result)


def _reads_others(cfa: Cfa, lvalue: ir.Expr) -> bool:
    """Whether the place of an lvalue depends on what other functions can change."""
    parts = [part for expr in ir.place_values(lvalue) for part in ir.walk(expr)]
    if any(isinstance(part, ir.Deref) or (isinstance(part, ir.Var) and part.scope == "global") for part in parts):
        return True
    names = {part.name for part in parts if isinstance(part, ir.Var)}
    return bool(names) and not names.isdisjoint(taken_by(cfa).own)
