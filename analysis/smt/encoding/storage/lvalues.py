"""Lvalues as places in memory: the leaves of expressions along a path."""

from __future__ import annotations

from collections.abc import Callable

from analysis.c.aliasing import scalar_class
from analysis.model import ir, ranges
from analysis.model.c_types import Array, Floating, Integer, Pointer, Record, Type
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.expression_terms import Expressions
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.integers import Integers
from analysis.smt.encoding.storage.content import ANY_TAG, Tag
from analysis.smt.encoding.storage.path_memory import Memory
from analysis.smt.encoding.storage.regions import Alternatives, Spot
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import extend
from analysis.smt.logic.term_building import TRUE, constant_of
from analysis.smt.logic.terms import Term


class Places:
    """Implements `expression_terms.Leaves` on a memory. `region_of` gives the object of a variable, function or string literal;
    `input_of` a fresh input for what is unknown."""

    def __init__(
        self,
        arithmetic: Integers | Bits,
        ledger: Ledger,
        memory: Memory,
        region_of: Callable[[ir.Var | ir.StringConst], int],
        input_of: Callable[[ir.Expr], Term],
    ) -> None:
        self.arithmetic = arithmetic
        self.memory = memory
        self.expressions = Expressions(arithmetic, self, ledger)
        self._ledger = ledger
        self._region_of = region_of
        self._input_of = input_of

    # -- Leaves -------------------------------------------------------------------------------------------------

    def read(self, lvalue: ir.Expr) -> Term:
        """See Leaves."""
        if not isinstance(lvalue.type, Integer | Floating | Pointer):
            if isinstance(lvalue.type, Array):
                return self.address(lvalue)
            return self._input_of(ir.Unknown(Integer(32, True, "int")))
        tag = self.tag(lvalue)
        return self.memory.load(self.spots(lvalue, tag), self.width(lvalue), lvalue.type, tag)

    def address(self, lvalue: ir.Expr) -> Term:
        """See Leaves."""
        if isinstance(lvalue, ir.Deref):
            return self.expressions.value(lvalue.pointer)
        if isinstance(lvalue, ir.Index) and isinstance(lvalue.array, ir.Deref) and constant_of(self._index(lvalue)) == 0:
            return self.address(lvalue.array)
        if isinstance(lvalue, ir.Var | ir.StringConst):
            return self.memory.address(self._region_of(lvalue))
        if isinstance(lvalue, ir.Field):
            start = self.memory.layout.member(lvalue.record.type, lvalue.name, lvalue.type)
            if start is not None:
                return linear.add(self.address(lvalue.record), self.memory.fills.offset(start // 8))
        if isinstance(lvalue, ir.Index):
            size = self.memory.layout.bytes(lvalue.type)
            if size is not None:
                return linear.combine(self.address(lvalue.array), self._index(lvalue), size)
        return self.memory.objects.open(Pointer(lvalue.type), "the address of something of unknown layout is not followed")

    def unknown(self, expr: ir.Expr) -> Term:
        """See Leaves."""
        return self._input_of(expr)

    def element_size(self, type_: Type) -> int | None:
        """See Leaves."""
        return self.memory.layout.bytes(type_)

    # -- places -------------------------------------------------------------------------------------------------

    def width(self, lvalue: ir.Expr) -> int:
        """The bits of a scalar lvalue; 1 for a bit-field of type `_Bool`."""
        if ranges.is_bool(lvalue.type) and isinstance(lvalue, ir.Field):
            return 1 if self.memory.layout.is_bit_field(lvalue.record.type, lvalue.name) else 8
        return ranges.width(lvalue.type, self.arithmetic.model.pointer_bits)

    def tag(self, lvalue: ir.Expr) -> Tag:
        """What the access says about the object."""
        scalar = scalar_class(lvalue.type)
        inner: ir.Expr = lvalue
        while isinstance(inner, ir.Index):
            inner = inner.array
        if not isinstance(inner, ir.Field) or not isinstance(inner.record.type, Record):
            return Tag(scalar)
        record = inner.record
        while isinstance(record, ir.Field | ir.Index):
            if isinstance(record.type, Record) and record.type.kind == "union":
                return ANY_TAG
            record = record.record if isinstance(record, ir.Field) else record.array
        if isinstance(record.type, Record) and record.type.kind == "union":
            return ANY_TAG
        if inner.record.type.key in self.memory.layout.bytes_of_any and isinstance(ir.root(inner), ir.Deref):
            return Tag(scalar)
        start = self.memory.layout.member(inner.record.type, inner.name, inner.type)
        return Tag(scalar, inner.record.type.key, start) if start is not None else ANY_TAG

    def spots(self, lvalue: ir.Expr, tag: Tag) -> Alternatives:
        """Where an lvalue is."""
        match lvalue:
            case ir.Var() | ir.StringConst():
                region = self._region_of(lvalue)
                size = self.memory.regions[region].size
                return ((TRUE, Spot(region, 0, None, 0, None if size is None else 8 * size)),)
            case ir.Field(record, name):
                start = self.memory.layout.member(record.type, name, lvalue.type)
                if start is None:
                    return self.memory.resolve(self.address(lvalue), tag)
                size = self.memory.layout.size(lvalue.type)
                return tuple((condition, _part(spot, start, size)) for condition, spot in self.spots(record, tag))
            case ir.Index(array):
                return self._element(array, self._index(lvalue), lvalue.type, tag)
            case ir.Deref(ir.Binary("+" | "-" as operator, pointer, index)) if isinstance(pointer.type, Pointer):
                return self._moved(pointer, index, -1 if operator == "-" else 1, tag)
            case ir.Deref(pointer):
                return self.memory.resolve(self.expressions.value(pointer), tag)
            case _:
                return self.memory.resolve(self._input_of(ir.Unknown(Pointer(lvalue.type))), tag)

    def _index(self, lvalue: ir.Index) -> Term:
        return self._wide(self.expressions.value(lvalue.index), lvalue.index.type)

    def _wide(self, index: Term, type_: Type) -> Term:
        """An index as wide as a pointer."""
        if isinstance(self.arithmetic, Bits) and index.sort.width < self.arithmetic.model.pointer_bits:
            return extend(index, self.arithmetic.model.pointer_bits, ranges.is_signed(type_))
        return index

    def _element(self, array: ir.Expr, index: Term, element: Type, tag: Tag) -> Alternatives:
        size = self.memory.layout.bytes(element)
        whole = self.memory.layout.size(array.type)
        if size is None:
            return self.memory.resolve(self.memory.objects.open(Pointer(element), "an element of unknown size"), tag)
        outer = tuple((condition, _part(spot, 0, whole)) for condition, spot in self.spots(array, tag))
        return tuple((condition, self._shifted(spot, index, size)) for condition, spot in outer)

    def _shifted(self, spot: Spot, index: Term, size: int) -> Spot:
        known = constant_of(index)
        if known is not None:
            if isinstance(self.arithmetic, Bits) and known >> (index.sort.width - 1):
                known -= 1 << index.sort.width
            return spot._replace(bits=spot.bits + 8 * size * known)
        offset = linear.scale(size, index)
        return spot._replace(symbolic=offset if spot.symbolic is None else linear.add(spot.symbolic, offset))

    def _moved(self, pointer: ir.Expr, index: ir.Expr, sign: int, tag: Tag) -> Alternatives:
        """`*(p + i)`: null is decided by the pointer, not by the sum."""
        base = self.expressions.value(pointer)
        moved = self.expressions.offset_pointer(base, self.expressions.value(index), pointer.type, index.type, sign)
        distance = linear.subtract(moved, base)
        self.memory.not_null(base)
        found: list[tuple[Term, Spot]] = []
        for condition, term in self.memory.cases(base):
            if constant_of(term) != 0:
                found += self.memory.resolve_case(condition, linear.add(term, distance), tag)
        return tuple(found)


def _part(spot: Spot, start: int, size: int | None) -> Spot:
    """A member or subarray of what is at a spot."""
    bits = spot.bits + start
    if spot.symbolic is not None or size is None:
        return spot._replace(bits=bits)
    return spot._replace(bits=bits, low=bits, high=bits + size)
