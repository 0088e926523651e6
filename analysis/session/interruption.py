"""Ends work from outside that cannot look for itself whether it should stop.

A signal handler may raise `Interrupted`, but only where the work says so by entering the `Interruption`: work that builds
its result anew and changes nothing else, so that nothing half done remains.
"""

from __future__ import annotations

from types import FrameType, TracebackType


class Interrupted(BaseException):
    """The work was ended from outside. Not an `Exception`, so that nothing on the way mistakes it for a failure of its own."""


class Interruption:
    """Marks, as a context manager, work that may be ended; `handle` is the signal handler that ends it."""

    def __init__(self) -> None:
        self.allowed = False

    def __enter__(self) -> None:
        self.allowed = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.allowed = False

    def handle(self, _signal: int, _frame: FrameType | None) -> None:
        """Raises Interrupted in the work that has entered; does nothing elsewhere."""
        if self.allowed:
            self.allowed = False
            raise Interrupted
