"""The usual operators ([SYMCEGAR] sections 3.1.1 and 3.2.1): merge-sep, merge-join, stop-sep, stop-join, the trivial precision.

Merge-agree needs all components and is in `composite`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import reduce
from typing import Any, Generic, TypeVar

from analysis.cpa.framework.interface import AbstractDomain
from analysis.cpa.framework.steps import Step

S = TypeVar("S", bound=Hashable)
P = TypeVar("P")


class MergeSep(Generic[S, P]):
    """merge-sep(e, e', pi) = e': states stay separate."""

    def merge(self, state: S, reached: S, precision: P) -> S:
        """`reached`."""
        return reached


class MergeJoin(Generic[S, P]):
    """merge-join(e, e', pi) = the join of e and e'."""

    def __init__(self, domain: AbstractDomain[S]) -> None:
        self._join = domain.join

    def merge(self, state: S, reached: S, precision: P) -> S:
        """The join."""
        return self._join(state, reached)


class StopSep(Generic[S, P]):
    """stop-sep(e, R, pi): one state of R covers e."""

    def __init__(self, domain: AbstractDomain[S]) -> None:
        self._less_or_equal = domain.less_or_equal

    def stop(self, state: S, reached: Iterable[S], precision: P) -> bool:
        """Whether one of them covers the state."""
        covers = self._less_or_equal
        return any(covers(state, other) for other in reached)


class StopJoin(Generic[S, P]):
    """stop-join(e, R, pi): the join of R covers e. Sound for powerset domains only, whose join stands for no more than its
    operands do together."""

    def __init__(self, domain: AbstractDomain[S]) -> None:
        self._domain = domain

    def stop(self, state: S, reached: Iterable[S], precision: P) -> bool:
        """Whether their join covers the state."""
        states = list(reached)
        return bool(states) and self._domain.less_or_equal(state, reduce(self._domain.join, states))


class TrivialAdjustment(Generic[S, P]):
    """The precision adjustment that changes nothing."""

    def adjust(self, state: S, precision: P, others: Sequence[Any]) -> tuple[S, P]:
        """State and precision as they are."""
        return state, precision


class NoStrengthening(Generic[S, P]):
    """A transfer relation that learns nothing from other components."""

    def strengthen(self, state: S, others: Sequence[Any], step: Step, precision: P, before: Sequence[Any]) -> Sequence[S]:
        """The state as it is."""
        return (state,)
