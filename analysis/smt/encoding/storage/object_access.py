"""Reading and writing what an object holds, at known and at unknown offsets (see `content`)."""

from __future__ import annotations

import itertools

from analysis.model import clock
from analysis.model.c_types import Floating, Type
from analysis.smt.encoding.numbers import scalar_terms
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.formula import Ledger
from analysis.smt.encoding.numbers.integers import Integers
from analysis.smt.encoding.storage.bit_patterns import Patterns, unsigned
from analysis.smt.encoding.storage.content import (
    ANY_TAG,
    Cell,
    Content,
    Fill,
    Layer,
    Patch,
    Tag,
    is_multiple,
    is_same_kind,
    may_alias,
    overlapping,
    relation,
)
from analysis.smt.encoding.storage.fills import Fills
from analysis.smt.logic import linear
from analysis.smt.logic.term_building import FALSE, TRUE, and_, eq, ite, not_
from analysis.smt.logic.terms import Term

_PARTS = "a floating value or an address is put together from parts, or read in parts"
_OTHER = "a floating value or an address is read as a number, or the other way round"
_OVERLAP = "a write may overlap part of what is read"
_PASSED = 10  # times as much work is a write that is compared with, as one that is only passed
_MOST_WRITES = 512  # writes that a read at an unknown offset is compared with; more are not followed


