"""Which expressions have side effects (C11 5.1.2.3p2), as far as their syntax shows."""

from __future__ import annotations

from analysis.frontend.syntax.parser import Node

_CHANGING = frozenset(
    ("assignment_expression", "update_expression", "call_expression", "compound_statement", "gnu_asm_expression")
)

_DIVISION = ("binary_expression", "/", "%")
_FAILING = (_DIVISION, ("field_expression", "->"), ("pointer_expression", "*"))


def has_effects(node: Node) -> bool:
    """Whether there is anything with side effects in an expression, or a type name."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if here.type in _CHANGING:
            return True
        waiting.extend(here.named_children)
    return False


def may_fail(node: Node) -> bool:
    """Whether an expression has a division in it, or goes through a pointer besides what it is itself. What is in the types of
    casts counts."""
    if node.type == "parenthesized_expression":
        return any(map(may_fail, node.named_children))
    if _is(node, *_DIVISION):
        return True
    waiting = list(node.named_children)
    while waiting:
        here = waiting.pop()
        if any(_is(here, *failing) for failing in _FAILING):
            return True
        waiting.extend(here.named_children)
    return False


def _is(node: Node, kind: str, *operators: str) -> bool:
    operator = node.child_by_field_name("operator")
    return node.type == kind and operator is not None and operator.type in operators
