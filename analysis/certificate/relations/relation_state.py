"""What is known at a location of what was there when the function was called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from analysis.certificate.nonzero.writes import Place
from analysis.certificate.relations.differences import Difference
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer, Type

_NOW = "now "
RETURNED = "return"
"""The name of the variable that holds what is returned."""
_OWN = ("local", "temporary")
_MOST_PARTS = 9


class RelationState(NamedTuple):
    """`values`: what the function's own variables, and objects in memory, hold, as terms. In terms, and in how objects are named,
    parameters and memory stand for what they held at the entry. `written`: what may have been written to since. `differences`:
    of terms, and of what variables hold `now` that no term is known for."""

    values: Mapping[ir.Expr, ir.Expr]
    written: frozenset[Place] = frozenset()
    differences: frozenset[Difference] = frozenset()


def now(variable: ir.Var) -> ir.Var:
    """What a variable holds at a location."""
    return ir.Var(_NOW + variable.name, "local", variable.type)


def named_now(part: ir.Expr) -> str:
    """The name of the variable whose value now this is; empty for all else."""
    return part.name.removeprefix(_NOW) if isinstance(part, ir.Var) and part.name.startswith(_NOW) else ""


def is_of_entry(term: ir.Expr) -> bool:
    """Whether a term means the same for all of a run: it speaks of nothing but what was there at the entry."""
    return not any(variable.scope in _OWN for variable in ir.variables(term))


def is_followed(type_: Type) -> bool:
    """Whether values of a type are said."""
    return isinstance(type_, Integer | Pointer)


def fits(term: ir.Expr | None) -> ir.Expr | None:
    """A term, if it is short enough to be said."""
    return None if term is None or len(ir.walk(term)) > _MOST_PARTS else term


def is_in_frame(lvalue: ir.Expr) -> bool:
    """Whether an object is a variable of the function itself, or a part of one."""
    root = ir.root(lvalue)
    return isinstance(root, ir.Var) and root.scope not in ("global", "function")
