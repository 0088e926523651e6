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
    found = _operands(rule, effect)
    seen = [values.get(spell_expr(ir.strip_casts(one))) for one in found]
    wrong = tuple(one for one, value in zip(found, seen, strict=True) if value in _WRONG)
    return wrong or tuple(one for one, value in zip(found, seen, strict=True) if value is None) or None


def _operands(rule: str, effect: ir.Effect) -> list[ir.Expr]:
    """The operands of an effect that can be at fault by themselves: pointers that are followed, called or passed, or divisors."""
    parts = [part for expr in ir.expressions(effect) for part in ir.walk(expr)]
    if rule == "division-by-zero":
        return [part.right for part in parts if isinstance(part, ir.Binary) and rule in rules_of(part)]
    if rule != "null-dereference":
        return []
    passed = (effect.callee, *effect.arguments) if isinstance(effect, ir.Call) else ()
    followed = [part.pointer for part in parts if isinstance(part, ir.Deref)]
    return [*followed, *(one for one in passed if isinstance(one.type, Pointer))]
