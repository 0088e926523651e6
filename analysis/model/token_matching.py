"""Which tokens of a text are still there after an edit of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

_MOST = 2000  # tokens that are compared; of more than that, those that are equal at both ends


def matching(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of numbers of equal tokens in the old text and the new one, in order: all at both ends, and in between what is found
    by the longest common stretches."""
    head, tail, shorter = 0, 0, min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    pairs = [(at, at) for at in range(head)]
    middle, other = old[head : len(old) - tail], new[head : len(new) - tail]
    if middle and other and len(middle) + len(other) <= _MOST:
        for block in SequenceMatcher(None, middle, other, autojunk=False).get_matching_blocks():
            pairs += [(head + block.a + at, head + block.b + at) for at in range(block.size)]
    return pairs + [(len(old) - at, len(new) - at) for at in range(tail, 0, -1)]
