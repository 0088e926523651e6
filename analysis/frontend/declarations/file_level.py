"""The declarations of a file outside function bodies: what its names mean, its variables, the functions it declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from analysis.c.attributes import Attribute, said_of_declaration, symbol
from analysis.c.control import NEVER_RETURN_ANYWHERE
from analysis.c.linkage import FileLinkage
from analysis.frontend.declarations.attribute_reading import assembler_names, attributes, pragma_of
from analysis.frontend.declarations.declarators import Declarator
from analysis.frontend.declarations.literal_values import number
from analysis.frontend.declarations.scope import Answer, ConstantEntry, FileScope, Names, ObjectEntry
from analysis.frontend.declarations.volatile import Levels
from analysis.frontend.lowering.context import TOO_DEEP, MisreadError, field_of
from analysis.frontend.lowering.lowered import Lowering
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node, SyntaxTree, text_of
from analysis.model import ir
from analysis.model.c_types import VOID, Array, DataModel, Function, Pointer, Type
from analysis.model.limits import Limits

UNSEEN = "__attribute__"
"""The name, among the functions that a file declares, that says: functions run besides what is called from `main`. No function is
called so."""

_TYPES_ONLY = frozenset(("struct_specifier", "union_specifier", "enum_specifier"))
_NO_CODE = frozenset((";", "comment", "preproc_call", "preproc_include", "preproc_function_def", "static_assert_declaration"))
_NO_DECLARATION = "text outside functions that is no declaration"
_LONGEST = 10  # digits: no function has so many parameters


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
        self.linkage = FileLinkage()


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
        self._defined: dict[str, bool] = {}
        self._constant = False  # whether what is declared now is `const`

    @classmethod
    def for_definitions(cls, tree: SyntaxTree, model: DataModel, path: str, limits: Limits, level: FileLevel) -> FileReader:
        """A reader of the declarators of definitions whose declarations are known already."""
        reader = cls(tree, model, path, limits, lambda _offset: False)
        reader._lowering = Lowering(tree, Names(level.scope, None), model, path, limits)
        return reader

    @property
    def tables(self) -> tuple[dict[str, Any], ...]:
        """What nodes say of names: by the name as written, by tag, by key of a record, or by linkage name."""
        level, scope = self.level, self.level.scope
        by_name = level.linkage.by_name
        return scope.names, scope.tags, scope.records, level.variables, level.functions, self._defined, *by_name

    def other_state(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """How much there is of all else that reading adds to: what has to be empty, so that it tells whether something was put
        there, and what only grows."""
        lowering, level = self._lowering, self.level
        grows = (level.refused, *lowering.emitted())
        by_key = (*level.linkage.of_the_file, level.address_taken, *lowering.changed_by_expressions())
        return tuple(map(len, by_key)), (*map(len, grows), lowering.last_temporary)

    @property
    def answers(self) -> dict[tuple[str, str], Answer]:
        """What was asked of the file's scope since `forget_answers`, and the answers."""
        return self._lowering.names.used

    def forget_answers(self) -> None:
        """Forgets what was asked, and what follows from answers."""
        self._lowering.names.used.clear()
        self._lowering.incomplete.clear()

    def skip(self, node: Node) -> None:
        """Goes on behind a node, as after `read`: what it adds is in the tables."""
        self._previous_end = node.end_byte

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
        except RecursionError:
            self.level.refused.append((node.start_byte, TOO_DEEP))
            self._lowering.names.unwind(0)
        self._lowering.depth = 0
        self._previous_end = node.end_byte

    def end(self) -> FileLevel:
        """What was read, with what holds for the file as a whole."""
        pragmas = self._tree.pragmas
        self.level.linkage.read_pragmas((pragma_of(text), self._in_system_header(start)) for start, _, text in pragmas)
        names, open_ = self.level.scope.names, self.level.linkage.open
        for name, entry in names.items() if open_ else ():
            if isinstance(entry, ObjectEntry) and entry.var.name in open_:
                names[name] = msgspec.structs.replace(entry, open=True)
        if self.level.linkage.starts:
            self.level.functions[UNSEEN] = DeclaredFunction(UNSEEN, UNSEEN, Function(VOID, ()))
        return self.level

    def _read(self, node: Node) -> None:
        kind = node.type
        if kind in ("declaration", "type_definition"):
            self._declaration(node)
        elif kind == "function_definition":
            self.definition(node)
        elif kind == "preproc_def":
            self._macro(node)
        elif kind == "expression_statement":
            self._statement(node)
        elif kind in _TYPES_ONLY:
            self._lowering.specified_type(node)
        elif kind not in _NO_CODE:
            self.level.linkage.everywhere[_NO_DECLARATION] = True

    def _statement(self, node: Node) -> None:
        """What reads as a statement: a declaration that looks like one, assembler code, or nothing."""
        declared = self._lowering.misread_declaration(node)
        if declared is not None:
            self._declare(declared[0], frozenset(), declared[1], node)
            return
        for child in node.named_children:
            code = child.child_by_field_name("assembly_code") if child.type == "gnu_asm_expression" else None
            if code is None or symbol(self._lowering.source(code)).strip():
                is_assembler = child.type == "gnu_asm_expression"
                self.level.linkage.everywhere["assembler code outside functions" if is_assembler else _NO_DECLARATION] = True

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
            self._function(found, found.type, self._lowering.specifiers(node).storage, node, field_of(node, "declarator"))
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
            self._declare(found, storage, initialiser, node, child)
        self._constant = False

    def _declare(
        self,
        found: Declarator,
        storage: frozenset[str] | set[str],
        initialiser: Node | None,
        node: Node,
        declarator: Node | None = None,
    ) -> None:
        if found.name is None:
            return
        if "typedef" in storage:
            self.level.scope.names[found.name] = self._lowering.typedef_entry(found, node)
        elif isinstance(found.type, Function):
            self._function(found, found.type, storage, node, declarator)
        else:
            linkage = self._variable(found.name, found.type, storage, initialiser, found.volatile)
            said = said_of_declaration(attributes(text for _, text in self._attributes_of(node, declarator)))
            is_system = self._in_system_header(node.start_byte)
            self.level.linkage.declare(linkage, found.name, said, is_system=is_system, is_function=False)

    def _function(
        self, found: Declarator, type_: Function, storage: frozenset[str] | set[str], node: Node, declarator: Node | None
    ) -> None:
        name, defined = found.name or "", node.type == "function_definition"
        known = self.level.functions.get(name)
        linkage = known.linkage if known is not None else f"{self._path}::{name}" if "static" in storage else name
        texts = self._attributes_of(node, declarator)
        noreturn, nonnull = _of_calls(type_, found.parameters, texts)
        system = self._in_system_header(node.start_byte)
        self._note_linkage(linkage, name, storage, [text for _, text in texts], declarator, defined=defined, system=system)
        if noreturn:
            self.level.linkage.noreturn[linkage] = True
        of_the_library = name in NEVER_RETURN_ANYWHERE and linkage == name and not defined
        if known is not None:
            of_the_library = of_the_library and known.noreturn  # not if the file defined it before
            noreturn, nonnull = noreturn or (known.noreturn and name not in NEVER_RETURN_ANYWHERE), nonnull or known.nonnull
        noreturn = noreturn or of_the_library
        if known is not None and not type_.prototyped and known.type.prototyped and not defined:
            type_ = known.type
        self.level.functions[name] = DeclaredFunction(name, linkage, type_, noreturn, nonnull, system)
        self.level.scope.names[name] = ObjectEntry(ir.Var(linkage, "function", type_), noreturn)

    def _note_linkage(
        self,
        linkage: str,
        name: str,
        storage: frozenset[str] | set[str],
        texts: list[bytes],
        declarator: Node | None,
        *,
        defined: bool,
        system: bool,
    ) -> None:
        told = self.level.linkage
        texts = [*texts, *assembler_names(declarator)]
        told.declare(linkage, name, said_of_declaration(attributes(texts)), is_system=system, is_function=True)
        told.define_function(linkage, storage, is_static=linkage != name)
        if defined and linkage in self._defined:
            told.strange[linkage] = "a second definition"
        if defined:
            self._defined[linkage] = True

    def _attributes_of(self, node: Node, declarator: Node | None) -> list[tuple[int, bytes]]:
        """The attributes of one declarator of a declaration, with their offsets. They stand before the first
        declarator, or between this declarator and the next one."""
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        found = self._lowering.attributes_beside(node, self._previous_end, None if body is None else body.start_byte)
        starts = [c.start_byte for i, c in enumerate(node.children) if node.field_name_for_child(i) == "declarator"]
        if declarator is None or len(starts) < 2:
            return found
        after = next((start for start in starts if start > declarator.start_byte), node.end_byte)
        return [(at, text) for at, text in found if at < starts[0] or declarator.start_byte <= at < after]

    def _variable(
        self, name: str, type_: Type, storage: frozenset[str] | set[str], initialiser: Node | None, levels: Levels
    ) -> str:
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
        return linkage


def _of_calls(type_: Function, parameters: Node | None, texts: Sequence[tuple[int, bytes]]) -> tuple[bool, tuple[int, ...]]:
    """`noreturn` and `nonnull` among attributes of a function; those inside its parameters are of what these point to, and so are
    those of a function that returns a pointer to another one, perhaps."""
    noreturn, nonnull = False, set[int]()
    for at, text in texts:
        if parameters is not None and parameters.start_byte <= at < parameters.end_byte:
            continue
        for one in attributes((text,)):
            noreturn = noreturn or (one.name == "noreturn" and not _returns_function(type_))
            nonnull.update(_nonnull(type_, one) if one.name == "nonnull" else ())
    return noreturn, tuple(sorted(nonnull))


def _returns_function(type_: Function) -> bool:
    return isinstance(type_.result, Pointer) and isinstance(type_.result.target, Function)


def _nonnull(type_: Function, one: Attribute) -> list[int]:
    given = re.findall(r"\d+", one.arguments)
    if given:
        return [int(digits) - 1 for digits in given if len(digits) < _LONGEST]
    return [i for i, p in enumerate(type_.parameters) if isinstance(p, Pointer)]
