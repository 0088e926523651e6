"""Lowering of what assigns: `=` and its compound forms, `++` and `--`, and conditional values, which assign a temporary."""

from __future__ import annotations

from abc import abstractmethod

from analysis.frontend.declarations.types import arithmetic_type
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.context import Context, field_of, inside
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.lowering.unsequenced import Value
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import INT, Array, Function, Pointer, Record, Type, Void


class Assignments(Context):
    """Assignments, and values that need a temporary."""

    @abstractmethod
    def discard_branches(self, node: Node) -> None:
        """Lowers `?:`, `&&` or `||` for the effects of its operands."""

    def assignment(self, node: Node) -> ir.Expr:
        """`=` and its compound forms; the value is that of the target afterwards."""
        operator = field_of(node, "operator").type
        start, pending = self.mark(), self.order.pending
        target = self.expression(field_of(node, "left"))
        middle = self.mark()
        if isinstance(target, ir.Cast):  # an old extension: (T)x = e
            target = target.operand
        if not isinstance(target, ir.LVALUES):
            raise RefusedError("an assignment to what is not an lvalue")
        right = field_of(node, "right")
        if operator == "=":
            self.store(target, right, node)
            left = Value(target, is_place=True)
            self.order.operands(self.flow, (start, middle, self.mark()), ((left,), ()), stored=target)
        else:
            value = self.value(right)
            self.unordered((start, middle, self.mark()), target, value)
            result = operators.binary(operator[:-1], self.read(target, node), value, self.model, self.layout.size)
            self.emit(ir.Assign(target, operators.convert(result, target.type)), node)
        self.order.assigned(target, start, pending)
        return target

    def update(self, node: Node, *, wanted: bool) -> ir.Expr:
        """`++` and `--`; a postfix one keeps the old value in a temporary if it is wanted."""
        start, pending = self.mark(), self.order.pending
        operator, argument = field_of(node, "operator").type, field_of(node, "argument")
        postfix = node.children[0].type != operator
        before_it = list[str]()
        while postfix and argument.type == "unary_expression":  # `!n++` reads as an increment of `!n`
            before_it.append(field_of(argument, "operator").type)
            argument = field_of(argument, "argument")
        target = self.expression(argument)
        if not isinstance(target, ir.LVALUES):
            raise RefusedError("an assignment to what is not an lvalue")
        before = self.read(target, node)
        old: ir.Expr = target
        if postfix and wanted:
            old = self.temporary(target.type)
            self.emit(ir.Assign(old, before), node)
        result = operators.binary(operator[0], before, ir.IntConst(1, INT), self.model, self.layout.size)
        self.emit(ir.Assign(target, operators.convert(result, target.type)), node)
        self.order.assigned(target, start, pending)
        for one in reversed(before_it):
            old = operators.unary(one, operators.decay(old))
        return old

    def store(self, target: ir.Expr, node: Node, site: Node) -> None:
        """Lowers `target = node` with as few temporaries as can be."""
        inner = node
        while inner.type == "parenthesized_expression":
            inner = inside(inner)
        if inner.type == "call_expression" and not self.cast_types(inner):
            found = self.call(inner, target, wanted=True)
            if found is not target:
                self._assign(target, found, site)
        elif inner.type == "cast_expression" and self._casts_call(inner, target):
            type_ = self.type_name(field_of(inner, "type"))
            found = self.call(field_of(inner, "value"), target, wanted=True)
            if found is not target:
                self._assign(target, operators.convert(found, type_), site)
        elif inner.type == "conditional_expression" and inner.child_by_field_name("consequence") is not None:
            self._store_branches(target, inner, site)
        else:
            self._assign(target, self.value(inner), site)

    def _assign(self, target: ir.Expr, value: ir.Expr, site: Node) -> None:
        self.emit(ir.Assign(target, operators.convert(value, target.type)), site)

    def _casts_call(self, node: Node, target: ir.Expr) -> bool:
        value = field_of(node, "value")
        if value.type != "call_expression" or self.cast_types(value) or self.casts_to_no_type(node):
            return False
        type_ = self.type_name(field_of(node, "type"))
        return type_ == target.type or (isinstance(type_, Pointer) and isinstance(target.type, Pointer))

    def _store_branches(self, target: ir.Expr, node: Node, site: Node) -> None:
        yes, no, end = self.flow.location(), self.flow.location(), self.flow.location()
        arms = field_of(node, "consequence"), field_of(node, "alternative")
        common = self._common_type(node) if not isinstance(target.type, Pointer | Record) else target.type
        self.branch(field_of(node, "condition"), yes, no)
        for start, arm in ((yes, arms[0]), (no, arms[1])):
            self.flow.current = start
            if common == target.type:
                self.store(target, arm, site)
            else:
                self._assign(target, operators.convert(self.value(arm), common), site)
            self.flow.join(end)

    def _common_type(self, node: Node) -> Type:
        """The type of a conditional expression (C11 6.5.15p5-6)."""
        consequence = node.child_by_field_name("consequence") or field_of(node, "condition")
        one, other = (_decayed(self.probe_type(arm)) for arm in (consequence, field_of(node, "alternative")))
        if isinstance(one, Pointer) or isinstance(other, Pointer):
            if not (isinstance(one, Pointer) and isinstance(other, Pointer)):
                return one if isinstance(one, Pointer) else other
            is_null = isinstance(one.target, Void) and self.constant(consequence) == 0
            return (
                other
                if is_null or (isinstance(other.target, Void) and self.constant(field_of(node, "alternative")) != 0)
                else one
            )
        if isinstance(one, Void | Record) or isinstance(other, Void | Record):
            return one
        return arithmetic_type(one, other)

    def conditional(self, node: Node) -> ir.Expr:
        """`c ? a : b` as a value: a temporary assigned in both branches, or one operand if `c` is constant."""
        condition, consequence = field_of(node, "condition"), node.child_by_field_name("consequence")
        known = self.constant(condition) if consequence is not None else None
        common = self._common_type(node)
        if known is not None and consequence is not None:
            return operators.convert(self.value(consequence if known else field_of(node, "alternative")), common)
        if self.probing:
            return ir.Unknown(common)
        if isinstance(common, Void):
            self.discard_branches(node)
            return ir.Unknown(common)
        result = self.temporary(common)
        yes, no, end = self.flow.location(), self.flow.location(), self.flow.location()
        if consequence is None:  # a ?: b
            pending = self.order.pending
            tested = self.value(condition)
            self.order.sequence_point(pending)
            self.branch_value(tested, condition, yes, no)
        else:
            self.branch(condition, yes, no)
        self.flow.current = yes
        if consequence is None:
            self.emit(ir.Assign(result, operators.convert(tested, common)), condition)
        else:
            self.store(result, consequence, consequence)
        self.flow.join(end)
        self.flow.current = no
        self.store(result, field_of(node, "alternative"), field_of(node, "alternative"))
        self.flow.join(end)
        return result


def _decayed(type_: Type) -> Type:
    if isinstance(type_, Array):
        return Pointer(type_.element)
    return Pointer(type_) if isinstance(type_, Function) else type_
