"""Lowering of declarations in blocks, and the constants that objects with static storage start with (C11 6.7, 6.7.9)."""

from __future__ import annotations

from analysis.c.attributes import strange_of_variable
from analysis.frontend.declarations.attribute_reading import attributes
from analysis.frontend.declarations.declarators import Declarator
from analysis.frontend.declarations.enumerations import Enumerations
from analysis.frontend.declarations.records import Records
from analysis.frontend.declarations.scope import ObjectEntry
from analysis.frontend.declarations.volatile import ITSELF, Levels, levels_of
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.cleanups import Cleanups
from analysis.frontend.lowering.context import StaticLocal, children, field_of
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node
from analysis.model import ir
from analysis.model.c_types import INT, Array, Function, Record, Type, Void

_BRACED = frozenset(("initializer_list", "compound_literal_expression"))
_NOT_EVALUATED = frozenset(("sizeof_expression", "alignof_expression", "offsetof_expression"))
_OF_ITS_VALUE = "__auto_type"  # in place of a type, in GNU C
_CONSTANT = frozenset(("const", "__const", "__const__"))
_LARGEST_TABLE = 4096  # parts of a static object that are kept; what larger tables hold is not known


class LocalDeclarations(Cleanups, Enumerations, Records):
    """Declarations in blocks, and static initialisers."""

    def declaration(self, node: Node) -> None:
        """A declaration in a block."""
        if any(child.type == "type_identifier" and self.source(child) == _OF_ITS_VALUE for child in node.named_children):
            self._automatic(node)
            return
        specifiers = self.specifiers(node)
        storage = specifiers.storage | {"typedef"} if node.type == "type_definition" else specifiers.storage
        beside = self._attributes_of(node)
        strange = strange_of_variable(attributes(text for _, text in beside))
        if strange and "typedef" not in storage:
            raise RefusedError(strange)
        first: int | None = None
        for position, child in enumerate(node.children):
            if node.field_name_for_child(position) != "declarator":
                continue
            first = child.start_byte if first is None else first
            initialiser = child.child_by_field_name("value") if child.type == "init_declarator" else None
            core = field_of(child, "declarator") if child.type == "init_declarator" else child
            if any(part.type == "gnu_asm_expression" for part in core.named_children):
                raise RefusedError("assembler name")
            found = self.declarator(core, specifiers.type, specifiers.volatile)
            self.declare(found, storage, initialiser, child)
            called = self.cleanup_of(beside, child, first) if beside else ""
            if called and found.name is not None:
                self.note_cleanup(found.name, storage, called, child)

    def _automatic(self, node: Node) -> None:
        """`__auto_type x = e;`: the variable has the type of the value, without its qualifiers."""
        declarator = children(node)[-1]
        name = declarator.child_by_field_name("declarator")
        is_plain = len(node.children_by_field_name("declarator")) == 1 and name is not None and name.type == "identifier"
        if not is_plain or name is None or any(child.type == "storage_class_specifier" for child in node.named_children):
            raise RefusedError(f"unknown type {_OF_ITS_VALUE}")
        qualifiers = [self.source(child) for child in node.named_children if child.type == "type_qualifier"]
        if not _CONSTANT.issuperset(qualifiers):
            raise RefusedError(f"{_OF_ITS_VALUE} with {' '.join(qualifiers)}")
        beside = self._attributes_of(node)
        strange = strange_of_variable(attributes(text for _, text in beside))
        if strange:
            raise RefusedError(strange)
        levels = set[int]()

        def with_levels(value: Node) -> ir.Expr:
            lowered = self.value(value)
            levels.update(levels_of(lowered, self.volatiles, self.names.record))
            return lowered

        initialiser = field_of(declarator, "value")
        type_ = self.probe(with_levels, initialiser).type
        found = Declarator(self.source(name), type_, name, None, frozenset(levels) - ITSELF)
        self.declare(found, frozenset(), initialiser, declarator)
        called = self.cleanup_of(beside, declarator, declarator.start_byte) if beside else ""
        if called:
            self.note_cleanup(self.source(name), frozenset(), called, declarator)

    def _attributes_of(self, node: Node) -> list[tuple[int, bytes]]:
        """The attributes before and in a declaration, with where they are."""
        before = node.prev_sibling
        return self.attributes_beside(node, node.start_byte if before is None else before.end_byte)

    def declare(self, found: Declarator, storage: frozenset[str], initialiser: Node | None, site: Node) -> None:
        """Takes in one declarator of a block."""
        name, type_ = found.name, found.type
        if name is None:
            return
        if "typedef" in storage:
            self.names.declare(name, self.typedef_entry(found, site.parent or site))
        elif isinstance(type_, Function):
            self._declare_function(name, type_)
        elif "extern" in storage:
            self._declare_extern(name, type_, found.volatile)
        else:
            if isinstance(type_, Array) and type_.length is None and initialiser is not None:
                type_ = Array(type_.element, self.initialised_length(type_.element, initialiser))
            if "static" in storage:
                self._declare_static(name, type_, initialiser, found.volatile)
                return
            var = ir.Var(self.names.unique(name), "local", type_)
            self.names.declare(name, ObjectEntry(var, volatile=found.volatile))
            self.names.place(var.name)
            self.flow.declares(var.name)
            if initialiser is None or self._mentions(initialiser, name):
                self.emit(ir.Assign(var, ir.Undefined(type_)), site)
            if initialiser is not None:
                self.initialise(var, initialiser, site)

    def _mentions(self, initialiser: Node, name: str) -> bool:
        """Whether the initialiser of a variable mentions it: it has no value then (C11 6.2.4p6)."""
        waiting = [initialiser]
        while waiting:
            here = waiting.pop()
            if here.type == "identifier" and self.source(here) == name:
                return True
            waiting += [child for child in here.named_children if here.type not in _NOT_EVALUATED]
        return False

    def _declare_function(self, name: str, type_: Function) -> None:
        known = self.names.file.names.get(name)
        self.names.used[("name", name)] = known
        if isinstance(known, ObjectEntry):
            self.names.declare(name, known)
            return
        var = ir.Var(name, "function", type_)
        self.implicit[name] = var
        self.names.declare(name, ObjectEntry(var))

    def _declare_extern(self, name: str, type_: Type, levels: Levels) -> None:
        known = self.names.file.names.get(name)
        self.names.used[("name", name)] = known
        if isinstance(known, ObjectEntry):
            self.names.declare(name, known)
            return
        var = ir.Var(name, "global", type_)
        self.local_externs[name] = var
        self.names.declare(name, ObjectEntry(var, volatile=levels))

    def _declare_static(self, name: str, type_: Type, initialiser: Node | None, levels: Levels) -> None:
        unique = self.names.unique(name)
        var = ir.Var(f"{self.path}::{self.names.function}::{unique}", "global", type_)
        self.names.declare(name, ObjectEntry(var, volatile=levels))
        if not self.probing:
            self.statics.append(StaticLocal(var, self.static_value(type_, initialiser), self.static_parts(var, initialiser)))

    def static_parts(self, var: ir.Var, initialiser: Node | None) -> tuple[ir.Assign, ...]:
        """What the parts of an object with static storage start with, where that is not one constant (graph.Global.parts)."""
        if initialiser is None or self.elements_given(initialiser) > _LARGEST_TABLE:
            return ()
        parts: list[ir.Assign] = []

        def evaluate(node: Node) -> ir.Expr:
            for target, value in self.initial_values(var, node):
                parts.append(ir.Assign(target, operators.constant(value)))
            return ir.Zero(var.type)

        if initialiser.type not in _BRACED and not isinstance(var.type, Array):
            return ()
        try:
            self.probe(evaluate, initialiser)
        except RefusedError:
            return ()
        return tuple(parts) if all(_constant_part(part.value) for part in parts) else ()

    def static_value(self, type_: Type, initialiser: Node | None) -> ir.Expr:
        """The constant that an object with static storage starts with (graph.Global.initial)."""
        if initialiser is None:
            return zero(type_)
        try:
            return self._probed_value(type_, initialiser)
        except RefusedError:
            return ir.Unknown(type_)

    def _probed_value(self, type_: Type, initialiser: Node) -> ir.Expr:
        taken: set[str] = set()

        def evaluate(node: Node) -> ir.Expr:
            if (literal := self.scalar_literal(type_, node)) is not None:
                value = literal
            elif node.type == "initializer_list":
                found = self._constants_of(node)
                value = found[0] if len(found) == 1 and not isinstance(type_, Array) else ir.Unknown(type_)
            else:
                value = operators.convert(self.value(node), type_)
            taken.update(self.address_taken)
            return value

        value = operators.constant(self.probe(evaluate, initialiser))
        self.address_taken |= taken
        if not isinstance(value.type, type(type_)) or value.type != type_:
            return ir.Unknown(type_)
        return value if _constant_part(value) else ir.Unknown(type_)

    def scalar_literal(self, type_: Type, node: Node) -> ir.Expr | None:
        """The value of a compound literal of a scalar type, `(int){42}`, which GNU C takes for a constant; None if it is none."""
        if node.type != "compound_literal_expression" or isinstance(type_, Array | Record):
            return None
        literal = self.type_name(field_of(node, "type"))
        items = children(field_of(node, "value"))
        if isinstance(literal, Array | Record) or len(items) != 1 or items[0].type in ("initializer_pair", "initializer_list"):
            return None
        inner = self.scalar_literal(literal, items[0])
        return operators.convert(operators.convert(self.value(items[0]) if inner is None else inner, literal), type_)

    def _constants_of(self, node: Node) -> list[ir.Expr]:
        """Yields the values in a list that could hold addresses, because the analysis must know which functions have
        their address taken."""
        found: list[ir.Expr] = []
        for child in children(node):
            value = field_of(child, "value") if child.type == "initializer_pair" else child
            if value.type == "initializer_list":
                found.extend(self._constants_of(value))
            elif value.type not in ("number_literal", "char_literal", "string_literal", "concatenated_string"):
                found.append(self.value(value))
        return found


def zero(type_: Type) -> ir.Expr:
    """What an object with static storage and no initialiser starts with (C11 6.7.9p10)."""
    match type_:
        case Array() | Function() | Void():
            return ir.Zero(type_)
        case _ if hasattr(type_, "key"):
            return ir.Zero(type_)
        case _:
            return operators.convert(ir.IntConst(0, INT), type_)


def _constant_part(value: ir.Expr) -> bool:
    """Whether the value is a constant that refers to nothing but objects with static storage."""
    return _constant_initial(value) and not any(var.scope == "temporary" for var in ir.variables(value))


def _constant_initial(value: ir.Expr) -> bool:
    match ir.strip_casts(value):
        case ir.IntConst() | ir.FloatConst() | ir.StringConst() | ir.AddressOf() | ir.Zero():
            return True
        case ir.Unary(_, operand):
            return _constant_initial(operand)
        case ir.Binary(_, left, right):
            return _constant_initial(left) and _constant_initial(right)
        case _:
            return False
