"""Which operands a violation is about: the pointer that is null, or the divisor that is 0, not all that the statement reads."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.c.operators import rules_of
from analysis.interpreter.leaks import AT_END
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.spelling import spell_expr

_WRONG = ("NULL", "0")  # as runs spell them


def at_fault(rule: str, effect: ir.Effect, values: Mapping[str, str]) -> tuple[ir.Expr, ...] | None:
    """The operands of an effect that a violation of the rule there is about. `values` are those that a run has seen, by how the
    expressions are spelled. Nothing, if something is lost there, which no operand leads to; None, if any operand may be at
    fault."""
    if rule in AT_END:
        return ()
    parts = [part for expr in ir.expressions(effect) for part in ir.walk(expr)]
    if rule == "null-dereference":
        found = [part.pointer for part in parts if isinstance(part, ir.Deref)]
        found += [one for one in ir.values_of(effect) if isinstance(effect, ir.Call) and isinstance(one.type, Pointer)]
    elif rule == "division-by-zero":
        found = [part.right for part in parts if isinstance(part, ir.Binary) and rule in rules_of(part)]
    else:
        return None
    seen = [values.get(spell_expr(ir.strip_casts(one))) for one in found]
    wrong = tuple(one for one, value in zip(found, seen, strict=True) if value in _WRONG)
    return wrong or tuple(one for one, value in zip(found, seen, strict=True) if value is None)
