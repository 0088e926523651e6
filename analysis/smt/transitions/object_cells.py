"""How each variable of a program is kept as state: by the accesses that the program makes to it.

- "cells": each scalar part is a state variable of its own. Its address is never taken and every index is constant.
- "elements": an array of scalars with indices that are not constant, its address never taken: one array of the logic.
- "memory": everything else, in one array of the logic for each class of scalars, by address (`heap`).

Accesses are assumed to stay inside the object that they begin in (C11 6.5.6p8; else the run has undefined behaviour).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Literal

from analysis.cfa.bit_layout import BitLayout
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.c_types import Array, DataModel, Integer, Record, Type, Void, is_scalar

Kind = Literal["cells", "elements", "memory"]
RESULT = "$result"  # what a function returns, on its way to the caller
MOST_CELLS = 64  # scalars of an object that are variables of their own, or written one by one


class Objects:
    """The kinds of a program's variables. Local variables are distinguished by their function, which is "" for globals.
    `exposed`: the global ones that pointers from outside may lead to."""

    def __init__(self, program: Program, model: DataModel, exposed: Collection[str]) -> None:
        self.layout = BitLayout.of(program, model)
        self._kinds: dict[tuple[str, str], Kind] = {}
        self._types: dict[tuple[str, str], Type] = {}
        self.has_plain_characters = False
        buffers: set[tuple[str, str]] = set()
        for cfa in program.functions.values():
            for variable in (*cfa.parameters, ir.Var(RESULT, "temporary", cfa.type.result)):
                self._meet(cfa.name, variable)
            for edge in cfa.edges:
                for expr in ir.expressions(edge.effect):
                    self._visit(cfa.name, expr, buffers)
        for known in program.globals.values():
            key = self._meet("", known.var)
            if known.var.name in exposed:
                self._kinds[key] = "memory"
            for expr in (known.initial, *(e for part in known.parts for e in (part.target, part.value))):
                self._visit("", expr, buffers)
        if any(self._kinds[key] == "memory" for key in buffers):  # arrays of characters are used as room for anything
            self.has_plain_characters = True

    def kind(self, owner: str, var: ir.Var) -> Kind:
        """How the variable is kept."""
        return self._kinds.get((owner, var.name), "cells" if is_scalar(var.type) else "memory")

    @cached_property
    def _by_owner(self) -> Mapping[str, Mapping[str, tuple[Type, Kind]]]:
        table: dict[str, dict[str, tuple[Type, Kind]]] = {}
        for (owner, name), kind in self._kinds.items():
            table.setdefault(owner, {})[name] = self._types[owner, name], kind
        return table

    def owned(self, owner: str) -> Mapping[str, tuple[Type, Kind]]:
        """The types and kinds of the variables of a function (or of the global ones), by name."""
        return self._by_owner.get(owner, {})

    def is_member(self, lvalue: ir.Expr) -> bool:
        """Whether the access says which record the object is in. Elements of an array within what a pointer leads to do not:
        characters there can be room for anything (C11 6.5p6). Nor do members of a record that holds characters only."""
        inner = lvalue
        while isinstance(inner, ir.Index):
            inner = inner.array
        if not isinstance(inner, ir.Field):
            return False
        if not isinstance(ir.root(inner), ir.Deref):
            return True
        record = inner.record.type
        return inner is lvalue and not (isinstance(record, Record) and record.key in self.layout.bytes_of_any)

    def locals(self, function: str) -> Iterable[tuple[str, Type]]:
        """The parameters and local variables of a function (of "", the global ones), in alphabetical order."""
        return sorted((name, type_) for (owner, name), type_ in self._types.items() if owner == function)

    def cells(self, name: str, type_: Type) -> list[tuple[str, Type]]:
        """The names and types of the state variables of an object that is kept as cells."""
        if is_scalar(type_):
            return [(name, type_)]
        leaves = self.layout.leaves(type_)
        return [] if leaves is None or len(leaves) > MOST_CELLS else [(f"{name}.{bit}", leaf) for bit, leaf in leaves]

    def in_memory(self, owner: str) -> list[str]:
        """The variables of a function (or the global ones) that are in memory, in alphabetical order."""
        return sorted(name for (of, name), kind in self._kinds.items() if of == owner and kind == "memory")

    # -- the scan -----------------------------------------------------------------------------------------------

    def _meet(self, owner: str, var: ir.Var) -> tuple[str, str]:
        key = ("" if var.scope == "global" else owner, var.name)
        if key not in self._kinds:
            self._types[key] = var.type
            self._kinds[key] = self._at_first(var.type)
        return key

    def _at_first(self, type_: Type) -> Kind:
        if is_scalar(type_) or isinstance(type_, Void):
            return "cells"
        leaves = self.layout.leaves(type_)
        if leaves is not None and len(leaves) <= MOST_CELLS and not self._is_mixed(type_, set()):
            return "cells"
        return "elements" if isinstance(type_, Array) and is_scalar(type_.element) else "memory"

    def _is_mixed(self, type_: Type, seen: set[Type]) -> bool:
        """Whether the type has members that share bits."""
        if isinstance(type_, Array):
            return self._is_mixed(type_.element, seen)
        if not isinstance(type_, Record) or type_ in seen:
            return False
        seen.add(type_)
        definition = self.layout.definition(type_)
        if type_.kind == "union" or definition is None:
            return True
        return any(self._is_mixed(m.type, seen) for m in definition.members)

    def _visit(self, owner: str, expr: ir.Expr, buffers: set[tuple[str, str]]) -> None:
        waiting = [expr]
        while waiting:
            part = waiting.pop()
            if isinstance(part, ir.AddressOf):
                self._access(owner, part.lvalue, waiting, buffers, is_taken=True)
            elif isinstance(part, ir.LVALUES):
                self._access(owner, part, waiting, buffers, is_taken=False)
            else:
                waiting.extend(ir.operands(part))

    def _access(
        self, owner: str, lvalue: ir.Expr, waiting: list[ir.Expr], buffers: set[tuple[str, str]], *, is_taken: bool
    ) -> None:
        inner, is_open = lvalue, False
        while isinstance(inner, ir.Field | ir.Index):
            if isinstance(inner, ir.Index):
                is_open = is_open or not isinstance(inner.index, ir.IntConst)
                waiting.append(inner.index)
                inner = inner.array
            else:
                inner = inner.record
        is_character = isinstance(lvalue.type, Integer) and lvalue.type.bits == 8 and not is_taken and not self.is_member(lvalue)
        if isinstance(inner, ir.Deref) and is_character:
            self.has_plain_characters = True
        if not isinstance(inner, ir.Var):
            waiting.extend(ir.operands(inner) if isinstance(inner, ir.Deref) else (inner,))
            return
        if inner.scope == "function":
            return
        key = self._meet(owner, inner)
        if is_character and lvalue is not inner:
            buffers.add(key)
        if is_taken:
            self._kinds[key] = "memory"
        elif is_open and self._kinds[key] != "memory":
            is_plain = isinstance(lvalue, ir.Index) and lvalue.array is inner and is_scalar(lvalue.type)
            self._kinds[key] = "elements" if is_plain else "memory"
