"""What has been opened and not closed yet must not hide the rest of the file while it is typed.

A comment that begins, or the arguments of a macro, take in all that follows, up to where something closes
them by chance. An `#if` without `#endif` can leave out the rest of the file. The preprocessor then removes
the functions below, which the user did not touch. If an edit inside a function hides the function's last line,
the text before the edit is checked, with an error put into the edited line. That function is stale until the
edit is finished, and the others are checked as before. If an edit between two functions hides the next one,
the text before the edit is checked as it was. A construct with its own end hides what it should: `#if 0`
hides all up to its `#endif`.

That a comment hides the rest of its function shows without the compiler (`opened_comment`), and the text before is remembered
(`Preprocessed.whole`), so that the compiler need not be run either when the comment is ended.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from analysis.frontend.text.line_edit import Edit, replace_rows
from analysis.frontend.text.line_map import LineMap, escape, with_later_lines
from analysis.frontend.text.preprocess import Preprocessed, read_source
from analysis.frontend.text.source_lines import Lines, edited_lines, long_comment, open_comment, tokens_of
from analysis.model.options import Options
from analysis.session.units.built import Built

_BROKEN = b"@"  # is no token of C
_FAR = 20  # lines, from a blank one to what comes next
_UNTERMINATED = "unterminated"  # what gcc and clang say of comments, of arguments, and of conditionals
_DIRECTIVES = (b"#", b"%:", b"??=")  # what one begins with


class _Edited(NamedTuple):
    """Lines edited where something left open would hide a function: the one that they are `inside` of, or the next. `row` is
    where the first of them is in the text before (would be, if it is blank), `last` the number of the function's last line."""

    lines: Lines
    row: tuple[int, int]
    last: int
    inside: bool


def with_the_rest(previous: Built, now: Preprocessed) -> Preprocessed:
    """The preprocessed text, with what is hidden by something unclosed as it was before."""
    if now.text is previous.preprocessed.text or (now.change is not None and now.change.of is previous.preprocessed.text):
        return now  # the lines that were edited came through
    edited = None if now.raw else _edited(previous, now.source)
    if edited is None:
        return now
    last = edited.last + len(edited.lines.new) - len(edited.lines.old)
    if now.line_map.rows_at(last) or not _is_unclosed(previous.preprocessed.source, now, last):
        return now
    return _with_broken_line(previous.preprocessed, edited, now)


def _is_unclosed(old: bytes, now: Preprocessed, last: int) -> bool:
    """Whether something unclosed hides the line that disappeared; `last` is its number now. Either the
    preprocessor says so, or a comment ends behind it by chance."""
    if any(_UNTERMINATED in message.text for message in now.messages):
        return True
    lines = now.source.split(b"\n", last)[:last]
    end = len(b"\n".join(lines))
    hidden = long_comment(now.source, end)
    if hidden is None or now.source[end - len(lines[-1]) : hidden[0]].strip():
        return False
    return _ends_by_chance(old, len(now.source) - hidden[1])


def _ends_by_chance(old: bytes, from_end: int) -> bool:
    """Whether the text before has no `*/` so far from its end that ended nothing."""
    end = len(old) - from_end
    return not old.endswith(b"*/", 0, end) or long_comment(old, end) is not None


def opened_comment(previous: Built, text: bytes | None, options: Options) -> Preprocessed | None:
    """What `with_the_rest` gives where all that is edited is a line that now begins a comment, which ends below the function and
    hides no directive. None where that is not so, or cannot be told."""
    began = time.perf_counter()
    before = previous.preprocessed
    source, problem = read_source(before.path, text, options.limits.source_bytes)
    lines = None if problem is not None or before.messages or before.raw else edited_lines(before.source, source)
    if lines is None or len(lines.old) != 1 or len(lines.new) != 1 or (opened := open_comment(lines.new[0])) is None:
        return None
    edited = _edited(previous, source)
    if edited is None:
        return None
    number, (old,), _ = edited.lines
    if any((line := tokens_of(there)) is None or line.is_directive for there in (*_above(source, number), old)):
        return None
    below = source.split(b"\n", number - 1)[-1][len(opened) :]
    hidden, ends, _ = below.partition(b"*/")
    if not ends or number + hidden.count(b"\n") <= edited.last or any(mark in hidden for mark in _DIRECTIVES):
        return None
    if not _ends_by_chance(before.source, len(below) - len(hidden) - len(ends)):
        return None
    return _with_broken_line(before, edited, before._replace(source=source, ms=(time.perf_counter() - began) * 1000))


