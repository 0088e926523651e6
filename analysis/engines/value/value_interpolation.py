"""Interpolation of constraint sequences by abstract variable assignments ([SYMCEGAR] Algorithm 4):
`cpa.framework.path_interpolation` over
what the value analysis knows. A branch that contradicts known values has no state after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cpa.domains.value import ExplicitTransfer, ExplicitValues
from analysis.cpa.framework.path_interpolation import Part, PathInterpolation
from analysis.cpa.framework.steps import Step


class ValuePost:
    """Strongest postconditions over explicit values; a part is the root of an object."""

    def __init__(self, transfer: ExplicitTransfer) -> None:
        self._transfer = transfer

    def initial(self) -> ExplicitValues:
        """What is known at the start."""
        return self._transfer.initial()

    def after(self, state: ExplicitValues, step: Step) -> ExplicitValues | None:
        """See StrongestPost."""
        following = self._transfer.successors(state, step, None)
        return following[0] if following else None

    def is_contradicting(self, state: ExplicitValues) -> bool:
        """No: known values do not contradict each other."""
        return False

    def learned(self, before: ExplicitValues, state: ExplicitValues) -> bool:
        """Nothing that could contradict."""
        return False

    def parts(self, state: ExplicitValues) -> Sequence[Part]:
        """The objects of which something is known."""
        return sorted(state.store.map)

    def without(self, state: ExplicitValues, parts: Sequence[Part]) -> ExplicitValues:
        """The state without what is known of these objects."""
        return ExplicitValues(state.store.without([str(part) for part in parts]), state.depth)


class ValueInterpolation(PathInterpolation[ExplicitValues]):
    """Interpolants for paths of one program."""

    def __init__(self, transfer: ExplicitTransfer) -> None:
        super().__init__(ValuePost(transfer))
