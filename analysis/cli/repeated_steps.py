"""Steps of a trace that repeat what is right above them: turns of a loop that has to be left before the finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Step = TypeVar("Step")

_LONGEST = 12  # steps that are compared with those before them
_LEAST = 4  # so many times in a row they stand for themselves no more; a loop of three is easier read than explained


def repetitions(steps: Sequence[Step]) -> Iterator[tuple[int, int, int]]:
    """The steps as blocks, in order: the first step's index, how many steps a block has, and how often it is there in a row.
    All steps are in one block each; a block of which there is one has one step."""
    first = 0
    while first < len(steps):
        length, times = max(
            ((length, _times(steps, first, length)) for length in range(1, _LONGEST + 1)),
            key=lambda block: (block[1] >= _LEAST, block[0] * block[1] if block[1] >= _LEAST else 0, -block[0]),
        )
        if times < _LEAST:
            length, times = 1, 1
        yield first, length, times
        first += length * times


def _times(steps: Sequence[Step], first: int, length: int) -> int:
    """How often the steps from `first` on are there in a row."""
    block, times = steps[first : first + length], 1
    while steps[first + times * length : first + (times + 1) * length] == block:
        times += 1
    return times if len(block) == length else 0
