"""What is claimed of the integers of a function."""

from __future__ import annotations

import msgspec

from analysis.certificate.ranges.bounded_values import Range


class FunctionRanges(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds of variables where control can be, by location; at other locations it is claimed never to be. `result`: of what the
    function returns, in whatever state it is called; None if it never returns, or nothing that is an integer."""

    function: str
    bounds: tuple[tuple[int, tuple[tuple[str, int, int], ...]], ...]
    result: Range | None = None
    returns: bool = True


class Contract(msgspec.Struct, frozen=True):
    """What callers may rely on: whether a function may return, and the bounds of its result; None: nothing is known of it."""

    returns: bool = True
    result: Range | None = None


ANYTHING = Contract()
"""Of a function that is not followed."""
