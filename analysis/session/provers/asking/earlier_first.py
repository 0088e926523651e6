"""What an edit has put in question comes first: of each claim that was proved of an earlier revision, provers are asked whether
that proof still holds, and what took little the last time is asked again. All of that is asked at once, before anything else is
looked for. What it does not decide waits behind it for its turn, and then is looked for as anything else is.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence

from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.claim import RUNS, Claim
from analysis.session.provers.asking.question import Question

LITTLE = 0.25
"""Seconds of work. What took no more the last time is asked at once, and may take four times as much then."""


class EarlierFirst:
    """The claims about one revision, in order: the `earlier` ones were proved of another one, the `quick` ones took little."""

    def __init__(self) -> None:
        self._numbers: dict[Claim, int] = {}
        self._earlier: frozenset[Claim] = frozenset()
        self._quick: frozenset[Claim] = frozenset()
        self._failed: dict[Claim, str] = {}
        self._runs_took = math.inf  # seconds of work, the last time, if it proved something

    def begin(self, claims: Sequence[Claim], earlier: Iterable[Claim], known: Container[Claim], *, waits: bool) -> None:
        """From now on these are the claims. What was found out about those that are still the same question (`known`) stays.
        `waits`: somebody waits for all of them, so that none is asked at once because it took little."""
        self._numbers = {claim: number for number, claim in enumerate(claims)}
        self._earlier = frozenset(earlier)
        self._quick = frozenset() if waits or self._runs_took > LITTLE else frozenset((RUNS,))
        self._failed = {claim: said for claim, said in self._failed.items() if claim in known}

    def answered(self, claim: Claim, decided: Decided) -> None:
        """Notes how long an answer took."""
        if claim == RUNS:
            is_proof = any(part.certified for part in decided.parts)
            self._runs_took = decided.worked if is_proof else math.inf

    def asked(self, claim: Claim, question: Question) -> Question:
        """The question of a claim, with who is asked, and how long."""
        if self.is_due(claim):
            seconds = question.seconds if claim in self._earlier else min(question.seconds, 4 * LITTLE)
            return question._replace(part="earlier", seconds=seconds)
        return question._replace(part="others") if self.is_tried(claim) else question

    def is_due(self, claim: Claim) -> bool:
        """Whether it is to be asked at once."""
        return claim not in self._failed and (claim in self._earlier or claim in self._quick)

    def is_earlier(self, claim: Claim) -> bool:
        """Whether it was proved of an earlier revision."""
        return claim in self._earlier

    def is_tried(self, claim: Claim) -> bool:
        """Whether an earlier proof of it was looked at, in vain."""
        return claim in self._earlier and claim in self._failed

    def failed(self, claim: Claim, broken: str) -> None:
        """It is not decided; `broken` says what of its proof does not hold any more, if that is known."""
        self._failed[claim] = broken

    def broken(self, claim: Claim) -> str:
        """What of its proof does not hold any more; empty if that is not known."""
        return self._failed.get(claim, "")

    def place(self, claim: Claim) -> tuple[int, int]:
        """By what claims are sorted: those that are due, those whose proof failed, the rest, whichever fails first."""
        group = 0 if self.is_due(claim) else 1 if self.is_tried(claim) else 2
        return group, self._numbers.get(claim, len(self._numbers))
