"""What has been opened and not closed yet must not hide the rest of the file while it is typed.

A comment that begins, or the arguments of a macro, take all that follows for themselves, up to where something closes them by
chance. To the preprocessor, the functions below are gone then; to the person who types, they are what they were. So where an edit
inside a function makes the function's last line disappear, the text before counts, with one thing in the edited line that does
not parse: the function is stale until the edit is finished, and the others go on (DESIGN.md, section 4, "Broken code").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from analysis.frontend.line_edit import replace_rows
from analysis.frontend.preprocess import Preprocessed
from analysis.frontend.source_lines import edited_lines, open_comment

if TYPE_CHECKING:
    from analysis.session.building import Built

_BROKEN = b"@"  # is no token of C


def with_the_rest(previous: Built, now: Preprocessed) -> Preprocessed:
    """The preprocessed text, with what is hidden by something unclosed as it was before."""
    before = previous.preprocessed
    lines = edited_lines(before.source, now.source)
    if before.raw or now.raw or lines is None:
        return now
    rows = before.line_map.rows_at(lines.first)
    end = None if not rows else next((end for start, end in _functions(previous) if start <= rows[0][0] < end), None)
    if end is None:
        return now
    last, added = before.line_map.line_at(end - 1), len(lines.new) - len(lines.old)
    closes_below = last.path == before.line_map.main and last.number >= lines.first + len(lines.old)
    if not closes_below or now.line_map.rows_at(last.number + added):
        return now
    edit = replace_rows(before.text, before.line_map, rows[0], _BROKEN + b"\n" * max(0, added), added)
    in_comment = lines.first if len(lines.new) == 1 and open_comment(lines.new[0]) is not None else 0
    return now._replace(text=edit.text, line_map=edit.line_map, dependencies=before.dependencies, in_comment=in_comment)


def _functions(built: Built) -> Iterator[tuple[int, int]]:
    """Where the functions of a unit are in its text, those that do not parse as well."""
    for function in built.unit.functions:
        yield function.source.start, function.source.start + function.source.end_site.end
    for broken in built.unit.broken:
        yield broken.start, broken.end
