"""Objects that can change by themselves (C11 6.7.3p7): each read of one gives any value of its type.

Types do not have qualifiers. So what a declaration says of `volatile` is kept beside the type, as *levels*:
level 0 is the object itself, level 1 what it points to, and so on (`volatile int *p` has level 1). A pointer
that was converted or assigned has the levels of the type that it has now, not those of where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analysis.model import ir
from analysis.model.c_types import Record, RecordDefinition

Levels = frozenset[int]
NONE: Levels = frozenset()
ITSELF: Levels = frozenset((0,))


def pointed_to(levels: Levels) -> Levels:
    """The levels of a pointer to what has these."""
    return frozenset(level + 1 for level in levels)


def behind(levels: Levels) -> Levels:
    """The levels of what something with these points to."""
    return frozenset(level - 1 for level in levels if level > 0)


def levels_of(expr: ir.Expr, variables: Mapping[str, Levels], record: Callable[[str], RecordDefinition | None]) -> Levels:
    """The levels of an object or a pointer, from those of the variables that it is reached from."""
    match expr:
        case ir.Var(name):
            return variables.get(name, NONE)
        case ir.Deref(pointer):
            return behind(levels_of(pointer, variables, record))
        case ir.AddressOf(lvalue):
            return pointed_to(levels_of(lvalue, variables, record))
        case ir.Index(array):
            return levels_of(array, variables, record)
        case ir.Cast(operand):
            return levels_of(operand, variables, record)
        case ir.Binary(operator, left) if operator in ("+", "-"):
            return levels_of(left, variables, record)
        case ir.Field(whole, name):
            definition = record(whole.type.key) if isinstance(whole.type, Record) else None
            members = () if definition is None else definition.members
            own = next((frozenset(member.volatile) for member in members if member.name == name), NONE)
            return own | (levels_of(whole, variables, record) & ITSELF)
    return NONE
