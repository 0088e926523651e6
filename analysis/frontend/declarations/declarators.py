"""Declaration specifiers and declarators to types (C11 6.7).

A declarator is read from the outside in: each layer wraps the type so far in a pointer, an array or a function, until
the name is reached.
"""

from __future__ import annotations

from functools import cache

import msgspec
from msgspec.structs import replace

from analysis.frontend.declarations.attributes import strange_of_type
from analysis.frontend.declarations.layout_attributes import MODE, NOTHING, Said, is_packing, moded, said
from analysis.frontend.declarations.literal_values import number
from analysis.frontend.declarations.scope import ConstantEntry, ObjectEntry, TypedefEntry
from analysis.frontend.declarations.side_effects import has_effects
from analysis.frontend.declarations.types import LONG_DOUBLE, adjust_parameter
from analysis.frontend.declarations.volatile import ITSELF, NONE, Levels, pointed_to
from analysis.frontend.lowering.context import TOO_DEEP, Context, children
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node, parse_apart, text_of
from analysis.model import c_types, ir
from analysis.model.c_types import (
    INT,
    Array,
    DataModel,
    Floating,
    Function,
    Integer,
    Member,
    Pointer,
    Record,
    RecordDefinition,
    Type,
    extent,
)
from analysis.model.digest import digest_value
from analysis.model.limits import RECORD_LEVELS, TYPE_LEVELS, TYPE_PARTS

NAME_KINDS = frozenset(("identifier", "type_identifier", "field_identifier", "primitive_type"))
_NEAR = 1_000  # bytes after a record's members in which an attribute of theirs can begin
_LAYERS = frozenset(("parenthesized_declarator", "abstract_parenthesized_declarator", "attributed_declarator", "init_declarator"))
_FLOATS = {
    "float": c_types.FLOAT, "double": c_types.DOUBLE, "long double": LONG_DOUBLE, "_Float128": Floating(128, "_Float128"),
    "__float128": Floating(128, "_Float128"), "_Float64": c_types.DOUBLE, "_Float32": c_types.FLOAT,
    "_Float64x": LONG_DOUBLE, "_Float32x": c_types.DOUBLE,
}  # fmt: skip
_FIXED = {"int8_t": (8, True), "int16_t": (16, True), "int32_t": (32, True), "int64_t": (64, True)} | {
    "uint8_t": (8, False), "uint16_t": (16, False), "uint32_t": (32, False), "uint64_t": (64, False),
    "char8_t": (8, False), "char16_t": (16, False), "char32_t": (32, False),
}  # fmt: skip
_NAMED = {(8, True): c_types.SIGNED_CHAR, (16, True): c_types.SHORT, (32, True): INT, (8, False): c_types.UNSIGNED_CHAR}
_NAMED |= {(16, False): c_types.UNSIGNED_SHORT, (32, False): c_types.UNSIGNED_INT}
_NOT_MODELLED = Record("struct", "struct {not modelled}")
VA_LIST = Array(Record("struct", "struct __va_list_tag"), 1)


class Specifiers(msgspec.Struct, frozen=True):
    """What stands before the declarators: the type, its levels (see `frontend.declarations.volatile`), the storage-class and
    function
    specifiers, and whether `const` is among them."""

    type: Type
    storage: frozenset[str]
    volatile: Levels = NONE
    constant: bool = False


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


@cache
def basic_type(words: str, model: DataModel) -> Type | None:
    """The type of arithmetic type specifiers in any order; None when they are none."""
    given = words.replace("__signed__", "signed").replace("__signed", "signed").split()
    if not given:
        return None
    joined = " ".join(given)
    if joined in _FLOATS:
        return _FLOATS[joined]
    if any(word in ("_Complex", "__complex__", "_Imaginary") for word in given):
        inner = basic_type(" ".join(w for w in given if not w.startswith("_")) or "double", model)
        return Floating(2 * inner.bits, f"{inner.name} _Complex") if isinstance(inner, Floating) else None
    if sorted(given) == ["double", "long"]:
        return LONG_DOUBLE
    if joined == "void":
        return c_types.VOID
    if joined in ("_Bool", "bool"):
        return c_types.BOOL
    if set(given) - {"signed", "unsigned", "short", "long", "int", "char", "__int128"}:
        return _fixed_type(joined, model)
    unsigned = "unsigned" in given
    if "char" in given:
        return c_types.UNSIGNED_CHAR if unsigned else c_types.SIGNED_CHAR if "signed" in given else c_types.CHAR
    if "short" in given:
        return c_types.UNSIGNED_SHORT if unsigned else c_types.SHORT
    if "__int128" in given:
        return Integer(128, not unsigned, "unsigned __int128" if unsigned else "__int128")
    if given.count("long") >= 2:
        return c_types.UNSIGNED_LONG_LONG if unsigned else c_types.LONG_LONG
    if "long" in given:
        return model.unsigned_long if unsigned else model.long
    return c_types.UNSIGNED_INT if unsigned else INT


