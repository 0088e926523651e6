"""The edits of this session, in the order in which they were made, with what is needed to say what one of them changed.

Keys that are typed one after the other at one place of a line are one edit. Changes are counted as well, so that an edit that a
check has seen half of is known to go on. What an edit changed can be undone again in a copy of the text (`versions`), so that no
earlier text has to be kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from analysis.model.places import Position, Range
from server.client_lines import Change, moved_range, undo
from server.documents import Document, OpenDocuments

MOST_CHANGES = 5_000
"""That are remembered; of a finding that an earlier one has introduced, it is not known which one did."""
_MOST_STEPS = 64
_MOST_CHARACTERS = 8_000_000


class SessionEdit:
    """An edit: its `number`, from 1; the document, and the version that it led to; where the new text was in that version; and
    the lines that it touched `before` and `after`. `first` and `last` are the numbers of its changes."""

    def __init__(self, number: int, document: Document, place: Range, change: Change, at: int) -> None:
        self.number = number
        self.path, self.uri = document.file_path, document.uri
        self.version = document.current_version
        self.place = place
        self.before, self.after = change.before, change.after
        self.first = self.last = at

    def goes_on(self, document: Document, change: Change) -> bool:
        """Whether a change goes on with this edit."""
        edit = change.edit
        line = self.place.start.line
        is_in_line = {self.place.end.line, edit.range.start.line, edit.range.end.line, edit.new_end.line} == {line}
        return (
            self.path == document.file_path
            and is_in_line
            and edit.range.start <= self.place.end
            and edit.range.end >= self.place.start
        )

    def go_on(self, document: Document, change: Change, at: int) -> None:
        """Takes in a change that goes on with this edit."""
        edit, place = change.edit, self.place
        rest = max(place.end.column - edit.range.end.column, 0)
        start = min(place.start, edit.range.start)
        self.place = Range(start, Position(start.line, edit.new_end.column + rest))
        self.version, self.after, self.last = document.current_version, change.after, at


class Steps(NamedTuple):
    """The texts of files before the first of some edits, by path, and the text that each edit led to, with the file's path."""

    texts: dict[str, str]
    steps: tuple[tuple[str, str], ...]


class _Made(NamedTuple):
    at: int
    path: str
    change: Change


class SessionEdits:
    """All edits since the server was started."""

    def __init__(self, documents: OpenDocuments) -> None:
        self._documents = documents
        self._edits: list[SessionEdit] = []
        self._changes: deque[_Made] = deque()
        self._dropped = 0  # the number of the last change that is not remembered
        self.changes = 0

    def note(self, document: Document, changes: Sequence[Change]) -> None:
        """A document was changed; it has its new text and version already."""
        for change in changes:
            self.changes += 1
            self._changes.append(_Made(self.changes, document.file_path, change))
            last = self._edits[-1] if self._edits else None
            if last is not None and last.goes_on(document, change):
                last.go_on(document, change, self.changes)
            else:
                place = Range(change.edit.range.start, change.edit.new_end)
                self._edits.append(SessionEdit(len(self._edits) + 1, document, place, change, self.changes))
        while len(self._changes) > MOST_CHANGES:
            self._dropped = self._changes.popleft().at

    def edit(self, number: int) -> SessionEdit | None:
        """The edit of a number."""
        return self._edits[number - 1] if 0 < number <= len(self._edits) else None

    def between(self, after: int, up_to: int) -> list[SessionEdit]:
        """The edits of which a change is later than the change `after`, and not later than `up_to`; the last ones of very
        many."""
        found: list[SessionEdit] = []
        for edit in reversed(self._edits):
            if edit.last <= after or len(found) == _MOST_STEPS:
                break
            if edit.first <= up_to:
                found.append(edit)
        return found[::-1]

    def present_place(self, edit: SessionEdit) -> Range:
        """Where the text is now that an edit made."""
        place = edit.place
        for made in self._changes:
            if made.at > edit.last and made.path == edit.path:
                at = made.change.edit.range.start
                place = moved_range(place, made.change.edit) or Range(at, at)
        return place

    def versions(self, edits: Sequence[SessionEdit], up_to: int) -> Steps | None:
        """The texts before the edits, and after each, as far as the change `up_to`. None if they are not known any more."""
        start = edits[0].first - 1
        if start < self._dropped:
            return None
        numbers = {min(edit.last, up_to): index for index, edit in enumerate(edits)}
        lines: dict[str, list[str]] = {}
        after: dict[int, tuple[str, str]] = {}
        for made in reversed(self._changes):
            if made.at <= start:
                break
            if made.path not in lines:
                document = self._documents.at_path(made.path)
                if document is None:
                    return None
                lines[made.path] = list(document.lines)
            if made.at in numbers:
                after[numbers[made.at]] = made.path, "".join(lines[made.path])
            undo(lines[made.path], made.change)
        steps = tuple(after[index] for index in range(len(edits)) if index in after)
        if len(steps) < len(edits) or sum(len(text) for _, text in steps) > _MOST_CHARACTERS:
            return None
        return Steps({path: "".join(text) for path, text in lines.items()}, steps)
