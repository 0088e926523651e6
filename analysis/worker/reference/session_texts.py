"""The texts of files in this session: as they were when they were opened first, and as they are."""

from __future__ import annotations

from collections.abc import Mapping


class SessionTexts:
    """All by absolute path. `opened` are those that are open."""

    def __init__(self) -> None:
        self.opened: dict[str, str] = {}
        self._first: dict[str, str] = {}
        self._is_changed_outside = False  # a file that was not open

    @property
    def first(self) -> Mapping[str, str]:
        """The texts that files had when they were opened first."""
        return self._first

    @property
    def are_first(self) -> bool:
        """Whether all files hold what they held when the session began, as far as is known."""
        return not self._is_changed_outside and all(self.opened.get(path) == text for path, text in self._first.items())

    def edited(self, path: str, text: str | None, first: str | None = None) -> bool:
        """A file has a new unsaved text; None: it was closed, or changed on the disk. `first` is what it was when it was opened
        first, where that is not the first text that comes here. Returns whether a file was changed that is not open."""
        if first is not None:
            self._first.setdefault(path, first)
        if text is not None:
            self._first.setdefault(path, text)
            self.opened[path] = text
            return False
        is_outside = self.opened.pop(path, None) is None
        self._is_changed_outside = self._is_changed_outside or is_outside
        return is_outside
