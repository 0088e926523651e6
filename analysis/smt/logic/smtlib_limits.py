"""How wide and how large the terms of a text may be.

Whoever reads a text that anybody could have written would otherwise run out of memory over a few letters of it: the width of a
bit-vector is a number, and a number that `let` names may be squared again and again.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.smt.logic.terms import Sort, Term, bit_vector

_MOST_WIDTH = 1 << 10  # in bits; the encodings make none of more than a few words
_MOST_BITS = 1 << 14  # of a number


def bit_vector_of(width: int) -> Sort:
    """The sort of bit-vectors of a width. ValueError if there are none, or none that is read."""
    if not 0 < width <= _MOST_WIDTH:
        raise ValueError(f"no such sort: bit-vectors of {width} bits")
    return bit_vector(width)


def limited(term: Term) -> Term:
    """The term. ValueError if it is a number that is too large, or has such a factor."""
    if any(number.bit_length() > _MOST_BITS for number in _numbers(term)):
        raise ValueError("a number is too large")
    return term


def _numbers(term: Term) -> Iterator[int]:
    """The numbers at the top of a term: its value, or its factors and those of its summands."""
    if isinstance(term.data, tuple) and term.op == "value":
        yield from (int(part) for part in term.data)
    elif isinstance(term.data, int):
        yield term.data
    if term.op in ("+", "*"):
        for argument in term.args:
            yield from _numbers(argument)
