"""The edits since everything was checked from nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

Text = str | None
"""The text of a file; None: what is on the disk."""

_MOST = 200  # edits that are remembered
_CHARACTERS = 1 << 23  # of their texts


class Journal:
    """Texts of files by absolute path: those before the first edit that is remembered (`base`), and the edits since."""

    def __init__(self) -> None:
        self.base: dict[str, Text] = {}
        self.steps: deque[tuple[str, Text]] = deque()
        self._size = 0

    def begin(self, texts: Mapping[str, str]) -> None:
        """All is checked from nothing, with these texts of the open files."""
        self.base, self._size = {**texts}, 0
        self.steps.clear()

    def edited(self, path: str, text: Text) -> None:
        """A file has a new text. Where there are too many, the oldest edit is no longer one, but part of the beginning."""
        self.steps.append((path, text))
        self._size += len(text or "")
        while len(self.steps) > 1 and (len(self.steps) > _MOST or self._size > _CHARACTERS):
            oldest, before = self.steps.popleft()
            self.base[oldest] = before
            self._size -= len(before or "")
