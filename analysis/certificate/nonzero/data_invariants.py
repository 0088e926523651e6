"""What holds of data of a whole program at all times: members, variables and elements that are never zero, or null.

An invariant speaks of an object as others see it: one that was made and set. Functions that make one may leave it zero as long as
nobody else can reach it (`construction`). `kept_invariants` finds which ones all writes and constructions keep.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from analysis.model import ir
from analysis.model.c_types import BIT_FIELD, Array, Integer, Pointer, Record


class Invariant(NamedTuple):
    """A value that is never zero, or null: a `member` of all objects of a record, a `variable` with static storage, all
    `elements` of an array with static storage, or a `parameter` in all calls of a function. `of`: the key of the record, or
    the name of the function; else empty."""

    kind: Literal["member", "variable", "elements", "parameter"]
    name: str
    of: str = ""


Invariants = frozenset[Invariant]
NONE: Invariants = frozenset()


class Always:
    """What may be relied on in a walk. `streams`: see `values.open_streams`. `used` are the invariants that were relied on."""

    def __init__(self, streams: frozenset[str], invariants: Iterable[Invariant] = ()) -> None:
        self.streams, self.invariants = streams, frozenset(invariants)
        self.used = set[Invariant]()

    def holds(self, lvalue: ir.Expr, unset: frozenset[ir.Expr]) -> bool:
        """Whether an lvalue is never zero here. `unset`: parts of objects that are being made and may be zero."""
        if isinstance(lvalue, ir.Var) and lvalue.scope == "global" and lvalue.name in self.streams:
            return True
        found = said_of(lvalue) if self.invariants else None
        if found is None or found not in self.invariants or lvalue in unset:
            return False
        self.used.add(found)
        return True


@lru_cache(maxsize=1 << 16)
def said_of(lvalue: ir.Expr) -> Invariant | None:
    """The invariant that would speak of an lvalue; None if there is none."""
    if not is_value(lvalue.type):
        return None
    match lvalue:
        case ir.Field(record, name) if isinstance(record.type, Record) and record.type.kind == "struct":
            return Invariant("member", name, record.type.key)
        case ir.Var(name, "global"):
            return Invariant("variable", name)
        case ir.Index():
            root: ir.Expr = lvalue
            while isinstance(root, ir.Index):
                root = root.array
            if isinstance(root, ir.Var) and root.scope == "global" and isinstance(root.type, Array):
                return Invariant("elements", root.name)
    return None


def is_value(type_: object) -> bool:
    """Whether invariants can be about values of a type: pointers, and integers that are no bit-fields."""
    return isinstance(type_, Pointer) or (isinstance(type_, Integer) and BIT_FIELD not in type_.name)
