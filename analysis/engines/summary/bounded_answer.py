"""What is answered about a program within a bound. It is never `safe`: that is for proofs without a bound (invariant I10)."""

from __future__ import annotations

from typing import Literal

import msgspec

from analysis.cpa.predicates.violations import Property, Violation
from analysis.engines.summary.validation_work import Work
from analysis.model.report import other_runs

Status = Literal["holds", "possible", "unknown"]
Level = Literal["euf", "lra", "int", "bv"]
"""The theories of formulas: equality of uninterpreted functions, linear arithmetic of the reals, whole numbers, bits."""


class BoundedAnswer(msgspec.Struct, frozen=True):
    """The answer about the runs from `main` in which each loop jumps back at most `bound` times, each time that it is entered,
    and each function is active at most `bound` times at once.

    - `holds`: none of these violates the property, under the `assumptions`. `is_complete`: it is known that there are no other
      runs.
    - `possible`: one may violate it, at `violated`; formulas over-approximate runs in places, so that it need not.
    - `unknown`, with the `reasons`.

    `level` is the theory of the formulas. A light one (`euf`, `lra`) never answers `possible`. `is_final`: more time would not
    change the answer.
    """

    status: Status
    property: Property
    bound: int
    work: Work
    is_complete: bool = False
    reasons: tuple[str, ...] = ()
    violated: tuple[Violation, ...] = ()
    assumptions: tuple[str, ...] = ()
    level: Level = "int"
    is_final: bool = True

    def sentence(self) -> str:
        """The answer as a sentence, with its bound."""
        within = f"within bound {self.bound}"
        if self.status == "unknown":
            return f"{self.property} is not known {within}: {'; '.join(self.reasons)}"
        if self.status == "possible":
            return f"{self.property} may be violated {within}"
        return f"no run violates {self.property} {within}; {other_runs(complete=self.is_complete)}"
