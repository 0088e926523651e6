"""Lowering of `sizeof`, `_Alignof` and `offsetof` (C11 6.5.3.4, 7.19p3)."""

from __future__ import annotations

from analysis.frontend.declarations.literal_values import is_wide, string_length
from analysis.frontend.declarations.side_effects import has_effects, may_fail
from analysis.frontend.lowering.casts import Casts
from analysis.frontend.lowering.context import field_of, inside
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import CHAR, Array, Record, Type

FUNCTION_NAMES = frozenset(("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"))
STRINGS = frozenset(("string_literal", "concatenated_string"))


class Sizes(Casts):
    """Numbers that the layout of types gives."""

    def sizeof(self, node: Node) -> ir.Expr:
        """`sizeof`, unknown where the size is not constant."""
        size = self._sizeof_operand(node)
        if isinstance(size, ir.Unknown) and has_effects(node):  # the operand is evaluated (C11 6.5.3.4p2)
            raise RefusedError("sizeof a variable-length array with side effects")
        value = node.child_by_field_name("value")
        if isinstance(size, ir.Unknown) and value is not None and may_fail(value):
            raise RefusedError("sizeof a variable-length array that is computed")
        return size

    def _sizeof_operand(self, node: Node) -> ir.Expr:
        type_node = node.child_by_field_name("type")
        if type_node is not None:
            return self._size(self.type_name(type_node))
        value = field_of(node, "value")
        if value.type == "cast_expression":  # there is none (C11 6.5.3p1)
            raise RefusedError("sizeof in front of a number with a sign")
        if value.type == "parenthesized_expression" and (named := self.typedef_in(value)) is not None:
            return self._size(named)
        inner = value
        while inner.type == "parenthesized_expression":
            inner = inside(inner)
        if inner.type == "identifier" and self.source(inner) in FUNCTION_NAMES:
            return self._size(Array(CHAR, len((self.names.function or "").encode()) + 1))
        if inner.type in STRINGS and is_wide(self.source(inner)):
            return ir.Unknown(self.model.unsigned_long)
        if inner.type in STRINGS:
            return self._size(Array(CHAR, string_length(self.source(inner))))
        return self._size(self.probe_type(value))

    def _size(self, type_: Type) -> ir.Expr:
        size = self.layout.size(type_)
        return ir.Unknown(self.model.unsigned_long) if size is None else ir.IntConst(size, self.model.unsigned_long)

    def alignof(self, node: Node) -> ir.Expr:
        """`_Alignof` of a type, and gcc's `__alignof__`."""
        type_node = node.child_by_field_name("type")
        if type_node is None:  # of a variable, which may be aligned otherwise than its type
            return ir.Unknown(self.model.unsigned_long)
        type_ = self.type_name(type_node)
        if isinstance(type_, Record) and self.layout.size(type_) is None:
            return ir.Unknown(self.model.unsigned_long)
        is_standard = node.children[0].type in ("_Alignof", "alignof")
        alignment = self.layout.alignment(type_) if is_standard else self.layout.preferred_alignment(type_)
        return ir.IntConst(alignment, self.model.unsigned_long)

    def offsetof(self, node: Node) -> ir.Expr:
        """`offsetof` of a member, unknown where the layout is."""
        type_ = self.type_name(field_of(node, "type"))
        name = self.source(field_of(node, "member"))
        offset = self.layout.offset(type_, name) if isinstance(type_, Record) else None
        if offset is None:
            return ir.Unknown(self.model.unsigned_long)
        return ir.IntConst(offset, self.model.unsigned_long)
