"""Where two texts differ, as one replaced stretch."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple


class Difference(NamedTuple):
    """The bytes [start, old_end) of the old text became [start, new_end) of the new one; all else is the same."""

    start: int
    old_end: int
    new_end: int


def difference(old: bytes, new: bytes) -> Difference:
    """The difference by the longest common head and, of what remains, the longest common tail."""
    shorter = min(len(old), len(new))
    head = bisect_left(range(shorter), True, key=lambda length: old[: length + 1] != new[: length + 1])
    tail = bisect_left(range(shorter - head), True, key=lambda length: old[-length - 1 :] != new[-length - 1 :])
    return Difference(head, len(old) - tail, len(new) - tail)
