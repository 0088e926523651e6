"""The claims that wait for an answer, in the order in which answers count.

Several claims are asked at once, and the later one may be answered first. Such an answer waits until those before it have come.
So what is known after each answer, and where the budget for all claims ends, depends neither on how fast a process is nor on
how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.claim import Claim


class Answered(NamedTuple):
    """An answer to a claim, the milliseconds that it took, and the seconds of work."""

    claim: Claim
    decided: Decided
    ms: float
    worked: float


class ClaimQueue:
    """The queue: what provers are asked now, by ticket, what is answered early, and what is not begun."""

    def __init__(self) -> None:
        self._claims: dict[Claim, None] = {}
        self._running: dict[int, Claim] = {}
        self._early: dict[Claim, Answered] = {}

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All claims, in order."""
        return tuple(self._claims)

    @property
    def running(self) -> tuple[Claim, ...]:
        """What provers are asked now."""
        return tuple(self._running.values())

    @property
    def next(self) -> Claim | None:
        """The first claim that is not begun; None if there is none."""
        begun = {*self._running.values(), *self._early}
        return next((claim for claim in self._claims if claim not in begun), None)

    def is_first(self, claim: Claim) -> bool:
        """Whether no other claim comes before this one."""
        return next(iter(self._claims), None) == claim

    @property
    def early_work(self) -> float:
        """The seconds of work of the answers that wait for others."""
        return sum(answer.worked for answer in self._early.values())

    def keep(self, is_same: Callable[[Claim], bool], claims: Iterable[Claim]) -> list[int]:
        """From now on these are the claims. What is begun of them stays so if it is still the same question. The tickets of the
        other questions."""
        self._claims = dict.fromkeys(claims)
        self._early = {claim: one for claim, one in self._early.items() if claim in self._claims and is_same(claim)}
        ended = [t for t, claim in self._running.items() if claim not in self._claims or not is_same(claim)]
        for ticket in ended:
            del self._running[ticket]
        return ended

    def begin(self, claim: Claim, ticket: int) -> None:
        """A prover is asked."""
        self._running[ticket] = claim

    def add(self, claim: Claim) -> None:
        """Adds a claim after all others, if it is not there."""
        self._claims.setdefault(claim)

    def sort(self, place: Callable[[Claim], tuple[int, int]]) -> None:
        """Puts the claims in the order of their places; those with the same place stay as they are."""
        self._claims = dict.fromkeys(sorted(self._claims, key=place))

    def remove(self, claim: Claim) -> list[int]:
        """Takes a claim out; the tickets of its question, if a prover is asked."""
        self._claims.pop(claim, None)
        self._early.pop(claim, None)
        ended = [ticket for ticket, other in self._running.items() if other == claim]
        for ticket in ended:
            del self._running[ticket]
        return ended

    def asked(self, ticket: int) -> Claim | None:
        """What a prover with this ticket was asked, and is not asked any more; None if it was nothing of this queue."""
        return self._running.pop(ticket, None)

    def answer(self, answered: Answered) -> None:
        """Takes in an answer. It counts when `take` gives it."""
        self._early[answered.claim] = answered

    def take(self) -> Answered | None:
        """The answer to the first claim, which is taken out; None if it has none yet."""
        first = next(iter(self._claims), None)
        if first is None or first not in self._early:
            return None
        del self._claims[first]
        return self._early.pop(first)

    def clear(self) -> list[int]:
        """Takes all claims out; the tickets of what provers are asked."""
        ended = list(self._running)
        self._claims, self._running, self._early = {}, {}, {}
        return ended
