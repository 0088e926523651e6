"""Interpolation of constraint sequences by abstract variable assignments (SYMCEGAR Algorithm 4 and lines 3 to 5 of 5, after Beyer
and Loewe, "Explicit-state software model checking based on CEGAR and interpolation", FASE 2013).

A constraint sequence is a way. It is contradicting if the strongest postcondition over known values comes to no state at its end.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.cpa.domains.value import ExplicitTransfer, ExplicitValues
from analysis.cpa.steps import Step
from analysis.model import ir


class ValueInterpolation:
    """Interpolants for ways of one program."""

    def __init__(self, transfer: ExplicitTransfer) -> None:
        self._transfer = transfer

    def after(self, state: ExplicitValues, steps: Sequence[Step]) -> ExplicitValues | None:
        """SP: what is known after the steps; None if they are contradicting."""
        for step in steps:
            following = self._transfer.successors(state, step, None)
            if not following:
                return None
            (state,) = following
        return state

    def prefixes(self, steps: Sequence[Step], most: int) -> list[list[int]]:
        """The infeasible sliced prefixes of a way, the shortest first, at most so many (Beyer, Loewe and Wendler, "Refinement
        selection", SPIN 2015): its steps up to a branch that contradicts, without the branches that contradicted before. As
        positions of steps; each prefix is a reason of its own why the way is impossible. None if the way is possible."""
        state = self._transfer.initial()
        found: list[list[int]] = []
        kept: list[int] = []
        for number, step in enumerate(steps):
            following = self._transfer.successors(state, step, None)
            kept.append(number)
            if following:
                (state,) = following
                continue
            found.append(list(kept))
            if len(found) == most or not isinstance(step.edge.effect, ir.Assume):
                break
            kept.pop()
        return found

    def interpolants(self, steps: Sequence[Step]) -> list[ExplicitValues]:
        """For each step of a contradicting way but the last one, what of the values is needed after it: each interpolant is made
        from the one before, so that together they are inductive."""
        state = self._transfer.initial()
        found = []
        for number, step in enumerate(steps[:-1]):
            (state,) = self._transfer.successors(state, step, None)
            state = self._interpolant(state, steps[number + 1 :])
            found.append(state)
        return found

    def _interpolant(self, state: ExplicitValues, suffix: Sequence[Step]) -> ExplicitValues:
        """Algorithm 4: forgets every object without which the suffix stays contradicting."""
        nothing = ExplicitValues(state.store.without(list(state.store.map)), state.depth)
        if self.after(nothing, suffix) is None:
            return nothing
        for root in sorted(state.store.map):
            weaker = ExplicitValues(state.store.without([root]), state.depth)
            if self.after(weaker, suffix) is None:
                state = weaker
        return state
