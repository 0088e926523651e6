"""What all claims of a check may cost together."""

from __future__ import annotations

import time

from analysis.model.budgets import ProverBudget

_LONGEST = 40  # times as long as the budget for all claims that they may take by the wall clock


class ClaimBudget:
    """The budget of the claims, and what of it is used up. `each`: what single ones may cost."""

    def __init__(self, each: ProverBudget) -> None:
        self.each = each
        self.begin()

    def begin(self) -> None:
        """From here on is counted."""
        self._worked, self._began = 0.0, time.monotonic()

    def spend(self, work: float) -> None:
        """An answer counts, which took these seconds of work."""
        self._worked += work

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits until all is answered. If so, there is a budget for all together."""
        return self.each.total is not None

    @property
    def left(self) -> float | None:
        """The seconds of work that are left; None: no end."""
        return None if self.each.total is None else self.each.total - self._worked

    @property
    def is_spent(self) -> bool:
        """Whether all of it is used up."""
        return self.left is not None and self.left <= 0

    @property
    def is_over(self) -> bool:
        """Whether no claim may be begun any more; by the wall clock as the last resort, where others have the processor."""
        is_late = self.each.total is not None and time.monotonic() > self._began + _LONGEST * self.each.total
        return self.is_spent or is_late

    @property
    def why_left(self) -> str:
        """Why a claim was not begun, where that is so because it is over."""
        return f"its turn did not come within the {self.each.total:g} s for proofs"
