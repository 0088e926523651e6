"""Declarators to names and types (C11 6.7.6).

A declarator is read from the outside in: each layer wraps the type so far in a pointer, an array or a function, until
the name is reached.
"""

from __future__ import annotations

import msgspec

from analysis.frontend.declarations.arithmetic_types import basic_type
from analysis.frontend.declarations.scope import TypedefEntry
from analysis.frontend.declarations.side_effects import has_effects
from analysis.frontend.declarations.specifiers import NAME_KINDS, TypeSpecifiers, qualified
from analysis.frontend.declarations.types import adjust_parameter
from analysis.frontend.declarations.volatile import NONE, Levels, pointed_to
from analysis.frontend.lowering.context import children
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node, parse_apart, text_of
from analysis.model import c_types
from analysis.model.c_types import Array, Function, Pointer, Type, extent
from analysis.model.limits import TYPE_LEVELS, TYPE_PARTS

_LAYERS = frozenset(("parenthesized_declarator", "abstract_parenthesized_declarator", "attributed_declarator", "init_declarator"))


class Declarator(msgspec.Struct, frozen=True):
    """A declared name, its type, where the name is, the parameter list next to it if it is a function, and the levels."""

    name: str | None
    type: Type
    name_node: Node | None
    parameters: Node | None
    volatile: Levels = NONE


def _check_bounds(type_: Type) -> None:
    parts, levels = extent(type_)
    if parts > TYPE_PARTS or levels > TYPE_LEVELS:
        raise RefusedError("a type of too many parts")


