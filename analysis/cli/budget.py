"""The time a whole run may take (`--timeout`)."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """The run's time is used up. Not an `Exception`, so that nothing on the way mistakes it for a failure of its own."""


@contextmanager
def time_budget(seconds: float | None) -> Iterator[None]:
    """Raises OutOfTime in the block when it has run for `seconds`; None for no bound. Only for the main thread."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
