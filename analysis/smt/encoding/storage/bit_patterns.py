"""Values as patterns of bits, which can be cut and joined: what unions, casts of pointers and `memcpy` see (C11 6.2.6.1).

A pattern is a number without sign: of sort Int in the `int` encoding, where pieces are cut out by division, a bit-vector in `bv`.
The byte order is little-endian, that of x86 and nearly all of ARM. Floating values and addresses have no pattern here.
"""

from __future__ import annotations

from analysis.model import ranges
from analysis.model.c_types import Floating, Integer, Pointer, Type
from analysis.smt.encoding.numbers.bits import Bits
from analysis.smt.encoding.numbers.integers import Integers
from analysis.smt.logic import linear
from analysis.smt.logic.bitvectors import concat, euclidean, extract
from analysis.smt.logic.term_building import constant_of, integer
from analysis.smt.logic.terms import Term


def unsigned(width: int) -> Integer:
    """An unsigned type of any width."""
    return Integer(width, False, f"uint{width}")


class Patterns:
    """Cuts and joins for one arithmetic."""

    def __init__(self, arithmetic: Integers | Bits) -> None:
        self._arithmetic = arithmetic

    def of(self, term: Term, type_: Type) -> Term | None:
        """The pattern of a value of a scalar type; None for floating ones, and for addresses of objects: which number they are is
        not known (C11 6.2.6.1p4). A null pointer is zero."""
        if isinstance(type_, Floating) or term.sort.kind == "Real" or (isinstance(type_, Pointer) and constant_of(term) != 0):
            return None
        width = ranges.width(type_, self._arithmetic.model.pointer_bits)
        return self._arithmetic.convert(term, type_, unsigned(width))

    def value(self, pattern: Term, width: int, type_: Type) -> Term | None:
        """The value of a scalar type that has the pattern; None for floating types."""
        if isinstance(type_, Floating):
            return None
        if ranges.is_bool(type_):
            return (
                self._arithmetic.convert(pattern, unsigned(width), unsigned(type_.bits)) if isinstance(type_, Integer) else None
            )
        return self._arithmetic.convert(pattern, unsigned(width), type_)

    def cut(self, pattern: Term, low: int, width: int) -> Term:
        """Some bits of a pattern, from bit `low` on."""
        if isinstance(self._arithmetic, Bits):
            return extract(low + width - 1, low, pattern)
        shifted = euclidean("div", pattern, integer(1 << low)) if low else pattern
        most = self._arithmetic.intervals.of(shifted)[1]
        return shifted if most < 1 << width else euclidean("mod", shifted, integer(1 << width))

    def join(self, lower: Term, lower_width: int, upper: Term) -> Term:
        """Two patterns as one, `upper` in the bits above `lower`."""
        if isinstance(self._arithmetic, Bits):
            return concat(upper, lower)
        return linear.combine(lower, upper, 1 << lower_width)

    def convert(self, term: Term, source: Type, target: Type) -> Term | None:
        """A value of one type read as one of another type of the same width; None where it has no pattern."""
        if source == target or (isinstance(source, Pointer) and isinstance(target, Pointer)):
            return term
        if isinstance(source, Floating) or isinstance(target, Floating):
            return term if isinstance(source, Floating) and isinstance(target, Floating) and source.bits == target.bits else None
        pattern = self.of(term, source)
        return None if pattern is None else self.value(pattern, ranges.width(target, self._arithmetic.model.pointer_bits), target)
