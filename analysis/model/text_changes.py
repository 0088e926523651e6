"""Changes of a text that mend a finding."""

from __future__ import annotations

import msgspec

from analysis.model.places import Position, Range

FIXABLE = frozenset(
    ("null-dereference", "memory-leak", "memory-cleanup", "resource-leak", "lock-discipline", "use-after-free", "use-after-close",
     "double-free", "uninitialized-read")
)  # fmt: skip
"""The rules for whose findings there may be a fix (`analysis.fixes.kinds` has a row for each)."""


class TextChange(msgspec.Struct, frozen=True, gc=False):
    """A stretch of a text, and what is to stand there; nothing is put in where the range has no width."""

    range: Range
    text: str


class Fix(msgspec.Struct, frozen=True, gc=False):
    """Changes of the file at `path` that mend a finding. They do not overlap, and are in the order of the text. `title` says
    what they do, to people, in a clause: "free `copy` before this return"."""

    title: str
    path: str
    changes: tuple[TextChange, ...]


class ByteChange(msgspec.Struct, frozen=True, gc=False, order=True):
    """The same as a `TextChange`, by byte offsets into the text in UTF-8: [start, end) becomes `text`."""

    start: int
    end: int
    text: str


def changed(data: bytes, changes: tuple[ByteChange, ...]) -> bytes:
    """The text after the changes, which do not overlap."""
    for change in sorted(changes, reverse=True):
        data = data[: change.start] + change.text.encode() + data[change.end :]
    return data


def position_of(data: bytes, offset: int) -> Position:
    """The position of a byte of a text in UTF-8."""
    start = data.rfind(b"\n", 0, offset) + 1
    return Position(data.count(b"\n", 0, offset) + 1, len(data[start:offset].decode("utf-8", "replace")) + 1)


def offset_of(data: bytes, position: Position) -> int:
    """The byte at a position; the end of the line, or of the text, where it has no such column or line."""
    start = 0
    for _ in range(position.line - 1):
        end = data.find(b"\n", start)
        if end < 0:
            return len(data)
        start = end + 1
    end = data.find(b"\n", start)
    line = data[start : len(data) if end < 0 else end].decode("utf-8", "replace")
    return start + len(line[: position.column - 1].encode())
