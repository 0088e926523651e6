"""Ends a search after so many steps, or when it is not wanted any more."""

from __future__ import annotations

from analysis.cpa.framework.algorithm import Cancellation
from analysis.model import clock


class CountedSteps:
    """The steps of one search, which may take so many seconds of work. What an earlier search found takes no steps, so after an
    edit a search may come further than one from scratch, but only where that one does not come to its end."""

    def __init__(self, seconds: float, cancellation: Cancellation) -> None:
        self._left, self._cancellation = round(seconds * clock.SECOND / clock.STEP), cancellation

    def goes_on(self) -> bool:
        """Counts a step; whether there may be another."""
        self._left -= 1
        return self._left > 0 and not self._cancellation.cancelled()
