"""IR expressions as terms, whatever it is that holds the values of their leaves."""

from __future__ import annotations

from typing import Protocol

from analysis.model import ir, ranges
from analysis.model.assumptions import ADDRESSES, DISTANCE
from analysis.model.c_types import Array, Floating, Function, Integer, Pointer, Record, Type
from analysis.model.comparisons import COMPARISONS
from analysis.model.ranges import signed_value
from analysis.smt.encoding.numbers import scalar_terms
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.integers import Integers
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import euclidean, extend, operation
from analysis.smt.logic.term_building import bits, constant_of, distinct, integer, ite, number, real
from analysis.smt.logic.terms import Term


class Leaves(Protocol):
    """Where the values of an expression's leaves come from."""

    def read(self, lvalue: ir.Expr) -> Term:
        """The value that a scalar lvalue (Var, Deref, Field, Index) holds."""

    def address(self, lvalue: ir.Expr) -> Term:
        """The address of an lvalue, function or string literal."""

    def unknown(self, expr: ir.Expr) -> Term:
        """A fresh value for `ir.Unknown` and `ir.Undefined`, and for what cannot be expressed exactly."""

    def element_size(self, type_: Type) -> int | None:
        """`sizeof` the target type of a pointer, in bytes; None when it is not known."""


class Expressions:
    """Encodes expressions with one arithmetic. Constraints that the terms need, approximations and assumptions go into the
    ledger."""

    def __init__(self, arithmetic: Integers | Bits, leaves: Leaves, ledger: Ledger) -> None:
        self.arithmetic = arithmetic
        self.leaves = leaves
        self.ledger = ledger

    def value(self, expr: ir.Expr) -> Term:
        """The value of a scalar expression."""
        match expr:
            case ir.IntConst(value, type_):
                return self.arithmetic.constant(ranges.wrapped(value, type_, self._pointer_bits), type_)
            case ir.FloatConst(text, type_):
                known = scalar_terms.parse_float(text, type_) if isinstance(type_, Floating) else None
                return self.leaves.unknown(expr) if known is None else real(known)
            case ir.Var(type=Function()) | ir.StringConst():
                return self.leaves.address(expr)
            case ir.Var() | ir.Deref() | ir.Field() | ir.Index():
                return self.leaves.read(expr)
            case ir.AddressOf(lvalue):
                return self.leaves.address(lvalue)
            case ir.Unary("!", operand):
                return ite(self.truth(operand), self.arithmetic.constant(0, expr.type), self.arithmetic.constant(1, expr.type))
            case ir.Unary(operator, operand, type_):
                return self.arithmetic.unary(operator, self.value(operand), type_)
            case ir.Binary():
                return self._binary(expr)
            case ir.Cast(operand, type_):
                return self._cast(operand, type_)
            case _:
                return self.leaves.unknown(expr)

    def truth(self, condition: ir.Expr) -> Term:
        """The condition that a scalar expression is not zero, as a term of sort Bool."""
        match condition:
            case ir.Binary(operator, left, right) if operator in COMPARISONS:
                return self._compared(operator, left, right)
            case _:
                return self.arithmetic.truth(self.value(condition), condition.type)

    @property
    def _pointer_bits(self) -> int:
        return self.arithmetic.model.pointer_bits

    def _compared(self, operator: str, left: ir.Expr, right: ir.Expr) -> Term:
        one, other = self.value(left), self.value(right)
        if one.sort != other.sort:  # what lowering could not type
            return self.arithmetic.truth(self.leaves.unknown(ir.Unknown(Integer(32, True, "int"))), Integer(32, True, "int"))
        return self.arithmetic.compare(operator, one, other, left.type)

    def _binary(self, expr: ir.Binary) -> Term:
        operator, left, right = expr.operator, expr.left, expr.right
        if operator in COMPARISONS:
            one, zero = self.arithmetic.constant(1, expr.type), self.arithmetic.constant(0, expr.type)
            return ite(self._compared(operator, left, right), one, zero)
        if isinstance(left.type, Pointer):
            if isinstance(right.type, Pointer):
                return self._difference(left, right, expr.type)
            return self.offset_pointer(self.value(left), self.value(right), left.type, right.type, -1 if operator == "-" else 1)
        return self.arithmetic.binary(operator, self.value(left), self.value(right), left.type, right.type)

    def offset_pointer(self, pointer: Term, index: Term, type_: Type, index_type: Type, sign: int = 1) -> Term:
        """A pointer moved by a number of elements of its target type."""
        size = self.leaves.element_size(type_.target) if isinstance(type_, Pointer) else None
        if size is None:
            self.ledger.approximate("arithmetic on a pointer to a type of unknown size is not followed")
            return self.leaves.unknown(ir.Unknown(type_))
        if isinstance(self.arithmetic, Bits):
            index = (
                extend(index, self._pointer_bits, ranges.is_signed(index_type))
                if index.sort.width < self._pointer_bits
                else index
            )
        return linear.combine(pointer, index, sign * size)

    def _difference(self, left: ir.Expr, right: ir.Expr, type_: Type) -> Term:
        size = self.leaves.element_size(left.type.target) if isinstance(left.type, Pointer) else None
        if not size:
            self.ledger.approximate("the difference of pointers to a type of unknown size is not followed")
            return self.leaves.unknown(ir.Unknown(type_))
        bytes_ = linear.subtract(self.value(left), self.value(right))
        if isinstance(self.arithmetic, Bits):
            divisor = bits(size, bytes_.sort.width)
            quotient, rest = operation("bvsdiv", bytes_, divisor), operation("bvsrem", bytes_, divisor)
        else:
            bytes_ = self.arithmetic.convert(bytes_, type_, type_)  # a number of the type, as bit-vectors have it
            quotient, rest = euclidean("div", bytes_, integer(size)), euclidean("mod", bytes_, integer(size))
        if size == 1 or _are_multiples(bytes_, size):
            return quotient
        return self.arithmetic.open_where(distinct(rest, number(0, rest.sort)), quotient, type_, DISTANCE.sentence)

    def _cast(self, operand: ir.Expr, type_: Type) -> Term:
        if isinstance(operand.type, Array | Record | Function) and isinstance(operand, ir.LVALUES):
            return self.leaves.address(operand)  # decay, where lowering left it out
        if not isinstance(type_, Integer | Floating | Pointer) or not isinstance(operand.type, Integer | Floating | Pointer):
            return self.leaves.unknown(ir.Unknown(type_))
        value = self.value(operand)
        if isinstance(type_, Pointer) and isinstance(operand.type, Pointer):
            return value
        if isinstance(operand.type, Pointer) and not ranges.is_bool(type_) and constant_of(value) != 0:
            self.ledger.assume(ADDRESSES.sentence)
        return self.arithmetic.convert(value, operand.type, type_)


def _are_multiples(term: Term, size: int) -> bool:
    """Whether all summands of a term are multiples of a number, by their form."""
    factors, constant = linear.parts(term)
    if term.sort.kind == "BitVec":
        width = term.sort.width
        factors = {summand: signed_value(factor % (1 << width), width) for summand, factor in factors.items()}
        constant = signed_value(constant, width)
    return constant % size == 0 and all(factor % size == 0 for factor in factors.values())
