"""The variables of a path: which object each is, and what it starts with."""

from __future__ import annotations

import weakref

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.model import ir

_TAKEN: weakref.WeakKeyDictionary[Program, frozenset[str]] = weakref.WeakKeyDictionary()
_TAKEN_BY: weakref.WeakKeyDictionary[Cfa, frozenset[str]] = weakref.WeakKeyDictionary()  # most stay in the next revision


class Frame:
    """A call that is open: its function, the edge that called it, the objects of its variables, and what it returned."""

    def __init__(self, cfa: Cfa, call: Edge | None, number: int) -> None:
        self.cfa = cfa
        self.call = call
        self.number = number
        self.variables: dict[str, int] = {}
        self.returned: ir.Var | None = None

    def copy(self) -> Frame:
        """An independent copy."""
        other = Frame(self.cfa, self.call, self.number)
        other.variables = dict(self.variables)
        other.returned = self.returned
        return other


def address_taken(program: Program) -> frozenset[str]:
    """The global variables whose address is used as a value anywhere in the program: only these can be pointed to."""
    known = _TAKEN.get(program)
    if known is None:
        found: set[str] = set()
        for cfa in program.functions.values():
            found |= _taken_by(cfa)
        for variable in program.globals.values():
            for initial in (variable.initial, *(part.value for part in variable.parts)):
                _addresses(initial, found)
        if "main" not in program.functions:
            found.update(program.exposed or ())
        known = _TAKEN[program] = frozenset(found)
    return known


def _taken_by(cfa: Cfa) -> frozenset[str]:
    known = _TAKEN_BY.get(cfa)
    if known is None:
        found: set[str] = set()
        for edge in cfa.edges:
            for expr in ir.expressions(edge.effect):
                _addresses(expr, found)
        known = _TAKEN_BY[cfa] = frozenset(found)
    return known


def _addresses(expr: ir.Expr, found: set[str]) -> None:
    for part in ir.walk(expr):
        if isinstance(part, ir.AddressOf):
            inner = part.lvalue
            while isinstance(inner, ir.Field | ir.Index):
                inner = inner.record if isinstance(inner, ir.Field) else inner.array
            if isinstance(inner, ir.Var) and inner.scope == "global":
                found.add(inner.name)
