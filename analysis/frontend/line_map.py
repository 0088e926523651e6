"""Which line of which file a stretch of preprocessed text comes from.

Preprocessors say so in line markers, `# 12 "f.h" 1 3`: the next line is line 12 of f.h; 1 = a file begins, 2 = back from
one, 3 = a system header (GCC manual, "Preprocessor Output"). `#line` in the source gives the same markers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_MARKER = re.compile(rb'\n#(?:line)? (\d+) "((?:[^"\\\n]|\\.)*+)"([ 0-9]*+)(?=\r?\n|\Z)')
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)")


class Line(NamedTuple):
    """A line of a file: its path as the preprocessor prints it, and its number, from 1."""

    path: bytes
    number: int


class Segment(NamedTuple):
    """The text from `start` on, up to the next segment, is `path` from `line` on."""

    start: int
    path: bytes
    line: int


class LineMap:
    """The lines of one preprocessed text. `main` is the path of the file that was preprocessed, as given to the preprocessor."""

    def __init__(self, text: bytes, main: bytes, raw: bool = False) -> None:
        self.main = main
        self._text = text
        self._segments: list[Segment] = [Segment(0, main, 1)]
        self._entered: dict[bytes, bool] = {}  # headers in the order of their first inclusion; whether they are the system's
        if not raw:
            self._read_markers()
        self._starts = [segment.start for segment in self._segments]
        self._lines: dict[bytes, dict[int, list[tuple[int, int]]]] = {}
        self._numbers: dict[bytes, list[int]] = {}

    def _read_markers(self) -> None:
        paths: dict[bytes, bytes] = {}
        for match in _MARKER.finditer(b"\n" + self._text):
            written, flags = match.group(2), match.group(3).split()
            path = paths.setdefault(written, unescape(written) if b"\\" in written else written)
            self._segments.append(Segment(min(match.end(), len(self._text)), path, int(match.group(1))))
            if b"1" in flags and not path.startswith(b"<"):
                self._entered[path] = self._entered.get(path, True) and b"3" in flags

    @property
    def headers(self) -> tuple[bytes, ...]:
        """The paths of the included files, as printed, each once, in the order of inclusion."""
        return tuple(path for path in self._entered if path != self.main)

    def line_at(self, offset: int) -> Line:
        """The line of a byte of the preprocessed text. The end of the text belongs to the last line."""
        segment = self._segments[bisect_right(self._starts, offset) - 1]
        return Line(segment.path, segment.line + self._text.count(b"\n", segment.start, offset))

    def in_main_file(self, offset: int) -> bool:
        """Whether the byte comes from the file itself, not from a header (nor from a file that `#line` names)."""
        return self._segments[bisect_right(self._starts, offset) - 1].path == self.main

    def in_system_header(self, offset: int) -> bool:
        """Whether the byte comes from a header of the system's. Expansions of the system's macros in other files do not."""
        return self._entered.get(self._segments[bisect_right(self._starts, offset) - 1].path, False)

    def offsets_of(self, line: Line) -> list[tuple[int, int]]:
        """The half-open ranges of the preprocessed text that come from a line, in order; without line ends and markers."""
        return list(self._lines_of(line.path).get(line.number, ()))

    def next_line(self, line: Line) -> int | None:
        """The number of the next line of the same file that left any text."""
        self._lines_of(line.path)
        numbers = self._numbers[line.path]
        at = bisect_right(numbers, line.number)
        return numbers[at] if at < len(numbers) else None

    def _lines_of(self, path: bytes) -> dict[int, list[tuple[int, int]]]:
        """Made when the first place in a file is asked for: most texts are analysed without ever being pointed at."""
        lines = self._lines.get(path)
        if lines is None:
            lines = {}
            ends = [*self._starts[1:], len(self._text)]
            for segment, end in zip(self._segments, ends, strict=True):
                if segment.path == path:
                    self._add_lines(lines, segment, end)
            self._lines[path] = lines
            self._numbers[path] = sorted(lines)
        return lines

    def _add_lines(self, lines: dict[int, list[tuple[int, int]]], segment: Segment, end: int) -> None:
        offset, number = segment.start, segment.line
        for row in self._text[segment.start : end].split(b"\n"):
            if row and not row.isspace() and not row.startswith(b"# "):
                lines.setdefault(number, []).append((offset, offset + len(row)))
            offset += len(row) + 1
            number += 1


def unescape(written: bytes) -> bytes:
    """The path in a line marker: preprocessors escape quotes, backslashes and bytes that cannot be printed, in octal."""
    return _ESCAPE.sub(lambda m: bytes([int(m.group(1), 8) & 0xFF]) if m.group(1)[:1].isdigit() else m.group(1), written)


def escape(path: bytes) -> bytes:
    """The path as it is written in a line marker."""
    return b"".join(b"\\%03o" % byte if byte < 0x20 or byte in b'"\\\x7f' else bytes([byte]) for byte in path)
