"""When an operator violates a rule, as a condition on terms: the rows of `c.operators`, in both encodings."""

from __future__ import annotations

from collections.abc import Callable

from analysis.c.operators import rules_of
from analysis.model import ir
from analysis.smt.encoding.numbers.integer_encoding import Arithmetic
from analysis.smt.logic.term_building import FALSE
from analysis.smt.logic.terms import Term


def fault(arithmetic: Arithmetic, rule: str, part: ir.Expr, value: Callable[[ir.Expr], Term]) -> Term:
    """Returns the condition that computing the operator violates the rule, for operands with these values;
    FALSE if it cannot. Overflow is over-approximated where another rule is violated, too.

    Raises ValueError for a rule of the table that has no condition here: FALSE would prove it of every program."""
    if rule not in rules_of(part):
        return FALSE
    if isinstance(part, ir.Unary) and rule == "signed-overflow":
        return arithmetic.overflows(part.operator, value(part.operand), None, part.type)
    if isinstance(part, ir.Binary):
        left, right = value(part.left), value(part.right)
        match rule:
            case "division-by-zero":
                return arithmetic.is_zero(right)
            case "shift-range":
                return arithmetic.is_too_far(right, part.right.type, part.left.type)
            case "signed-overflow":
                return arithmetic.overflows(part.operator, left, right, part.left.type)
    raise ValueError(f"no condition says when an operator violates {rule}: add a case")
