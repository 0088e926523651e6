"""When an operator violates a rule, as a condition on terms: the rows of `c.operators`, in both encodings."""

from __future__ import annotations

from collections.abc import Callable

from analysis.c.operators import rules_of
from analysis.model import ir
from analysis.smt.encoding.numbers.integer_encoding import Arithmetic
from analysis.smt.logic.term_building import FALSE
from analysis.smt.logic.terms import Term


def fault(arithmetic: Arithmetic, rule: str, part: ir.Expr, value: Callable[[ir.Expr], Term]) -> Term:
    """The condition that computing the operator violates the rule, for operands with these values;
    FALSE if it cannot. Overflow is over-approximated where another rule is violated, too."""
    if rule not in rules_of(part):
        return FALSE
    if isinstance(part, ir.Unary):
        return arithmetic.overflows(part.operator, value(part.operand), None, part.type)
    if not isinstance(part, ir.Binary):
        return FALSE
    left, right = value(part.left), value(part.right)
    match rule:
        case "division-by-zero":
            return arithmetic.is_zero(right)
        case "shift-range":
            return arithmetic.is_too_far(right, part.right.type, part.left.type)
    return arithmetic.overflows(part.operator, left, right, part.left.type)
