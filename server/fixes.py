"""The fixes of findings, as far as they are known for the texts as they are.

The checker finds them in the background (`analysis.fixes`), one finding at a time: they are looked for when an editor
first asks for the code actions of a finding, which is when the cursor gets there. An edit of any text makes all of them
unknown again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from analysis.model.text_changes import Fix

Ask = Callable[[str, str], Awaitable[tuple[Fix, ...] | None]]
_Key = tuple[str, str]


class Fixes:
    """What is known, by path and fingerprint. `ask` looks for fixes; it answers None if it was stopped."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[_Key, tuple[Fix, ...]] = {}
        self._task: tuple[_Key, asyncio.Task[tuple[Fix, ...] | None]] | None = None

    def known(self, path: str, fingerprint: str) -> tuple[Fix, ...] | None:
        """The fixes of a finding; None if they are not known."""
        return self._known.get((path, fingerprint))

    def look(self, path: str, fingerprint: str) -> asyncio.Task[tuple[Fix, ...] | None]:
        """Looks for fixes of a finding, unless that is done already, and no more for those of others."""
        key = path, fingerprint
        if self._task is None or self._task[0] != key:
            self._stop()
            self._task = key, asyncio.create_task(self._find(key), name="fixes")
        return self._task[1]

    async def find(self, path: str, fingerprint: str) -> tuple[Fix, ...] | None:
        """The fixes of a finding, once they are known; None if a text changed meanwhile, or others are looked for."""
        known = self.known(path, fingerprint)
        if known is not None:
            return known
        task = self.look(path, fingerprint)
        await asyncio.wait([task])
        return None if task.cancelled() else task.result()

    def forget(self) -> None:
        """A text has changed."""
        self._known.clear()
        self._stop()

    def _stop(self) -> None:
        if self._task is not None:
            self._task[1].cancel()
            self._task = None

    async def _find(self, key: _Key) -> tuple[Fix, ...] | None:
        fixes = await self._ask(*key)
        if fixes is not None:
            self._known[key] = fixes
        self._task = None
        return fixes
