"""Lowering of calls: arguments converted to the parameters' types, and built-in functions of gcc that are no calls."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.c.built_in import PREFIX
from analysis.frontend.declarations.side_effects import has_effects
from analysis.frontend.declarations.types import (
    promote_argument,
    same_representation,
    types_compatible,
)
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.context import children, field_of, inside
from analysis.frontend.lowering.line_numbers import without_line_numbers
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.lowering.undeclared import Undeclared
from analysis.frontend.lowering.unsequenced import Mark
from analysis.frontend.syntax.parser import Node
from analysis.model import c_types, ir
from analysis.model.c_types import INT, Array, Function, Pointer, Record, Type, Void

_BARRIERS = frozenset(
    (
        "__sync_synchronize",
        "__atomic_thread_fence",
        "__atomic_signal_fence",
        "__builtin_prefetch",
        "__builtin_va_end",
        "__builtin___clear_cache",
        "__builtin_assume",
    )
)
"""Operations of compilers that change no object and have no value: they are no library functions."""
_LEAST = {"expect": 1, "expect_with_probability": 1, "choose_expr": 3, "va_start": 1, "va_copy": 1, "c23_va_start": 1}
_HINTS = frozenset(("__builtin_expect", "__builtin_expect_with_probability", "__builtin_assume"))


class Calls(Undeclared):
    """Calls of functions, through pointers, and of built-ins."""

    def call(self, node: Node, result: ir.Expr | None, wanted: bool) -> ir.Expr:
        """Lowers a call. Returns `result` itself if the call assigns it, else the value (Unknown if not wanted)."""
        casts = self.cast_types(node)
        arguments = children(field_of(node, "arguments"))
        if casts:
            return self._cast_call(casts, arguments)
        function = field_of(node, "function")
        while function.type == "parenthesized_expression":
            function = inside(function)
        name = self.source(function) if function.type == "identifier" else ""
        callee: ir.Expr | None = None
        if name and self.names.lookup(name) is None:
            known = self._builtin(name, node, arguments)
            if known is not None:
                return known
            callee = self.atomic_function(name, arguments)
            if callee is None:
                self.declare_implicitly(name)
        marks = [self.mark()]
        if callee is None:
            callee = self.expression(function)
        marks.append(self.mark())
        return self._emit_call(callee, arguments, node, result, wanted, marks)

    def _cast_call(self, casts: tuple[Type, ...], arguments: Sequence[Node]) -> ir.Expr:
        for argument in arguments[:-1]:
            self.discard(argument)
        *outer, inner = casts
        found = self.cast(inner, arguments[-1]) if arguments else ir.Unknown(inner)
        for type_ in reversed(outer):
            found = operators.convert(operators.decay(found), type_)
        return found

    def _emit_call(
        self,
        callee: ir.Expr,
        arguments: Sequence[Node],
        node: Node,
        result: ir.Expr | None,
        wanted: bool,
        marks: list[Mark],
    ) -> ir.Expr:
        direct = isinstance(callee, ir.Var) and callee.scope == "function"
        target = callee if direct else operators.decay(callee)
        type_ = callee.type
        if isinstance(type_, Pointer):
            type_ = type_.target
        if not isinstance(type_, Function):
            raise RefusedError("call of something that is not a function")
        pending = self.order.pending
        values = without_line_numbers(target, self._arguments(type_, arguments, marks), self.path)
        self.unordered(marks, target, *values)
        self.order.sequence_point(pending)
        into = self._result(type_.result, result, wanted)
        self.emit(ir.Call(target, values, into), node)
        if direct and self.does_not_return(field_of(node, "function")):
            self.flow.stop()
        if into is None:
            return ir.Unknown(type_.result)
        return into

    def _result(self, returned: Type, result: ir.Expr | None, wanted: bool) -> ir.Expr | None:
        if isinstance(returned, Void) or not (wanted or result is not None):
            return None
        if result is not None and same_representation(returned, result.type):
            return result
        made = self.temporary(returned)
        if isinstance(made.type, Record):  # it is gone at the end of the expression (C11 6.2.4p8)
            self.names.enter()
            self.names.place(made.name)
            self.names.leave()
        return made

    def _arguments(self, type_: Function, arguments: Sequence[Node], marks: list[Mark]) -> tuple[ir.Expr, ...]:
        """The values of the arguments. Adds a mark to `marks` after each one."""
        values: list[ir.Expr] = []
        for position, argument in enumerate(arguments):
            value = self.value(argument)
            if position < len(type_.parameters):
                values.append(operators.convert(value, type_.parameters[position]))
            else:
                values.append(operators.convert(value, promote_argument(value.type)))
            marks.append(self.mark())
        return tuple(values)

    def _builtin(self, name: str, node: Node, arguments: Sequence[Node]) -> ir.Expr | None:
        """The value of a built-in that is no call; None for other functions."""
        if node.start_byte in self.tree.va_args:
            return self._va_arg(node, arguments)
        if node.start_byte in self.tree.offsetofs:
            return self._offsetof_operands(*self.tree.offsetofs[node.start_byte])
        if node.start_byte in self.tree.compatibles:
            one, other = self.tree.compatibles[node.start_byte]
            known = types_compatible(self.operand_type(one), self.operand_type(other))
            return ir.Unknown(INT) if known is None else ir.IntConst(int(known), INT)
        atomic = self.atomic(name, node, arguments)
        if atomic is not None:
            return atomic
        bare = name.removeprefix(PREFIX)
        if name in _HINTS and any(map(has_effects, arguments[1 if bare.startswith("expect") else 0 :])):
            raise RefusedError(f"side effects in an argument of {name}")  # compilers may leave them out
        if name in _BARRIERS:
            marks = [self.mark()]
            for argument in arguments:
                self.discard(argument)
                marks.append(self.mark())
            self.order.operands(self.flow, marks, [()] * len(arguments))
            return ir.Unknown(c_types.VOID)
        return None if bare == name else self._not_called(name, bare, node, arguments)

    def _not_called(self, name: str, bare: str, node: Node, arguments: Sequence[Node]) -> ir.Expr | None:
        """The value of a built-in of gcc's that is an operator rather than a function; `bare` is its name without the prefix."""
        if len(arguments) < _LEAST.get(bare, 0):
            raise RefusedError(f"too few arguments of {name}")
        match bare:
            case "expect" | "expect_with_probability":
                return operators.convert(self.value(arguments[0]), self.model.long)
            case "constant_p":  # also of what only an optimiser sees to be constant
                return ir.Unknown(INT)
            case "choose_expr":
                chosen = self.constant(arguments[0])
                if chosen is None:
                    raise RefusedError("a choice by a constant whose value is not known")
                return self.expression(arguments[1 if chosen else 2])
            case "va_start" | "va_copy" | "c23_va_start":
                return self._va_start(bare, node, arguments)
            case "object_size" | "dynamic_object_size":  # what it is depends on the optimiser
                return ir.Unknown(self.model.unsigned_long)
            case "va_arg_pack" | "va_arg_pack_len":
                return ir.Unknown(INT)
        return None

    def _va_start(self, name: str, node: Node, arguments: Sequence[Node]) -> ir.Expr:
        target = self.expression(arguments[0])
        if isinstance(target, ir.LVALUES):
            copied = self.value(arguments[1]) if name == "va_copy" else None
            self.emit(ir.Assign(target, ir.Unknown(target.type, copied)), node)
        return ir.Unknown(c_types.VOID)

    def _va_arg(self, node: Node, arguments: Sequence[Node]) -> ir.Expr:
        read = self.value(arguments[0]) if arguments else None
        type_ = self.operand_type(self.tree.va_args[node.start_byte])
        result = self.temporary(type_)
        self.emit(ir.Assign(result, ir.Unknown(type_, read)), node)
        return result

    def _offsetof_operands(self, type_node: Node, designator: Node) -> ir.Expr:
        offset = self._offset(self.operand_type(type_node), designator)
        return ir.Unknown(self.model.unsigned_long) if offset is None else ir.IntConst(offset[1], self.model.unsigned_long)

    def _offset(self, base: Type, node: Node) -> tuple[Type, int] | None:
        """The type and offset that a member designator reaches from a record of type `base`; None if not constant."""
        if node.type in ("identifier", "field_identifier", "type_identifier", "type_descriptor"):
            return self._step(base, 0, self.source(node))
        if node.type == "field_expression":
            start = self._offset(base, field_of(node, "argument"))
            return None if start is None else self._step(start[0], start[1], self.source(field_of(node, "field")))
        if node.type == "subscript_expression":
            start = self._offset(base, field_of(node, "argument"))
            index = self.constant(field_of(node, "index"))
            if start is None or index is None or not isinstance(start[0], Array):
                return None
            size = self.layout.size(start[0].element)
            return None if size is None else (start[0].element, start[1] + size * index)
        return None

    def _step(self, base: Type, start: int, name: str) -> tuple[Type, int] | None:
        if not isinstance(base, Record):
            return None
        found = operators.member(ir.Unknown(base), name, self.names.record)
        offset = self.layout.offset(base, name)
        return None if found is None or offset is None else (found.type, start + offset)
