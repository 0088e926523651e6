"""Integer terms as C expressions that have the same value: mathematical integers, in C types that are wide enough.

C computes in the types of its operands (C11 6.3.1.8): a sum that does not fit into these is computed in a
wider one, which a cast of its first operand asks for; `__int128` where 64 bits are not enough, as gcc and
clang have it. What does not fit even there, or has no counterpart in C, cannot be expressed:
`InexpressibleError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from analysis.model.c_types import Integer, Pointer
from analysis.model.ranges import bounds
from analysis.smt.logic import linear
from analysis.smt.logic.terms import Term

PRIMARY, UNARY, PRODUCT, SUM, CHOICE = 12, 11, 10, 9, 1
_WIDE = {64: "long long", 128: "__int128"}


class InexpressibleError(Exception):
    """What a term says cannot be said in C."""


class Name(NamedTuple):
    """How a state variable is written in C, and its type; `is_array`: it is an array of that type."""

    text: str
    type: Integer | Pointer
    is_array: bool = False


class Written(NamedTuple):
    """A C expression: what its value can be, how it binds, and its type after promotion (C11 6.3.1.1)."""

    text: str
    binds: int
    low: int
    high: int
    bits: int
    signed: bool

    def inside(self, binds: int) -> str:
        """The text as an operand of something that binds so."""
        return self.text if self.binds >= binds else f"({self.text})"


def width(*ranges: tuple[int, int]) -> int:
    """The signed type, by its bits, that all these values fit into. Raises InexpressibleError."""
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    for bits in (32, 64, 128):
        if -(1 << (bits - 1)) <= low and high < 1 << (bits - 1):
            return bits
    raise InexpressibleError


def widened(value: Written, bits: int) -> Written:
    """The same value in a signed type of at least so many bits, into which it must fit."""
    if value.signed and value.bits >= bits:
        return value
    return value._replace(text=f"({_WIDE.get(bits, 'int')}){value.inside(UNARY)}", binds=UNARY, bits=bits, signed=True)


class Values:
    """Writes Int terms. `truth` writes Booleans; `names` gives the names of symbols."""

    def __init__(self, names: Mapping[Term, Name], truth: Callable[[Term], str]) -> None:
        self._names = names
        self._truth = truth

    def value(self, term: Term) -> Written:
        """A term as an expression. Raises InexpressibleError."""
        match term.op:
            case "value":
                return constant(term.data if isinstance(term.data, int) else 0)
            case "symbol":
                return self._named(term, is_array=False, index="")
            case "select":
                array, index = term.args
                return self._named(array, is_array=True, index=f"[{self.value(index).text}]")
            case "+":
                return self.sum(linear.parts(term))
            case "*":
                return self.sum(linear.parts(term)) if term.args[0].op == "value" else self._product(term.args)
            case "div" | "mod":
                return self._divided(term)
            case "ite":
                return self._choice(term)
            case _:
                raise InexpressibleError

    def sum(self, parts: linear.Sum) -> Written:
        """A sum, in a type that holds all that is computed on the way."""
        factors, rest = parts
        items = [(factor > 0, _scaled(abs(factor), self.value(term))) for term, factor in factors.items()]
        items += [(rest > 0, constant(abs(rest)))] if rest else []
        items.sort(key=lambda item: not item[0])
        if not items:
            return constant(0)
        (is_positive, first), *others = items
        return _added(first if is_positive else _negated(first), others)

    def _product(self, args: Iterable[Term]) -> Written:
        first, *rest = [self.value(argument) for argument in args]
        for other in rest:
            first = _times(first, other)
        return first

    def _divided(self, term: Term) -> Written:
        """Division and remainder as SMT-LIB has them: the remainder is never negative."""
        value, divisor = self.value(term.args[0]), term.args[1].data
        if term.args[1].op != "value" or not isinstance(divisor, int) or divisor <= 0:
            raise InexpressibleError
        by = constant(divisor)
        bits = width((value.low, value.high), (0, 2 * divisor), (value.low - divisor, value.high))
        inner = widened(value, bits).inside(PRODUCT)
        remainder = Written(f"{inner} % {by.text}", PRODUCT, 0, divisor - 1, bits, signed=True)
        if value.low < 0:
            text = f"({inner} % {by.text} + {by.text}) % {by.text}"
            remainder = remainder._replace(text=text)
        if term.op == "mod":
            return remainder
        low, high = value.low // divisor, value.high // divisor
        if value.low >= 0:
            return Written(f"{inner} / {by.text}", PRODUCT, low, high, bits, signed=True)
        return Written(f"({inner} - {remainder.inside(PRODUCT)}) / {by.text}", PRODUCT, low, high, bits, signed=True)

    def _choice(self, term: Term) -> Written:
        condition, then, otherwise = self._truth(term.args[0]), self.value(term.args[1]), self.value(term.args[2])
        low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
        then, otherwise = common(then, otherwise)
        bits, signed = max(then.bits, otherwise.bits), then.signed and otherwise.signed
        return Written(f"({condition}) ? {then.inside(SUM)} : {otherwise.inside(SUM)}", CHOICE, low, high, bits, signed)

    def _named(self, term: Term, *, is_array: bool, index: str) -> Written:
        name = self._names.get(term)
        if name is None or name.is_array != is_array or isinstance(name.type, Pointer):
            raise InexpressibleError
        type_ = name.type
        if type_.name == "_Bool":
            return Written(name.text + index, PRIMARY, 0, 1, 32, signed=True)
        low, high = bounds(type_)
        is_small = type_.bits < 32
        return Written(name.text + index, PRIMARY, low, high, 32 if is_small else type_.bits, signed=is_small or type_.signed)


def constant(value: int) -> Written:
    """A literal (C11 6.4.4.1). The least values of a type have none of their own. Raises InexpressibleError."""
    if not -(1 << 63) <= value < 1 << 64:
        raise InexpressibleError
    if value == -(1 << 31):
        return Written("(-2147483647 - 1)", PRIMARY, value, value, 32, signed=True)
    if value == -(1 << 63):
        return Written("(-9223372036854775807 - 1)", PRIMARY, value, value, 64, signed=True)
    if value >= 1 << 63:
        return Written(f"{value}u", PRIMARY, value, value, 64, signed=False)
    bits = 32 if -(1 << 31) <= value < 1 << 31 else 64
    return Written(str(value) + ("" if bits == 32 else "LL"), PRIMARY if value >= 0 else UNARY, value, value, bits, signed=True)


def common(one: Written, other: Written) -> tuple[Written, Written]:
    """Two operands such that C's conversions to their common type change the value of neither (C11 6.3.1.8)."""
    if one.signed == other.signed:
        return one, other
    signed, unsigned = (one, other) if one.signed else (other, one)
    if signed.bits > unsigned.bits or signed.low >= 0:
        return one, other
    bits = width((one.low, one.high), (other.low, other.high))
    return (one, widened(other, bits)) if one.signed else (widened(one, bits), other)


