"""From offsets in preprocessed text to places in the user's files: lines, columns, macros."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Mapping

from analysis.frontend.text.alignment import Alignment, Span, align, source_block, tokens
from analysis.frontend.text.line_map import Line
from analysis.frontend.text.preprocess import Preprocessed
from analysis.model.file_reading import UnreadableError, read_file
from analysis.model.places import Place, Position, Range, whole_line

_BOM = b"\xef\xbb\xbf"
_LARGEST_HEADER = 16_000_000  # bytes
_MOST_LINES = 5  # of one step of a trace
_CASE = re.compile(r"\bcase\s+$")


class FileMap:
    """The places of one preprocessed file. Lines are aligned with their source only when a place in them is asked for.

    `overlay` holds the unsaved texts that the file was preprocessed with, by absolute path.
    """

    def __init__(self, preprocessed: Preprocessed, overlay: Mapping[str, bytes] | None = None) -> None:
        self.preprocessed = preprocessed
        self.line_map = preprocessed.line_map
        self._overlay = {} if overlay is None else overlay
        self._sources: dict[bytes, list[bytes] | None] = {preprocessed.line_map.main: preprocessed.source.split(b"\n")}
        self._aligned: dict[Line, tuple[bytes, Alignment]] = {}
        self._displayed: dict[bytes, str] = {}
        self._line_starts: list[int] = []

    def place(self, start: int, end: int) -> Place:
        """The place of the bytes [start, end) of the preprocessed text.

        Tokens of a macro's expansion are at its use, except where all of them are of one of its arguments. A range that
        begins and ends in different files ends where its first token does.
        """
        if self.preprocessed.raw:
            return Place(self.preprocessed.path, Range(self._raw_position(start), self._raw_position(max(start, end))))
        start, end = self._trim(start, max(start, end))
        line, last = self.line_map.line_at(start), self.line_map.line_at(max(start, end - 1))
        path = self.display(line.path)
        if line == last:
            return self._place_in(path, line, start, end)
        first = self._place_in(path, line, start, start + 1)
        final = self._place_in(path, last, end - 1, end)
        if last.path != line.path or final.range.end < first.range.start:
            return first
        use = first.macro if first.macro == final.macro and first.range == final.range else None
        return Place(path, Range(first.range.start, final.range.end), use)

    def written(self, place: Place) -> str | None:
        """What stands at a place, in one line, with the `case` before it; None in the expansion of a macro that is no such label,
        or where comments or continued lines are in it."""
        raw = next((raw for raw, shown in self._displayed.items() if shown == place.path and not raw.startswith(b"<")), None)
        path = self.line_map.main if place.path == self.preprocessed.path else raw
        lines = None if path is None else self._lines(path)
        start, end = place.range.start, place.range.end
        if lines is None or end.line > len(lines):
            return None
        is_label = _CASE.search(lines[start.line - 1].decode("utf-8", "surrogateescape")[: start.column - 1]) is not None
        if place.macro is not None and not is_label:
            return None
        text = [line.decode("utf-8", "surrogateescape") for line in lines[start.line - 1 : end.line]]
        text[-1] = text[-1][: end.column - 1]
        text[0] = text[0][start.column - 1 :]
        if len(text) > _MOST_LINES or any("//" in line or "/*" in line or line.endswith("\\") for line in text):
            return None
        found = " ".join(line.strip() for line in text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return f"case {found}" if is_label else found

    def display(self, path: bytes) -> str:
        """A path in a line marker as users see it: as they gave it; headers below the current folder relative if that was."""
        shown = self._displayed.get(path)
        if shown is None:
            shown = self._display(path)
            self._displayed[path] = shown
        return shown

    def _display(self, path: bytes) -> str:
        given = self.preprocessed.path
        if path == self.line_map.main or path.startswith(b"<"):
            return given
        absolute = self._absolute(path)
        if os.path.isabs(given):
            return absolute
        relative = os.path.relpath(absolute)
        return absolute if relative.startswith(os.pardir) else relative

    def _absolute(self, path: bytes) -> str:
        return os.path.normpath(os.path.join(self.preprocessed.folder, os.fsdecode(path)))

    def _trim(self, start: int, end: int) -> tuple[int, int]:
        """The range without white space and without line markers at its ends."""
        text = self.preprocessed.text
        while start < end and (
            text[start : start + 1].isspace() or (text.startswith(b"# ", start) and text[start - 1 : start] in b"\n")
        ):
            start = min(end, text.find(b"\n", start) + 1 or end) if text.startswith(b"# ", start) else start + 1
        while end > start and text[end - 1 : end].isspace():
            end -= 1
        return start, end

    def _place_in(self, path: str, line: Line, start: int, end: int) -> Place:
        lines = self._lines(line.path)
        if lines is None or line.number > len(lines) or line.number < 1:
            return whole_line(path, max(1, line.number))
        block, alignment = self._alignment(line, lines)
        span = alignment.span(start, end)
        if span is None:
            return whole_line(path, line.number)
        return self._in_block(path, line.number, block, span)

    def _in_block(self, path: str, number: int, block: bytes, span: Span) -> Place:
        range_ = Range(_position(block, span.start, number), _position(block, span.end, number))
        return Place(path, range_, None if span.macro is None else span.macro.decode("utf-8", "replace"))

    def _alignment(self, line: Line, lines: list[bytes]) -> tuple[bytes, Alignment]:
        known = self._aligned.get(line)
        if known is None:
            block = source_block(lines, line.number)
            text = self.preprocessed.text
            result = [token for start, end in self.line_map.offsets_of(line) for token in tokens(text[start:end], start)]
            following = self.line_map.next_line(line)
            known = (block, align(result, block, len(block) if following is None else _offset_of(block, following - line.number)))
            self._aligned[line] = known
        return known

    def _lines(self, path: bytes) -> list[bytes] | None:
        """The source lines of a file; None when it cannot be read."""
        if path not in self._sources:
            self._sources[path] = self._read(self._absolute(path))
        return self._sources[path]

    def _read(self, absolute: str) -> list[bytes] | None:
        text = self._overlay.get(absolute)
        if text is None:
            try:
                text = read_file(absolute, _LARGEST_HEADER)
            except UnreadableError:
                return None
        return text.removeprefix(_BOM).split(b"\n")

    def _raw_position(self, offset: int) -> Position:
        text = self.preprocessed.source
        if not self._line_starts:
            starts = [0]
            for line in self._sources[self.line_map.main] or []:
                starts.append(starts[-1] + len(line) + 1)
            self._line_starts = starts[:-1]
        offset = min(offset, len(text))
        number = bisect_right(self._line_starts, offset)
        return Position(number, _columns(text[self._line_starts[number - 1] : offset]) + 1)


def _position(block: bytes, offset: int, number: int) -> Position:
    """The position of an offset in a block of source whose first line has the given number."""
    begin = block.rfind(b"\n", 0, offset) + 1
    return Position(number + block.count(b"\n", 0, offset), _columns(block[begin:offset]) + 1)


def _offset_of(block: bytes, lines: int) -> int:
    """The offset in a block at which so many lines are over."""
    offset = 0
    for _ in range(lines):
        offset = block.find(b"\n", offset) + 1
        if offset == 0:
            return len(block)
    return offset


def _columns(text: bytes) -> int:
    """The number of code points; a byte that is not UTF-8 (Latin-1 files) counts as one."""
    return len(text.decode("utf-8", "surrogateescape"))
