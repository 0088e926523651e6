"""The preprocessed text after an edit of a few lines, without the preprocessor, where it would only copy what was typed.

Most of what a key costs is the run of the compiler. A line outside of comments, conditionals left out, and arguments of macros,
on which no word is a macro, comes out of the preprocessor as it is, but for comments and white space (C11 5.1.1.2, phases 3
and 4). So when such lines become other such lines, the text is the one before with these lines replaced. That the old lines were
of this kind shows in the old text: they are there, each on its own line, as `source_lines` says. (Arguments of a macro that stand
on further lines are printed on the line where the macro is.) Blank lines show nothing by themselves; the line before them does.

On lines with macros the same holds of the tokens outside of macros and their arguments (`plain_stretch`).

`edit_lines` gives None wherever this does not hold; then the compiler is run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from analysis.frontend.text.difference import Difference, difference
from analysis.frontend.text.line_map import LineMap, with_later_lines
from analysis.frontend.text.macros import Macros
from analysis.frontend.text.plain_stretch import any_macro, find_stretch, pieces, stands_free
from analysis.frontend.text.source_lines import Copied, Lines, edited_lines, tokens_of

LONE_RETURN = re.compile(rb"\r(?!\n)")  # by itself it ends a line to the preprocessor, but not to editors
_BEFORE = 8  # lines: preprocessors leave out longer runs of blank lines


class Edit(NamedTuple):
    """The text and its line map after an edit. `replaced`: what became what in the text, if it is known; beside that, only the
    numbers in line markers may be others."""

    text: bytes
    line_map: LineMap
    replaced: Difference | None = None


def edit_lines(source: bytes, text: bytes, line_map: LineMap, new: bytes, macros: Macros) -> Edit | None:
    """The preprocessed text of the source `new`, from those of `source`; `macros` are those of both. None where the preprocessor
    must be asked."""
    lines = edited_lines(source, new)
    if lines is None or macros.renumbered or LONE_RETURN.search(source) or LONE_RETURN.search(new):
        return None
    old, now = [tokens_of(line) for line in lines.old], [tokens_of(line) for line in lines.new]
    if any(line is None or line.is_directive for line in (*old, *now)):
        return None
    before, after = [line for line in old if line is not None], [line for line in now if line is not None]
    if not before:
        return None if _mentions(after, macros) else _inserted(source, text, line_map, new, lines.first, after, macros)
    if len(before) == len(after) and pieces(before) == pieces(after):
        return Edit(text, line_map)  # there is only other white space, where there was some
    copied = None if _mentions(after, macros) else _copied_lines(source, text, line_map, new, lines, before, after, macros)
    return copied or _in_a_stretch(source, text, line_map, new, lines.first, before, after, macros)


def _copied_lines(
    source: bytes,
    text: bytes,
    line_map: LineMap,
    new: bytes,
    lines: Lines,
    old: list[Copied],
    now: list[Copied],
    macros: Macros,
) -> Edit | None:
    """The edit of lines that were copied into others that are, too."""
    rows = line_map.rows_of(lines.first, len(old))
    if rows is None or [line.text for line in old] != [row.rstrip() for row in text[rows[0] : rows[1]].split(b"\n")]:
        return None
    if not all(line.tokens for line in old) or any(line.first == b"(" for line in now):
        before = _line_before(source, lines.first)
        if before is None or not _ends_plainly(text, line_map, *before, macros):
            return None
    added = len(now) - len(old)
    if added and macros.depends_on_lines(new[_offset(new, lines.first + len(now)) :]):
        return None
    if not now:
        return replace_rows(text, line_map, (rows[0], rows[1] + 1), b"", added) if text[rows[1] : rows[1] + 1] else None
    return replace_rows(text, line_map, rows, b"\n".join(line.text for line in now), added)


def _inserted(
    source: bytes, text: bytes, line_map: LineMap, new: bytes, number: int, now: list[Copied], macros: Macros
) -> Edit | None:
    """Lines put in before a line that is there."""
    before = _line_before(source, number)
    if before is None or not _ends_plainly(text, line_map, *before, macros):
        return None
    if macros.depends_on_lines(new[_offset(new, number + len(now)) :]):
        return None
    rows = line_map.rows_at(number)
    end, blank = line_map.rows_at(before[0])[-1][1], b"\n" * (number - before[0])
    if not rows and not text.startswith(blank, end):
        return None
    there = rows[0][0] if rows else end + len(blank)
    return replace_rows(text, line_map, (there, there), b"".join(line.text + b"\n" for line in now), len(now))


def _in_a_stretch(
    source: bytes,
    text: bytes,
    line_map: LineMap,
    new: bytes,
    number: int,
    old: list[Copied],
    now: list[Copied],
    macros: Macros,
) -> Edit | None:
    """The edit of lines with macros, beside these."""
    if not now or not old[-1].tokens or not now[-1].tokens:
        return None
    if now[0].first == b"(" != old[0].first:
        before = _line_before(source, number)
        if before is None or not _ends_plainly(text, line_map, *before, macros):
            return None  # it could be what a macro in the line before takes
    added = len(now) - len(old)
    if added and macros.depends_on_lines(new[_offset(new, number) :]):
        return None
    stretch = find_stretch(text, line_map, number, old, now, macros)
    return None if stretch is None else replace_rows(text, line_map, (stretch.start, stretch.end), stretch.now, added)


def replace_rows(text: bytes, line_map: LineMap, rows: tuple[int, int], now: bytes, added: int) -> Edit:
    """The text with something else in place of the bytes `rows`; `added`: by how many lines there are more."""
    head, tail = text[: rows[0]] + now, text[rows[1] :]
    if added:
        tail = with_later_lines(tail, line_map.main, added)
    result = head + tail
    edit = difference(text[slice(*rows)], now)
    replaced = Difference(rows[0] + edit.start, rows[0] + edit.old_end, rows[0] + edit.new_end)
    return Edit(result, line_map.edited(result, rows[1], len(head) - rows[1], added), replaced)


def _mentions(lines: Sequence[Copied], macros: Macros) -> bool:
    return any_macro(pieces(lines), macros)


def _line_before(source: bytes, number: int) -> tuple[int, bytes] | None:
    """The last line before a line that is not blank, and its number; None if it is far off."""
    lines = source.split(b"\n", number - 1)[: number - 1]
    for back, line in enumerate(reversed(lines[-_BEFORE:]), 1):
        if line.strip():
            return number - back, line
    return None


def _ends_plainly(text: bytes, line_map: LineMap, number: int, line: bytes, macros: Macros) -> bool:
    """Whether a line comes through, and what follows cannot belong to a macro on it."""
    copied = tokens_of(line)
    if copied is None or copied.is_directive or not stands_free(pieces([copied]), macros):
        return False
    rows = line_map.rows_at(number)
    return bool(rows) and text[slice(*rows[-1])].endswith(copied.last)


def _offset(source: bytes, number: int) -> int:
    """Where a line begins."""
    at = 0
    for _ in range(number - 1):
        at = source.find(b"\n", at) + 1
        if at == 0:
            return len(source)
    return at
