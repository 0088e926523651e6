"""When the event loop is held up, seen from the inside; off unless `--watch-loop` asks for it. For `benchmarks.typing_load`.

A beat every few milliseconds: what passes between two beats beyond the pause between them is time in which
the loop did not turn. All of it is reported, the pause included, so that the reported time is never less than
the real one. That holds the system's own delays too: `processor` is what the loop's thread itself worked in
that time, `queued` how long the system let it wait for a processor that others had. Where neither accounts
for it, the thread slept on: it was woken late, or a call did not return.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

_PAUSE = 0.005  # seconds
_LONG = 0.025  # seconds; what is shorter is not reported
_MOST = 200  # are reported at once
_SCHEDULED = "/proc/thread-self/schedstat"  # nanoseconds run, nanoseconds waited for a processor, times run


class LoopWatch:
    """Watches the running loop until the process ends."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._long: deque[dict[str, float]] = deque(maxlen=_MOST)
        self._last = self._loop.time()
        self._last_worked = time.thread_time()
        self._last_queued = _queued()
        self._beat()

    def take(self) -> list[dict[str, float]]:
        """The long times without a beat since this was last asked, from `begin` to `end` in seconds of the system's monotonic
        clock, which is the same in all processes; and in milliseconds the thread's own share, `processor` and `queued`."""
        long = list(self._long)
        self._long.clear()
        return long

    def _beat(self) -> None:
        now, worked, queued = self._loop.time(), time.thread_time(), _queued()
        if now - self._last > _LONG:
            own, waited = worked - self._last_worked, queued - self._last_queued
            milliseconds = {"processor": round(own * 1000, 3), "queued": round(waited * 1000, 3)}
            self._long.append({"begin": self._last, "end": now, **milliseconds})
        self._last, self._last_worked, self._last_queued = now, worked, queued
        self._loop.call_later(_PAUSE, self._beat)


def _queued() -> float:
    """The seconds that this thread was ready to run and did not, so far; 0 where the system does not say."""
    try:
        with open(_SCHEDULED, "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
