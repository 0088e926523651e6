"""Lowering of casts and compound literals, also of casts that the parser reads as something else (C11 6.5.4, 6.5.2.5)."""

from __future__ import annotations

from analysis.frontend.declarations.arithmetic_types import basic_type
from analysis.frontend.declarations.scope import TypedefEntry
from analysis.frontend.declarations.volatile import Levels, behind
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.assignments import Assignments
from analysis.frontend.lowering.context import MisreadError, children, field_of, inside
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import Array, Pointer, Type, Void


class Casts(Assignments):
    """Casts and compound literals."""

    def casts_at_end(self, left: Node, right: Node) -> tuple[Type, ...]:
        """The types T of a left operand `a + (T)`, whose casts end with the operand `right`."""
        casts = self.casts_in(field_of(left, "right"))
        if casts and right.type == "binary_expression":
            raise RefusedError("a cast that could also be an operator")
        return casts

    def casts_in(self, node: Node) -> tuple[Type, ...]:
        """The types, outermost first, if the node is nothing but casts whose operand was read as something else: `(T)`, and
        `(T)(U)`, which reads as a call or as a cast of `(U)`. Empty if it is anything else."""
        if node.type == "parenthesized_expression":
            cast = self.typedef_in(node)
            return () if cast is None else (cast,)
        if node.type == "cast_expression":
            inner = self.casts_in(field_of(node, "value"))
            return (self.type_name(field_of(node, "type")), *inner) if inner else ()
        if node.type != "call_expression":
            return ()
        arguments = children(field_of(node, "arguments"))
        cast = self._type_named(arguments[0]) if len(arguments) == 1 else None
        outer = () if cast is None else self.casts_in(field_of(node, "function"))
        return (*outer, cast) if outer and cast is not None else ()

    def typedef_in(self, node: Node) -> Type | None:
        """The type, if the node is a type name in parentheses that was read as an expression."""
        return self._type_named(inside(node))

    def _type_named(self, node: Node) -> Type | None:
        """The type, if the node is an identifier that names one, or stands for a `typeof`."""
        if node.type != "identifier":
            return None
        if node.start_byte in self.tree.typeofs:
            return self.operand_type(self.tree.typeofs[node.start_byte])
        name = self.source(node)
        entry = self.names.lookup(name)
        if entry is None:  # _Bool is a keyword that the grammar does not know
            return basic_type(name, self.model)
        return entry.type if isinstance(entry, TypedefEntry) else None

    def cast_types(self, node: Node) -> tuple[Type, ...]:
        """The types T and U, outermost first, if the node is `(T)(e)` or `(T)(U)(e)`, which read as calls; else empty."""
        return self.casts_in(field_of(node, "function")) if node.type == "call_expression" else ()

    def cast_expression(self, node: Node) -> ir.Expr:
        """A cast as the parser reads it."""
        if self.casts_to_no_type(node):
            raise MisreadError
        type_, levels = self.type_and_levels(field_of(node, "type"))
        found = self.cast(type_, field_of(node, "value"))
        return self._marked(found, levels, node) if behind(levels) and isinstance(found.type, Pointer) else found

    def _marked(self, pointer: ir.Expr, levels: Levels, node: Node) -> ir.Expr:
        """A temporary with the pointer, to know it by."""
        if self.probing:
            return pointer
        result = self.temporary(pointer.type)
        self.volatiles[result.name] = levels
        self.emit(ir.Assign(result, pointer), node)
        return result

    def cast(self, type_: Type, operand: Node) -> ir.Expr:
        """`(type) operand`."""
        if operand.type == "initializer_list":
            return self._literal(type_, operand)
        if isinstance(type_, Void):
            self.discard(operand)
            return ir.Unknown(type_)
        return operators.convert(self.value(operand), type_)

    def casts_to_void(self, node: Node) -> bool:
        """Whether the cast is one to `void`, which drops the value."""
        return not self.casts_to_no_type(node) and isinstance(self.type_name(field_of(node, "type")), Void)

    def compound_literal(self, node: Node) -> ir.Expr:
        """`(type){...}`: a new object (C11 6.5.2.5)."""
        return self._literal(self.type_name(field_of(node, "type")), field_of(node, "value"))

    def _literal(self, type_: Type, value: Node) -> ir.Expr:
        if isinstance(type_, Array) and type_.length is None:
            type_ = Array(type_.element, self.initialised_length(type_.element, value))
        result = self.temporary(type_)
        self.names.place(result.name)
        self.flow.declares(result.name)
        self.initialise(result, value, value)
        return result
