"""What the parts of lowering share: the text, the names, the flow under construction, and each other.

Lowering is one recursive walk whose parts need one another (a statement expression holds statements, a statement
holds expressions), so it is one object, `lowered.Lowering`, put together from mix-ins that each do one thing. This base says
what they can rely on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence, Sized

import msgspec

from analysis.c.layout import Layout
from analysis.frontend.declarations.scope import ConstantEntry, Names, ObjectEntry
from analysis.frontend.declarations.volatile import ITSELF, Levels, levels_of
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.flow import Flow
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.lowering.unsequenced import Mark, Unsequenced, Value
from analysis.frontend.syntax.parser import Node, SyntaxTree, parse_again, text_of
from analysis.model import ir
from analysis.model.c_types import Array, DataModel, Function, RecordDefinition, Type
from analysis.model.limits import Limits


class MisreadError(Exception):
    """The grammar read `(x)` as a cast's type, but `x` is no type: the statement must be parsed again (`reread`)."""


class StaticLocal(msgspec.Struct, frozen=True):
    """A variable with static storage declared in a function, and its constant initial value (see graph.Global for `parts`)."""

    var: ir.Var
    initial: ir.Expr
    parts: tuple[ir.Assign, ...] = ()


TOO_DEEP = "nested too deeply"
"""Why something is refused that is deeper than the limit, or than Python can follow."""


