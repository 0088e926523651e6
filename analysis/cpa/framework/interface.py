"""What a configurable program analysis is made of ([SYMCEGAR] section 3.1.1, "CPA with dynamic precision adjustment").

    D = (D, PI, ~>, merge, stop, prec)

Each operator is an interface of its own, so that an analysis is put together from operators: `defaults` has the usual ones,
`composite` composes components, `algorithm` runs the composition. A component's transfer relation gets the step to take;
the composition finds the steps (its first component knows the locations).

Abstract states are immutable and hashable; equal states are interchangeable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from analysis.cpa.framework.steps import Step

S = TypeVar("S", bound=Hashable)
P = TypeVar("P")
S_contra = TypeVar("S_contra", bound=Hashable, contravariant=True)
P_contra = TypeVar("P_contra", contravariant=True)


class AbstractDomain(Protocol[S]):
    """The semi-lattice of abstract states. Requirements: `join` gives an upper bound; `less_or_equal(e, f)` implies that `f`
    stands for every concrete state that `e` stands for. There is no bottom element: a transfer relation without successors says
    it."""

    def less_or_equal(self, state: S, other: S) -> bool:
        """Whether `state` is covered by `other`. A partial order (a preorder where the domain says so)."""

    def join(self, state: S, other: S) -> S:
        """An upper bound of both; the least one unless the domain says otherwise."""


class TransferRelation(Protocol[S, P_contra]):
    """The abstract successors along one step. Over-approximates: every concrete successor of every concrete state that `state`
    stands for is in one of them."""

    def successors(self, state: S, step: Step, precision: P_contra) -> Sequence[S]:
        """The states after the step; none if no concrete state can take it."""

    def strengthen(self, state: S, others: Sequence[Any], step: Step, precision: P_contra, before: Sequence[Any]) -> Sequence[S]:
        """The state after the step, given all components' states after it and before it (in the composition's order): states that
        are less than or equal to `state` and together stand for every concrete state that all components stand for; none if
        there is no such concrete state (the strengthening operators of section 3.2.1, in the form of section 5.1)."""


class MergeOperator(Protocol[S, P_contra]):
    """When and how two states with the same partition are made one."""

    def merge(self, state: S, reached: S, precision: P_contra) -> S:
        """`reached`, weakened by `state`: greater than or equal to `reached`. `reached` itself if they stay separate."""


class StopOperator(Protocol[S_contra, P_contra]):
    """When a state need not be explored."""

    def stop(self, state: S_contra, reached: Iterable[S_contra], precision: P_contra) -> bool:
        """Whether every concrete state that `state` stands for is among those of `reached`."""


class PrecisionAdjustment(Protocol[S, P]):
    """Forgets what the precision does not track."""

    def adjust(self, state: S, precision: P, others: Sequence[Any]) -> tuple[S, P]:
        """A state that stands for all that `state` stands for, and the precision from here on; `others` are the states of all
        components, in the composition's order."""


class Cpa(msgspec.Struct, Generic[S, P], frozen=True):
    """One configurable program analysis: a component of a composition. `precision` is the initial one.

    `flat`: no state is less than or equal to, or merges with, any other but itself. `rank`: a measure that is smaller for every
    other state that is greater than or equal to this one; None if there is none. `is_target` says which states violate the
    property; None: none does."""

    name: str
    domain: AbstractDomain[S]
    transfer: TransferRelation[S, P]
    merge: MergeOperator[S, P]
    stop: StopOperator[S, P]
    adjustment: PrecisionAdjustment[S, P]
    precision: P
    flat: bool = False
    rank: Callable[[S], int] | None = None
    is_target: Callable[[S], bool] | None = None


class Analysis(Protocol[S, P]):
    """What the CPA algorithm runs: a CPA that finds its own steps."""

    def moves(self, state: S, precision: P) -> Sequence[tuple[Step, S]]:
        """All abstract successors of the state, each with the step that leads to it; the same ones, in the same order, each
        time it is asked."""

    def adjust(self, state: S, precision: P) -> tuple[S, P]:
        """Precision adjustment."""

    def is_target(self, state: S) -> bool:
        """Whether the state violates the property."""

    def merge(self, state: S, reached: S, precision: P) -> S:
        """As in `MergeOperator`."""

    def stop(self, state: S, reached: Iterable[S], precision: P) -> bool:
        """As in `StopOperator`."""

    def merges(self) -> bool:
        """Whether `merge` can do anything at all; if not, the algorithm does not ask it."""

    def partition(self, state: S) -> Hashable:
        """States of different partitions neither merge nor cover each other."""

    def rank(self, state: S) -> int | None:
        """A measure that is smaller for every other state that covers this one; None if the order has no such measure."""
