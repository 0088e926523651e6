"""Enumerations (C11 6.7.2.2)."""

from __future__ import annotations

from analysis.c.attributes import strange_of_type
from analysis.c.layout_attributes import NO_LAYOUT_ATTRIBUTES, is_packing, layout_attributes_in
from analysis.frontend.declarations.attribute_reading import attributes
from analysis.frontend.declarations.declared_attributes import DeclaredAttributes
from analysis.frontend.declarations.scope import ConstantEntry
from analysis.frontend.lowering.context import children
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import INT, Integer, Type


class Enumerations(DeclaredAttributes):
    """Reads enumerations, and declares their constants."""

    def enumeration(self, node: Node) -> Type:
        """See TypeSpecifiers."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        tag = "enum" if name is None else f"enum {self.source(name)}"
        if body is None:
            return self.names.tag(tag) or Integer(32, False, tag)
        texts = [text for text in self.attributes_of(node, body)[0] if not is_packing(text)]
        is_other = node.child_by_field_name("underlying_type") is not None or layout_attributes_in(texts) != NO_LAYOUT_ATTRIBUTES
        strange = "the size of an enumeration" if is_other else strange_of_type(attributes(texts), is_named=False)
        lowest, is_known = self._declare_constants(body)
        if not is_known:
            strange = strange or "enumeration constant that is not known or does not fit into int"
        if strange:  # those before it have the type of the others in some compilers (C23 6.7.3.3p15)
            self._forget_constants(body)
        type_: Type = self.strange_type(strange) if strange else Integer(32, lowest < 0, tag)
        if name is not None:
            self.names.declare_tag(tag, type_)
        return type_

    def _declare_constants(self, body: Node) -> tuple[int, bool]:
        """Declares the constants; the lowest of their values, which is 0 at most, and whether all of them are known and fit into
        an int."""
        value: int | None = 0
        lowest, are_known = 0, True
        for child in children(body):
            if child.type != "enumerator":
                continue
            label, given = child.child_by_field_name("name"), child.child_by_field_name("value")
            if given is not None:
                value = self.constant(given)
            if value is None or not -(1 << 31) <= value < 1 << 31:  # compilers differ in the types of all of them then
                value, are_known = None, False
            if label is not None:
                self.names.declare(self.source(label), ConstantEntry(None if value is None else ir.IntConst(value, INT)))
            lowest = min(lowest, value or 0)
            value = None if value is None else value + 1
        return lowest, are_known

    def _forget_constants(self, body: Node) -> None:
        for child in children(body):
            label = child.child_by_field_name("name") if child.type == "enumerator" else None
            if label is not None:
                self.names.declare(self.source(label), ConstantEntry(None))
