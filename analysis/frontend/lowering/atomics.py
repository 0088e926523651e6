"""gcc's built-in functions for atomic accesses (`__atomic_*`, `__sync_*`) as what they do for one thread: plain reads and writes.

A CFA does not show that other threads can come in between. An analysis that depends on it looks for functions that start threads.
Compare-and-exchange has a branch, and is left to be a call, as is what takes part in arithmetic otherwise than integers do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from analysis.c.built_in import OF_THE_OBJECT
from analysis.frontend.lowering import operators
from analysis.frontend.lowering.context import Context
from analysis.frontend.lowering.refused import RefusedError
from analysis.frontend.syntax.parser import Node
from analysis.model import c_types, ir
from analysis.model.c_types import UNSIGNED_INT, UNSIGNED_LONG_LONG, Function, Integer, Pointer

Operator = Literal["+", "-", "&", "|", "^"]

_NAME = re.compile(
    r"__atomic_(load_n|store_n|exchange_n)|__(?:atomic|sync)_(fetch_(?:and_)?)?(add|sub|and|or|xor)(_(?:and_)?fetch)?"
)
_WIDE = (UNSIGNED_INT, UNSIGNED_LONG_LONG, Integer(128, False, "unsigned __int128"))
_OPERATORS: dict[str, Operator] = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}


_GENERIC = {"__atomic_load": 2, "__atomic_store": 2, "__atomic_exchange": 3}
"""Those that take the values through pointers, with how many of them: what `<stdatomic.h>` is made of."""


class Atomics(Context):
    """Lowers calls of these functions."""

    def atomic(self, name: str, node: Node, arguments: Sequence[Node]) -> ir.Expr | None:
        """The value of such a call; None for other functions, and where the object is no integer or pointer."""
        if name in _GENERIC and len(arguments) == _GENERIC[name] + 1:
            return self._through_pointers(name, node, arguments)
        return self._by_values(name, node, arguments)

    def _by_values(self, name: str, node: Node, arguments: Sequence[Node]) -> ir.Expr | None:
        """The same for a function that takes the values themselves."""
        found = _NAME.fullmatch(name)
        if found is None or not arguments or (found[1] is None and (found[2] is None) == (found[4] is None)):
            return None
        type_ = self.probe(self.value, arguments[0]).type
        if not isinstance(type_, Pointer) or not isinstance(type_.target, Integer | Pointer):
            return None
        if found[1] is None and not isinstance(type_.target, Integer):
            return None
        if found[1] != "load_n" and len(arguments) < 2:
            raise RefusedError(f"too few arguments of {name}")
        marks = [self.mark()]
        pointer = self.value(arguments[0])
        place = operators.dereference(pointer)
        marks.append(self.mark())
        operand = operators.convert(self.value(arguments[1]), place.type) if found[1] != "load_n" else None
        marks.append(self.mark())
        for order in arguments[2 if operand is not None else 1 :]:
            self.discard(order)
            marks.append(self.mark())
        none = ir.IntConst(0, UNSIGNED_INT)
        self.unordered(marks, pointer, operand or none, *(none for _ in marks[3:]))
        if found[1] == "store_n" and operand is not None:
            self._write(place, operand, node)
            return ir.Unknown(c_types.VOID)
        before = self.temporary(place.type)
        self.emit(ir.Assign(before, self.read(place, node)), node)
        if operand is None:
            return before
        if found[1] == "exchange_n":
            self._write(place, operand, node)
            return before
        return self._changed(before, place, _OPERATORS[found[3]], operand, node, new=found[4] is not None)

    def _through_pointers(self, name: str, node: Node, arguments: Sequence[Node]) -> ir.Expr | None:
        """The same for a function that takes the values through pointers."""
        types = [self.probe(self.value, one).type for one in arguments[:-1]]
        if any(not isinstance(type_, Pointer) or not isinstance(type_.target, Integer | Pointer) for type_ in types):
            return None
        marks = [self.mark()]
        pointers = []
        for one in arguments[:-1]:
            pointers.append(self.value(one))
            marks.append(self.mark())
        self.discard(arguments[-1])
        marks.append(self.mark())
        self.unordered(marks, *pointers, ir.IntConst(0, UNSIGNED_INT))
        places = [operators.dereference(pointer) for pointer in pointers]
        first, before = places[0], None
        if name != "__atomic_store":
            before = self.temporary(first.type)
            self.emit(ir.Assign(before, self.read(first, node)), node)
        if name != "__atomic_load":
            value = self.temporary(first.type)
            self.emit(ir.Assign(value, operators.convert(self.read(places[1], node), first.type)), node)
            self._write(first, value, node)
        if before is not None:
            self._write(places[-1], operators.convert(before, places[-1].type), node)
        return ir.Unknown(c_types.VOID)

    def atomic_function(self, name: str, arguments: Sequence[Node]) -> ir.Var | None:
        """The function that is called, where its type depends on the first argument; None for other functions. Raises
        RefusedError where the first argument leads to no integer and no pointer."""
        if not arguments or OF_THE_OBJECT.fullmatch(name) is None:
            return None
        type_ = self.probe(self.value, arguments[0]).type
        if not isinstance(type_, Pointer) or not isinstance(type_.target, Integer | Pointer):
            raise RefusedError(f"the type of {name}")
        function = ir.Var(name, "function", Function(type_.target, (), prototyped=False))
        self.implicit[name] = function
        return function

    def _write(self, place: ir.Expr, value: ir.Expr, node: Node) -> None:
        """Like a call, it is complete before anything else of the expression goes on."""
        start, pending = self.mark(), self.order.pending
        self.emit(ir.Assign(place, value), node)
        self.order.assigned(place, start, pending)
        self.order.sequence_point(pending)

    def _changed(self, before: ir.Var, place: ir.Expr, operator: Operator, operand: ir.Expr, node: Node, *, new: bool) -> ir.Expr:
        """Applies an operator; atomic sums wrap (C11 7.17.7.5p3)."""
        type_ = place.type
        wide = next(one for one in _WIDE if not isinstance(type_, Integer) or type_.bits <= one.bits)
        changed = ir.Binary(operator, ir.Cast(before, wide), ir.Cast(operand, wide), wide)
        after = self.temporary(type_)
        self.emit(ir.Assign(after, ir.Cast(changed, type_)), node)
        self._write(place, after, node)
        return after if new else before
