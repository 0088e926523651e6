"""What attributes say of the types that declarations define."""

from __future__ import annotations

import re

from analysis.c.attributes import strange_of_type
from analysis.c.layout_attributes import is_mode, is_packing, layout_attributes_in, moded
from analysis.frontend.declarations.attribute_reading import attributes
from analysis.frontend.declarations.declarators import Declarator
from analysis.frontend.declarations.scope import TypedefEntry
from analysis.frontend.lowering.context import Context
from analysis.frontend.syntax.parser import Node
from analysis.model.c_types import Record, RecordDefinition

_TEXT = re.compile(rb"\S")
_NOT_MODELLED = Record("struct", "struct {not modelled}")


class DeclaredAttributes(Context):
    """Reads the attributes of records, enumerations and type names."""

    def attributes_of(self, node: Node, body: Node) -> tuple[list[bytes], int]:
        """The attributes of a record, which are before its members or right after them, and where the last one ends."""
        found = [attribute[2] for attribute in self.tree.attributes_in(node.start_byte, body.start_byte)]
        end = node.end_byte
        follows = _TEXT.search(self.tree.text, end)  # attributes are blank there
        for _, after, text in self.tree.attributes_in(end, len(self.tree.text) if follows is None else follows.start()):
            found.append(text)
            end = after
        return found, end

    def attributes_beside(self, node: Node, after: int, end: int | None = None) -> list[tuple[int, bytes]]:
        """The attributes between an offset and the end of a declaration (or `end`) that are not those of a record or an
        enumeration that it defines, with where they are."""
        inside = self.tree.attributes_in(after, node.end_byte if end is None else end)
        texts = [(start, text) for start, _, text in inside if not is_packing(text)]
        if not texts:
            return []
        specifier = node.child_by_field_name("type")
        body = None if specifier is None else specifier.child_by_field_name("body")
        if specifier is not None and body is not None:
            end = self.attributes_of(specifier, body)[1]
            texts = [(start, text) for start, text in texts if not specifier.start_byte <= start < end]
        return texts

    def beside(self, node: Node, after: int) -> list[bytes]:
        """The texts of `attributes_beside`."""
        return [text for _, text in self.attributes_beside(node, after)]

    def typedef_entry(self, found: Declarator, node: Node) -> TypedefEntry:
        """What a `typedef` declares. A type that an attribute makes of it and that is not modelled, such as a vector, is like a
        record of which nothing is known."""
        before = node.prev_sibling
        texts = self.beside(node, node.start_byte if before is None else before.end_byte)
        type_ = moded(found.type, texts, self.model)
        strange = strange_of_type(attributes(texts), is_named=True)
        if strange and type_ is not None:
            return TypedefEntry(self.strange_type(strange), found.volatile, is_aligned=True)
        if type_ is None:
            type_ = _NOT_MODELLED
        told = layout_attributes_in(text for text in texts if not is_mode(text))
        is_aligned = self.is_aligned_name(node) or not told.known or told.alignment not in (0, self.layout.alignment(type_))
        return TypedefEntry(type_, found.volatile, is_aligned)

    def strange_type(self, reason: str) -> Record:
        """A type of which nothing is known, for the reason given; no value of it is."""
        key = f"struct {{{reason}}}"
        self.names.define(RecordDefinition(key, "struct", (), is_laid_out=False, strange=reason))
        return Record("struct", key)

    def is_aligned_name(self, node: Node) -> bool:
        """Whether a declaration begins with the name of a type that has an alignment of its own."""
        specifier = node.child_by_field_name("type")
        if specifier is None or specifier.type != "type_identifier":
            return False
        entry = self.names.lookup(self.source(specifier))
        return isinstance(entry, TypedefEntry) and entry.is_aligned
