"""Structures and unions (C11 6.7.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from analysis.c.attributes import strange_of_type
from analysis.c.layout_attributes import NO_LAYOUT_ATTRIBUTES, LayoutAttributes, layout_attributes_in
from analysis.frontend.declarations.attribute_reading import attributes
from analysis.frontend.declarations.declarators import Declarator, Declarators
from analysis.frontend.declarations.declared_attributes import DeclaredAttributes
from analysis.frontend.declarations.literal_values import number
from analysis.frontend.declarations.scope import ConstantEntry
from analysis.frontend.lowering.context import TOO_DEEP, children
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node
from analysis.model import c_types, ir
from analysis.model.c_types import Array, Member, Record, RecordDefinition, Type
from analysis.model.digest import digest_value
from analysis.model.limits import RECORD_LEVELS


class Records(Declarators, DeclaredAttributes):
    """Reads structures and unions."""

    def record(self, node: Node, kind: Literal["struct", "union"]) -> Type:
        """See TypeSpecifiers."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        tag = None if name is None else f"{kind} {self.source(name)}"
        if body is not None and self.records_around > RECORD_LEVELS:
            raise RefusedError(TOO_DEEP)
        if body is None:
            if tag is None:
                raise RefusedError("record without a tag and members")
            known = self.names.tag(tag)
            if known is None:
                known = Record(kind, self.names.record_key(tag))
                self.names.declare_tag(tag, known)
            return known
        self.records_around += 1
        try:
            return self._defined(node, body, kind, tag)
        finally:
            self.records_around -= 1

    def _defined(self, node: Node, body: Node, kind: Literal["struct", "union"], tag: str | None) -> Type:
        """A record with its members."""
        texts = self.attributes_of(node, body)[0]
        told, packing, strange = (
            layout_attributes_in(texts),
            self.tree.packing(node.end_byte),
            strange_of_type(attributes(texts), is_named=False),
        )
        if tag is None:
            members, is_clear, strange = self._members(body, strange)
            is_clear = is_clear and told.known
            key = _key_without_tag(kind, members, told, packing, is_clear, strange)
        else:
            known = self.names.tag_here(tag)
            key = known.key if isinstance(known, Record) else self.names.record_key(tag)
            self.names.declare_tag(tag, Record(kind, key))
            members, is_clear, strange = self._members(body, strange)
            is_clear = is_clear and told.known
            inside = self._lacking if self.names.record(key) is None else self._inside  # it is defined again
            members = [member for member in members if key not in inside(member.type)]
        is_laid_out = is_clear and packing is not None
        self.names.define(
            RecordDefinition(key, kind, tuple(members), told.packed, told.alignment, packing or 0, is_laid_out, strange)
        )
        return Record(kind, key)

    def _lacking(self, type_: Type) -> frozenset[str]:
        """The records that an object of a type has in it and that are not complete yet: a member cannot (C11 6.7.2.1p3), but it
        is written so before the `*` of a pointer is there."""
        while isinstance(type_, Array):
            type_ = type_.element
        if not isinstance(type_, Record):
            return frozenset()
        definition = self.names.record(type_.key)
        if definition is None:
            return frozenset((type_.key,))
        known = self.incomplete.get(type_.key)
        if known is None or known[0] is not definition:
            found = frozenset[str]().union(*(self._lacking(member.type) for member in definition.members))
            known = self.incomplete[type_.key] = definition, found
        return known[1]

    def _inside(self, type_: Type) -> set[str]:
        """All records that an object of a type has in it."""
        work, seen = [type_], set[str]()
        while work:
            one = work.pop()
            if isinstance(one, Array):
                work.append(one.element)
            elif isinstance(one, Record) and one.key not in seen:
                seen.add(one.key)
                definition = self.names.record(one.key)
                work.extend(member.type for member in (definition.members if definition is not None else ()))
        return seen

    def _said_of_member(self, node: Node, after: int) -> LayoutAttributes:
        """What attributes between an offset and the end of a member's declaration say of the member."""
        if self.is_aligned_name(node):
            return LayoutAttributes(known=False)
        found = layout_attributes_in(self.beside(node, after))
        declared = sum(node.field_name_for_child(position) == "declarator" for position in range(len(node.children)))
        is_plain = declared < 2 and not any(part.type == "bitfield_clause" for part in node.children)
        return (
            found
            if found == NO_LAYOUT_ATTRIBUTES or (is_plain and node.start_byte not in self.tree.unnamed_bits)
            else LayoutAttributes(known=False)
        )

    def _members(self, body: Node, strange: str) -> tuple[list[Member], bool, str]:
        """The members of a record, whether all that attributes say of their layout is understood, and which attribute is not
        understood at all, if one is not (`strange` is one of the record's)."""
        members: list[Member] = []
        is_clear, after = True, body.start_byte
        for child in children(body):
            if child.type != "field_declaration":
                continue
            told = self._said_of_member(child, after)
            strange = strange or strange_of_type(attributes(self.beside(child, after)), is_named=False)
            is_clear, after = is_clear and told.known, child.end_byte
            declared, are_widths_known = self._declared(child)
            if not are_widths_known:
                strange = strange or "width of a bit-field that is not known"
            if told != NO_LAYOUT_ATTRIBUTES:
                declared = [replace(member, packed=told.packed, alignment=told.alignment) for member in declared]
            members += declared
        return members, is_clear, strange

    def _declared(self, node: Node) -> tuple[list[Member], bool]:
        """The members of one declaration, and whether the widths of all bit-fields among them are known."""
        specifiers = self.specifiers(node)
        base, levels = specifiers.type, specifiers.volatile
        members: list[Member] = []
        are_widths_known = True
        pending: Declarator | None = None
        for position, part in enumerate(node.children):
            if part.type == "bitfield_clause":
                bits = self.constant(children(part)[0])
                are_widths_known = are_widths_known and bits is not None
                members.append(_member(pending or Declarator(None, base, None, None, levels), bits))
                pending = None
            elif node.field_name_for_child(position) == "declarator":
                if pending is not None:
                    members.append(_member(pending))
                pending = self.declarator(part, base, levels)
        if pending is not None:
            members.append(_member(pending))
        elif not members and node.start_byte in self.tree.unnamed_bits:
            members.append(Member("", base, self._width(self.tree.unnamed_bits[node.start_byte])))
        elif not members and isinstance(base, Record):
            members.append(Member("", base))
        return members, are_widths_known

    def _width(self, written: bytes) -> int:
        """The width of an unnamed bit-field: a number, or the name of a constant."""
        text = written.decode("utf-8", "surrogateescape")
        known = number(text, self.model) if text[:1].isdigit() else self.names.lookup(text)
        constant = known.constant if isinstance(known, ConstantEntry) else known
        if not isinstance(constant, ir.IntConst):
            raise RefusedError(f"the width {text} of a bit-field")
        return constant.value


def _member(found: Declarator, bits: int | None = None) -> Member:
    return Member(found.name or "", found.type, bits, tuple(sorted(found.volatile)))


def _key_without_tag(
    kind: str, members: Sequence[Member], told: LayoutAttributes, packing: int | None, is_clear: bool, strange: str
) -> str:
    """The key of a record without a tag: what is written alike is one record."""
    names = ", ".join(m.name or "_" for m in members[:3]) + (", ..." if len(members) > 3 else "")
    key = f"{kind} {{{names}}}#{digest_value([[m.name, _plain(m.type), m.bits] for m in members])[:8]}"
    key += " packed" if told.packed else ""
    if told.alignment or packing or not is_clear or any(m.packed or m.alignment for m in members):
        layout: list[object] = [told.alignment, packing, is_clear, [[m.packed, m.alignment] for m in members]]
        layout += [strange] if strange else []
        key += f" {digest_value(layout)[:8]}"
    return key


def _plain(type_: Type) -> object:
    return [type(type_).__name__, c_types.spell(type_)]
