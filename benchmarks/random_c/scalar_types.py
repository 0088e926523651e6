"""Integer types of C, and how operators convert them (C11 6.3.1): what the generator of programs must know of its expressions."""

from __future__ import annotations

from typing import NamedTuple


class Int(NamedTuple):
    """An integer type as it is written, its width and sign."""

    name: str
    bits: int
    signed: bool


INT, UNSIGNED = Int("int", 32, True), Int("unsigned", 32, False)
LONG, UNSIGNED_LONG = Int("long", 64, True), Int("unsigned long", 64, False)
TYPES = (
    Int("char", 8, True), Int("signed char", 8, True), Int("unsigned char", 8, False), Int("short", 16, True),
    Int("unsigned short", 16, False), INT, INT, INT, UNSIGNED, UNSIGNED, LONG, UNSIGNED_LONG, Int("long long", 64, True),
    Int("unsigned long long", 64, False), Int("_Bool", 8, False),
)  # fmt: skip


class Value(NamedTuple):
    """An expression with its type."""

    text: str
    type: Int


Member = tuple[str, Int, int | None]  # name, type, length of an array


class Names(NamedTuple):
    """What a place in the program can use: scalar variables, and arrays with their lengths."""

    scalars: list[Value]
    arrays: list[tuple[str, Int, int]]


def promote(type_: Int) -> Int:
    """The integer promotions."""
    return INT if type_.bits < 32 else type_


def common(one: Int, other: Int) -> Int:
    """The usual arithmetic conversions."""
    one, other = promote(one), promote(other)
    if one.bits != other.bits:
        return one if one.bits > other.bits else other
    return one if not one.signed else other


def unsigned_of(type_: Int) -> Int:
    """The unsigned type of the same width."""
    return UNSIGNED if type_.bits <= 32 else UNSIGNED_LONG
