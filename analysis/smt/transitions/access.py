"""Reads and writes a symbolic state through the program's lvalues (`encoding.numbers.expression_terms.Leaves`)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from analysis.c.aliasing import scalar_class
from analysis.model import ir, ranges
from analysis.model.assumptions import APART, BOUNDS, TYPES
from analysis.model.c_types import INT as C_INT
from analysis.model.c_types import Array, Floating, Integer, Pointer, Record, Type, is_scalar
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.expression_terms import Expressions
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.paths.path_state import literal_bytes
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import extend
from analysis.smt.logic.term_building import distinct, filled, number, real, select, store
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.object_cells import MOST_CELLS
from analysis.smt.transitions.transition_state import State, StateVariable
from analysis.smt.transitions.vocabulary import ADDRESS_BITS, Vocabulary


class Cell(NamedTuple):
    """In an object that is kept as cells: so many bits after its start."""

    name: str
    bit: int
    whole: Type  # of the object


class Element(NamedTuple):
    """An element of an array that is kept as one."""

    variable: StateVariable
    at: Term


class InMemory(NamedTuple):
    """An access at an address. `is_mixed`: through a union or a bit-field, so that writes to other members
    may change what is read. `is_plain`: only the type of the access is known of the object, so that it can be
    any object if that is a character type (C11 6.5p7)."""

    address: Term
    is_mixed: bool
    is_plain: bool


class WholeArray(NamedTuple):
    """All of an array that is kept as one."""

    variable: StateVariable


Place = Cell | Element | InMemory | WholeArray


class Access:
    """The state of one context while one edge is taken. `values` are changed in place."""

    def __init__(self, vocabulary: Vocabulary, state: State, function: str, context: int) -> None:
        self._vocabulary = vocabulary
        self.values = dict(state.values)
        self.ledger = Ledger(vocabulary.inputs.name("value") + ":")
        self._function, self._context = function, context
        self.arithmetic = vocabulary.arithmetic.with_ledger(self.ledger)
        self.expressions: Expressions = _OpenAddresses(self.arithmetic, self, self.ledger)

    # -- state variables ----------------------------------------------------------------------------------------

    def get(self, variable: StateVariable) -> Term:
        """The value of a variable now."""
        known = self.values.get(variable)
        return self._vocabulary[variable] if known is None else known

    def set(self, variable: StateVariable, value: Term) -> None:
        """Changes a variable."""
        _ = self._vocabulary[variable]  # so that its symbol, and the symbol's type, are known
        self.values[variable] = value

    def name(self, var: ir.Var) -> str:
        """The first part of the names of a variable's state variables."""
        return f"@{var.name}" if var.scope == "global" else f"{self._context}:{var.name}"

    # -- Leaves -------------------------------------------------------------------------------------------------

    def read(self, lvalue: ir.Expr) -> Term:
        """See Leaves."""
        if not is_scalar(lvalue.type):
            return self.address(lvalue) if isinstance(lvalue.type, Array) else self.unknown(ir.Unknown(C_INT))
        return self.read_at(self.place(lvalue), 0, lvalue.type)

    def address(self, lvalue: ir.Expr) -> Term:
        """See Leaves."""
        layout = self._vocabulary.objects.layout
        match lvalue:
            case ir.Deref(pointer):
                return self.expressions.value(pointer)
            case ir.StringConst():  # whether literals share memory is unspecified (C11 6.4.5p7)
                literal = self._vocabulary.input(Pointer(lvalue.type))
                self.ledger.constrain(distinct(literal, number(0, self._vocabulary.pointer_sort)))
                return literal
            case ir.Var():
                if lvalue.scope != "function":
                    if self._kind(lvalue) != "memory":
                        return self.unknown(ir.Unknown(Pointer(lvalue.type)))
                    self.ledger.assume(APART.sentence)
                return self._vocabulary.address(self._context, lvalue, self._function)
            case ir.Field(record, name, type_):
                start = layout.member(record.type, name, type_)
                if start is not None:
                    return linear.add(self.address(record), number(start // 8, self._vocabulary.pointer_sort))
            case ir.Index(array):
                size = layout.bytes(lvalue.type)
                if size is not None:
                    return linear.combine(self.address(array), self._index(lvalue), size)
        return self.unknown(ir.Unknown(Pointer(lvalue.type)))

    def unknown(self, expr: ir.Expr) -> Term:
        """See Leaves."""
        return self._vocabulary.input(expr.type if is_scalar(expr.type) else C_INT)

    def element_size(self, type_: Type) -> int | None:
        """See Leaves."""
        return self._vocabulary.objects.layout.bytes(type_)

    def _index(self, lvalue: ir.Index) -> Term:
        index = self.expressions.value(lvalue.index)
        width = ADDRESS_BITS
        if isinstance(self.arithmetic, Bits) and index.sort.width < width:
            return extend(index, width, ranges.is_signed(lvalue.index.type))
        return index

    def _kind(self, var: ir.Var) -> str:
        return self._vocabulary.objects.kind("" if var.scope == "global" else self._function, var)

    # -- places -------------------------------------------------------------------------------------------------

    def place(self, lvalue: ir.Expr) -> Place:
        """Where an lvalue is."""
        inner, bit, is_mixed = self._outermost(lvalue)
        if isinstance(inner, ir.Var) and inner.scope != "function":
            known = self._place_in_variable(lvalue, inner, bit)
            if known is not None:
                return known
        if isinstance(inner, ir.Deref):
            self.ledger.constrain(
                distinct(self.expressions.value(inner.pointer), number(0, self._vocabulary.pointer_sort))
            )  # else the run has undefined behaviour here
        self.ledger.assume(BOUNDS.sentence)
        self.ledger.assume(TYPES.sentence)
        is_plain = (isinstance(inner, ir.Deref) or lvalue is not inner) and not self._vocabulary.objects.is_member(lvalue)
        return InMemory(self.address(lvalue), is_mixed, is_plain)

    def _outermost(self, lvalue: ir.Expr) -> tuple[ir.Expr, int, bool]:
        """The object that an lvalue is a part of, at which bit of it (as if indices that are not known were 0), and whether other
        members lie there, too: those of a union, or bit-fields beside it."""
        layout = self._vocabulary.objects.layout
        inner, bit, is_mixed = lvalue, 0, False
        while isinstance(inner, ir.Field | ir.Index):
            if isinstance(inner, ir.Field):
                is_union = isinstance(inner.record.type, Record) and inner.record.type.kind == "union"
                is_mixed = is_mixed or is_union or layout.is_bit_field(inner.record.type, inner.name)
                bit += layout.member(inner.record.type, inner.name, inner.type) or 0
                inner = inner.record
            else:
                known = inner.index.value if isinstance(inner.index, ir.IntConst) else 0
                bit += known * (layout.size(inner.type) or 0)
                inner = inner.array
        return inner, bit, is_mixed

    def _place_in_variable(self, lvalue: ir.Expr, var: ir.Var, bit: int) -> Place | None:
        """Where a part of a variable is, at a bit of it; None for a variable in memory."""
        kind, name = self._kind(var), self.name(var)
        if kind == "cells":
            return Cell(name, bit, var.type)
        if kind != "elements" or not isinstance(var.type, Array):
            return None
        whole = self._vocabulary.variable(name, var.type.element, is_array=True)
        if not whole.is_array:
            return None
        return Element(whole, self._index(lvalue)) if isinstance(lvalue, ir.Index) else WholeArray(whole)

    def _cell(self, place: Cell, offset: int) -> StateVariable | None:
        """The variable of a cell: as wide as the object has it there, bit-fields included. None outside of the object."""
        if is_scalar(place.whole):
            return self._vocabulary.variable(place.name, place.whole)
        bit = place.bit + offset
        type_ = dict(self._vocabulary.objects.layout.leaves(place.whole) or ()).get(bit)
        return None if type_ is None else self._vocabulary.variable(f"{place.name}.{bit}", type_)

    def _converted(self, value: Term, source: Type, target: Type) -> Term:
        """A value between two types of one kind."""
        if source == target or not isinstance(source, Integer):
            return value
        return self.arithmetic.convert(value, source, target)

    def forget(self, variable: StateVariable) -> None:
        """After this, the variable may have any value."""
        is_array = variable.is_array
        self.set(variable, self._vocabulary.any_array(variable) if is_array else self._vocabulary.input(variable.type))

    def read_at(self, place: Place, offset: int, type_: Type) -> Term:
        """A scalar, so many bits after a place."""
        match place:
            case Cell():
                variable = self._cell(place, offset)
                if variable is None or not _holds(variable.type, type_):
                    return self.unknown(ir.Unknown(type_))
                return self._converted(self.get(variable), variable.type, type_)
            case Element(variable, index):
                return self._selected(variable, index, type_)
            case WholeArray(variable):
                size = self._vocabulary.objects.layout.size(variable.type) or 1
                return self._selected(variable, number(offset // size, self._vocabulary.pointer_sort), type_)
            case InMemory(address, is_mixed, _):
                if is_mixed or not self._is_kept(type_):
                    return self.unknown(ir.Unknown(type_))
                return self._selected(self._vocabulary.heap(type_), self._moved(address, offset), type_)

    def write_at(self, place: Place, offset: int, type_: Type, value: Term) -> None:
        """Writes a scalar, so many bits after a place."""
        match place:
            case Cell():
                variable = self._cell(place, offset)
                if variable is not None and _holds(variable.type, type_):
                    self.set(variable, self._converted(value, type_, variable.type))
                elif variable is not None:
                    self.forget(variable)
            case Element(variable, index):
                self._store(variable, index, value, type_)
            case WholeArray(variable):
                size = self._vocabulary.objects.layout.size(variable.type) or 1
                self._store(variable, number(offset // size, self._vocabulary.pointer_sort), value, type_)
            case InMemory(_, True, _):
                self.forget_memory()
            case InMemory(address, _, is_plain):
                if self._is_kept(type_):
                    self._store(self._vocabulary.heap(type_), self._moved(address, offset), value, type_)
                self._forget_other_views(type_, is_plain=is_plain)

    def _moved(self, address: Term, offset: int) -> Term:
        return linear.add(address, number(offset // 8, self._vocabulary.pointer_sort))

    def _is_kept(self, type_: Type) -> bool:
        """Whether memory of this class is followed."""
        return isinstance(type_, Pointer) or (isinstance(type_, Integer) and type_.bits in (8, 16, 32, 64, 128))

    def _selected(self, variable: StateVariable, index: Term, type_: Type) -> Term:
        term = select(self.get(variable), index)
        self.ledger.constrain(self.arithmetic.in_range(term, variable.type))  # whatever was stored was a value of the type
        return self._converted(term, variable.type, type_)

    def _store(self, variable: StateVariable, index: Term, value: Term, type_: Type) -> None:
        self.set(variable, store(self.get(variable), index, self._converted(value, type_, variable.type)))

    def _forget_other_views(self, type_: Type, *, is_plain: bool) -> None:
        """Memory may be read as characters whatever it holds, and characters may be written to it (C11 6.5p7)."""
        one = scalar_class(type_)
        for variable in self._vocabulary.heaps:
            other = variable.name.partition(":")[2]
            is_written = one == "char" != other and is_plain
            is_seen = other == "char" != one and self._vocabulary.objects.has_plain_characters
            if is_written or is_seen:
                self.forget(variable)

    def forget_memory(self) -> None:
        """After this, memory may hold anything."""
        for variable in self._vocabulary.heaps:
            self.forget(variable)

    # -- objects ------------------------------------------------------------------------------------------------

    def fill(self, lvalue: ir.Expr, value_of: Callable[[Type], Term], element: Term | None) -> None:
        """Gives every scalar of an object a value. `element`: that of an array's elements, if it is one value."""
        place = self.place(lvalue)
        leaves = self._leaves(lvalue.type)
        if isinstance(place, WholeArray):
            sort = self._vocabulary.sort(place.variable)
            is_filled = element is not None and not isinstance(place.variable.type, Floating)
            self.set(
                place.variable, filled(sort, element) if is_filled and element else self._vocabulary.any_array(place.variable)
            )
        elif leaves is None:
            self.forget_memory()  # cells have few leaves: this is in memory
        else:
            for offset, type_ in leaves:
                self.write_at(place, offset, type_, value_of(type_))

    def zero(self, type_: Type) -> Term:
        """The zero of a scalar type."""
        return real(Fraction(0)) if isinstance(type_, Floating) else self.arithmetic.constant(0, type_)

    def copy(self, target: ir.Expr, source: ir.Expr) -> None:
        """Assigns a structure, a union or an array."""
        leaves = self._leaves(target.type)
        one, other = self.place(target), self.place(source)
        if isinstance(one, WholeArray) and isinstance(other, WholeArray) and one.variable.type == other.variable.type:
            self.set(one.variable, self.get(other.variable))
        elif leaves is None or isinstance(one, WholeArray):
            self.fill(target, self._vocabulary.input, None)
        else:
            for offset, type_, value in [(at, type_, self.read_at(other, at, type_)) for at, type_ in leaves]:
                self.write_at(one, offset, type_, value)

    def spell(self, target: ir.Expr, text: str) -> None:
        """An array that a string literal initialises: what is left of it is zero (C11 6.7.9p14, p21)."""
        content = literal_bytes(text)
        type_ = target.type
        if content is None or not isinstance(type_, Array) or type_.length is None or len(content) > 4 * MOST_CELLS:
            self.fill(target, self._vocabulary.input, None)
            return
        self.fill(target, self.zero, number(0, self.arithmetic.sort(type_.element)))
        place = self.place(target)
        for position, character in enumerate(content[: type_.length]):
            signed = character - 256 if character > 127 and ranges.is_signed(type_.element) else character
            self.write_at(place, 8 * position, type_.element, self.arithmetic.constant(signed, type_.element))

    def _leaves(self, type_: Type) -> tuple[tuple[int, Type], ...] | None:
        leaves = self._vocabulary.objects.layout.leaves(type_)
        return leaves if leaves is not None and len(leaves) <= MOST_CELLS else None


def _holds(one: Type, other: Type) -> bool:
    """Whether a scalar of one type can be read as the other: both are integers, both are pointers, or they are the same."""
    return one == other or any(isinstance(one, kind) and isinstance(other, kind) for kind in (Integer, Pointer))


class _OpenAddresses(Expressions):
    """Expressions in which an address and its number have nothing to do with each other, but for null: no program may rely on
    which number it is. (Addresses have 64 bits here, whatever the data model says.)"""

    def value(self, expr: ir.Expr) -> Term:
        """See Expressions."""
        if isinstance(expr, ir.IntConst) and isinstance(expr.type, Pointer) and expr.value != 0:
            return self.leaves.unknown(expr)
        return super().value(expr)

    def _cast(self, operand: ir.Expr, type_: Type) -> Term:
        is_address = isinstance(operand.type, Pointer | Array)
        is_number = is_address and isinstance(type_, Integer) and not ranges.is_bool(type_)
        is_made = isinstance(operand.type, Integer) and isinstance(type_, Pointer)
        if (is_number or is_made) and not (isinstance(operand, ir.IntConst) and operand.value == 0):
            return self.leaves.unknown(ir.Unknown(type_))
        return super()._cast(operand, type_)

    def _difference(self, left: ir.Expr, right: ir.Expr, type_: Type) -> Term:
        found = super()._difference(left, right, type_)
        if found.sort.kind == "BitVec" and isinstance(type_, Integer) and found.sort.width != type_.bits:
            return self.arithmetic.convert(found, Integer(found.sort.width, True, "long"), type_)
        return found
