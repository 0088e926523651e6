"""What sanitizers say, as rules and places. Each message is one of gcc's or clang's libraries, of valgrind, or of the C
library."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.replaying.lock_answers import AGAIN, AT_EXIT, NOT_HELD
from analysis.replaying.marked_lines import MARK

Spot = tuple[str, int, int]
"""A file, and its first and last line."""
HARNESS_FILES = frozenset({"harness.c", "stubs.c"})
# what is said, and the rules that it belongs to: the first one that is in a line counts
_MESSAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Assertion `", ("assertion",)),
    ("shift exponent", ("shift-range",)),
    ("left shift of", ("signed-overflow", "shift-range")),
    ("signed integer overflow", ("signed-overflow",)),
    ("negation of", ("signed-overflow",)),
    ("cannot be represented in type", ("signed-overflow",)),
    ("division by zero", ("division-by-zero",)),
    ("out of bounds", ("array-bounds",)),
    ("insufficient space", ("array-bounds",)),
    ("buffer-overflow", ("array-bounds",)),
    ("buffer-underflow", ("array-bounds",)),
    ("stack-buffer", ("array-bounds",)),
    ("dynamic-stack-buffer", ("array-bounds",)),
    ("null pointer", ("null-dereference",)),
    ("SEGV on unknown address", ("null-dereference", "array-bounds", "use-after-free", "use-after-scope", "invalid-free")),
    ("heap-use-after-free", ("use-after-free", "use-after-close")),
    ("stack-use-after", ("use-after-scope",)),
    ("attempting double-free", ("double-free", "use-after-close")),
    ("not malloc()-ed", ("invalid-free",)),
    ("leak of ", ("memory-leak", "memory-cleanup")),
    ("Invalid read of size", ("use-after-close", "use-after-free")),
    ("Invalid write of size", ("use-after-close", "use-after-free")),
    ("Invalid free()", ("use-after-close", "double-free")),
    ("Open file descriptor", ("resource-leak",)),
    ("definitely lost", ("memory-leak", "memory-cleanup")),
    ("still reachable", ("memory-cleanup",)),
    ("uninitialised value", ("uninitialized-read",)),
    ("Uninitialised byte", ("uninitialized-read",)),
    ("uninitialised byte", ("uninitialized-read",)),
    ("Attempt to re-lock", ("lock-discipline",)),
    ("unlocked a not-locked", ("lock-discipline",)),
    ("unlocked an invalid lock", ("lock-discipline",)),
    ("still holds", ("lock-discipline", "lock-at-exit")),
)
# the same of lines of the harness
_OWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (" is reached", ("assertion",)),
    (AGAIN, ("lock-discipline",)),
    (NOT_HELD, ("lock-discipline",)),
    (AT_EXIT, ("lock-at-exit",)),
)
_PLACE = re.compile(r"(?<![^\s():])([^\s():]+\.[ch]):(\d+)")
_END = re.compile(r"\n\s*\n|(?:is located|freed by|previously allocated|Address 0x|was created by)")
_PROCESS = re.compile(r"^==\d+== ?", re.MULTILINE)
_REPEATED = "SUMMARY:"
_MADE = frozenset(("memory-leak", "memory-cleanup", "resource-leak"))
_ELSEWHERE = frozenset(("lock-at-exit", "assertion", "uninitialized-read"))
_ABORTED = -6


class Seen(NamedTuple):
    """What a run showed: the `rules` that it may have violated, none if it violated nothing; `places`: files, without their
    folders, and lines, the innermost first; `words`: the line that says it."""

    rules: tuple[str, ...]
    places: tuple[tuple[str, int], ...]
    words: str

    @property
    def where(self) -> tuple[str, int] | None:
        """The innermost place in the program."""
        return next((place for place in self.places if place[0] not in HARNESS_FILES), None)


def seen(said: str, status: int | None) -> tuple[Seen, ...]:
    """What a run showed that printed this, and ended with this status; negative: by that signal; None: not at
    all. At least one thing."""
    said = _PROCESS.sub("", said)
    reports = [_report(said, at, rules) for at, rules in _beginnings(said)]
    if reports:
        return tuple(reports)
    is_aborted = status == _ABORTED and MARK not in said
    return (Seen(("assertion",), (), "the program aborts") if is_aborted else Seen((), (), _ended(said, status)),)


def _beginnings(said: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    at = 0
    for line in said.splitlines(keepends=True):
        messages = _OWN if line.startswith(MARK) else _MESSAGES
        found = [(line.find(text), rules) for text, rules in messages if text in line]
        if found and not line.startswith(_REPEATED):
            yield at, min(found)[1]
        at += len(line)


def _report(said: str, at: int, rules: tuple[str, ...]) -> Seen:
    report = said[at:]
    words, _, rest = report.partition("\n")
    end = _END.search(rest)
    places = _PLACE.finditer(words + "\n" + (rest[: end.start()] if end else rest))
    named = ((os.path.basename(found[1]), int(found[2])) for found in places)
    return Seen(rules, tuple(named), words.removeprefix(MARK).strip().removesuffix(" allocated from:"))


def agrees(shown: Seen, rule: str, spots: Sequence[Spot], made: Sequence[Spot] = ()) -> bool:
    """Whether that is the violation of a rule at one of these places. What is lost or left behind is told where it was `made`, as
    far as that is known: by calls, the innermost first. A failed assertion is told by the library; a value that was never set,
    where something depends on it."""
    if rule not in shown.rules:
        return False
    if rule in _MADE:
        return _follows(shown.places, made)
    if rule in _ELSEWHERE:
        return True
    return any(_is_at(place, spot) for place in shown.places for spot in spots)


def _follows(places: Sequence[tuple[str, int]], made: Sequence[Spot]) -> bool:
    """Whether the places lead through all calls, in their order."""
    remaining = iter(places)
    return all(any(_is_at(place, spot) for place in remaining) for spot in made)


def _is_at(place: tuple[str, int], spot: Spot) -> bool:
    return place[0] == os.path.basename(spot[0]) and spot[1] <= place[1] <= spot[2]


def _ended(said: str, status: int | None) -> str:
    marked = [line.removeprefix(MARK) for line in said.splitlines() if line.startswith(MARK)]
    if marked:
        return marked[0]
    if status is None:
        return "the program did not end"
    if status < 0:
        return f"the program is ended by signal {-status}"
    return f"the program ends with status {status}"
