"""Interpolation of paths over strongest postconditions, for any domain whose states are made of parts that can be forgotten:
[SYMCEGAR] Algorithm 4 and lines 3 to 5 of 5 ([EXPLICIT-CEGAR]), 6 and 7, in the generic form of section 6.1.3.

A constraint sequence is a path. It is contradicting if the strongest postcondition comes to no state at its end.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Generic, Protocol, TypeVar

from analysis.cpa.framework.steps import Step
from analysis.model import clock, ir

S = TypeVar("S")
Part = Hashable


class StrongestPost(Protocol[S]):
    """The strongest postconditions of a domain, in which nothing is forgotten unless it is asked for."""

    def initial(self) -> S:
        """The state before the first step."""

    def after(self, state: S, step: Step) -> S | None:
        """The state after a step; None if that is plainly contradicting."""

    def is_contradicting(self, state: S) -> bool:
        """Whether the state, although `after` gave it, stands for nothing."""

    def learned(self, before: S, state: S) -> bool:
        """Whether it is to be asked if the step between the two states has made it contradicting."""

    def parts(self, state: S) -> Sequence[Part]:
        """What can be forgotten of the state, in the order in which that is tried."""

    def without(self, state: S, parts: Sequence[Part]) -> S:
        """The state without some of its parts."""


class OutOfTimeError(Exception):
    """The deadline is over before there are interpolants."""


class PathInterpolation(Generic[S]):
    """Interpolants for paths of one program. With a `deadline`, of `model.clock`, OutOfTimeError is raised after it."""

    def __init__(self, post: StrongestPost[S], deadline: float | None = None) -> None:
        self._post = post
        self.deadline = deadline

    def after(self, state: S, steps: Sequence[Step]) -> S | None:
        """SP: the state after the steps; None if they are contradicting."""
        if self.deadline is not None and clock.spent() > self.deadline:
            raise OutOfTimeError
        for step in steps:
            following = self._post.after(state, step)
            if following is None:
                return None
            state = following
        return None if self._post.is_contradicting(state) else state

    def prefixes(self, steps: Sequence[Step], most: int) -> list[list[int]]:
        """The infeasible sliced prefixes of a path [REFINEMENT-SELECTION], the shortest first, at most `most`.

        A prefix has the path's steps up to a branch that contradicts, without the branches that contradicted
        before, as positions of steps. Each prefix is a reason of its own why the path is infeasible. There is
        none if the path is feasible."""
        state = self._post.initial()
        found: list[list[int]] = []
        kept: list[int] = []
        for number, step in enumerate(steps):
            following = self._post.after(state, step)
            kept.append(number)
            if following is not None and not (self._post.learned(state, following) and self._post.is_contradicting(following)):
                state = following
                continue
            found.append(list(kept))
            if len(found) == most or not isinstance(step.edge.effect, ir.Assume):
                break
            kept.pop()
        else:
            if self._post.is_contradicting(state):
                found.append(kept)
        return found

    def interpolants(self, steps: Sequence[Step]) -> list[S]:
        """For each step of a contradicting path but the last one, what must be known after it: each interpolant is made from the
        one before, so that together they are inductive."""
        state = self._post.initial()
        found = []
        for number, step in enumerate(steps[:-1]):
            following = self._post.after(state, step)
            assert following is not None, "only the last step of the path contradicts"
            is_same = number > 0 and following == state  # what was needed before the step is needed after it
            state = following if is_same else self._interpolant(following, steps[number + 1 :])
            found.append(state)
        return found

    def _interpolant(self, state: S, suffix: Sequence[Step]) -> S:
        """Algorithms 4 and 6: forgets every part without which the suffix stays contradicting."""
        nothing = self._post.without(state, self._post.parts(state))
        if self.after(nothing, suffix) is None:
            return nothing
        for part in self._post.parts(state):
            weaker = self._post.without(state, (part,))
            if weaker != state and self.after(weaker, suffix) is None:
                state = weaker
        return state
