"""An edit that changes no token: inside a comment, or of white space between lines.

A preprocessor turns comments and line ends into white space (C11 5.1.1.2, phase 3), so that such an edit
changes only the numbers of the lines below. In the preprocessed text line ends give the numbers, or a line
marker where more than a few lines are blank. So line ends are added or removed there, or the marker gets
another number.

The source alone shows that an edit is inside a comment: read from the beginning, comments and literals follow
one after the other. Line ends count as white space where there is one between two tokens before and after the
edit, and none of it continues a line.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from analysis.frontend.text.difference import Difference, difference
from analysis.frontend.text.line_edit import LONE_RETURN, Edit, replace_rows
from analysis.frontend.text.line_map import LineMap
from analysis.frontend.text.macros import Macros
from analysis.frontend.text.source_lines import long_comment

_SPLICED_END = re.compile(rb"\*(?:\\|\?\?/)[ \t]*\r?\n")  # with the slash on the next line it ends a comment, too
_CONTINUED = (b"\\", b"??/")
_LITERAL = b'R"'


class Blank(NamedTuple):
    """An edit without tokens. `below`: the number of the first line, before the edit, that counts otherwise after it; `by`: by
    how many lines. `end` is where the text below begins, after the edit. `in_comment`: it is inside a comment, and that stays."""

    below: int
    by: int
    end: int
    in_comment: bool = False


def blank_edit(source: bytes, new: bytes) -> Blank | None:
    """The edit of a source into another, if it changes no token; None if it does, or that is not known."""
    if source == new or any(_LITERAL in text or LONE_RETURN.search(text) for text in (source, new)):
        return None
    edit = difference(source, new)
    return _of_line_ends(source, new, edit) or _of_a_comment(source, new, edit)


def move_lines(text: bytes, line_map: LineMap, new: bytes, blank: Blank, macros: Macros) -> Edit | None:
    """The preprocessed text after the edit of the source to `new`; None where the preprocessor must be asked."""
    if not blank.by:
        return Edit(text, line_map)
    if macros.renumbered or macros.depends_on_lines(new[blank.end :]):
        return None
    place = line_map.first_row(blank.below)
    if place is None:
        return None
    start, has_marker = place
    if has_marker:
        return replace_rows(text, line_map, (start, start), b"", blank.by)
    if blank.by >= 0:
        return replace_rows(text, line_map, (start, start), b"\n" * blank.by, blank.by)
    if not text.startswith(b"\n" * (1 - blank.by), start + blank.by - 1):
        return None
    return replace_rows(text, line_map, (start + blank.by, start), b"", blank.by)


def _of_line_ends(source: bytes, new: bytes, edit: Difference) -> Blank | None:
    """The edit, if it is one of white space that has line ends before and after."""
    if source[edit.start : edit.old_end].strip() or new[edit.start : edit.new_end].strip():
        return None
    start = len(source[: edit.start].rstrip())
    old_end = edit.old_end + _blanks(source, edit.old_end)
    new_end = old_end + edit.new_end - edit.old_end
    before, after = source[start:old_end].count(b"\n"), new[start:new_end].count(b"\n")
    if not before or not after or source.endswith(_CONTINUED, 0, start):
        return None
    return Blank(source.count(b"\n", 0, old_end) + 1, after - before, new_end)


def _blanks(text: bytes, at: int) -> int:
    rest = text[at : at + 4096]
    return len(rest) - len(rest.lstrip())


def _of_a_comment(source: bytes, new: bytes, edit: Difference) -> Blank | None:
    """The edit, if it is inside a comment `/* */`, which ends where it ended."""
    if source.rfind(b"*/", 0, edit.start) > source.rfind(b"/*", 0, edit.start):
        return None  # most edits are in none, and this is quick to decide
    span = long_comment(source, max(edit.start, edit.old_end))
    if span is None or not span[0] + 2 <= edit.start or edit.old_end > span[1] - 2 or not source.endswith(b"*/", 0, span[1]):
        return None
    end = span[1] + edit.new_end - edit.old_end
    was, is_ = source[span[0] : span[1]], new[span[0] : end]
    if is_.find(b"*/", 2) != len(is_) - 2 or _SPLICED_END.search(was) or _SPLICED_END.search(is_):
        return None
    by = is_.count(b"\n") - was.count(b"\n")
    last = source.count(b"\n", 0, span[1]) + 1
    following = new.find(b"\n", end)
    if not new[end : following if following >= 0 else len(new)].strip():
        return Blank(last + 1, by, end, in_comment=True)
    return Blank(last, by, end, in_comment=True) if by == 0 or (b"\n" in was and b"\n" in is_) else None
