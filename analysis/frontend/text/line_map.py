"""Which line of which file a stretch of preprocessed text comes from.

Preprocessors say so in line markers, `# 12 "f.h" 1 3`: the next line is line 12 of f.h; 1 = a file begins, 2 = back from
one, 3 = a system header (GCC manual, "Preprocessor Output"). `#line` in the source gives the same markers.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

_MARKED = re.compile(rb'\n# (\d{1,9}) "([^"\\\n]*+(?>(?:\\.[^"\\\n]*+)*))"')
_MARKER = re.compile(rb'\n#(?:line)? (\d{1,9}) "([^"\\\n]*+(?>(?:\\.[^"\\\n]*+)*))"([ 0-9]*+)')
_FEW = 16  # for no more questions about lines than this, it costs more to note where all lines are than to look for each
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)")


class Line(NamedTuple):
    """A line of a file: its path as the preprocessor prints it, and its number, from 1."""

    path: bytes
    number: int


class LineMap:
    """The lines of one preprocessed text. `main` is the path of the file that was preprocessed, as given to the preprocessor.

    The text is a sequence of segments: from `_starts[i]` on, up to the next start, it is `_paths[i]` from line `_numbers[i]` on.
    """

    def __init__(self, text: bytes, main: bytes, raw: bool = False) -> None:
        self.main = main
        self._text = text
        self._starts = [0]
        self._paths = [main]
        self._numbers = [1]
        self._entered: dict[bytes, bool] = {}  # headers in the order of their first inclusion; whether they are the system's
        self._lines: dict[bytes, dict[int, list[tuple[int, int]]]] = {}
        self._used: dict[bytes, list[int]] = {}
        self._own: list[tuple[int, int, int, int]] | None = None
        self._asked = 0
        if not raw:
            self._read_markers()

    def _read_markers(self) -> None:
        known: dict[bytes, bytes] = {}
        starts, paths, numbers = self._starts.append, self._paths.append, self._numbers.append
        for match in _MARKER.finditer(b"\n" + self._text):  # the end in that text is the offset of the next line in ours
            number, written, flags = match.groups()
            path = known.get(written)
            if path is None:
                path = known[written] = unescape(written)
            starts(match.end())
            paths(path)
            numbers(int(number))
            if flags.startswith(b" 1") and not path.startswith(b"<"):
                self._entered[path] = self._entered.get(path, True) and b"3" in flags

    @property
    def headers(self) -> tuple[bytes, ...]:
        """The paths of the included files, as printed, each once, in the order of inclusion."""
        return tuple(path for path in self._entered if path != self.main)

    @property
    def files(self) -> tuple[bytes, ...]:
        """The paths of all files that the text says it comes from, as printed: with those that only `#line` names."""
        return tuple(dict.fromkeys(path for path in self._paths if not path.startswith(b"<")))

    def line_at(self, offset: int) -> Line:
        """The line of a byte of the preprocessed text. The end of the text belongs to the last line."""
        at = bisect_right(self._starts, offset) - 1
        return Line(self._paths[at], self._numbers[at] + self._text.count(b"\n", self._starts[at], offset))

    def in_main_file(self, offset: int) -> bool:
        """Whether the byte comes from the file itself, not from a header (nor from a file that `#line` names)."""
        return self._paths[bisect_right(self._starts, offset) - 1] == self.main

    def in_system_header(self, offset: int) -> bool:
        """Whether the byte comes from a header of the system's. Expansions of the system's macros in other files do not."""
        return self._entered.get(self._paths[bisect_right(self._starts, offset) - 1], False)

    def path_at(self, offset: int) -> bytes:
        """The path of the file that the byte comes from, as printed."""
        return self._paths[bisect_right(self._starts, offset) - 1]

    def offsets_of(self, line: Line) -> list[tuple[int, int]]:
        """The half-open ranges of the preprocessed text that come from a line, in order; without line ends and markers."""
        if self._is_asked_little(line.path):
            return [row for row in self.rows_at(line.number) if not self._text.startswith(b"# ", row[0])]
        return list(self._lines_of(line.path).get(line.number, ()))

    def next_line(self, line: Line) -> int | None:
        """The number of the next line of the same file that left any text."""
        if self._is_asked_little(line.path):
            return self._next_row(line.number)
        numbers = self._used.get(line.path)
        if numbers is None:
            numbers = self._used[line.path] = sorted(self._lines_of(line.path))
        at = bisect_right(numbers, line.number)
        return numbers[at] if at < len(numbers) else None

    def _is_asked_little(self, path: bytes) -> bool:
        """Whether few questions were asked about the lines of the main file, if it is that: after an edit, there are few."""
        self._asked += path == self.main
        return path == self.main and path not in self._lines and self._asked <= _FEW

    def _next_row(self, number: int) -> int | None:
        """The number of the next line of the main file that is not blank."""
        found: int | None = None
        for first, last, start, stop in self._own_segments():
            if last > number and (found is None or first < found):
                rows = enumerate(self._text[start:stop].split(b"\n"), first)
                following = next((at for at, row in rows if at > number and _has_text(row)), None)
                found = following if found is None or (following is not None and following < found) else found
        return found

    def first_row(self, number: int) -> tuple[int, bool] | None:
        """Where the text begins that comes from the lines of the main file from a number on; whether that is with their line
        marker. None if there is none, or something from lines above follows."""
        found: tuple[int, bool] | None = None
        for first, last, start, stop in self._own_segments():
            if found is None and last >= number:
                found = self._first_row_in(start, stop, first, number)
            elif found is not None and first < number:
                return None
        return found

    def _first_row_in(self, start: int, stop: int, first: int, number: int) -> tuple[int, bool] | None:
        marker, begin, is_first = self._text.rfind(b"\n", 0, max(start - 1, 0)) + 1, start, True
        for at, row in enumerate(self._text[start:stop].split(b"\n"), first):
            if _has_text(row):
                if at >= number:
                    has_marker = is_first and start > 0 and self._text.startswith(b"# ", marker)
                    return (marker, True) if has_marker else (begin, False)
                is_first = False
            begin += len(row) + 1
        return None

    def rows_of(self, number: int, count: int) -> tuple[int, int] | None:
        """The range of the preprocessed text that consecutive lines of the main file from a number on left, the blank ones
        included, without the last line end; None if they are not all there, in one piece and just once."""
        found: tuple[int, int] | None = None
        for first, start, rows in self._pieces(number, count):
            mine = rows[max(0, number - first) : number + count - first]
            if not any(row.strip() for row in mine) and len(mine) < count:
                continue
            if found is not None or first > number or len(mine) < count:
                return None
            begin = start + sum(len(row) + 1 for row in rows[: number - first])
            found = begin, begin + len(b"\n".join(mine))
        return found

    def rows_at(self, number: int) -> list[tuple[int, int]]:
        """The ranges of the preprocessed text that come from a line of the main file and are not blank, in order."""
        found = []
        for first, start, rows in self._pieces(number, 1):
            if 0 <= number - first < len(rows) and rows[number - first].strip():
                begin = start + sum(len(row) + 1 for row in rows[: number - first])
                found.append((begin, begin + len(rows[number - first])))
        return found

    def _pieces(self, number: int, count: int) -> Iterator[tuple[int, int, list[bytes]]]:
        """The segments of the main file that have some of the lines: their first line, where they begin, and their rows."""
        for first, last, start, stop in self._own_segments():
            if first < number + count and number <= last:
                yield first, start, self._text[start:stop].split(b"\n")

    def _own_segments(self) -> list[tuple[int, int, int, int]]:
        """The segments of the main file: their first line, their last one, where they begin and end."""
        if self._own is None:
            self._own = []
            ends = [*self._starts[1:], len(self._text) + 1]
            for at in [at for at, path in enumerate(self._paths) if path == self.main]:
                start, first, end = self._starts[at], self._numbers[at], ends[at]
                stop = max(start, self._text.rfind(b"\n", start, end - 1) + 1) if end <= len(self._text) else len(self._text)
                self._own.append((first, first + self._text.count(b"\n", start, stop), start, stop))
        return self._own

    def edited(self, text: bytes, end: int, by: int, added: int) -> LineMap:
        """The map of a text that differs in a piece of the main file. The piece ended at `end` before; what
        follows moved by `by` bytes and `added` lines."""
        other = LineMap(b"", self.main)
        other._text = text
        at = bisect_right(self._starts, end)
        other._starts = self._starts[:at] + [start + by for start in self._starts[at:]]
        other._paths, other._numbers, other._entered = self._paths, self._numbers, self._entered
        if added:
            tail = zip(self._paths[at:], self._numbers[at:], strict=True)
            other._numbers = self._numbers[:at] + [n + added if path == self.main else n for path, n in tail]
        return other

    def _lines_of(self, path: bytes) -> dict[int, list[tuple[int, int]]]:
        """Made when the first place in a file is asked for: most texts are analysed without ever being pointed at."""
        lines = self._lines.get(path)
        if lines is None:
            lines = {}
            ends = [*self._starts[1:], len(self._text)]
            for start, own, number, end in zip(self._starts, self._paths, self._numbers, ends, strict=True):
                if own == path:
                    self._add_lines(lines, start, end, number)
            self._lines[path] = lines
        return lines

    def _add_lines(self, lines: dict[int, list[tuple[int, int]]], start: int, end: int, number: int) -> None:
        for row in self._text[start:end].split(b"\n"):
            if _has_text(row):
                lines.setdefault(number, []).append((start, start + len(row)))
            start += len(row) + 1
            number += 1


def _has_text(row: bytes) -> bool:
    """Whether a row of the preprocessed text is neither blank nor a marker."""
    return bool(row) and not row.isspace() and not row.startswith(b"# ")


def unescape(written: bytes) -> bytes:
    """The path in a line marker: preprocessors escape quotes, backslashes and bytes that cannot be printed, in octal."""
    if b"\\" not in written:
        return written
    return _ESCAPE.sub(lambda m: bytes([int(m.group(1), 8) & 0xFF]) if m.group(1)[:1].isdigit() else m.group(1), written)


def printable(path: str) -> bytes:
    """The path as it is given to the preprocessor, which cannot keep a line end in a name."""
    return bytes(byte if byte >= 0x20 else 0x3F for byte in os.fsencode(path))


def with_even_markers(text: bytes) -> bytes:
    """The text with as many digits in all line markers, so that a line more moves no text after them; and without "." and ".." in
    paths, which depend on how a folder was named to the compiler."""

    def even(match: re.Match[bytes]) -> bytes:
        path = os.path.normpath(match[2]) if b"/." in match[2] else match[2]
        return b'\n# %07d "' % int(match[1]) + path + b'"'

    return _MARKED.sub(even, b"\n" + text)[1:]


def with_later_lines(text: bytes, path: bytes, by: int) -> bytes:
    """Returns the text with `by` added to the line numbers in the markers of a file."""
    marker = re.compile(rb'\n# (\d{1,9})(?= "' + re.escape(escape(path)) + rb'")')
    return marker.sub(lambda match: b"\n# %07d" % (int(match[1]) + by), b"\n" + text)[1:]


def escape(path: bytes) -> bytes:
    """The path as it is written in a line marker."""
    return path.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
