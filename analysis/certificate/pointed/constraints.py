"""The constraints of one function: what flows where by its assignments, returns and calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from analysis.certificate.pointed.nodes import ANYTHING, FIXED_PLACE, FURTHER, Node, of_result, of_variable
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import VA_LIST, Floating, Integer, Pointer, Type
from analysis.model.comparisons import COMPARISONS
from analysis.model.kept_with import kept_with


class CallSite(NamedTuple):
    """A call: what is called by name, or through what; what is passed, None for what leads nowhere; where the result goes."""

    edge: int
    name: str | None
    through: Node | None
    passed: tuple[Node | None, ...]
    result: Node
    call: ir.Call


class Constraints(NamedTuple):
    """`addresses`: a node holds the address of an object. `copies`: the first holds what the second holds. `loads`: it holds what
    is in the objects that the second leads to; with whether that may be pointers by its type. `stores`: the objects that the
    first leads to hold what the second holds."""

    addresses: tuple[tuple[Node, Node], ...]
    copies: tuple[tuple[Node, Node], ...]
    loads: tuple[tuple[Node, Node, bool], ...]
    stores: tuple[tuple[Node, Node], ...]
    calls: tuple[CallSite, ...]


class Values(NamedTuple):
    """What the values of an expression are: `addresses` of objects, and what nodes hold."""

    addresses: frozenset[Node] = frozenset()
    nodes: frozenset[Node] = frozenset()

    def with_(self, other: Values) -> Values:
        """The values of both."""
        return Values(self.addresses | other.addresses, self.nodes | other.nodes)


NOWHERE = Values()
_SMALL = 16  # bits
_POINTER_BITS = 64  # or fewer


@kept_with
def constraints_of(cfa: Cfa) -> Constraints:
    """The constraints of a function."""
    return _Collector(cfa).collected()


def may_be_pointer(type_: Type) -> bool:
    """Whether a value of a type has a pointer in it, as far as the type says."""
    return not isinstance(type_, Integer | Floating)


def values(function: str, expr: ir.Expr, load: Callable[[Values, bool], Values]) -> Values:
    """The values of an expression in a function. `load`: what is in the objects that some values lead to, and whether that may be
    pointers by its type."""
    match expr:
        case ir.Var(_, scope):
            node = frozenset((of_variable(function, expr),))
            return Values(addresses=node) if scope == "function" else Values(nodes=node)
        case ir.Deref() | ir.Field() | ir.Index():
            root = ir.root(expr)
            if isinstance(root, ir.Deref):
                return load(values(function, root.pointer, load), may_be_pointer(expr.type))
            return values(function, root, load)
        case ir.AddressOf(lvalue):
            return places(function, lvalue, load)
        case ir.IntConst(number, Pointer()) if number:
            return Values(addresses=frozenset((FIXED_PLACE,)))
        case ir.Unknown(type_) if type_ == VA_LIST:
            return Values(addresses=frozenset((FURTHER,)))
        case ir.Unknown(type_, arguments) if arguments is not None or _has_room(type_):
            return Values(addresses=frozenset((ANYTHING,))) if arguments is None else Values(nodes=frozenset((FURTHER,)))
        case ir.Cast(operand, type_):
            return _converted(operand, type_, values(function, operand, load))
        case ir.Binary(operator, left, right):
            if operator in COMPARISONS or (operator == "-" and isinstance(right.type, Pointer)):
                return NOWHERE
            found = values(function, left, load)  # of a pointer and a number, the pointer says where it leads
            return found if isinstance(left.type, Pointer) else found.with_(values(function, right, load))
        case ir.Unary(operator, operand) if operator != "!":
            return values(function, operand, load)
        case _:
            return NOWHERE


def places(function: str, lvalue: ir.Expr, load: Callable[[Values, bool], Values]) -> Values:
    """The addresses of the objects that an lvalue is, or is a part of. String literals hold no pointers, and do not end."""
    root = ir.root(lvalue)
    if isinstance(root, ir.Deref):
        return values(function, root.pointer, load)
    return Values(addresses=frozenset((of_variable(function, root),))) if isinstance(root, ir.Var) else NOWHERE


def _has_room(type_: Type) -> bool:
    """Whether a pointer, or a part of one that says where it leads, may be in a value of which nothing is known."""
    return not isinstance(type_, Floating) and not (isinstance(type_, Integer) and type_.bits <= _SMALL)


def _converted(operand: ir.Expr, type_: Type, found: Values) -> Values:
    if isinstance(type_, Pointer) and not isinstance(operand.type, Pointer):
        if _keeps_pointer(operand):
            return found
        number = ir.strip_casts(operand)
        is_null = isinstance(number, ir.IntConst) and number.value == 0
        to = FIXED_PLACE if isinstance(number, ir.IntConst) else ANYTHING
        return NOWHERE if is_null else Values(addresses=frozenset((to,)))
    return found


def _keeps_pointer(expr: ir.Expr) -> bool:
    """Whether a number is a pointer that was converted, with all its bits."""
    while isinstance(expr, ir.Cast) and isinstance(expr.type, Integer) and expr.type.bits >= _POINTER_BITS:
        expr = expr.operand
    return isinstance(expr.type, Pointer)


class _Collector:
    """Collects the constraints of one function."""

    def __init__(self, cfa: Cfa) -> None:
        self._cfa, self._name = cfa, cfa.name
        self._addresses: dict[tuple[Node, Node], None] = {}
        self._copies: dict[tuple[Node, Node], None] = {}
        self._loads: dict[tuple[Node, Node, bool], None] = {}
        self._stores: dict[tuple[Node, Node], None] = {}
        self._calls: list[CallSite] = []
        self._read: dict[tuple[Node, bool], Node] = {}
        self._joined: dict[Values, Node] = {}

    def collected(self) -> Constraints:
        """What the edges of the function do."""
        for edge in self._cfa.edges:
            match edge.effect:
                case ir.Assign(target, value):
                    self._assign(target, self._values(value))
                case ir.Return(value) if value is not None:
                    self._flow(of_result(self._name), self._values(value))
                case ir.Call() as call:
                    self._call(edge.id, call)
                case _:
                    pass
        return Constraints(
            tuple(self._addresses), tuple(self._copies), tuple(self._loads), tuple(self._stores), tuple(self._calls)
        )

    def _call(self, edge: int, call: ir.Call) -> None:
        name = ir.direct_callee(call)
        through = self._node(self._values(call.callee)) if name is None else None
        passed = tuple(self._node(self._values(argument)) for argument in call.arguments)
        result = Node("returned", self._name, str(edge))
        if call.result is not None:
            self._assign(call.result, Values(nodes=frozenset((result,))))
        self._calls.append(CallSite(edge, name, through, passed, result, call))

    def _assign(self, target: ir.Expr, given: Values) -> None:
        root = ir.root(target)
        if isinstance(root, ir.Var):
            self._flow(of_variable(self._name, root), given)
        elif isinstance(root, ir.Deref):
            to, what = self._node(self._values(root.pointer)), self._node(given)
            if to is not None and what is not None:
                self._stores[to, what] = None

    def _flow(self, target: Node, given: Values) -> None:
        for one in given.addresses:
            self._addresses[target, one] = None
        for one in given.nodes - {target}:
            self._copies[target, one] = None

    def _node(self, given: Values) -> Node | None:
        """A node that holds these values; None if there are none."""
        if given == NOWHERE:
            return None
        if not given.addresses and len(given.nodes) == 1:
            return next(iter(given.nodes))
        if given not in self._joined:
            made = self._joined[given] = Node("joined", self._name, str(len(self._joined)))
            self._flow(made, given)
        return self._joined[given]

    def _values(self, expr: ir.Expr) -> Values:
        return values(self._name, expr, self._load)

    def _load(self, pointer: Values, may_be_pointer: bool) -> Values:
        """What is in the objects that these values lead to."""
        of = self._node(pointer)
        if of is None:
            return NOWHERE
        key = of, may_be_pointer
        if key not in self._read:
            made = self._read[key] = Node("read", self._name, str(len(self._read)))
            self._loads[made, of, may_be_pointer] = None
        return Values(nodes=frozenset((self._read[key],)))
