"""What operands of one expression do, where C leaves open which of them comes first (C11 6.5p2-3, 6.5.2.2p10, 6.7.9p23)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from analysis.model import ir
from analysis.model.c_types import Array


class Operand(msgspec.Struct, frozen=True):
    """One operand. `reads` and `writes` are the objects that it accesses itself, as lvalues; `calls` are its calls.

    `fails`: something in it could be undefined for some values. `leaves`: control may leave the expression from it by a jump.
    """

    reads: tuple[ir.Expr, ...]
    writes: tuple[ir.Expr, ...]
    calls: tuple[ir.Call, ...]
    fails: bool
    leaves: bool

    @property
    def is_nothing(self) -> bool:
        """Whether it makes no difference when the operand is evaluated."""
        return not (self.reads or self.writes or self.calls or self.fails or self.leaves)

    @property
    def has_effects(self) -> bool:
        """Whether others can tell when it is evaluated."""
        return bool(self.writes or self.calls or self.leaves)


class Unordered(msgspec.Struct, frozen=True):
    """Operands that may be evaluated in any order. `location` is where control is before the first of them, and `end` behind all;
    -1 if that is not known."""

    location: int
    operands: tuple[Operand, ...]
    end: int = -1


def accessed(expr: ir.Expr) -> Iterator[ir.Expr]:
    """The objects that the value of an expression is read from, as lvalues."""
    waiting: list[tuple[ir.Expr, bool]] = [(expr, True)]  # the other ones are places: where they are is all that is asked
    while waiting:
        part, is_read = waiting.pop()
        if is_read and isinstance(part, ir.LVALUES) and not isinstance(part.type, Array) and not _is_own(part):
            yield part
        match part:
            case ir.Field(record):
                waiting.append((record, False))
            case ir.Index(array, index):
                waiting += ((array, False), (index, True))
            case ir.AddressOf(lvalue):
                waiting.append((lvalue, False))
            case _:
                waiting += ((inner, True) for inner in ir.operands(part))


def _is_own(lvalue: ir.Expr) -> bool:
    """Whether an object belongs to one operand alone: a temporary is of the operand that made it."""
    root = ir.root(lvalue)
    return isinstance(root, ir.Var) and root.scope in ("temporary", "function")


def place_reads(lvalue: ir.Expr) -> Iterator[ir.Expr]:
    """The objects that are read to find out where an lvalue is."""
    return accessed(ir.AddressOf(lvalue, lvalue.type))


def read_by(effect: ir.Effect) -> Iterator[ir.Expr]:
    """The objects that an effect reads."""
    for value in ir.values_of(effect):
        yield from accessed(value)
    target = ir.target_of(effect)
    if target is not None:
        yield from place_reads(target)
