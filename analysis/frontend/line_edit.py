"""The preprocessed text after an edit of a few lines, without the preprocessor, where it would only copy them.

Most of what a key costs is the run of the compiler. A line outside of comments, conditionals left out, and arguments of macros,
on which no word is a macro, comes out of the preprocessor as it is, but for comments and white space (C11 5.1.1.2, phases 3
and 4). So when such lines become other such lines, the text is the one before with these lines replaced. That the old lines were
of this kind shows in the old text: they are there, each on its own line, as `written` says. (Arguments of a macro that stand
on further lines are printed on the line where the macro is.) Blank lines show nothing by themselves; the line before them does.

`edit_lines` gives None wherever this does not hold; then the compiler is run.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from analysis.frontend.difference import difference
from analysis.frontend.line_map import LineMap, escape
from analysis.frontend.macros import Macros

_TOKEN = re.compile(
    rb"""(?P<space>[ \t]+|/\*(?:[^*]|\*(?!/))*+\*/|//.*)"""
    rb"""|(?P<word>[A-Za-z_$][\w$]*)"""
    rb"""|(?P<other>\.?\d(?:[eEpP][+-]|[\w.$])*|"(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?|/(?!\*)|\*(?!/)|[!#%&()+,\-.:;<=>?@\[\]^`{|}~])"""
)
_FAR = 100  # lines: more than are typed at once
_BEFORE = 8  # lines: preprocessors leave out longer runs of blank lines


class Copied(NamedTuple):
    """A line as it comes out of the preprocessor if no word in it is a macro, with its words, its first token and its last."""

    text: bytes
    words: tuple[bytes, ...]
    first: bytes
    last: bytes


class Edit(NamedTuple):
    """The text and its line map after an edit."""

    text: bytes
    line_map: LineMap


class Lines(NamedTuple):
    """The lines that an edit replaces: from number `first` on (from 1), what they were and are."""

    first: int
    old: list[bytes]
    new: list[bytes]


def edited_lines(old: bytes, new: bytes) -> Lines | None:
    """The lines in which two texts differ, None if they are the same or too many."""
    if old == new:
        return None
    edit = difference(old, new)
    start = old.rfind(b"\n", 0, edit.start) + 1
    end = old.find(b"\n", edit.old_end)
    end = len(old) if end < 0 else end
    before, after = old[start:end], new[start : end + len(new) - len(old)]
    if max(before.count(b"\n"), after.count(b"\n")) > _FAR:
        return None
    return Lines(old.count(b"\n", 0, start) + 1, before.split(b"\n"), after.split(b"\n"))


def written(line: bytes) -> Copied | None:
    """The line as the preprocessor copies it; None if it cannot be told from the line alone."""
    line = line.removesuffix(b"\r")
    if line.rstrip().endswith((b"\\", b"??/")) or b"\\U" in line or b"\\u" in line or b'R"' in line:
        return None
    parts: list[bytes] = []
    words: list[bytes] = []
    first = last = b""
    at, spaced = 0, False
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            return None
        if match.lastgroup == "space":
            spaced = True
        else:
            last = match.group()
            if not first:
                first = last
                parts.append(b" " * at)
            elif spaced:
                parts.append(b" ")
            parts.append(last)
            spaced = False
            if match.lastgroup == "word":
                words.append(last)
        at = match.end()
    return Copied(b"".join(parts), tuple(words), first, last)


def edit_lines(source: bytes, text: bytes, line_map: LineMap, new: bytes, macros: Macros) -> Edit | None:
    """The preprocessed text of the source `new`, from those of `source`; `macros` are those of both. None where the preprocessor
    must be asked."""
    lines = edited_lines(source, new)
    if lines is None or macros.renumbered:
        return None
    old, now = [written(line) for line in lines.old], [written(line) for line in lines.new]
    before = None
    if any(line is not None and not line.text for line in old) or any(line is not None and line.first == b"(" for line in now):
        before = _line_before(source, lines.first)
        if before is None:
            return None
    rows = line_map.rows_of(lines.first, len(lines.old))
    if rows is None or not _is_copied(text[rows[0] : rows[1]], old, macros) or not _can_be_copied(now, macros):
        return None
    if before is not None and not _ends_plainly(text, line_map, *before, macros):
        return None
    added = len(now) - len(old)
    if added and macros.depends_on_lines(new[_offset(new, lines.first + len(now)) :]):
        return None
    return replace_rows(text, line_map, rows, [line.text for line in now if line is not None], added)


def replace_rows(text: bytes, line_map: LineMap, rows: tuple[int, int], now: list[bytes], added: int) -> Edit:
    """The text with other lines in place of the bytes `rows`; `added`: by how many lines there are more."""
    head, tail = text[: rows[0]] + b"\n".join(now), text[rows[1] :]
    if added:
        tail = _renumbered(tail, line_map.main, added)
    result = head + tail
    return Edit(result, line_map.edited(result, rows[1], len(head) - rows[1], added))


def _is_copied(text: bytes, lines: list[Copied | None], macros: Macros) -> bool:
    """Whether lines are in the preprocessed text as they were copied."""
    there = text.split(b"\n")
    return len(there) == len(lines) and all(
        line is not None and line.text == row.rstrip() and line.first != b"#" for line, row in zip(lines, there, strict=True)
    )


def _can_be_copied(lines: list[Copied | None], macros: Macros) -> bool:
    return all(
        line is not None and line.first != b"#" and line.text[:2] != b"%:" and not any(map(macros.may_be, line.words))
        for line in lines
    )


def _line_before(source: bytes, number: int) -> tuple[int, bytes] | None:
    """The last line before a line that is not blank, and its number; None if it is far off."""
    lines = source.split(b"\n", number - 1)[: number - 1]
    for back, line in enumerate(reversed(lines[-_BEFORE:]), 1):
        if line.strip():
            return number - back, line
    return None


def _ends_plainly(text: bytes, line_map: LineMap, number: int, line: bytes, macros: Macros) -> bool:
    """Whether a line is copied and what comes after it cannot belong to a macro on it."""
    copied = written(line)
    if copied is None or not copied.text or copied.first == b"#":
        return False
    rows = line_map.rows_of(number, 1)
    return rows is not None and text[rows[0] : rows[1]].rstrip() == copied.text and not macros.may_be(copied.last)


def _offset(source: bytes, number: int) -> int:
    """Where a line begins."""
    at = 0
    for _ in range(number - 1):
        at = source.find(b"\n", at) + 1
        if at == 0:
            return len(source)
    return at


def _renumbered(text: bytes, main: bytes, added: int) -> bytes:
    """The rest of a text with the numbers in the markers of the main file moved."""
    marker = re.compile(rb'^# (\d{1,9}) "' + re.escape(escape(main)) + rb'"', re.MULTILINE)
    return marker.sub(lambda m: b'# %d "' % (int(m[1]) + added) + escape(main) + b'"', text)