def _scaled(factor: int, value: Written) -> Written:
    return value if factor == 1 else _times(constant(factor), value)


def _negated(value: Written) -> Written:
    bits = width((value.low, value.high), (-value.high, -value.low))
    inner = widened(value, bits)
    return Written(f"-{inner.inside(UNARY)}", UNARY, -inner.high, -inner.low, inner.bits, signed=True)


def _times(one: Written, other: Written) -> Written:
    corners = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
    low, high = min(corners), max(corners)
    bits = width((low, high), (one.low, one.high), (other.low, other.high))
    is_literal = one.low == one.high and one.signed  # then the other operand says the type
    left = one if is_literal else widened(one, bits)
    right = other if other.signed and not is_literal else widened(other, bits)
    bits = max(left.bits, right.bits)
    return Written(f"{left.inside(PRODUCT)} * {right.inside(UNARY)}", PRODUCT, low, high, bits, signed=True)


def _added(first: Written, rest: list[tuple[bool, Written]]) -> Written:
    """The first value, with others added (True) or subtracted, from left to right."""
    low, high = first.low, first.high
    ranges = [(low, high)]
    for is_added, value in rest:
        low, high = (low + value.low, high + value.high) if is_added else (low - value.high, high - value.low)
        ranges += [(low, high), (value.low, value.high)]
    if not rest:
        return first
    bits = width(*ranges)
    texts = [widened(first, bits).inside(SUM)]
    texts += [f"{'+' if is_added else '-'} {value.inside(PRODUCT)}" for is_added, value in rest]
    bits = max(bits, first.bits, *(value.bits for _, value in rest if value.signed))
    return Written(" ".join(texts), SUM, low, high, bits, signed=True)