class Objects:
    """Accesses to contents, for one arithmetic and ledger."""

    def __init__(self, arithmetic: Integers | Bits, ledger: Ledger, fills: Fills) -> None:
        self._arithmetic = arithmetic
        self._ledger = ledger
        self._fills = fills
        self._patterns = Patterns(arithmetic)

    def open(self, type_: Type, sentence: str) -> Term:
        """Any value of a type, said to be an approximation."""
        self._ledger.approximate(sentence)
        term = self._ledger.fresh(f"value:{scalar_terms.kind(type_)}", self._arithmetic.sort(type_))
        self._ledger.constrain(self._arithmetic.in_range(term, type_))
        self._fills.births[term] = self._fills.step
        return term

    # -- known offsets ------------------------------------------------------------------------------------------

    def read(self, layer: Layer, low: int, width: int, type_: Type, tag: Tag) -> Term:
        """The scalar in the bits from `low` on."""
        passed: list[Patch] = []
        value: Term | None = None
        while value is None:
            cell = layer.cells.get(low)
            base = layer.base
            if cell is not None and cell.width == width:
                value = self._cell_value(cell, type_)
            elif touched := overlapping(layer.cells, low, width):
                starts = {max(at, low) for at in touched}
                ends = {min(at + layer.cells[at].width, low + width) for at in touched}
                value = self._composed(layer, sorted({low, low + width} | starts | ends), type_)
            elif isinstance(base, Patch):
                if not _apart(base, low, low + width, tag):
                    passed.append(base)
            elif base.low is None or base.high is None or (base.low <= low and low + width <= base.high):
                value = self._fills.read(base, self._fills.offset(0), low, width, type_)
            elif base.low < low + width and low < base.high:
                inner = {edge for edge in (base.low, base.high) if low < edge < low + width}
                value = self._composed(layer._replace(cells={}), sorted({low, low + width} | inner), type_)
            if value is None:
                assert layer.below is not None
                layer = layer.below
        offset = self._fills.offset(low // 8)
        for patch in reversed(passed):
            value = self._after(patch, offset, width, low % 8, type_, value, tag)
        return value

    def _composed(self, layer: Layer, edges: list[int], type_: Type) -> Term:
        """The scalar between the first and the last edge, put together from what is between two edges each."""
        if isinstance(type_, Floating):
            return self.open(type_, _PARTS)
        joined: Term | None = None
        for start, end in itertools.pairwise(edges):
            piece = self._piece(layer, start, end - start)
            if piece is None:
                return self.open(type_, _PARTS)
            joined = piece if joined is None else self._patterns.join(joined, start - edges[0], piece)
        assert joined is not None
        value = self._patterns.value(joined, edges[-1] - edges[0], type_)
        return value if value is not None else self.open(type_, _PARTS)

    def _piece(self, layer: Layer, low: int, width: int) -> Term | None:
        """The pattern of bits that lie in one cell, or in none."""
        for at in overlapping(layer.cells, low, width):
            cell = layer.cells[at]
            pattern = self._patterns.of(cell.term, cell.type)
            if pattern is not None and isinstance(self._arithmetic, Bits):
                pattern = self._patterns.cut(pattern, 0, cell.width)
            return None if pattern is None else self._patterns.cut(pattern, low - at, width)
        return self.read(layer, low, width, unsigned(width), ANY_TAG)

    def _cell_value(self, cell: Cell, type_: Type) -> Term:
        if cell.type == type_:
            return cell.term
        value = self._patterns.convert(cell.term, cell.type, type_)
        return value if value is not None else self.open(type_, _OTHER)

    def _after(self, patch: Patch, offset: Term, width: int, extra: int, type_: Type, before: Term, tag: Tag) -> Term:
        """What is at an offset (`extra` bits after it) after a patch, from what was there before."""
        meets = relation(offset, width + extra, patch.offset, patch.width)
        if meets == "maybe" and is_same_kind(patch.tag, tag):
            meets = "same"  # aligned objects of one type overlap in whole or not at all (C11 6.3.2.3p7)
        if meets == "never":
            return before
        value = self._cell_value(Cell(patch.width, patch.term, patch.type), type_) if width == patch.width else None
        same = and_(patch.condition, eq(patch.offset, offset))
        if meets == "same" and not extra and value is not None:
            return ite(same, value, before)
        touched = and_(patch.condition, self._share(offset, width + extra, patch.offset, patch.width))
        if touched is FALSE:
            return before
        if not extra and width < patch.width and patch.width % width == 0 and is_multiple(offset, patch.offset, width):
            return self._inside(patch, offset, width, type_, before)
        if value is not None and not extra:
            before = ite(same, value, before)
            touched = and_(touched, not_(same))
        return ite(touched, self.open(type_, _OVERLAP), before)

    def _inside(self, patch: Patch, offset: Term, width: int, type_: Type, before: Term) -> Term:
        """The value at an offset after the write of a wider scalar. The offset is at one of its aligned
        parts, or outside of it."""
        pattern = self._patterns.of(patch.term, patch.type)
        for start in range(0, patch.width, width):
            part = None if pattern is None else self._patterns.value(self._patterns.cut(pattern, start, width), width, type_)
            hit = eq(offset, linear.add(patch.offset, self._fills.offset(start // 8)))
            value = part if part is not None else self.open(type_, _OTHER)
            before = ite(and_(patch.condition, hit), value, before)
        return before

    def _share(self, one: Term, one_width: int, other: Term, other_width: int) -> Term:
        """The condition that two ranges of bytes overlap."""
        pointer = unsigned(self._arithmetic.model.pointer_bits)
        one_end = linear.add(one, self._fills.offset(-(-one_width // 8)))
        other_end = linear.add(other, self._fills.offset(-(-other_width // 8)))
        return and_(
            self._arithmetic.compare("<", one, other_end, pointer), self._arithmetic.compare("<", other, one_end, pointer)
        )

    def write(self, content: Content, low: int, cell: Cell, tag: Tag) -> None:
        """Puts a scalar at a known offset. What is left of scalars that it overlaps in part is kept."""
        before = content.cells.get(low)
        if before is None or before.width != cell.width:
            for at in overlapping(content.cells, low, cell.width):
                old = content.cells.pop(at)
                self._keep(content, at, old, at, low)
                self._keep(content, at, old, low + cell.width, at + old.width)
        content.cells[low] = cell

    def _keep(self, content: Content, at: int, old: Cell, low: int, high: int) -> None:
        """Keeps the bits from `low` to `high` of a cell that was at `at`."""
        if low >= high:
            return
        type_ = unsigned(high - low)
        pattern = self._patterns.of(old.term, old.type)
        if pattern is None:
            content.cells[low] = Cell(high - low, self.open(type_, _PARTS), type_)
            return
        content.cells[low] = Cell(high - low, self._patterns.cut(pattern, low - at, high - low), type_)

    # -- unknown offsets ----------------------------------------------------------------------------------------

    def read_at(
        self,
        layer: Layer,
        offset: Term,
        width: int,
        type_: Type,
        low: int | None,
        high: int | None,
        tag: Tag,
        is_typed: bool = False,
    ) -> Term:
        """The scalar at an offset in bytes; it lies between the bits `low` and `high`, where these are known.
        `is_typed`: what is there was written through types that tell whether it can be meant."""
        cell_tag = tag if is_typed else ANY_TAG
        passed: list[Patch | tuple[Fill, Term]] = []
        value: Term | None = None
        while value is None:
            clock.work(clock.WRITE)
            passed.extend(self._as_patches(layer, low, high, cell_tag))
            base = layer.base
            if isinstance(base, Patch):
                if not _apart(base, low, high, tag):
                    passed.append(base)
            elif base.low is None or base.high is None or _within(low, high, base.low, base.high):
                value = self._fills.read(base, offset, 0, width, type_)
            elif (low is None or low < base.high) and (high is None or base.low < high):
                covered = self._share(offset, width, self._fills.offset(base.low // 8), base.high - base.low)
                passed.append((base, covered))
            if value is None:
                assert layer.below is not None
                layer = layer.below
        if len(passed) > _MOST_WRITES:
            return self.open(type_, "a large array is read at an unknown index")
        clock.work(_PASSED * clock.WRITE * len(passed))
        for change in reversed(passed):
            if isinstance(change, Patch):
                value = self._after(change, offset, width, 0, type_, value, tag)
            else:
                value = ite(change[1], self._fills.read(change[0], offset, 0, width, type_), value)
        return value

    def _as_patches(self, layer: Layer, low: int | None, high: int | None, tag: Tag) -> list[Patch]:
        """The cells of a layer between two bits as patches, the last one first."""
        found = []
        for at in sorted(layer.cells, reverse=True):
            cell = layer.cells[at]
            if (low is None or at + cell.width > low) and (high is None or at < high):
                # a bit-field is a patch of its bytes, so that it never equals what is read
                width = cell.width if at % 8 == 0 else -(-(cell.width + at % 8) // 8) * 8
                offset = self._fills.offset(at // 8)
                found.append(Patch(TRUE, offset, width, cell.term, cell.type, None, None, tag))
        return found


def _within(low: int | None, high: int | None, outer_low: int, outer_high: int) -> bool:
    return low is not None and high is not None and outer_low <= low and high <= outer_high


def _apart(patch: Patch, low: int | None, high: int | None, tag: Tag) -> bool:
    """Whether a patch surely does not touch an access between two bits."""
    if not may_alias(patch.tag, tag):
        return True
    if low is None or high is None or patch.low is None or patch.high is None:
        return False
    return high <= patch.low or patch.high <= low
