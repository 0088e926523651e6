"""Whether an edit of preprocessed text leaves its tokens what they are."""

from __future__ import annotations

import re

from analysis.frontend.text.difference import Difference

_LITERALS = re.compile(rb"""\"(?:[^"\\]++|\\.)*+(?>(?P<closed>\")?)|'(?:[^'\\]++|\\.)*+(?>(?P<ended>')?)""")
_ALONE = b"(){}[];,~?"  # what is a token by itself, whatever stands beside it


def changes_no_token(old: bytes, new: bytes, edit: Difference) -> bool:
    """Whether an edit only replaces white space by white space, outside of literals and directives, and neither parts a token nor
    joins two. False where that is not sure."""
    if edit.old_end == edit.start == edit.new_end:
        return True
    if old[edit.start : edit.old_end].strip() or new[edit.start : edit.new_end].strip():
        return False
    head = old[old.rfind(b"\n", 0, edit.start) + 1 : edit.start]
    left, right = old[edit.start - 1 : edit.start], old[edit.old_end : edit.old_end + 1]
    if right == b"#" or head.lstrip().startswith(b"#") or any(found.lastgroup is None for found in _LITERALS.finditer(head)):
        return False
    apart = not left.strip() or not right.strip()
    same = (apart or edit.old_end > edit.start) == (apart or edit.new_end > edit.start)
    return same or left in _ALONE or right in _ALONE
