"""The algebra of symbolic values ([SYMCEGAR] section 3.2.5): what is not known is an identifier or an expression over them."""

from __future__ import annotations

from analysis.c.blocks import ZEROING
from analysis.cpa.stores.evaluate import Place, Work
from analysis.cpa.stores.scalar_values import Address, Value, bits_of
from analysis.cpa.stores.store_memory import UNKNOWN_CONTENTS, ZERO_CONTENTS, Contents
from analysis.cpa.stores.variables import Variables
from analysis.cpa.symbolic_values.symbolic import as_value, binary, cast, identifier, lift, unary
from analysis.model import ir
from analysis.model.c_types import DataModel, Pointer, Type


class SymbolicAlgebra:
    """An `evaluate.Algebra`. `variables` are set by the transfer relation that uses it."""

    symbolic_objects = True

    def __init__(self, model: DataModel) -> None:
        self._pointer_bits = model.pointer_bits
        self.variables: Variables | None = None

    def _fresh(self, work: Work, origin: str, type_: Type) -> ir.Expr | None:
        if bits_of(type_, self._pointer_bits) is None:
            return None
        number = work.counters.get(origin, 0) + 1
        work.counters = work.counters.set(origin, number)
        return identifier(origin, number, type_)

    def read(self, work: Work, place: Place, type_: Type) -> Value:
        """A new identifier, which the cell holds from now on if nothing is known of it in other words."""
        if place is None or place[1] is None:
            return self.unknown(work, type_)
        root, bit = place[0], place[1]
        found = self._fresh(work, f"{root}+{bit >> 3}" if bit else root, type_)
        width = bits_of(type_, self._pointer_bits)
        if found is None or width is None:
            return None
        known = work.store.map.get(root)
        scalar = self._scalar_width(root)
        if scalar is not None:
            if known is None and bit == 0 and scalar == width:
                work.store = work.store.set(root, found)
            return found
        contents: Contents = known if type(known) is Contents else UNKNOWN_CONTENTS
        if not contents.overlapping(bit, width):
            work.store = work.store.set(root, contents.set(bit, width, found))
        return found

    def _scalar_width(self, root: str) -> int | None:
        """The width of the variable that the root names, if it is a scalar."""
        type_ = None if self.variables is None else self.variables.type_of(root)
        return None if type_ is None else bits_of(type_, self._pointer_bits)

    def unknown(self, work: Work, type_: Type) -> Value:
        """A new identifier."""
        return self._fresh(work, work.origin, type_)

    def unary(self, work: Work, expr: ir.Unary, operand: Value) -> Value:
        """An expression."""
        if operand is None:
            return self.unknown(work, expr.type)
        found = unary(expr, lift(operand, expr.operand.type))
        return self.unknown(work, expr.type) if found is None else as_value(found)

    def binary(self, work: Work, expr: ir.Binary, left: Value, right: Value) -> Value:
        """An expression."""
        if left is None or right is None:
            return self.unknown(work, expr.type)
        found = binary(expr, lift(left, expr.left.type), lift(right, expr.right.type))
        return self.unknown(work, expr.type) if found is None else as_value(found)

    def convert(self, work: Work, expr: ir.Cast, operand: Value) -> Value:
        """An expression."""
        if operand is None or bits_of(expr.type, self._pointer_bits) is None:
            return self.unknown(work, expr.type)
        found = cast(lift(operand, expr.operand.type), expr.type)
        return self.unknown(work, expr.type) if found is None else as_value(found)

    def pointee(self, pointer: Value, size: int | None) -> Place:
        """The object that a symbolic pointer leads to, at a constant distance."""
        if not isinstance(pointer, ir.Expr):
            return None
        bare = ir.strip_casts(pointer)
        distance = 0
        if isinstance(bare, ir.Binary) and bare.operator in ("+", "-") and isinstance(bare.right, ir.IntConst):
            if size is None:
                return None
            distance = bare.right.value * size * (8 if bare.operator == "+" else -8)
            bare = bare.left  # not under a cast: the distance would be in other units
        if isinstance(bare, ir.Var) and bare.scope == "temporary" and isinstance(bare.type, Pointer):
            return "*" + bare.name, distance
        return None

    def allocate(self, work: Work, name: str, type_: Type) -> Value:
        """A new block, or null."""
        if work.fails:
            return 0
        origin = f"new {work.origin}"
        number = work.counters.get(origin, 0) + 1
        work.counters = work.counters.set(origin, number)
        root = f"{origin}#{number}"
        if name in ZEROING:
            work.store = work.store.set(root, ZERO_CONTENTS)
        return Address(root)
