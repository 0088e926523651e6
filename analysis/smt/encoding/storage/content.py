"""What one object holds along a path: cells with known offsets, over layers for what happened at unknown ones.

Offsets are in bits where they are known, and terms in bytes where not. The topmost cells are the latest writes at known offsets;
under them is a layer: a `Patch`, a write at an offset that is a term, or a `Fill`, which covers a range evenly, and under it the
cells of before, and so on down to a fill that covers everything. Layers are immutable and shared by copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from typing import Literal, NamedTuple

from analysis.model.c_types import Type
from analysis.smt.logic import linear
from analysis.smt.logic.terms import Term

FillKind = Literal["zero", "undefined", "unknown"]
_WIDEST = 128  # bits of the widest scalar


class Cell(NamedTuple):
    """A scalar at a known offset: `width` bits that hold `term`, a value of `type`."""

    width: int
    term: Term
    type: Type


class Tag(NamedTuple):
    """What an access says about its object (C11 6.5p7): the kind and width of the scalar, and the member of which record it is.

    `scalar` is "char" for plain accesses of one byte, which may be to any object, and "any" for members of unions.
    """

    scalar: str
    record: str = ""
    low: int = 0


ANY_TAG = Tag("any")


class Patch(NamedTuple):
    """A write at an unknown offset, in bytes, done if `condition` holds; it stays between the bits `low` and `high`, if known."""

    condition: Term
    offset: Term
    width: int
    term: Term
    type: Type
    low: int | None
    high: int | None
    tag: Tag


class Fill(NamedTuple):
    """Bits `low` to `high` (None: everything) that are zero, or what `name` says: a symbol where `is_scalar`, else an array of
    symbols. `born` is when their values came to be, `region` the number of the object that was filled."""

    kind: FillKind
    name: str
    born: int
    region: int
    low: int | None = None
    high: int | None = None
    is_scalar: bool = False


class Layer(NamedTuple):
    """Cells over a base over the rest; `below` is None under the fill that covers everything."""

    cells: Mapping[int, Cell]
    base: Patch | Fill
    below: Layer | None


class Content:
    """What an object holds now. `owner` is the memory that may change it in place; others copy it first."""

    __slots__ = ("base", "below", "cells", "owner")

    def __init__(self, owner: object, cells: dict[int, Cell], base: Patch | Fill, below: Layer | None = None) -> None:
        self.owner = owner
        self.cells = cells
        self.base = base
        self.below = below

    def copy(self, owner: object) -> Content:
        """A copy that another memory may change."""
        return Content(owner, dict(self.cells), self.base, self.below)

    def top(self) -> Layer:
        """The content as a layer, which later changes of the content would show in: for reading only."""
        return Layer(self.cells, self.base, self.below)

    def push(self, base: Patch | Fill, low: int | None, high: int | None) -> None:
        """Puts a layer on top that touches the bits from `low` to `high` only; cells outside of them stay on top."""
        if isinstance(base, Fill) and base.low is None:
            self.cells, self.base, self.below = {}, base, None
            return
        below = Layer(self.cells, self.base, self.below)
        kept: dict[int, Cell] = {}
        if low is not None and high is not None:
            kept = {at: cell for at, cell in self.cells.items() if at + cell.width <= low or at >= high}
        self.cells, self.base, self.below = kept, base, below


def overlapping(cells: Mapping[int, Cell], low: int, width: int) -> list[int]:
    """The offsets of the cells that share bits with a range, ascending."""
    if width + _WIDEST < len(cells):
        return [at for at in range(low - _WIDEST + 1, low + width) if at in cells and at + cells[at].width > low]
    return sorted(at for at, cell in cells.items() if at < low + width and at + cell.width > low)


def may_alias(one: Tag, other: Tag) -> bool:
    """Whether two accesses at unknown places may be to the same object, by their types alone."""
    if one.record and one.record == other.record and "any" not in (one.scalar, other.scalar):
        return one.low == other.low and one.scalar == other.scalar
    if "any" in (one.scalar, other.scalar):
        return True
    if "char" in (one.scalar, other.scalar) and not (one.record and other.record):
        return True
    return one.scalar == other.scalar


def is_same_kind(one: Tag, other: Tag) -> bool:
    """Whether two accesses say that they are to scalars of one kind."""
    return one.scalar == other.scalar != "any"


Relation = Literal["never", "same", "maybe"]


def relation(one: Term, one_width: int, other: Term, other_width: int) -> Relation:
    """How ranges of bits that start at two offsets (terms in bytes) can meet: not at all; if at all, exactly; or anyhow.

    The difference of the offsets is a constant plus multiples of the factors of its summands: known modulo their common divisor.
    """
    difference, step = _distance(one, other)
    if step == 0:
        if difference == 0 and one_width == other_width:
            return "same"
        return "maybe" if -one_width < difference < other_width else "never"
    # one starts `difference + k * step` after the other: they share bits if that is in (-one_width, other_width)
    first = -one_width + 1 + (difference + one_width - 1) % step
    if first >= other_width:
        return "never"
    if one_width == other_width and difference % step == 0 and step >= one_width:
        return "same"
    return "maybe"


def is_multiple(one: Term, other: Term, width: int) -> bool:
    """Whether the distance between two offsets is surely a multiple of a number of bits."""
    difference, step = _distance(one, other)
    return difference % width == 0 and step % width == 0


def _distance(one: Term, other: Term) -> tuple[int, int]:
    """How much further the first offset is than the second, in bits, up to multiples of the second number."""
    factors, constant = linear.parts(linear.subtract(one, other))
    step = gcd(*factors.values()) if factors else 0
    if one.sort.kind == "BitVec":
        width = one.sort.width
        step = gcd(step, 1 << width) if factors else 0
        constant -= (1 << width) if constant >> (width - 1) else 0
    return 8 * constant, 8 * step
