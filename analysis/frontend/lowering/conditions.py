"""Lowering of conditions to branching Assume edges, one pair for each leaf of `&&`, `||`, `!` and `?:`."""

from __future__ import annotations

from analysis.frontend.declarations.side_effects import has_effects
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.context import Context, field_of, inside
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer, Record, Void


class Conditions(Context):
    """The branches of a condition."""

    def branch(self, node: Node, yes: int, no: int) -> None:
        """Control goes to `yes` when the condition is true, else to `no`; a constant condition has one target only."""
        kind = node.type
        if kind == "parenthesized_expression":
            self.branch(inside(node), yes, no)
        elif kind == "unary_expression" and field_of(node, "operator").type == "!":
            self._nested(field_of(node, "argument"), no, yes)
        elif kind == "binary_expression" and field_of(node, "operator").type in ("&&", "||"):
            conjunction = field_of(node, "operator").type == "&&"
            middle = self.flow.location()
            self._nested(field_of(node, "left"), *((middle, no) if conjunction else (yes, middle)))
            self.flow.current = middle
            self._nested(field_of(node, "right"), yes, no)
        elif kind == "comma_expression":
            pending = self.order.pending
            self.discard(field_of(node, "left"))
            self.order.sequence_point(pending)
            self._nested(field_of(node, "right"), yes, no)
        elif kind == "conditional_expression" and node.child_by_field_name("consequence") is not None:
            first, second = self.flow.location(), self.flow.location()
            self._nested(field_of(node, "condition"), first, second)
            self.flow.current = first
            self._nested(field_of(node, "consequence"), yes, no)
            self.flow.current = second
            self._nested(field_of(node, "alternative"), yes, no)
        elif kind == "call_expression" and self._expects(node):
            self._nested(field_of(node, "arguments").named_children[0], yes, no)
        else:
            self._leaf(node, yes, no)

    def _nested(self, node: Node, yes: int, no: int) -> None:
        self.depth += 1
        self.check_depth()
        self.branch(node, yes, no)
        self.depth -= 1

    def _expects(self, node: Node) -> bool:
        """Whether the condition is that of an argument: `__builtin_expect` converts it to `long`, which leaves the truth of
        integers that are not wider."""
        function = node.child_by_field_name("function")
        arguments = field_of(node, "arguments").named_children
        is_hint = function is not None and self.source(function) in ("__builtin_expect", "__builtin_expect_with_probability")
        if not is_hint or not arguments:
            return False
        type_ = self.probe_type(arguments[0])
        is_kept = isinstance(type_, Pointer) or (isinstance(type_, Integer) and type_.bits <= self.model.long_bits)
        return is_kept and not any(map(has_effects, arguments[1:]))

    def _leaf(self, node: Node, yes: int, no: int) -> None:
        pending = self.order.pending
        condition = self.value(node)
        self.order.sequence_point(pending)
        if isinstance(condition.type, Void | Record):
            condition = ir.Unknown(self.model.long)
        constant = operators.constant_truth(condition)
        if constant is not None:
            self.flow.go(yes if constant else no)
            return
        self.branch_value(condition, node, yes, no)

    def branch_value(self, condition: ir.Expr, node: Node, yes: int, no: int) -> None:
        """Two Assume edges on a value, from the current location."""
        bare, kept = operators.truth(condition)
        start, end = node.start_byte, node.end_byte
        self.flow.edge_to(yes if kept else no, ir.Assume(bare, True), start, end)
        self.flow.edge_to(no if kept else yes, ir.Assume(bare, False), start, end)
        self.flow.stop()