def _edited(previous: Built, source: bytes) -> _Edited | None:
    """The lines in which a text differs, if there is a function that they could hide."""
    before = previous.preprocessed
    lines = None if before.raw else edited_lines(before.source, source)
    if lines is None:
        return None
    rows, blank = before.line_map.rows_at(lines.first), 0
    while not rows and blank < _FAR:
        blank += 1
        rows = before.line_map.rows_at(lines.first + blank)
    if not rows:
        return None
    at = rows[0][0]
    for start, end in _functions(previous):
        last = before.line_map.line_at(end - 1)
        if at < end and last.path == before.line_map.main and last.number >= lines.first + len(lines.old):
            row = rows[0] if lines.old and not blank else (at, at)
            inside = start < at or (start == at and row == rows[0])
            if inside and row != rows[0]:
                return None
            if (
                not inside
                and len(lines.new) < len(lines.old)
                and before.line_map.line_at(start).number < lines.first + len(lines.old)
            ):
                return None  # the function's beginning is gone with other lines
            return _Edited(lines, row, last.number, inside)
    return None


def _with_broken_line(before: Preprocessed, edited: _Edited, now: Preprocessed) -> Preprocessed:
    """The text before with something that does not parse in the edited lines of a function, or without what is new in lines
    between functions; the rest is known of `now`."""
    lines = edited.lines
    added = len(lines.new) - len(lines.old)
    opened = open_comment(lines.new[0]) if len(lines.new) == 1 else None
    there = before.text[slice(*edited.row)]
    if edited.inside:
        there = _BROKEN
    elif lines.old and not (lines.new and _same_tokens(lines.old[0], lines.new[0] if opened is None else opened[:-2])):
        there = there.removesuffix(b"/") if opened is not None and _same_tokens(lines.old[0], opened[:-1]) else b""
    if added >= 0:
        edit = replace_rows(before.text, before.line_map, edited.row, there + b"\n" * added, added)
    else:
        edit = _with_fewer_lines(before, edited, there, added)
    hiding = now._replace(text=edit.text, line_map=edit.line_map, dependencies=before.dependencies)
    return hiding._replace(in_comment=lines.first if opened is not None else 0, whole=before.whole or before)


def _with_fewer_lines(before: Preprocessed, edited: _Edited, there: bytes, added: int) -> Edit:
    """The text before with something else in place of lines of which fewer are left; it also returns where
    the next ones are now."""
    (first, old, _), lines = edited.lines, before.line_map
    number = first + len(old)
    while not (rows := lines.rows_at(number)):
        number += 1
    (start, at), stays = edited.row, rows[0][0]
    text = before.text[:start] + there
    for begin, end in sorted(row for gone in range(first, first + len(old)) for row in lines.rows_at(gone)):
        if at <= begin < stays:
            text += before.text[at:begin]
            at = end
    text += before.text[at:stays] + b'\n# %07d "%s"\n' % (number + added, escape(lines.main))
    text += with_later_lines(before.text[stays:], lines.main, added)
    return Edit(text, LineMap(text, lines.main))


def _same_tokens(one: bytes, other: bytes) -> bool:
    was, is_ = tokens_of(one), tokens_of(other)
    return was is not None and is_ is not None and was.text.split() == is_.text.split()


def _above(source: bytes, number: int) -> list[bytes]:
    """The line above a line, if there is one."""
    return source.split(b"\n", number - 1)[:-1][-1:]


def _functions(built: Built) -> list[tuple[int, int]]:
    """Where the functions of a unit are in its text, those that do not parse as well, in order."""
    whole = [(f.source.start, f.source.start + f.source.end_site.end) for f in built.unit.functions]
    return sorted([*whole, *((broken.start, broken.end) for broken in built.unit.broken)])
