"""Declaration specifiers to types (C11 6.7.1 to 6.7.5)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Literal

import msgspec

from analysis.frontend.declarations.arithmetic_types import basic_type
from analysis.frontend.declarations.scope import ObjectEntry, TypedefEntry
from analysis.frontend.declarations.side_effects import has_effects
from analysis.frontend.declarations.volatile import ITSELF, NONE, Levels
from analysis.frontend.lowering.context import Context, children
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node, text_of
from analysis.model.c_types import INT, VA_LIST, Array, Pointer, Record, Type

NAME_KINDS = frozenset(("identifier", "type_identifier", "field_identifier", "primitive_type"))
_WITHIN = frozenset(("type_qualifier", "storage_class_specifier", "comment"))  # of what is among the words of an arithmetic type


class Specifiers(msgspec.Struct, frozen=True):
    """What stands before the declarators: the type, its levels (see `frontend.declarations.volatile`), the storage-class and
    function specifiers, and whether `const` is among them."""

    type: Type
    storage: frozenset[str]
    volatile: Levels = NONE
    constant: bool = False


def _each_specifier(node: Node) -> Iterator[tuple[str, Node]]:
    """The children of a declaration with their kinds; before the words of an arithmetic type those between them
    (`unsigned const char`)."""
    for child in node.children:
        kind = child.type
        if kind == "sized_type_specifier":
            yield from ((word.type, word) for word in child.named_children if word.type in _WITHIN)
        yield kind, child


def qualified(node: Node) -> Levels:
    """The levels that a type qualifier gives."""
    return ITSELF if text_of(node) == b"volatile" else NONE


class TypeSpecifiers(Context):
    """Reads what stands before declarators."""

    def specifiers(self, node: Node) -> Specifiers:
        """The specifiers of a declaration, parameter, member, type name or function definition."""
        storage: set[str] = set()
        type_: Type | None = None
        levels, constant, atomic = NONE, False, False
        for kind, child in _each_specifier(node):
            if kind == "storage_class_specifier":
                storage.add(self.source(child))
            elif kind == "type_qualifier":
                levels |= qualified(child)
                constant = constant or text_of(child) == b"const"
                atomic = atomic or text_of(child) == b"_Atomic"
                if text_of(child).startswith(b"alignas"):  # where it is no macro (C23 6.7.6): `_Alignas` is among the attributes
                    raise RefusedError("the specifier alignas")
            elif kind in ("comment", "attribute_specifier", "attribute_declaration"):
                continue
            elif type_ is None and (kind.endswith("_specifier") or kind in NAME_KINDS):
                type_ = self.specified_type(child)
                levels |= self._named_levels(child)
            elif kind == "typedef":
                storage.add("typedef")
            else:
                break
        if (
            atomic
            and type_ is not None
            and (isinstance(type_, Record) or self.layout.size(type_) != self.layout.alignment(type_))
        ):
            raise RefusedError("an atomic type that may have another layout")  # compilers align it to its size, and pad records
        return Specifiers(INT if type_ is None else type_, frozenset(storage), levels, constant)

    def _named_levels(self, node: Node) -> Levels:
        entry = self.names.lookup(self.source(node)) if node.type == "type_identifier" else None
        return entry.volatile if isinstance(entry, TypedefEntry) else NONE

    def specified_type(self, node: Node) -> Type:
        """The type that one type specifier stands for."""
        kind = node.type
        if node.start_byte in self.tree.typeofs:
            return self.operand_type(self.tree.typeofs[node.start_byte])
        if kind in ("struct_specifier", "union_specifier"):
            return self.record(node, "struct" if kind == "struct_specifier" else "union")
        if kind == "enum_specifier":
            return self.enumeration(node)
        if kind in ("primitive_type", "type_identifier", "identifier"):
            return self._named_type(self.source(node))
        if kind == "sized_type_specifier":
            found = basic_type(self.source(node), self.model)
            if found is None:  # something is between the words
                words = (self.source(child) for child in node.children if child.type not in _WITHIN)
                found = basic_type(" ".join(words), self.model)
            if found is not None:
                return found
        raise RefusedError(f"unknown type {self.source(node)}")

    def _named_type(self, name: str) -> Type:
        entry = self.names.lookup(name)
        if isinstance(entry, TypedefEntry):
            return entry.type
        if name in ("__builtin_va_list", "va_list", "__gnuc_va_list"):
            return VA_LIST
        found = basic_type(name, self.model)
        if found is None:
            raise RefusedError(f"unknown type {name}")
        return found

    def operand_type(self, operand: Node) -> Type:
        """The type of an operand of `typeof` and its like: a type name that reads as an expression, or the reverse."""
        if operand.type == "type_descriptor":
            parts = children(operand)
            lone = parts[0] if len(parts) == 1 and parts[0].type == "type_identifier" else None
            if lone is not None and isinstance(self.names.lookup(self.source(lone)), ObjectEntry):
                return self._object_type(lone)
            return self.type_name(operand)
        if operand.type == "identifier" and isinstance(self.names.lookup(self.source(operand)), TypedefEntry):
            return self._named_type(self.source(operand))
        type_ = self.probe_type(operand)
        varies = type_.target if isinstance(type_, Pointer) else type_
        if isinstance(varies, Array) and varies.length is None and has_effects(operand):
            raise RefusedError("side effects in the operand of typeof")
        return type_

    def _object_type(self, node: Node) -> Type:
        entry = self.names.lookup(self.source(node))
        return entry.var.type if isinstance(entry, ObjectEntry) else INT

    @abstractmethod
    def record(self, node: Node, kind: Literal["struct", "union"]) -> Type:
        """The record that a specifier names or defines."""

    @abstractmethod
    def enumeration(self, node: Node) -> Type:
        """The enumeration that a specifier names or defines."""
