"""Which objects a library function overwrites through a pointer to a part of one.

`memset(&s->first, 0, sizeof *s)` is meant for all of `*s`: where a function writes more bytes than the part has, or it is not
known how many, the part is taken for the beginning of what it is in. An array may be written as far as it goes: that accesses
stay inside of it is assumed (`assumptions.INSIDE`).
"""

from __future__ import annotations

from analysis.c.layout import Layout
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.c_types import ILP32, LP64, Array, Integer, Pointer, Record, Type


class Overwritten:
    """What library functions overwrite in one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._layouts = {model.pointer_bits: Layout(model, program.records.get) for model in (LP64, ILP32)}

    def whole(self, call: ir.Call, position: int, lvalue: ir.Expr) -> ir.Expr:
        """The object that a call overwrites through an argument that leads to this one: that, or what it is a part of."""
        while isinstance(lvalue, ir.Field | ir.Index) and not self._stays_in(call, position, lvalue):
            lvalue = lvalue.record if isinstance(lvalue, ir.Field) else lvalue.array
        return lvalue

    def outgrows(self, call: ir.Call, position: int, argument: ir.Expr) -> Type | None:
        """The type of the object that an argument leads to, if the call may overwrite that as a whole, and more: where it is the
        first part of another one, perhaps that."""
        bare = ir.strip_casts(argument)
        if isinstance(bare, ir.AddressOf):
            lvalue = self.whole(call, position, bare.lvalue)
        elif isinstance(bare.type, Pointer):
            lvalue = ir.Deref(bare, bare.type.target)
        else:
            return None
        is_more = isinstance(lvalue, ir.Deref) and isinstance(lvalue.type, Record) and not self._stays_in(call, position, lvalue)
        return lvalue.type if is_more else None

    def _stays_in(self, call: ir.Call, position: int, lvalue: ir.Expr) -> bool:
        return all(self._is_enough(target, call, position, lvalue) for target in self._program.targets(call))

    def _is_enough(self, target: str, call: ir.Call, position: int, lvalue: ir.Expr) -> bool:
        """Whether a function writes to no more than this object."""
        function = self._program.known(target)
        if function is None:
            return False
        argument, type_ = function.argument(position), lvalue.type
        if "one" in argument.uses:
            return True
        size = None if argument.size is None or argument.size >= len(call.arguments) else call.arguments[argument.size]
        bare = None if size is None else ir.strip_casts(size)
        if size is None or not isinstance(bare, ir.IntConst) or not isinstance(size.type, Integer):
            return isinstance(type_, Array)
        layout = self._layouts.get(size.type.bits)
        most = None if layout is None else layout.size(type_)
        return most is not None and 0 <= bare.value <= most
