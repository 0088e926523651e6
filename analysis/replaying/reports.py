"""What sanitizers say, as rules and places. Each message is one of gcc's or clang's libraries, of valgrind, or of the C
library."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from analysis.replaying.harness import MARK

# what is said, and the rules that it belongs to: the first one that is in the text counts
_MESSAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Assertion `", ("assertion",)),
    (" is reached", ("assertion",)),
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
    ("detected memory leaks", ("memory-leak", "memory-cleanup")),
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
_PLACE = re.compile(r"(?<![^\s():])([^\s():]+\.[ch]):(\d+)")
_END = re.compile(r"\n\s*\n|(?:is located|freed by|previously allocated|Address 0x)")
_AT_THE_END = frozenset(("memory-leak", "memory-cleanup", "resource-leak", "lock-at-exit"))
_ELSEWHERE = _AT_THE_END | {"assertion", "uninitialized-read"}
_ABORTED = -6


class Seen(NamedTuple):
    """What a run showed: the `rules` that it may have violated, none if it violated nothing; `places`: files, without their
    folders, and lines, the innermost first; `words`: the line that says it."""

    rules: tuple[str, ...]
    places: tuple[tuple[str, int], ...]
    words: str


def seen(said: str, status: int | None) -> Seen:
    """What a run showed that printed this, and ended with this status; negative: by that signal; None: not at
    all."""
    found = [(said.find(text), rules) for text, rules in _MESSAGES if text in said]
    if not found:
        is_aborted = status == _ABORTED and MARK not in said
        return Seen(("assertion",), (), "the program aborts") if is_aborted else Seen((), (), _ended(said, status))
    at, rules = min(found)
    start = said.rfind("\n", 0, at) + 1
    report = said[start:]
    end = None if "memory-leak" in rules else _END.search(report)
    places = ((os.path.basename(m[1]), int(m[2])) for m in _PLACE.finditer(report[: end.start()] if end else report))
    return Seen(rules, tuple(dict.fromkeys(places)), said[start:].partition("\n")[0].strip())


def agrees(shown: Seen, rule: str, path: str, first: int, last: int) -> bool:
    """Whether that is the violation of a rule in these lines of a file. Some are told elsewhere: what is seen when the
    program ends; a failed assertion, by the library; a value that was never set, where something depends on it."""
    if rule not in shown.rules:
        return False
    if rule in _ELSEWHERE or not shown.places:
        return True
    return any(name == os.path.basename(path) and first <= line <= last for name, line in shown.places)


def _ended(said: str, status: int | None) -> str:
    marked = [line.removeprefix(MARK) for line in said.splitlines() if line.startswith(MARK)]
    if marked:
        return marked[0]
    if status is None:
        return "the program did not end"
    if status < 0:
        return f"the program is ended by signal {-status}"
    return f"the program ends with status {status}"
