"""What has been opened and not closed yet must not hide the rest of the file while it is typed.

A comment that begins, or the arguments of a macro, take all that follows for themselves, up to where something closes them by
chance. To the preprocessor, the functions below are gone then; to the person who types, they are what they were. So where an edit
inside a function makes the function's last line disappear, the text before counts, with one thing in the edited line that does
not parse: the function is stale until the edit is finished, and the others go on (DESIGN.md, section 4, "Broken code").

That a comment hides the rest of its function shows without the compiler (`opened_comment`), and the text before is remembered
(`Preprocessed.whole`), so that the compiler need not be run either when the comment is ended.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from analysis.frontend.line_edit import replace_rows
from analysis.frontend.preprocess import Preprocessed, read_source
from analysis.frontend.source_lines import Lines, edited_lines, open_comment, written
from analysis.model.options import Options

if TYPE_CHECKING:
    from analysis.session.building import Built

_BROKEN = b"@"  # is no token of C
_DIRECTIVES = (b"#", b"%:", b"??=")  # what one begins with


class _Edited(NamedTuple):
    """Lines edited inside a function: where the first of them is in the text before, and the number of the function's last."""

    lines: Lines
    row: tuple[int, int]
    last: int


def with_the_rest(previous: Built, now: Preprocessed) -> Preprocessed:
    """The preprocessed text, with what is hidden by something unclosed as it was before."""
    edited = None if now.raw else _edited(previous, now.source)
    if edited is None or now.line_map.rows_at(edited.last + len(edited.lines.new) - len(edited.lines.old)):
        return now
    return _with_broken_line(previous.preprocessed, edited, now)


def opened_comment(previous: Built, text: bytes | None, options: Options) -> Preprocessed | None:
    """What `with_the_rest` gives where all that is edited is a line that now begins a comment, which ends below the function and
    hides no directive. None where that is not so, or cannot be told."""
    began = time.perf_counter()
    before = previous.preprocessed
    source, problem = read_source(before.path, text, options.limits.source_bytes)
    edited = None if problem is not None or before.messages else _edited(previous, source)
    if edited is None or len(edited.lines.old) != 1 or len(edited.lines.new) != 1:
        return None
    number, (old,), (new,) = edited.lines
    opened = open_comment(new)
    if opened is None or any((line := written(there)) is None or line.is_directive for there in (*_above(source, number), old)):
        return None
    below = source.split(b"\n", number - 1)[-1][len(opened) :]
    hidden, ends, _ = below.partition(b"*/")
    if not ends or number + hidden.count(b"\n") <= edited.last or any(mark in hidden for mark in _DIRECTIVES):
        return None
    return _with_broken_line(before, edited, before._replace(source=source, ms=(time.perf_counter() - began) * 1000))


def _edited(previous: Built, source: bytes) -> _Edited | None:
    """The lines in which a text differs, if they are inside a function and above its last line."""
    before = previous.preprocessed
    lines = None if before.raw else edited_lines(before.source, source)
    rows = [] if lines is None else before.line_map.rows_at(lines.first)
    end = None if not rows else next((end for start, end in _functions(previous) if start <= rows[0][0] < end), None)
    if lines is None or end is None:
        return None
    last = before.line_map.line_at(end - 1)
    closes_below = last.path == before.line_map.main and last.number >= lines.first + len(lines.old)
    return _Edited(lines, rows[0], last.number) if closes_below else None


def _with_broken_line(before: Preprocessed, edited: _Edited, now: Preprocessed) -> Preprocessed:
    """The text before with something that does not parse in the edited lines; the rest is told of `now`."""
    lines, row, _ = edited
    added = len(lines.new) - len(lines.old)
    edit = replace_rows(before.text, before.line_map, row, _BROKEN + b"\n" * max(0, added), added)
    in_comment = lines.first if len(lines.new) == 1 and open_comment(lines.new[0]) is not None else 0
    hiding = now._replace(text=edit.text, line_map=edit.line_map, dependencies=before.dependencies)
    return hiding._replace(in_comment=in_comment, whole=before.whole or before)


def _above(source: bytes, number: int) -> list[bytes]:
    """The line above a line, if there is one."""
    return source.split(b"\n", number - 1)[:-1][-1:]


def _functions(built: Built) -> Iterator[tuple[int, int]]:
    """Where the functions of a unit are in its text, those that do not parse as well."""
    for function in built.unit.functions:
        yield function.source.start, function.source.start + function.source.end_site.end
    for broken in built.unit.broken:
        yield broken.start, broken.end
