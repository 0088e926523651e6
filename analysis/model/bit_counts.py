"""Functions that count bits: gcc's built-in ones, and `ffs` of POSIX."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from analysis.model.c_types import DataModel

_NAME = re.compile(r"__builtin_(clz|ctz|ffs|popcount|parity)(l|ll)?|(ffs)(l|ll)?")


class BitCount(NamedTuple):
    """What is counted of an integer with so many bits: zeros before the highest one (clz) or after the lowest one (ctz), both
    undefined for 0; the place of the lowest one, counted from 1, or 0 (ffs); ones (popcount), or whether they are odd."""

    what: Literal["clz", "ctz", "ffs", "popcount", "parity"]
    bits: int

    def of(self, value: int) -> int | None:
        """The count for a value, None where it is undefined."""
        digits = value & ((1 << self.bits) - 1)
        lowest = (digits & -digits).bit_length()
        match self.what:
            case "clz":
                return self.bits - digits.bit_length() if digits else None
            case "ctz":
                return lowest - 1 if digits else None
            case "ffs":
                return lowest
            case "popcount":
                return digits.bit_count()
        return digits.bit_count() % 2


def bit_count(name: str, model: DataModel) -> BitCount | None:
    """What a function of this name counts; None for other functions."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    widths = {"l": model.long_bits, "ll": 64}
    what: Literal["clz", "ctz", "ffs", "popcount", "parity"] = found[1] or "ffs"  # type: ignore[assignment]  # as the pattern has it
    return BitCount(what, widths.get(found[2] or found[4] or "", 32))