def _fixed_type(name: str, model: DataModel) -> Type | None:
    """The types of <stddef.h> and <stdint.h>, for text that is not preprocessed."""
    if name in ("size_t", "uintptr_t"):
        return Integer(model.pointer_bits, False, "unsigned long" if model.pointer_bits == model.long_bits else "unsigned int")
    if name in ("ssize_t", "ptrdiff_t", "intptr_t"):
        return model.intptr
    key = _FIXED.get(name)
    if key is None:
        return None
    if key in _NAMED:
        return _NAMED[key]
    return (model.long if key[1] else model.unsigned_long) if model.long_bits == 64 else (
        c_types.LONG_LONG if key[1] else c_types.UNSIGNED_LONG_LONG
    )  # fmt: skip


def _qualified(node: Node) -> Levels:
    """The levels that a type qualifier gives."""
    return ITSELF if text_of(node) == b"volatile" else NONE


def _plain_member(found: Declarator) -> Member:
    return Member(found.name or "", found.type, None, tuple(sorted(found.volatile)))


class Declarations(Context):
    """Types of declarations, type names, records and enumerations."""

    _in_prototype = 0  # how many lists of parameters that declare no variables are around what is read

    def specifiers(self, node: Node) -> Specifiers:
        """The specifiers of a declaration, parameter, member, type name or function definition."""
        storage: set[str] = set()
        type_: Type | None = None
        levels, constant, atomic = NONE, False, False
        for child in node.children:
            kind = child.type
            if kind == "storage_class_specifier":
                storage.add(self.source(child))
            elif kind == "type_qualifier":
                levels |= _qualified(child)
                constant = constant or text_of(child) == b"const"
                atomic = atomic or text_of(child) == b"_Atomic"
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
            return self._record(node, "struct" if kind[0] == "s" else "union")
        if kind == "enum_specifier":
            return self._enumeration(node)
        if kind in ("primitive_type", "type_identifier", "identifier"):
            return self._named_type(self.source(node))
        if kind == "sized_type_specifier":
            found = basic_type(self.source(node), self.model)
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
                levels = pointed_to(levels).union(*(_qualified(c) for c in inner.children if c.type == "type_qualifier"))
            elif kind.endswith("array_declarator"):
                type_ = Array(type_, self._length(inner))
            elif kind.endswith("function_declarator"):
                parameters = inner.child_by_field_name("parameters")
                type_, levels = self._function(type_, parameters), NONE
            elif kind not in _LAYERS:
                raise RefusedError(f"declarator {kind}")
            if following is None:
                following = _inner_declarator(inner)
            inner = following
            _check_bounds(type_)
        _check_bounds(type_)  # also without a layer: `typeof (&a) b`
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
        declaration = parse_apart(b"int " + self.text[inner.end_byte : end] + b";", len(self.text) + node.start_byte)
        declarator = None if declaration is None else declaration.child_by_field_name("declarator")
        return None if declarator is None else (self.declarator(declarator, entry.type), initialiser)

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

    def _record(self, node: Node, kind: str) -> Type:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        tag = None if name is None else f"{kind} {self.source(name)}"
        record_kind = "struct" if kind == "struct" else "union"
        if body is not None and self.records_around > RECORD_LEVELS:
            raise RefusedError(TOO_DEEP)
        if body is None:
            if tag is None:
                raise RefusedError("record without a tag and members")
            known = self.names.tag(tag)
            if known is None:
                known = Record(record_kind, self.names.record_key(tag))  # type: ignore[arg-type]
                self.names.declare_tag(tag, known)
            return known
        self.records_around += 1
        try:
            return self._defined(node, body, kind, tag)
        finally:
            self.records_around -= 1

    def _defined(self, node: Node, body: Node, kind: str, tag: str | None) -> Type:
        """A record with its members."""
        record_kind = "struct" if kind == "struct" else "union"
        texts = self._attributes_of(node, body)[0]
        told, packing, strange = said(texts), self.tree.packing(node.end_byte), strange_of_type(texts, is_named=False)
        if tag is None:
            members, is_clear, strange = self._members(body, strange)
            names = ", ".join(m.name or "_" for m in members[:3]) + (", ..." if len(members) > 3 else "")
            key = f"{kind} {{{names}}}#{digest_value([[m.name, _plain(m.type), m.bits] for m in members])[:8]}"
            key += " packed" if told.packed else ""
            layout: list[object] = [told.alignment, packing, is_clear and told.known, [[m.packed, m.alignment] for m in members]]
            layout += [strange] if strange else []
            if any(layout[:2]) or not layout[2] or any(m.packed or m.alignment for m in members):
                key += f" {digest_value(layout)[:8]}"
        else:
            known = self.names.tag_here(tag)
            key = known.key if isinstance(known, Record) else self.names.record_key(tag)
            self.names.declare_tag(tag, Record(record_kind, key))  # type: ignore[arg-type]
            members, is_clear, strange = self._members(body, strange)
            inside = self._lacking if self.names.record(key) is None else self._inside  # it is defined again
            members = [member for member in members if key not in inside(member.type)]
        is_laid_out = is_clear and told.known and packing is not None
        self.names.define(
            RecordDefinition(key, record_kind, tuple(members), told.packed, told.alignment, packing or 0, is_laid_out, strange)  # type: ignore[arg-type]
        )
        return Record(record_kind, key)  # type: ignore[arg-type]

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

    def _attributes_of(self, node: Node, body: Node) -> tuple[list[bytes], int]:
        """The attributes of a record, which are before its members or right after them, and where the last one ends."""
        found = [attribute[2] for attribute in self.tree.attributes_in(node.start_byte, body.start_byte)]
        end = node.end_byte
        for start, after, text in self.tree.attributes_in(end, end + _NEAR):
            if self.tree.text[end:start].strip():
                break
            found.append(text)
            end = after
        return found, end

    def attributes_beside(self, node: Node, after: int, end: int | None = None) -> list[tuple[int, bytes]]:
        """The attributes between an offset and the end of a declaration (or `end`) that are not those of a record or an
        enumeration that it defines, with where they are."""
        inside = self.tree.attributes_in(after, node.end_byte if end is None else end)
        texts = [(start, text) for start, _, text in inside if not is_packing(text)]
        specifier = node.child_by_field_name("type")
        body = None if specifier is None else specifier.child_by_field_name("body")
        if texts and specifier is not None and body is not None:
            end = self._attributes_of(specifier, body)[1]
            texts = [(start, text) for start, text in texts if not specifier.start_byte <= start < end]
        return texts

    def _beside(self, node: Node, after: int) -> list[bytes]:
        return [text for _, text in self.attributes_beside(node, after)]

    def typedef_entry(self, found: Declarator, node: Node) -> TypedefEntry:
        """What a `typedef` declares. A type that an attribute makes of it and that is not modelled, such as a vector, is like a
        record of which nothing is known."""
        before = node.prev_sibling
        texts = self._beside(node, node.start_byte if before is None else before.end_byte)
        type_ = moded(found.type, texts, self.model)
        strange = strange_of_type(texts, is_named=True)
        if strange and type_ is not None:
            return TypedefEntry(self._strange_type(strange), found.volatile, is_aligned=True)
        if type_ is None:
            type_ = _NOT_MODELLED
        told = said(text for text in texts if MODE.search(text) is None)
        is_aligned = self._is_aligned_name(node) or not told.known or told.alignment not in (0, self.layout.alignment(type_))
        return TypedefEntry(type_, found.volatile, is_aligned)

    def _strange_type(self, reason: str) -> Record:
        """A type of which nothing is known, for the reason given; no value of it is."""
        key = f"struct {{{reason}}}"
        self.names.define(RecordDefinition(key, "struct", (), is_laid_out=False, strange=reason))
        return Record("struct", key)

    def _is_aligned_name(self, node: Node) -> bool:
        """Whether a declaration begins with the name of a type that has an alignment of its own."""
        specifier = node.child_by_field_name("type")
        if specifier is None or specifier.type != "type_identifier":
            return False
        entry = self.names.lookup(self.source(specifier))
        return isinstance(entry, TypedefEntry) and entry.is_aligned

    def _said_of_member(self, node: Node, after: int) -> Said:
        """What attributes between an offset and the end of a member's declaration say of the member."""
        if self._is_aligned_name(node):
            return Said(known=False)
        found = said(self._beside(node, after))
        declared = sum(node.field_name_for_child(position) == "declarator" for position in range(len(node.children)))
        is_plain = declared < 2 and not any(part.type == "bitfield_clause" for part in node.children)
        return found if found == NOTHING or (is_plain and node.start_byte not in self.tree.unnamed_bits) else Said(known=False)

    def _members(self, body: Node, strange: str) -> tuple[list[Member], bool, str]:
        """The members of a record, whether all that attributes say of their layout is understood, and which attribute is not
        understood at all, if one is not (`strange` is one of the record's)."""
        members: list[Member] = []
        is_clear, after = True, body.start_byte
        for child in children(body):
            if child.type != "field_declaration":
                continue
            told, first = self._said_of_member(child, after), len(members)
            strange = strange or strange_of_type(self._beside(child, after), is_named=False)
            is_clear, after = is_clear and told.known, child.end_byte
            specifiers = self.specifiers(child)
            base, levels = specifiers.type, specifiers.volatile
            declared = False
            pending: Declarator | None = None
            for position, part in enumerate(child.children):
                if part.type == "bitfield_clause":
                    bits = self.constant(children(part)[0])
                    if bits is None:
                        strange = strange or "width of a bit-field that is not known"
                    own = tuple(sorted(pending.volatile if pending else levels))
                    members.append(Member(pending.name or "" if pending else "", pending.type if pending else base, bits, own))
                    pending, declared = None, True
                elif child.field_name_for_child(position) == "declarator":
                    if pending is not None:
                        members.append(_plain_member(pending))
                    pending, declared = self.declarator(part, base, levels), True
            if pending is not None:
                members.append(_plain_member(pending))
            elif not declared and child.start_byte in self.tree.unnamed_bits:
                members.append(Member("", base, self._width(self.tree.unnamed_bits[child.start_byte])))
            elif not declared and isinstance(base, Record):
                members.append(Member("", base))
            if told != NOTHING:
                members[first:] = [replace(member, packed=told.packed, alignment=told.alignment) for member in members[first:]]
        return members, is_clear, strange

    def _width(self, written: bytes) -> int:
        """The width of an unnamed bit-field: a number, or the name of a constant."""
        text = written.decode("utf-8", "surrogateescape")
        known = number(text, self.model) if text[:1].isdigit() else self.names.lookup(text)
        constant = known.constant if isinstance(known, ConstantEntry) else known
        if not isinstance(constant, ir.IntConst):
            raise RefusedError(f"the width {text} of a bit-field")
        return constant.value

    def _enumeration(self, node: Node) -> Type:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        tag = "enum" if name is None else f"enum {self.source(name)}"
        if body is None:
            return self.names.tag(tag) or Integer(32, False, tag)
        texts = [text for text in self._attributes_of(node, body)[0] if not is_packing(text)]
        is_other = node.child_by_field_name("underlying_type") is not None or said(texts) != NOTHING
        strange = "the size of an enumeration" if is_other else strange_of_type(texts, is_named=False)
        value: int | None = 0
        lowest = 0
        for child in children(body):
            if child.type != "enumerator":
                continue
            label, given = child.child_by_field_name("name"), child.child_by_field_name("value")
            if given is not None:
                value = self.constant(given)
            if value is None or not -(1 << 31) <= value < 1 << 31:  # compilers differ in the types of all of them then
                value, strange = None, strange or "enumeration constant that is not known or does not fit into int"
            if label is not None:
                self.names.declare(self.source(label), ConstantEntry(None if value is None else ir.IntConst(value, INT)))
            lowest = min(lowest, value or 0)
            value = None if value is None else value + 1
        if strange:  # those before it have the type of the others in some compilers (C23 6.7.3.3p15)
            self._forget_constants(body)
        type_: Type = self._strange_type(strange) if strange else Integer(32, lowest < 0, tag)
        if name is not None:
            self.names.declare_tag(tag, type_)
        return type_

    def _forget_constants(self, body: Node) -> None:
        for child in children(body):
            label = child.child_by_field_name("name") if child.type == "enumerator" else None
            if label is not None:
                self.names.declare(self.source(label), ConstantEntry(None))


def _inner_declarator(node: Node) -> Node | None:
    """The declarator inside a layer that has no field for it."""
    for child in node.named_children:
        kind = child.type
        if kind in NAME_KINDS or kind.endswith("declarator"):
            return child
    return None


def _plain(type_: Type) -> object:
    return [type(type_).__name__, c_types.spell(type_)]