class Declarators(TypeSpecifiers):
    """Reads declarators, parameters and type names."""

    _in_prototype = 0  # how many lists of parameters that declare no variables are around what is read

    def type_name(self, node: Node) -> Type:
        """The type that a type name stands for."""
        return self.type_and_levels(node)[0]

    def type_and_levels(self, node: Node) -> tuple[Type, Levels]:
        """The type that a type name stands for, and its levels."""
        specifiers = self.specifiers(node)
        declarator = node.child_by_field_name("declarator")
        if declarator is None:
            return specifiers.type, specifiers.volatile
        found = self.declarator(declarator, specifiers.type, specifiers.volatile)
        return found.type, found.volatile

    def declarator(self, node: Node, base: Type, levels: Levels = NONE) -> Declarator:
        """Applies the layers of a declarator to the base type, and to its levels."""
        parameters: Node | None = None
        inner: Node | None = node
        type_ = base
        while inner is not None and inner.type not in NAME_KINDS:
            kind = inner.type
            following = inner.child_by_field_name("declarator")
            if kind.endswith("pointer_declarator"):
                type_ = Pointer(type_)
                levels = pointed_to(levels).union(*(qualified(c) for c in inner.children if c.type == "type_qualifier"))
            elif kind.endswith("array_declarator"):
                type_ = self._array(type_, self._length(inner))
            elif kind.endswith("function_declarator"):
                parameters = inner.child_by_field_name("parameters")
                type_, levels = self._function(type_, parameters), NONE
            elif kind not in _LAYERS:
                raise RefusedError(f"declarator {kind}")
            if following is None:
                following = _inner_declarator(inner)
            inner = following
            _check_bounds(type_)
        if type_ is base:  # without a layer: `typeof (&a) b`
            _check_bounds(type_)
        name = None if inner is None else self.source(inner)
        return Declarator(name, type_, inner, parameters, levels)

    def misread_declaration(self, node: Node) -> tuple[Declarator, Node | None] | None:
        """The declarator and initialiser of `T (*p)(int) = e;` where T is a type: it reads as calls and an assignment."""
        inner = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
        initialiser: Node | None = None
        if inner is not None and inner.type == "assignment_expression":
            initialiser, inner = inner.child_by_field_name("right"), inner.child_by_field_name("left")
        end = 0 if inner is None else inner.end_byte
        calls = 0
        while inner is not None and inner.type in ("call_expression", "subscript_expression"):
            calls += inner.type == "call_expression"
            inner = inner.child_by_field_name("function") or inner.child_by_field_name("argument")
        if inner is None or not calls or inner.type != "identifier":
            return None
        entry = self.names.lookup(self.source(inner))
        if not isinstance(entry, TypedefEntry):
            return None
        # parsed with `int` in the type's place, at offsets that no node of the file has
        written = text_of(node)[inner.end_byte - node.start_byte : end - node.start_byte]
        declaration = parse_apart(b"int " + written + b";", len(self.text) + node.start_byte)
        declarator = None if declaration is None else declaration.child_by_field_name("declarator")
        return None if declarator is None else (self.declarator(declarator, entry.type), initialiser)

    def _array(self, element: Type, length: int | None) -> Array:
        """An array. Compilers accept none in which a difference of pointers could be no `ptrdiff_t`."""
        found = Array(element, length)
        if length is not None and length * max(1, self.layout.size(element) or 0) >= 1 << self.model.pointer_bits - 1:
            raise RefusedError("an array that is too large for the memory")
        return found

    def _length(self, node: Node) -> int | None:
        size = node.child_by_field_name("size")
        if size is None or size.type == "*":
            return None
        try:
            length = self.constant(size)
        except RefusedError:
            if not self._in_prototype:
                raise
            return None  # it names another parameter
        if length is not None:
            return length if length >= 0 else None
        if not self.names.at_file_level and not self._in_prototype:
            self._evaluate_length(size)
        return None

    def _evaluate_length(self, size: Node) -> None:
        """The length of a variable-length array is evaluated where its type is (C11 6.7.6.2p5), that of a parameter at the entry
        of the function (6.9.1p10). Whether it is for a parameter that is only adjusted to a pointer, compilers differ."""
        if has_effects(size):
            raise RefusedError("side effects in the length of an array")
        self.discard(size)

    def _function(self, result: Type, parameters: Node | None) -> Function:
        if parameters is None:
            return Function(result, (), prototyped=False)
        if self.names_only(parameters):
            return Function(result, (), prototyped=False)
        types: list[Type] = []
        variadic = False
        listed = children(parameters)
        self._in_prototype += 1
        try:
            for child in listed:
                if child.type == "parameter_declaration":
                    types.append(self.parameter(child).type)
                elif child.type == "variadic_parameter":
                    variadic = True
        finally:
            self._in_prototype -= 1
        variadic = variadic or any(child.type == "..." for child in parameters.children)
        if not listed and not variadic:
            return Function(result, (), prototyped=False)
        if len(types) == 1 and isinstance(types[0], c_types.Void):
            types = []
        return Function(result, tuple(types), variadic)

    def names_only(self, parameters: Node) -> bool:
        """Whether the list is that of an old-style definition: names, which read as types that do not exist."""
        if parameters.start_byte in self.tree.old_style:
            return True
        listed = children(parameters)
        return bool(listed) and all(self._bare_name(child) for child in listed)

    def _bare_name(self, parameter: Node) -> bool:
        if parameter.type == "identifier":
            return True
        parts = parameter.named_children
        if parameter.type != "parameter_declaration" or len(parts) != 1 or parts[0].type != "type_identifier":
            return False
        name = self.source(parts[0])
        return not isinstance(self.names.lookup(name), TypedefEntry) and basic_type(name, self.model) is None

    def parameter(self, node: Node) -> Declarator:
        """One parameter declaration, its type adjusted."""
        specifiers = self.specifiers(node)
        declarator = node.child_by_field_name("declarator")
        if declarator is None:
            return Declarator(None, specifiers.type, None, None)
        found = self.declarator(declarator, specifiers.type, specifiers.volatile)
        levels = pointed_to(found.volatile) if isinstance(found.type, Array) else found.volatile
        return Declarator(found.name, adjust_parameter(found.type), found.name_node, None, levels)


def _inner_declarator(node: Node) -> Node | None:
    """The declarator inside a layer that has no field for it."""
    for child in node.named_children:
        kind = child.type
        if kind in NAME_KINDS or kind.endswith("declarator"):
            return child
    return None
