"""Evaluates IR expressions over a store: each expression is compiled once to a Python function, for the activation at one depth.

What is evaluated exactly is evaluated here; the `Algebra` handles what is not known: the explicit values of the value
analysis say None, symbolic values name it or build an expression.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from analysis.c.results import compared, machine, machine_unary
from analysis.cpa.stores.scalar_values import Address, Value, bits_of, converted
from analysis.cpa.stores.store_memory import Store
from analysis.cpa.stores.variables import Variables, global_root, local_root
from analysis.model import ir
from analysis.model.c_types import Array, Floating, Integer, Pointer, Type
from analysis.model.comparisons import COMPARISONS, MIRRORED

Place = tuple[str, int | None] | None
"""A root and a bit in its object; the bit is None if it is not known; None: an object that is not known."""


class Work:
    """A store while an effect is computed. `counters`: how many symbolic identifiers and blocks were made on this path, by
    origin; `origin` is that of the step. `fails`: an allocation finds no memory. `assumed`: the symbolic value of the branch's
    condition, and which way it went."""

    __slots__ = ("assumed", "counters", "fails", "origin", "store")

    def __init__(self, store: Store, counters: Any, origin: str, fails: bool = False) -> None:
        self.store = store
        self.counters = counters
        self.origin = origin
        self.fails = fails
        self.assumed: tuple[ir.Expr, bool] | None = None


Evaluate = Callable[[Work], Value]
Locate = Callable[[Work], Place]


class Algebra(Protocol):
    """Values that are not known exactly. Each method may answer None: any value."""

    def read(self, work: Work, place: Place, type_: Type) -> Value:
        """What an unknown cell of a scalar type holds; it may be written into the store, to be the same next time."""

    def unknown(self, work: Work, type_: Type) -> Value:
        """Any value of the type."""

    def unary(self, work: Work, expr: ir.Unary, operand: Value) -> Value:
        """The operation on an operand that is not an integer."""

    def binary(self, work: Work, expr: ir.Binary, left: Value, right: Value) -> Value:
        """The operation on operands of which one is not an integer and about which pointer arithmetic says nothing."""

    def convert(self, work: Work, expr: ir.Cast, operand: Value) -> Value:
        """The conversion of an operand that is neither an integer nor an address that stays one."""

    def pointee(self, pointer: Value, size: int | None) -> Place:
        """Where a pointer to objects of a size in bytes points that is no address."""

    def allocate(self, work: Work, name: str, type_: Type) -> Value:
        """What an allocating function returns."""

    symbolic_objects: bool
    """Whether `pointee` names objects (with roots that begin with `*`) which can be any object whose address is taken."""


class Evaluator:
    """Compiles the expressions of one function at one depth."""

    def __init__(self, variables: Variables, algebra: Algebra, function: str, depth: int) -> None:
        self.variables = variables
        self.algebra = algebra
        self.function = function
        self.depth = depth
        self._values: dict[ir.Expr, Evaluate] = {}
        self._mask = (1 << variables.pointer_bits) - 1

    def root(self, var: ir.Var) -> str:
        """The root of a variable of this activation, or of a global."""
        return global_root(var.name) if var.scope == "global" else local_root(self.function, self.depth, var.name)

    # -- places -------------------------------------------------------------------------------------------------

    def static_place(self, lvalue: ir.Expr) -> tuple[str, int] | None:
        """The place of an lvalue, if it is the same in every state."""
        match lvalue:
            case ir.Var():
                return self.root(lvalue), 0
            case ir.Field(record):
                base, distance = self.static_place(record), self._distance(lvalue)
                return None if base is None or distance is None else (base[0], base[1] + distance)
            case ir.Index(array, ir.IntConst(number)):
                base, stride = self.static_place(array), self._stride(array)
                if base is None or stride is None or not self._inside(array.type, number):
                    return None
                return base[0], base[1] + number * stride
        return None

    def place(self, lvalue: ir.Expr) -> Locate:
        """Computes the place of an lvalue."""
        static = self.static_place(lvalue)
        if static is not None:
            return lambda work: static
        match lvalue:
            case ir.Field(record):
                return _moved(self.place(record), self._distance(lvalue))
            case ir.Index(array, index):
                return self._element(array, index)
            case ir.Deref(pointer):
                return self._pointee(pointer)
        return lambda work: None

    def _distance(self, member: ir.Field) -> int | None:
        return self.variables.layout.start(member.record.type, member.name, member.type)

    def _stride(self, array: ir.Expr) -> int | None:
        size = self.variables.layout.size(array.type.element) if isinstance(array.type, Array) else None
        return None if size is None else size * 8

    @staticmethod
    def _inside(type_: Type, number: int) -> bool:
        return isinstance(type_, Array) and number >= 0 and (type_.length is None or number <= type_.length)

    def _element(self, array: ir.Expr, index: ir.Expr) -> Locate:
        base, number, stride = self.place(array), self.value(index), self._stride(array)
        type_, inside = array.type, self._inside

        def locate(work: Work) -> Place:
            place = base(work)
            if place is None:
                return None
            at = number(work)
            if type(at) is not int or stride is None or place[1] is None:
                return place[0], None
            if not inside(type_, at):
                return place[0], None  # C11 6.5.6p8: undefined; accesses are assumed to stay in the variable
            return place[0], place[1] + at * stride

        return locate

    def _pointee(self, pointer: ir.Expr) -> Locate:
        evaluate, otherwise = self.value(pointer), self.algebra.pointee
        size = self.variables.layout.size(pointer.type.target) if isinstance(pointer.type, Pointer) else None

        def locate(work: Work) -> Place:
            value = evaluate(work)
            if type(value) is Address:
                return value.root, value.offset * 8
            return otherwise(value, size)

        return locate

    # -- values -------------------------------------------------------------------------------------------------

    def value(self, expr: ir.Expr) -> Evaluate:
        """Computes the value of a scalar expression."""
        found = self._values.get(expr)
        if found is None:
            found = self._values[expr] = self._compile(expr)
        return found

    def _compile(self, expr: ir.Expr) -> Evaluate:
        match expr:
            case ir.IntConst(number, type_):
                held = number & self._mask if isinstance(type_, Pointer) else number
                return lambda work: held
            case ir.Var() | ir.Field() | ir.Index() | ir.Deref():
                return self.read(expr)
            case ir.AddressOf(lvalue):
                return self._address(lvalue)
            case ir.StringConst(text):
                literal = Address(f'"{self.function}:{text}')
                return lambda work: literal
            case ir.Cast(operand):
                return self._cast(expr, operand)
            case ir.Unary(operator, operand):
                return self._unary(expr, operator, operand)
            case ir.Binary():
                return self._binary(expr)
        unknown, type_ = self.algebra.unknown, expr.type
        return lambda work: unknown(work, type_)

    def read(self, lvalue: ir.Expr) -> Evaluate:
        """Computes what a scalar lvalue holds."""
        type_ = lvalue.type
        width = bits_of(type_, self.variables.pointer_bits)
        if width is None:
            unknown = self.algebra.unknown
            return lambda work: unknown(work, type_)
        if isinstance(lvalue, ir.Var):
            return self._read_variable(self.root(lvalue), type_)
        locate, otherwise, load, convert = self.place(lvalue), self.algebra.read, self.variables.load, self.reinterpret

        def evaluate(work: Work) -> Value:
            place = locate(work)
            found = None if place is None or place[1] is None else load(work.store, place[0], place[1], width)
            if found is not None:
                found = convert(found, type_)
            return otherwise(work, place, type_) if found is None else found

        return evaluate

    def _read_variable(self, root: str, type_: Type) -> Evaluate:
        otherwise = self.algebra.read
        place = (root, 0)

        def evaluate(work: Work) -> Value:
            found: Value = work.store.map.get(root)
            return otherwise(work, place, type_) if found is None else found

        return evaluate

    def reinterpret(self, value: Value, type_: Type) -> Value:
        """A stored value read as a type of the same width; None if that cannot be said."""
        if type(value) is int:
            return converted(value, type_, self.variables.pointer_bits)
        if type(value) is Address:
            return value if isinstance(type_, Pointer | Integer) else None
        if value is None or not isinstance(value, ir.Expr) or value.type == type_:
            return value
        if isinstance(type_, Floating) or isinstance(value.type, Floating):
            return None
        return ir.Cast(value, type_)

    def _address(self, lvalue: ir.Expr) -> Evaluate:
        if isinstance(lvalue, ir.Var) and lvalue.scope == "function":
            function = Address("&" + lvalue.name)
            return lambda work: function
        static = self.static_place(lvalue)
        if static is not None and static[1] % 8 == 0:
            address = Address(static[0], static[1] // 8)
            return lambda work: address
        if isinstance(lvalue, ir.Deref):
            return self.value(lvalue.pointer)
        locate, unknown, type_ = self.place(lvalue), self.algebra.unknown, Pointer(lvalue.type)

        def evaluate(work: Work) -> Value:
            place = locate(work)
            if place is None or place[1] is None or place[0][0] == "*":
                return unknown(work, type_)
            return Address(place[0], place[1] // 8)

        return evaluate

    def _cast(self, expr: ir.Cast, operand: ir.Expr) -> Evaluate:
        inner, otherwise, target = self.value(operand), self.algebra.convert, expr.type
        bits = self.variables.pointer_bits

        def evaluate(work: Work) -> Value:
            value = inner(work)
            known = converted(value, target, bits)
            return otherwise(work, expr, value) if known is None else known

        return evaluate

    def _unary(self, expr: ir.Unary, operator: str, operand: ir.Expr) -> Evaluate:
        inner, apply, otherwise = self.value(operand), machine_unary(operator, expr.type), self.algebra.unary

        def evaluate(work: Work) -> Value:
            value = inner(work)
            if type(value) is int:
                result = apply(value)
                return otherwise(work, expr, value) if result is None else result
            if type(value) is Address and operator == "!":
                return 0
            return otherwise(work, expr, value)

        return evaluate

    def _binary(self, expr: ir.Binary) -> Evaluate:
        left, right = self.value(expr.left), self.value(expr.right)
        apply, otherwise, pointers = machine(expr.operator, expr.left.type), self.algebra.binary, self._pointers(expr)
        is_plain = not isinstance(expr.left.type, Pointer) or expr.operator in COMPARISONS

        def evaluate(work: Work) -> Value:
            a, b = left(work), right(work)
            result: Value = apply(a, b) if is_plain and type(a) is int and type(b) is int else pointers(a, b)
            return otherwise(work, expr, a, b) if result is None else result

        return evaluate

    def _scale(self, expr: ir.Binary) -> int | None:
        """By how many bytes 1 moves the left operand; None if it is a pointer to something of unknown size."""
        if isinstance(expr.left.type, Pointer) and expr.operator in ("+", "-"):
            return self.variables.layout.size(expr.left.type.target)
        return 1

    def _pointers(self, expr: ir.Binary) -> Callable[[Value, Value], Value]:
        """The operation on operands of which one may be an address."""
        operator, scale, size_of = expr.operator, self._scale(expr), self.variables.size_of
        if operator in COMPARISONS:
            return lambda a, b: _compare(operator, a, b, size_of)
        if operator not in ("+", "-") or scale is None:
            return lambda a, b: None
        if isinstance(expr.right.type, Pointer):
            return lambda a, b: _elements(a, b, scale)
        moved, mask = scale if operator == "+" else -scale, self._mask

        def apply(a: Value, b: Value) -> Value:
            if type(a) is Address and type(b) is int:
                return Address(a.root, a.offset + b * moved)
            if type(a) is int and type(b) is int:
                return a + b * moved & mask if a != 0 or b == 0 else None
            return None

        return apply


def _elements(a: Value, b: Value, size: int) -> int | None:
    """How many elements of a size two pointers are apart; None if that is no whole number, or not known."""
    if type(a) is Address and type(b) is Address and a.root == b.root:
        distance = a.offset - b.offset
    elif type(a) is int and type(b) is int and max(a, b) < 1 << 31:  # as numbers, they are as far apart in every data model
        distance = a - b
    else:
        return None
    return distance // size if size and distance % size == 0 else None


def _moved(locate: Locate, distance: int | None) -> Locate:
    def evaluate(work: Work) -> Place:
        place = locate(work)
        if place is None or place[1] is None or distance is None:
            return place if place is None else (place[0], None)
        return place[0], place[1] + distance

    return evaluate


def _compare(operator: str, a: Value, b: Value, size_of: Callable[[str], int | None]) -> int | None:
    """A comparison of which one operand is an address; None if it can be either."""
    if type(a) is int and type(b) is Address:
        return _compare(MIRRORED[operator], b, a, size_of)
    if type(a) is not Address:
        return None
    if type(b) is int:
        return {"==": 0, "!=": 1}.get(operator) if b == 0 else None
    if type(b) is not Address:
        return None
    if a.root == b.root:
        holds = compared(operator, (a.offset, a.offset), (b.offset, b.offset))
        return None if holds is None else int(holds)
    if _is_inside(a, size_of) and _is_inside(b, size_of):
        return {"==": 0, "!=": 1}.get(operator)
    return None


def _is_inside(address: Address, size_of: Callable[[str], int | None]) -> bool:
    """Whether the address is that of a byte of its object, so that no other object has it, too."""
    if address.root[0] == "&":
        return True
    if address.root[0] == '"':
        return False  # C11 6.4.5p7: literals may share their bytes
    size = size_of(address.root)
    return address.offset == 0 if size is None else 0 <= address.offset < size
