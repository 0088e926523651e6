"""Columns in the client's units: UTF-16 unless UTF-8 or UTF-32 was agreed (LSP 3.17, `positionEncoding`)."""

from __future__ import annotations

from lsprotocol.types import PositionEncodingKind


class Columns:
    """Converts between code points and the client's units, a line at a time."""

    def __init__(self, encoding: PositionEncodingKind) -> None:
        self._encoding = encoding

    @classmethod
    def of(cls, encoding: PositionEncodingKind | str | None) -> Columns:
        """Columns for an encoding by its name; UTF-16 for None and for names that LSP does not know."""
        try:
            return cls(PositionEncodingKind(encoding))
        except ValueError:
            return cls(PositionEncodingKind.Utf16)

    def units(self, text: str) -> int:
        """How many of the client's units a text has."""
        if self._encoding is PositionEncodingKind.Utf32 or text.isascii():
            return len(text)
        if self._encoding is PositionEncodingKind.Utf8:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    def to_code_points(self, line: str, units: int) -> int:
        """The code points before a column in the client's units; a column inside a character counts the whole character."""
        if self._encoding is PositionEncodingKind.Utf32 or line.isascii():
            return min(units, len(line))
        seen = 0
        for index, character in enumerate(line):
            if seen >= units:
                return index
            seen += self.units(character)
        return len(line)
