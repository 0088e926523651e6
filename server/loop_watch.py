"""How long the event loop is held up, seen from the inside; off unless `--watch-loop` asks for it. For `benchmarks.typing_load`.

A beat every few milliseconds: what passes between two beats beyond the pause between them is time in which the loop did not turn.
All of it is told, the pause included, so that what is told is never less than what was. That holds the system's own delays too,
when other processes have the processors; `processor` is what the loop's thread itself worked in that time.
"""

from __future__ import annotations

import asyncio
import time

_PAUSE = 0.005  # seconds


class LoopWatch:
    """Watches the running loop until the process ends."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._longest = 0.0
        self._worked = 0.0
        self._last = self._loop.time()
        self._last_worked = time.thread_time()
        self._beat()

    def take(self) -> dict[str, float]:
        """The longest time between two beats since this was last asked, and the thread's own share of it, in milliseconds."""
        longest, worked = self._longest, self._worked
        self._longest = self._worked = 0.0
        return {"longest": round(longest * 1000, 3), "processor": round(worked * 1000, 3)}

    def _beat(self) -> None:
        now, worked = self._loop.time(), time.thread_time()
        if now - self._last > self._longest:
            self._longest, self._worked = now - self._last, worked - self._last_worked
        self._last, self._last_worked = now, worked
        self._loop.call_later(_PAUSE, self._beat)
