"""Ends work from outside that cannot look for itself whether it should stop.

A signal handler may raise `Interrupted`, but only where the work says so by entering the `Interruption`: work that builds
its result anew and changes nothing else, so that nothing half done remains.

Questions to provers are such work: what they are made of is computed anew, and noted only outside (`session.provers`).

Work that keeps what it computes on the way cannot be ended anywhere: half a table would be taken for all of it the next time. It
enters `in_steps` as well, and is ended only where it says that a step is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType


class Interrupted(BaseException):
    """The work was ended from outside. Not an `Exception`, so that nothing on the way mistakes it for a failure of its own."""


class _Steps:
    """Whether the work of this process goes in steps, and somebody asked to end it: signals are those of the process."""

    under_way = False
    asked = False


@contextmanager
def in_steps() -> Iterator[None]:
    """Marks work that is ended only where it calls `step_done`."""
    _Steps.under_way, _Steps.asked = True, False
    try:
        yield
    finally:
        _Steps.under_way = _Steps.asked = False


def step_done() -> None:
    """Nothing is half done here. Raises Interrupted if the work goes in steps, and somebody asked to end it."""
    if _Steps.asked:
        _Steps.asked = False
        raise Interrupted


class Interruption:
    """Marks, as a context manager, work that may be ended; `handle` is the signal handler that ends it."""

    def __init__(self) -> None:
        self.allowed = False

    def __enter__(self) -> None:
        self.allowed = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.allowed = False

    def handle(self, _signal: int, _frame: FrameType | None) -> None:
        """Raises Interrupted in the work that has entered, or when its step is done; does nothing elsewhere."""
        if not self.allowed:
            return
        self.allowed = False
        if _Steps.under_way:
            _Steps.asked = True
        else:
            raise Interrupted