class Context(ABC):
    """State of one lowering, and the operations that its parts offer each other."""

    def __init__(self, tree: SyntaxTree, names: Names, model: DataModel, path: str, limits: Limits) -> None:
        self.tree = tree
        self.text = tree.text
        self.names = names
        self.model = model
        self.path = path
        self.limits = limits
        self.layout = Layout(model, names.record)
        self.flow = Flow(names.around)
        self.order = Unsequenced()
        self.depth = 0
        self.result_type: Type | None = None
        self.address_taken: set[str] = set()
        self.implicit: dict[str, ir.Var] = {}
        self.statics: list[StaticLocal] = []
        self.local_externs: dict[str, ir.Var] = {}
        self.volatiles: dict[str, Levels] = {}
        self.records_around = 0
        self.incomplete: dict[str, tuple[RecordDefinition, frozenset[str]]] = {}  # what is missing inside a record
        self._temporaries = 0
        self._probing = 0
        self._types: dict[tuple[int, int], Type] = {}
        self._constants: dict[tuple[int, int], int | None] = {}

    def source(self, node: Node) -> str:
        """The text of a node."""
        return text_of(node).decode("utf-8", "surrogateescape")

    def temporary(self, type_: Type) -> ir.Var:
        """A fresh temporary."""
        self._temporaries += 1
        return ir.Var(f"${self._temporaries}", "temporary", type_)

    @property
    def last_temporary(self) -> int:
        """The number of the last temporary; 0 if there is none."""
        return self._temporaries

    def changed_by_expressions(self) -> tuple[Sized, ...]:
        """What lowering puts somewhere by a key, where it meets expressions that are evaluated, or blocks."""
        names = self.names
        return self.address_taken, self.implicit, self.local_externs, self.volatiles, names.records, names.blocks

    def emitted(self) -> tuple[Sized, ...]:
        """What lowering adds to there, and takes nothing out of."""
        flow = self.flow
        return self.statics, self.names.given, flow.edges, flow.heads, flow.declared, flow.labelled, self.order.groups

    def mark(self) -> Mark:
        """Where an operand begins or ends, for `Unsequenced.operands`."""
        return self.order.mark(self.flow)

    def unordered(self, marks: Sequence[Mark], *values: ir.Expr) -> None:
        """Operands with these values were lowered between the marks, which C evaluates in any order."""
        self.order.operands(self.flow, marks, [(Value(value),) for value in values])

    def emit(self, effect: ir.Effect, node: Node) -> None:
        """An edge whose site is the node."""
        self.flow.emit(effect, node.start_byte, node.end_byte)

    def read(self, expr: ir.Expr, node: Node) -> ir.Expr:
        """The value of an expression: where it is an object that can change by itself, a temporary with any value."""
        if not isinstance(expr, ir.LVALUES) or isinstance(expr.type, Array | Function):
            return expr
        levels = levels_of(expr, self.volatiles, self.names.record)
        if 0 not in levels:
            return expr
        result = self.temporary(expr.type)
        self.volatiles[result.name] = levels - ITSELF
        self.emit(ir.Assign(result, expr), node)
        self.emit(ir.Assign(result, ir.Unknown(expr.type)), node)
        return result

    def probe_type(self, node: Node) -> Type:
        """The type of an expression that is not evaluated, as the operand of `sizeof`; arrays are not decayed."""
        key = node.start_byte, node.end_byte
        if key not in self._types:
            self._types[key] = self.probe(self.expression, node).type
        return self._types[key]

    def constant(self, node: Node) -> int | None:
        """The value of an integer constant expression, None when it is not constant."""
        key = node.start_byte, node.end_byte
        if key not in self._constants:
            value = operators.constant(self.probe(self.value, node))
            self._constants[key] = value.value if isinstance(value, ir.IntConst) else None
        return self._constants[key]

    def probe(self, lower: Callable[[Node], ir.Expr], node: Node) -> ir.Expr:
        """Lowers an expression to look at the result, and undoes every effect of lowering it."""
        flow, temporaries, taken, mark = self.flow, self._temporaries, set(self.address_taken), self.names.mark()
        order = self.order.state()
        self.flow = Flow(self.names.around)
        self._probing += 1
        try:
            return lower(node)
        finally:
            self._probing -= 1
            self.order.back_to(order)
            self.flow, self._temporaries, self.address_taken = flow, temporaries, taken
            self.names.reset(mark)

    def reread(self, node: Node) -> Node | None:
        """The node parsed again without the parentheses around what is no type; None if there are none such.

        C cannot be parsed without knowing what is a type: `a < (b) - c` is read as a cast of `-c`.
        """
        blanks: list[int] = []
        waiting = [node]
        while waiting:
            here = waiting.pop()
            if here.type == "cast_expression" and self.casts_to_no_type(here):
                blanks += [c.start_byte for c in here.children if c.type in "()"]
            waiting.extend(here.named_children)
        return parse_again(self.tree, node, blanks) if blanks else None

    def casts_to_no_type(self, cast: Node) -> bool:
        """Whether the "type" of a cast is the name of an object or constant, or begins with one: `(f((a, b))) - c`."""
        descriptor = cast.child_by_field_name("type")
        type_ = None if descriptor is None else descriptor.child_by_field_name("type")
        if type_ is None or type_.type != "type_identifier":
            return False
        return isinstance(self.names.lookup(self.source(type_)), ObjectEntry | ConstantEntry)

    @abstractmethod
    def static_value(self, type_: Type, initialiser: Node | None) -> ir.Expr:
        """The constant that an object with static storage starts with."""

    @abstractmethod
    def static_parts(self, var: ir.Var, initialiser: Node | None) -> tuple[ir.Assign, ...]:
        """What the parts of an object with static storage start with, where that is not one constant."""

    def check_depth(self) -> None:
        """Refuses what is nested deeper than the limit (invariant I16)."""
        if self.depth > self.limits.nesting:
            raise RefusedError(TOO_DEEP)

    @property
    def probing(self) -> bool:
        """Whether what is lowered now is thrown away."""
        return self._probing > 0

    @abstractmethod
    def expression(self, node: Node) -> ir.Expr:
        """Lowers an expression; arrays and functions are not decayed, lvalues stay lvalues."""

    @abstractmethod
    def value(self, node: Node) -> ir.Expr:
        """Lowers an expression to its value."""

    @abstractmethod
    def discard(self, node: Node) -> None:
        """Lowers an expression for its effects only."""

    @abstractmethod
    def branch(self, node: Node, yes: int, no: int) -> None:
        """Lowers a condition: control goes to `yes` when it is true, else to `no`; nothing is current afterwards."""

    @abstractmethod
    def branch_value(self, condition: ir.Expr, node: Node, yes: int, no: int) -> None:
        """Two Assume edges on a value; nothing is current afterwards."""

    @abstractmethod
    def cast(self, type_: Type, operand: Node) -> ir.Expr:
        """Lowers `(type) operand`."""

    def does_not_return(self, function: Node) -> bool:
        """Whether what a call names is declared not to return."""
        while function.type == "parenthesized_expression":
            function = inside(function)
        entry = self.names.lookup(self.source(function))
        return isinstance(entry, ObjectEntry) and entry.noreturn

    @abstractmethod
    def cast_types(self, node: Node) -> tuple[Type, ...]:
        """The types T and U, outermost first, if the node is `(T)(e)` or `(T)(U)(e)`, which read as calls; else empty."""

    @abstractmethod
    def store(self, target: ir.Expr, node: Node, site: Node) -> None:
        """Lowers `target = expression`, the edge at `site`."""

    @abstractmethod
    def call(self, node: Node, result: ir.Expr | None, wanted: bool) -> ir.Expr:
        """Lowers a call, its result into `result`, or a temporary if it is wanted."""

    @abstractmethod
    def initialise(self, target: ir.Expr, node: Node, site: Node) -> None:
        """Lowers the initialisation of an object by an initialiser."""

    @abstractmethod
    def initial_values(self, target: ir.Expr, node: Node) -> Iterator[tuple[ir.Expr, ir.Expr]]:
        """What an initialiser gives an object with static storage: the whole a zero, then its parts their values."""

    @abstractmethod
    def scalar_literal(self, type_: Type, node: Node) -> ir.Expr | None:
        """The value of a compound literal of a scalar type; None if it is none."""

    @abstractmethod
    def elements_given(self, node: Node) -> int:
        """How many values an initialiser lists, at most."""

    @abstractmethod
    def initialised_length(self, element: Type, node: Node) -> int | None:
        """The length that an initialiser gives an array without one."""

    @abstractmethod
    def statement(self, node: Node) -> None:
        """Lowers a statement or declaration in a block."""

    @abstractmethod
    def block_value(self, node: Node) -> ir.Expr:
        """Lowers the block of a statement expression, to its value."""

    @abstractmethod
    def label_address(self, name: str) -> ir.Expr:
        """The address of a label of the function."""

    @abstractmethod
    def type_and_levels(self, node: Node) -> tuple[Type, Levels]:
        """The type that a type name stands for, and its levels (see `frontend.declarations.volatile`)."""

    @abstractmethod
    def type_name(self, node: Node) -> Type:
        """The type that a type name (type_descriptor) stands for."""

    @abstractmethod
    def operand_type(self, operand: Node) -> Type:
        """The type of an operand that is a type name or an expression that is not evaluated, as of `typeof`."""


def children(node: Node) -> Sequence[Node]:
    """The named children without comments."""
    return [child for child in node.named_children if child.type != "comment"]


def field_of(node: Node, name: str) -> Node:
    """The child in a field of the grammar; refuses a node without it."""
    found = node.child_by_field_name(name)
    if found is None:
        raise RefusedError(f"{node.type.replace('_', ' ')} without {name}")
    return found


def inside(node: Node) -> Node:
    """What is in the parentheses of a node."""
    for child in node.named_children:
        if child.type != "comment":
            return child
    raise RefusedError("empty parentheses")


def inside_arguments(node: Node) -> Node:
    """The first argument of a call."""
    return inside(field_of(node, "arguments"))
