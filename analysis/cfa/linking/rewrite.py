"""Renaming variables and record keys in effects, expressions and types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from analysis.model import c_types, ir

T = TypeVar("T")


class Renaming:
    """Renames local variables and temporaries by name, records by key, and what has linkage (`linked`) by its linkage name. Equal
    parts are rewritten once."""

    def __init__(
        self,
        variables: Mapping[str, str] | None = None,
        records: Mapping[str, str] | None = None,
        linked: Mapping[str, str] | None = None,
    ) -> None:
        self._variables = variables or {}
        self._linked = linked or {}
        self._records = records or {}
        self._done: dict[object, object] = {}  # None: there is nothing to change in it

    def __call__(self, value: T) -> T:
        """The value with the names changed; the same object if there is nothing to change in it."""
        return self._rewrite(value)  # type: ignore[return-value]

    def _rewrite(self, value: object) -> object:
        if isinstance(value, tuple):
            parts = tuple(self._rewrite(part) for part in value)
            return value if all(map(_same, parts, value)) else parts
        if not isinstance(value, msgspec.Struct):
            return value
        known = self._done.get(value, self)
        if known is self:
            new = self._struct(value)
            known = self._done[value] = None if new is value else new
        return value if known is None else known  # what was rewritten before is only equal to this one

    def _struct(self, value: msgspec.Struct) -> msgspec.Struct:
        changes: dict[str, object] = {}
        for field in value.__struct_fields__:
            old = getattr(value, field)
            new = self._rewrite(old)
            if new is not old:
                changes[field] = new
        if isinstance(value, ir.Var) and value.scope in ("local", "temporary"):
            changes |= _changed("name", self._variables.get(value.name), value.name)
        elif isinstance(value, ir.Var) and value.scope in ("global", "function"):
            changes |= _changed("name", self._linked.get(value.name), value.name)
        elif isinstance(value, c_types.Record | c_types.RecordDefinition):
            changes |= _changed("key", self._records.get(value.key), value.key)
        return msgspec.structs.replace(value, **changes) if changes else value


def _same(one: object, other: object) -> bool:
    return one is other


def _changed(field: str, new: str | None, old: str) -> dict[str, object]:
    return {} if new is None or new == old else {field: new}
