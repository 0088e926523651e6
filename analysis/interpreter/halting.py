"""Exceptions that stop an execution: raised where the reason is noticed, caught by the machine, which makes a `Run` of them.

These exceptions never leave the package: for its callers every end is a value.
"""

from __future__ import annotations

from typing import NoReturn

from analysis.interpreter.outcome import End, Kind, NotModelled, RanOut


class ViolationError(Exception):
    """A violation happened; the machine knows the step."""

    def __init__(self, kind: Kind, text: str) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.text = text


class EndError(Exception):
    """The run ends in another way."""

    def __init__(self, end: End) -> None:
        super().__init__(end)
        self.end = end


def not_modelled(reason: str) -> NoReturn:
    """Ends the run at something that cannot be executed faithfully."""
    raise EndError(NotModelled(reason))


def out_of_memory() -> NoReturn:
    """Ends the run at its bound of memory."""
    raise EndError(RanOut("memory"))


class JumpError(Exception):
    """`longjmp`: control goes back to where the buffer was set."""

    def __init__(self, buffer: int, value: int) -> None:
        super().__init__(buffer)
        self.buffer = buffer
        self.value = value
