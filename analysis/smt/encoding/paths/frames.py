"""The variables of a path: which object each is, and what it starts with."""

from __future__ import annotations

import weakref

from analysis.cfa.addresses_taken import pointed_statics
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.model import ir

_TAKEN: weakref.WeakKeyDictionary[Program, frozenset[str]] = weakref.WeakKeyDictionary()


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
    """The variables with static storage that can be pointed to."""
    known = _TAKEN.get(program)
    if known is None:
        known = pointed_statics(program)
        if "main" not in program.functions:
            known |= program.exposed or frozenset()
        _TAKEN[program] = known
    return known
