"""In which files somebody is typing: what does not parse is told once there is a pause, or the file is saved.

What was told before stays while one goes on: it would come and go with each key otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from analysis.model.report import Message

PAUSE = 1.0  # seconds without a key


class Timer(Protocol):
    """What a clock gives back for a call to be made later."""

    def cancel(self) -> None:
        """The call is not made."""


class TypingPauses:
    """Knows who types. `call_later` is the clock's: it makes a call after so many seconds; `paused` is called with the path of a
    file in which nobody types any more."""

    def __init__(self, call_later: Callable[[float, Callable[[], None]], Timer], paused: Callable[[str], None]) -> None:
        self._call_later = call_later
        self._paused = paused
        self._timers: dict[str, Timer] = {}
        self._told: dict[str, frozenset[str]] = {}

    def typed(self, path: str) -> None:
        """A key was pressed in a file."""
        if path in self._timers:
            self._timers.pop(path).cancel()
        self._timers[path] = self._call_later(PAUSE, lambda: self.pause(path))

    def pause(self, path: str) -> None:
        """Somebody has paused, or saved the file."""
        timer = self._timers.pop(path, None)
        if timer is not None:
            timer.cancel()
            self._paused(path)

    def closed(self, path: str) -> None:
        """The file is no longer open."""
        timer = self._timers.pop(path, None)
        if timer is not None:
            timer.cancel()
        self._told.pop(path, None)

    def to_tell(self, path: str, messages: Sequence[Message]) -> list[Message]:
        """Which messages about a file are told now."""
        syntax = frozenset(message.text for message in messages if message.syntax)
        if path in self._timers:
            syntax &= self._told.get(path, frozenset())
        self._told[path] = syntax
        return [message for message in messages if not message.syntax or message.text in syntax]

    def close(self) -> None:
        """Nobody types any more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
