"""Which expressions have side effects (C11 5.1.2.3p2), as far as their syntax shows."""

from __future__ import annotations

from analysis.frontend.syntax.parser import Node

_CHANGING = frozenset(
    ("assignment_expression", "update_expression", "call_expression", "compound_statement", "gnu_asm_expression")
)


def has_effects(node: Node) -> bool:
    """Whether there is anything with side effects in an expression, or a type name."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if here.type in _CHANGING:
            return True
        waiting.extend(here.named_children)
    return False
