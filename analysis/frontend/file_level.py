"""The declarations of a file outside function bodies: what its names mean, its variables, the functions it declares."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from analysis.frontend.calls import NEVER_RETURN
from analysis.frontend.constants import number
from analysis.frontend.context import MisreadError, RefusedError, field_of
from analysis.frontend.declarations import Declarator
from analysis.frontend.lowering import Lowering
from analysis.frontend.scope import ConstantEntry, FileScope, Names, ObjectEntry
from analysis.frontend.syntax import Node, SyntaxTree, text_of
from analysis.frontend.volatile import Levels
from analysis.model import ir
from analysis.model.c_types import VOID, Array, DataModel, Function, Pointer, Type
from analysis.model.limits import Limits

_UNSEEN = re.compile(rb"\b_*(?:constructor|destructor|alias|ifunc|weakref)_*\b")
UNSEEN = "__attribute__"
"""The name, among the functions that a file declares, that says: attributes make functions run besides what is called from
`main`, or give objects and functions more names than one. No function is called so."""

_NORETURN = re.compile(rb"\b_*noreturn_*\b|\b_Noreturn\b")
_NONNULL = re.compile(rb"\b_*nonnull_*\s*(?:\(([^)]*)\))?")


class Variable(msgspec.Struct, frozen=True):
    """A file-level variable: `initial` is None while it is only declared `extern`, or tentatively defined if `tentative`;
    for `parts` see graph.Global."""

    var: ir.Var
    initial: ir.Expr | None
    tentative: bool
    parts: tuple[ir.Assign, ...] = ()
    constant: bool = False


class DeclaredFunction(msgspec.Struct, frozen=True):
    """A function as the file declares it; `nonnull` are argument indices from 0."""

    name: str
    linkage: str
    type: Function
    noreturn: bool = False
    nonnull: tuple[int, ...] = ()
    system: bool = False


class FileLevel:
    """The declarations of one translation unit."""

    def __init__(self) -> None:
        self.scope = FileScope()
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, DeclaredFunction] = {}
        self.address_taken: set[str] = set()
        self.refused: list[tuple[int, str]] = []


class FileReader:
    """Reads top-level nodes in order into a `FileLevel`."""

    def __init__(
        self, tree: SyntaxTree, model: DataModel, path: str, limits: Limits, in_system_header: Callable[[int], bool]
    ) -> None:
        self.level = FileLevel()
        self._tree = tree
        self._path = path
        self._lowering = Lowering(tree, Names(self.level.scope, None), model, path, limits)
        self._in_system_header = in_system_header
        self._previous_end = 0
        self._constant = False  # whether what is declared now is `const`

    @classmethod
    def for_definitions(cls, tree: SyntaxTree, model: DataModel, path: str, limits: Limits, level: FileLevel) -> FileReader:
        """A reader of the declarators of definitions whose declarations are known already."""
        reader = cls(tree, model, path, limits, lambda _offset: False)
        reader._lowering = Lowering(tree, Names(level.scope, None), model, path, limits)
        return reader

    def declarator_of(self, node: Node) -> Declarator:
        """The declarator of a function definition; declares nothing but tags."""
        found = self._lowering.declarator(field_of(node, "declarator"), self._lowering.specifiers(node).type)
        if found.name is None or not isinstance(found.type, Function):
            raise RefusedError("function definition without a name")
        return found

    def read(self, node: Node) -> None:
        """Takes in one top-level node; what is not understood is noted in `refused`."""
        again: Node | None = node
        try:
            try:
                self._read(node)
            except MisreadError:
                again = self._lowering.reread(node)
                if again is not None:
                    self._read(again)
        except (RefusedError, MisreadError) as refused:
            self.level.refused.append((node.start_byte, str(refused)))
        self._lowering.depth = 0
        self._note_unseen(node)
        self._previous_end = node.end_byte

    def _note_unseen(self, node: Node) -> None:
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        end = node.end_byte if body is None else body.start_byte
        if any(_UNSEEN.search(attribute[2]) for attribute in self._tree.attributes_in(self._previous_end, end)):
            self.level.functions[UNSEEN] = DeclaredFunction(UNSEEN, UNSEEN, Function(VOID, ()))

    def _read(self, node: Node) -> None:
        kind = node.type
        if kind in ("declaration", "type_definition"):
            self._declaration(node)
        elif kind == "function_definition":
            self.definition(node)
        elif kind == "preproc_def":
            self._macro(node)
        elif kind == "expression_statement":
            declared = self._lowering.misread_declaration(node)
            if declared is not None:
                self._declare(declared[0], frozenset(), declared[1], node)
        elif kind in ("struct_specifier", "union_specifier", "enum_specifier"):
            self._lowering.specified_type(node)

    def _macro(self, node: Node) -> None:
        """`#define N 10` in text that is not preprocessed: a constant."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            return
        text = text_of(value).decode("utf-8", "surrogateescape").strip()
        constant = number(text.strip("() "), self._lowering.model) if text[:1] in "(0123456789" else None
        if isinstance(constant, ir.IntConst):
            self.level.scope.names[text_of(name).decode("utf-8", "surrogateescape")] = ConstantEntry(constant)

    def definition(self, node: Node) -> Declarator:
        """Declares the function that a definition defines, and gives its declarator."""
        found = self.declarator_of(node)
        if found.name is not None and isinstance(found.type, Function):
            self._function(found.name, found.type, self._lowering.specifiers(node).storage, node, defined=True)
        return found

    def _declaration(self, node: Node) -> None:
        specifiers = self._lowering.specifiers(node)
        storage = specifiers.storage | ({"typedef"} if node.type == "type_definition" else set())
        for position, child in enumerate(node.children):
            if node.field_name_for_child(position) != "declarator":
                continue
            initialiser = child.child_by_field_name("value") if child.type == "init_declarator" else None
            core = field_of(child, "declarator") if child.type == "init_declarator" else child
            found = self._lowering.declarator(core, specifiers.type, specifiers.volatile)
            self._constant = specifiers.constant and core.type in ("identifier", "array_declarator")
            self._declare(found, storage, initialiser, node)
        self._constant = False

    def _declare(self, found: Declarator, storage: frozenset[str] | set[str], initialiser: Node | None, node: Node) -> None:
        if found.name is None:
            return
        if "typedef" in storage:
            self.level.scope.names[found.name] = self._lowering.typedef_entry(found, node)
        elif isinstance(found.type, Function):
            self._function(found.name, found.type, storage, node, defined=False)
        else:
            self._variable(found.name, found.type, storage, initialiser, found.volatile)

    def _function(self, name: str, type_: Function, storage: frozenset[str] | set[str], node: Node, defined: bool) -> None:
        known = self.level.functions.get(name)
        linkage = known.linkage if known is not None else f"{self._path}::{name}" if "static" in storage else name
        noreturn, nonnull = self._attributes(type_, node)
        of_the_library = name in NEVER_RETURN and linkage == name and not defined
        if known is not None:
            of_the_library = of_the_library and known.noreturn  # not if the file defined it before
            noreturn, nonnull = noreturn or (known.noreturn and name not in NEVER_RETURN), nonnull or known.nonnull
        noreturn = noreturn or of_the_library
        if known is not None and not type_.prototyped and known.type.prototyped and not defined:
            type_ = known.type
        system = self._in_system_header(node.start_byte)
        self.level.functions[name] = DeclaredFunction(name, linkage, type_, noreturn, nonnull, system)
        self.level.scope.names[name] = ObjectEntry(ir.Var(linkage, "function", type_), noreturn)

    def _attributes(self, type_: Function, node: Node) -> tuple[bool, tuple[int, ...]]:
        """`noreturn` and `nonnull` from the attributes in a declaration, or between it and the one before."""
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        end = node.end_byte if body is None else body.start_byte
        noreturn, nonnull = False, set[int]()
        for attribute in self._tree.attributes_in(self._previous_end, end):
            text = attribute[2]
            noreturn = noreturn or _NORETURN.search(text) is not None
            for found in _NONNULL.finditer(text):
                given = re.findall(rb"\d+", found.group(1) or b"")
                pointers = [i for i, parameter in enumerate(type_.parameters) if isinstance(parameter, Pointer)]
                nonnull.update([int(digits) - 1 for digits in given] or pointers)
        return noreturn, tuple(sorted(nonnull))

    def _variable(
        self, name: str, type_: Type, storage: frozenset[str] | set[str], initialiser: Node | None, levels: Levels
    ) -> None:
        known = self.level.variables.get(name)
        if isinstance(type_, Array) and type_.length is None:
            if initialiser is not None:
                type_ = Array(type_.element, self._lowering.initialised_length(type_.element, initialiser))
            elif known is not None:
                type_ = known.var.type
        static = "static" in storage
        linkage = known.var.name if known is not None else f"{self._path}::{name}" if static else name
        var = ir.Var(linkage, "global", type_)
        self.level.scope.names[name] = ObjectEntry(var, volatile=levels)
        initial: ir.Expr | None = None
        parts: tuple[ir.Assign, ...] = ()
        if initialiser is not None:
            initial = self._lowering.static_value(type_, initialiser)
            parts = self._lowering.static_parts(var, initialiser)
            self.level.address_taken |= self._lowering.address_taken
        elif known is not None:
            initial, parts = known.initial, known.parts
        tentative = initialiser is None and "extern" not in storage
        self.level.variables[name] = Variable(
            var, initial, tentative or (known is not None and known.tentative), parts, self._constant
        )
