"""What memory holds that the path did not write: zero, or symbols that are inputs of the path.

An object that is one scalar is one symbol. Anything larger is an array of symbols: in `bv` of bytes, so that every way to read it
agrees with every other; in `int` one for each scalar type, so that reads of the same memory through different types are
connected only where they are at the same offset. Where they are not, that is said.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from analysis.model import ranges
from analysis.model.c_types import Floating, Integer, Pointer, Type
from analysis.smt.encoding.numbers import scalar_terms
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.formula import Input, InputKind, Ledger
from analysis.smt.encoding.numbers.integers import Integers
from analysis.smt.encoding.storage.bit_patterns import Patterns
from analysis.smt.encoding.storage.content import Fill
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import concat
from analysis.smt.logic.term_building import number, real, select, symbol
from analysis.smt.logic.terms import INT, REAL, Sort, Term, array, bit_vector

_SENTENCE = "memory of unknown content is read through types of different size or sign"


class _Read(NamedTuple):
    offset: Term
    width: int
    type: Type


class Fills:
    """Reads of fills. `inputs` are the symbols that were read so far, `births` when symbols and arrays came to be, `pointer_sort`
    is the sort of addresses and of offsets in bytes."""

    def __init__(self, arithmetic: Integers | Bits, ledger: Ledger) -> None:
        self._arithmetic = arithmetic
        self.pointer_sort: Sort = INT if isinstance(arithmetic, Integers) else bit_vector(arithmetic.model.pointer_bits)
        self._ledger = ledger
        self._patterns = Patterns(arithmetic)
        self.inputs: dict[Term, Input] = {}
        self.births: dict[Term, int] = {}
        self.step = 0
        self.on_pointer: Callable[[Term], None] | None = None
        self._reads: dict[str, dict[tuple[Term, int], _Read]] = {}

    def copy(self, arithmetic: Integers | Bits, ledger: Ledger) -> Fills:
        """An independent copy for another ledger."""
        other = Fills(arithmetic, ledger)
        other.inputs, other.births, other.step = dict(self.inputs), dict(self.births), self.step
        other._reads = dict(self._reads)
        return other

    def offset(self, value: int) -> Term:
        """A known offset in bytes."""
        return number(value, self.pointer_sort)

    def symbol(self, name: str, type_: Type, kind: InputKind, born: int, person: str, fill: Fill | None = None) -> Term:
        """An input of its own, of a scalar type; `person` is its name for people, `fill` where it is."""
        term = symbol(name, self._arithmetic.sort(type_))
        if term not in self.inputs:
            self._note(term, kind, person, type_, None if fill is None else self.offset(0), fill)
            self.births[term] = born
            self._ledger.constrain(self._arithmetic.in_range(term, type_))
            self._announce(term, kind, type_)
        return term

    def _announce(self, term: Term, kind: InputKind, type_: Type) -> None:
        """Tells of a pointer that came from outside; one that was never set is anything."""
        if isinstance(type_, Pointer) and kind != "undefined" and self.on_pointer is not None:
            self.on_pointer(term)

    def _note(self, term: Term, kind: InputKind, name: str, type_: Type, address: Term | None, fill: Fill | None = None) -> None:
        region = None if fill is None else fill.region
        self.inputs.setdefault(term, Input(term, kind, name, type_, self.step, address, region))

    def read(self, fill: Fill, offset: Term, low: int, width: int, type_: Type) -> Term:
        """A scalar of `width` bits: `low` of them after the byte at `offset`."""
        if fill.kind == "zero":
            return self._zero(width, type_)
        kind: InputKind = "undefined" if fill.kind == "undefined" else "memory"
        if isinstance(type_, Floating):
            self._ledger.approximate("a floating value in memory of unknown content is not connected with its bytes")
            return self._select(fill, f"{fill.name}:{scalar_terms.kind(type_)}", REAL, offset, type_, kind)
        if low % 8 or width % 8:
            return self._read_bits(fill, offset, low, width, type_, kind)
        if low:
            offset = linear.add(offset, self.offset(low // 8))
        if fill.is_scalar:
            return self._read_scalar(fill, offset, width, type_, kind)
        if isinstance(self._arithmetic, Bits):
            return self._read_bytes(fill, offset, width, type_, kind)
        return self._read_typed(fill, offset, width, type_, kind)

    def _zero(self, width: int, type_: Type) -> Term:
        if isinstance(type_, Floating):
            return real(Fraction(0))
        return number(0, INT if isinstance(self._arithmetic, Integers) else bit_vector(self._width(width, type_)))

    def _width(self, width: int, type_: Type) -> int:
        """How wide values of a type are as bit-vectors; a `_Bool` in a bit-field is wider than its bit."""
        return type_.bits if ranges.is_bool(type_) and isinstance(type_, Integer) else width

    def _read_scalar(self, fill: Fill, offset: Term, width: int, type_: Type, kind: InputKind) -> Term:
        """An object that is one scalar: a symbol, of the type of the first read."""
        reads = self._reads.setdefault(fill.name, {(offset, width): _Read(offset, width, type_)})
        if (offset, width) not in reads:
            return self._open(type_)
        first = reads[offset, width].type
        found = self.symbol(f"{fill.name}:{scalar_terms.kind(first)}", first, kind, fill.born, fill.name.partition("@")[0], fill)
        converted = self._patterns.convert(found, first, type_)
        return converted if converted is not None else self._open(type_)

    def _read_bytes(self, fill: Fill, offset: Term, width: int, type_: Type, kind: InputKind) -> Term:
        content = symbol(fill.name, array(self.pointer_sort, bit_vector(8)))
        self.births[content] = fill.born
        term = select(content, offset)
        for position in range(1, width // 8):
            term = concat(select(content, linear.add(offset, self.offset(position))), term)
        if ranges.is_bool(type_):
            self._ledger.constrain(self._arithmetic.in_range(term, type_))
        if term not in self.inputs:
            self._note(term, kind, fill.name.partition("@")[0], type_, offset, fill)
            self._announce(term, kind, type_)
        return term

    def _read_typed(self, fill: Fill, offset: Term, width: int, type_: Type, kind: InputKind) -> Term:
        reads = self._reads.get(fill.name, {})
        first = reads.get((offset, width))
        if first is None:
            if any(self._may_differ(r, offset, width, type_) for r in reads.values()):
                self._ledger.approximate(_SENTENCE)
            first = _Read(offset, width, type_)
            self._reads[fill.name] = {**reads, (offset, width): first}
        found = self._select(fill, f"{fill.name}:{scalar_terms.kind(first.type)}", INT, offset, first.type, kind)
        converted = self._patterns.convert(found, first.type, type_)
        return converted if converted is not None else self._open(type_)

    def _may_differ(self, read: _Read, offset: Term, width: int, type_: Type) -> bool:
        """Whether an earlier read may have seen the same memory through another array."""
        if scalar_terms.kind(read.type) == scalar_terms.kind(type_):
            return False
        factors, constant = linear.parts(linear.subtract(read.offset, offset))
        if not factors:
            return -read.width < 8 * constant < width
        # unknown offsets: objects of other types are other objects (C11 6.5p7), unless one access is of a character
        return read.width == width or 8 in (read.width, width)

    def _select(self, fill: Fill, name: str, sort: Sort, offset: Term, type_: Type, kind: InputKind) -> Term:
        content = symbol(name, array(self.pointer_sort, sort))
        self.births[content] = fill.born
        term = select(content, offset)
        if term not in self.inputs:
            self._note(term, kind, fill.name.partition("@")[0], type_, offset, fill)
            self._ledger.constrain(self._arithmetic.in_range(term, type_))
            self._announce(term, kind, type_)
        return term

    def _read_bits(self, fill: Fill, offset: Term, low: int, width: int, type_: Type, kind: InputKind) -> Term:
        """A bit-field: a symbol for the bytes that it is in, cut."""
        first, last = low // 8, (low + width - 1) // 8
        whole = 8 * (last - first + 1)
        container = Integer(whole, False, f"uint{whole}")
        pattern = self.read(fill, linear.add(offset, self.offset(first)), 0, whole, container)
        cut = self._patterns.cut(pattern, low - 8 * first, width)
        value = self._patterns.value(cut, width, type_)
        return value if value is not None else self._open(type_)

    def _open(self, type_: Type) -> Term:
        self._ledger.approximate(_SENTENCE)
        term = self._ledger.fresh(f"value:{scalar_terms.kind(type_)}", self._arithmetic.sort(type_))
        self._ledger.constrain(self._arithmetic.in_range(term, type_))
        self.births[term] = self.step
        return term
