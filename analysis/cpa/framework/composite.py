"""The composition of CPAs ([SYMCEGAR] section 3.2.1; section 5.1 for how it is implemented).

A composite state is the tuple of its components' states. The first component knows the locations and therefore the steps; the
others get the step that is taken, then each is strengthened with the states of all.

The stop operator asks, for each reached state on its own, whether every component's stop operator finds its part covered by that
state's part. (Section 3.2.7 asks the components about the whole reached set; that is unsound where one component
is covered by one state and another component by another. CPAchecker does the same as we do.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import product
from typing import Any, Literal, Protocol

from analysis.cpa.framework.defaults import MergeSep, NoStrengthening, StopSep, TrivialAdjustment
from analysis.cpa.framework.interface import Cpa
from analysis.cpa.framework.steps import Step

State = tuple[Any, ...]
Precision = tuple[Any, ...]
AnyCpa = Cpa[Any, Any]
Order = Callable[[State, State], bool]


class Driver(Protocol):
    """The transfer relation of a first component."""

    def moves(self, state: Any) -> Sequence[tuple[Step, Any]]:
        """The steps from a state, each with the state that it leads to."""


def _strengthened(components: Sequence[AnyCpa]) -> list[tuple[int, Any]]:
    """The transfer relations of those components, with their indices, that learn from the others."""
    transfers = [(i, c.transfer) for i, c in enumerate(components)]
    return [(i, t) for i, t in transfers if getattr(type(t), "strengthen", None) is not NoStrengthening.strengthen]


def _is_ranked(component: AnyCpa) -> bool:
    """Whether the states of a component that are in order are equal in what partitions them, or in their rank."""
    return component.flat or (component.rank is not None and type(component.stop) is StopSep)


class Composite:
    """An `Analysis` over tuples of states.

    `merge`: "sep", or "agree" (merge-agree: all components merge, if the result is greater than or equal to both states in all of
    them). `covers` replaces the components' stop operators where these cannot tell on their own (section 3.2.1's compare
    relations): whether the second composite state, of the same partition, covers the first.
    """

    def __init__(
        self,
        components: Sequence[AnyCpa],
        driver: Driver,
        *,
        merge: Literal["sep", "agree"] = "sep",
        covers: Order | None = None,
    ) -> None:
        self.components = tuple(components)
        self.precision: Precision = tuple(c.precision for c in components)
        self._moves = driver.moves
        self._rest = [(i, c.transfer.successors) for i, c in enumerate(components) if i > 0]
        self._strengthened = _strengthened(components)
        self._adjusted = [(i, c.adjustment) for i, c in enumerate(components) if type(c.adjustment) is not TrivialAdjustment]
        self._merges = merge == "agree" and any(type(c.merge) is not MergeSep for c in components)
        self._targets = [(i, c.is_target) for i, c in enumerate(components) if c.is_target is not None]
        self._ranks = [(i, c.rank) for i, c in enumerate(components) if c.rank is not None and not c.flat]
        self._ranked = covers is None and all(map(_is_ranked, components))
        self._keys = [i for i, c in enumerate(components) if c.flat]
        self._single_key = self._keys[0] if len(self._keys) == 1 else None
        self._stops = [(i, c.stop) for i, c in enumerate(components) if not c.flat]
        self._covers = covers

    # -- transfer -----------------------------------------------------------------------------------------------

    def moves(self, state: State, precision: Precision) -> list[tuple[Step, State]]:
        """The composite transfer relation: the components' successors combined, each combination strengthened."""
        rest = self._rest
        found: list[tuple[Step, State]] = []
        for step, first in self._moves(state[0]):
            parts: list[Sequence[Any]] = []
            firsts: list[Any] = [first]
            single = True
            for i, successors in rest:
                following = successors(state[i], step, precision[i])
                if len(following) != 1:
                    if not following:
                        break
                    single = False
                parts.append(following)
                firsts.append(following[0])
            else:
                if single:
                    combined = tuple(firsts)
                    if not self._strengthened:
                        found.append((step, combined))
                        continue
                    combinations: Iterable[State] = (combined,)
                else:
                    combinations = product((first,), *parts)
                for combination in combinations:
                    found.extend([(step, strong) for strong in self._strengthen(combination, step, precision, state)])
        return found

    def _strengthen(self, state: State, step: Step, precision: Precision, before: State) -> list[State]:
        """The strengthening operators, one component after the other, each with what the ones before it learned."""
        found = [state]
        for i, transfer in self._strengthened:
            following: list[State] = []
            for known in found:
                for part in transfer.strengthen(known[i], known, step, precision[i], before):
                    following.append(known if part is known[i] else (*known[:i], part, *known[i + 1 :]))
            if not following:
                return following
            found = following
        return found

    def adjust(self, state: State, precision: Precision) -> tuple[State, Precision]:
        """Precision adjustment, component by component; each gets the states of all (section 5.1)."""
        if not self._adjusted:
            return state, precision
        states, precisions = list(state), list(precision)
        for i, adjustment in self._adjusted:
            states[i], precisions[i] = adjustment.adjust(state[i], precision[i], state)
        return tuple(states), tuple(precisions)

    def is_target(self, state: State) -> bool:
        """Whether some component says so."""
        for i, asked in self._targets:  # noqa: SIM110 - a generator costs three times as much here
            if asked(state[i]):
                return True
        return False

    # -- order --------------------------------------------------------------------------------------------------

    def less_or_equal(self, state: State, other: State) -> bool:
        """The order of the product."""
        return all(c.domain.less_or_equal(s, o) for c, s, o in zip(self.components, state, other, strict=True))

    def join(self, state: State, other: State) -> State:
        """The join of the product."""
        return tuple([c.domain.join(s, o) for c, s, o in zip(self.components, state, other, strict=True)])

    def merges(self) -> bool:
        """Whether merge-agree was asked for, and some component merges."""
        return self._merges

    def merge(self, state: State, reached: State, precision: Precision) -> State:
        """Merge-agree. (The paper asks for a result less than or equal to both states; greater is meant: the result covers both,
        so that nothing of `state` is lost.)"""
        if not self._merges:
            return reached
        merged = tuple([c.merge.merge(s, r, p) for c, s, r, p in zip(self.components, state, reached, precision, strict=True)])
        agreed = self.less_or_equal(state, merged) and self.less_or_equal(reached, merged)
        return merged if agreed else reached

    def stop(self, state: State, reached: Iterable[State], precision: Precision) -> bool:
        """Whether one of the reached states, all of the same partition, covers the state."""
        covers = self._covers
        if covers is not None:
            return any(covers(state, other) for other in reached)
        stops = self._stops
        return any(all(stop.stop(state[i], (other[i],), precision[i]) for i, stop in stops) for other in reached)

    def partition(self, state: State) -> Hashable:
        """The states of the components whose orders are flat."""
        if self._single_key is not None:
            key: Hashable = state[self._single_key]
            return key
        return tuple([state[i] for i in self._keys])

    def rank(self, state: State) -> int | None:
        """The sum of the components' ranks, if all have one."""
        if not self._ranked:
            return None
        total = 0
        for i, rank in self._ranks:
            total += rank(state[i])
        return total
