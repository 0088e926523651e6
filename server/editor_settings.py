"""The settings that the client has sent."""

from __future__ import annotations

from collections.abc import Mapping


class EditorSettings:
    """What the client has set, and which wrong settings the user has been notified of."""

    def __init__(self) -> None:
        self.initial: object = None
        self.values: object = None
        self.reported: list[str] = []

    def merged(self) -> object:
        """Initial options, overridden by what the client set later. What is no table is left to be reported."""
        if isinstance(self.initial, Mapping) and isinstance(self.values, Mapping):
            return {**self.initial, **{name: value for name, value in self.values.items() if value is not None}}
        return self.initial if self.values is None else self.values
