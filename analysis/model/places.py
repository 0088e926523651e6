"""Places in source text. Lines and columns count from 1; columns count Unicode code points."""

from __future__ import annotations

import msgspec


class Position(msgspec.Struct, frozen=True, gc=False, order=True):
    """A line and a column, both from 1."""

    line: int
    column: int


class Range(msgspec.Struct, frozen=True, gc=False, order=True):
    """A half-open stretch of text: `end` is the position after its last character."""

    start: Position
    end: Position


class Place(msgspec.Struct, frozen=True, gc=False, order=True):
    """A range in a file of the user's, with the macro it was expanded from, if any.

    `path` is as the user gave it (headers: as the compiler found them). When `macro` is set, `range` is the
    macro's use in the file, not its definition. `gone`: an edit took away the text that it was; `range` is near where that was.
    """

    path: str
    range: Range
    macro: str | None = None
    gone: bool = False


class Site(msgspec.Struct, frozen=True, gc=False):
    """Where a CFA edge comes from, relative to its function: byte offsets into the preprocessed text of the
    function, counted from the function's first byte. CFAs and stored results hold sites, never places (invariant I3)."""

    start: int
    end: int


GONE = Site(-1, -1)
"""The site of an edge whose text an edit took away, in a function that does not parse since."""


def whole_line(path: str, line: int, column: int = 1) -> Place:
    """A place of no width, for messages about a file or a line as a whole."""
    here = Position(line, column)
    return Place(path, Range(here, here))
