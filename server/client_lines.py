"""Lines of a text as the Language Server Protocol counts them, edits of them, and positions that move with edits.

Lines end with LF, CR LF or a lone CR and nothing else (LSP 3.17, "Text Documents"). `str.splitlines` also splits at form feeds
and six other characters, which moves every later line of GNU sources. Positions are the model's: lines and columns
count from 1, columns count code points.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from analysis.model.places import Place, Position, Range
from server.client_tokens import KeptToken, kept_tokens

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")


class Edit(msgspec.Struct, frozen=True):
    """Text that was replaced: `range` before the edit, and where the new text ends after it; with the tokens of the text that are
    in the new one as well."""

    range: Range
    new_end: Position
    kept: tuple[KeptToken, ...] = ()


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends. A text that ends with a line end has no empty last line."""
    return _LINE.findall(text)


def content_length(line: str) -> int:
    """The number of code points of a line without its end."""
    return len(line.rstrip("\r\n"))


def clamp(lines: Sequence[str], line: int, column: int) -> tuple[int, int]:
    """The place in the text nearest to a line and a column that count from 0: columns stop at the end of their line."""
    if line < len(lines):
        return line, min(column, content_length(lines[line]))
    return end_of(lines)


def end_of(lines: Sequence[str]) -> tuple[int, int]:
    """The end of the text: a line and a column from 0. The line is one past the last when that one is ended."""
    if lines and content_length(lines[-1]) == len(lines[-1]):
        return len(lines) - 1, len(lines[-1])
    return len(lines), 0


def replace(lines: list[str], start: tuple[int, int], end: tuple[int, int], text: str) -> Edit:
    """Replaces what lies between two places of the text (clamped, from 0) by `text`, in the list itself.

    Only the lines that the edit touches are split again, and the line before when it ends with a lone CR: a LF after it
    makes one line end of the two.
    """
    (first, first_column), (last, last_column) = start, max(start, end)
    head = lines[first][:first_column] if first < len(lines) else ""
    tail = lines[last][last_column:] if last < len(lines) else ""
    block = head + text + tail
    replaced = _between(lines, (first, first_column), (last, last_column)) if text else ""
    from_line = first
    if first > 0 and lines[first - 1].endswith("\r") and block.startswith("\n"):
        from_line -= 1
        block = lines[from_line] + block
    lines[from_line : last + 1] = split_lines(block)
    begin = Position(first + 1, first_column + 1)
    return Edit(
        Range(begin, Position(last + 1, last_column + 1)),
        _end_after(first, first_column, text),
        kept_tokens(replaced, text, begin),
    )


def _end_after(line: int, column: int, text: str) -> Position:
    """Where a text ends that starts at a place that counts from 0."""
    inserted = split_lines(text)
    if not inserted:
        return Position(line + 1, column + 1)
    if content_length(inserted[-1]) < len(inserted[-1]):
        return Position(line + len(inserted) + 1, 1)
    if len(inserted) == 1:
        return Position(line + 1, column + len(text) + 1)
    return Position(line + len(inserted), len(inserted[-1]) + 1)


def whole_change(old: list[str], new: list[str]) -> Edit:
    """The edit of whole lines that makes one text into another, with the longest equal start and end left out."""
    same = 0
    shorter = min(len(old), len(new))
    while same < shorter and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < shorter - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    begin = Position(same + 1, 1)
    replaced, text = "".join(old[same : len(old) - tail]), "".join(new[same : len(new) - tail])
    return Edit(
        Range(begin, Position(len(old) - tail + 1, 1)),
        Position(len(new) - tail + 1, 1),
        kept_tokens(replaced, text, begin),
    )


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text between two places of it."""
    (first, first_column), (last, last_column) = start, end
    if first == last:
        return lines[first][first_column:last_column] if first < len(lines) else ""
    rest = lines[last][:last_column] if last < len(lines) else ""
    return "".join([lines[first][first_column:], *lines[first + 1 : last], rest])


def moved_range(range_: Range, edit: Edit) -> Range | None:
    """A range after an edit. Text typed at its edges stays outside; of what was replaced, it covers what is still there, token by
    token. None if nothing of it is."""
    replaced = edit.range
    if range_.end < replaced.start:
        return range_
    start = range_.start if range_.start < replaced.start else None
    if range_.start >= replaced.end:
        start = _moved(range_.start, edit)
    end = range_.end if range_.end <= replaced.start else None
    if range_.end >= replaced.end and range_.end > replaced.start:
        end = _moved(range_.end, edit)
    inside = [token for token in edit.kept if token.start >= range_.start and token.end <= range_.end]
    is_covered = replaced.start <= range_.start and range_.end <= replaced.end and replaced.start < replaced.end
    if is_covered:
        return Range(inside[0].new_start, inside[-1].new_end) if inside else None
    if start is None:
        start = inside[0].new_start if inside else edit.new_end
    if end is None:
        end = inside[-1].new_end if inside else replaced.start
    return Range(start, max(start, end))


def _moved(position: Position, edit: Edit) -> Position:
    """A position at or after the end of the replaced text."""
    old = edit.range.end
    if position.line == old.line:
        return Position(edit.new_end.line, position.column - old.column + edit.new_end.column)
    return Position(position.line - old.line + edit.new_end.line, position.column)


def moved_place(place: Place, path: str, edits: list[Edit]) -> Place:
    """Returns where a place is after edits of the file `path`. If no edit moves it, that is the same object; if one takes it
    away, it is gone."""
    if place.path != path or place.gone:
        return place
    range_ = place.range
    for edit in edits:
        if range_.end >= edit.range.start:
            moved = moved_range(range_, edit)
            if moved is None:
                return Place(place.path, Range(edit.range.start, edit.range.start), place.macro, gone=True)
            range_ = moved
    return place if range_ is place.range or range_ == place.range else Place(place.path, range_, place.macro)
