"""What was proved of an earlier revision comes first: each such claim is asked whether its proof still holds, all of them at once,
before anything is looked for. What does not hold waits behind them for its turn, and then is looked for as anything else is.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from analysis.session.provers.asking.claim import Claim


class EarlierFirst:
    """The claims about one revision that were proved of an earlier one, in order."""

    def __init__(self) -> None:
        self._order: dict[Claim, int] = {}
        self._broken: dict[Claim, str] = {}

    def begin(self, claims: Iterable[Claim], known: Container[Claim]) -> None:
        """From now on these are the claims. What was found out about those that are still the same question (`known`) stays."""
        self._order = {claim: number for number, claim in enumerate(claims)}
        self._broken = {claim: said for claim, said in self._broken.items() if claim in known}

    def is_due(self, claim: Claim) -> bool:
        """Whether its proof is not looked at yet."""
        return claim in self._order and claim not in self._broken

    def is_tried(self, claim: Claim) -> bool:
        """Whether its proof was looked at, in vain."""
        return claim in self._broken

    def failed(self, claim: Claim, broken: str) -> None:
        """Its proof does not hold any more; `broken` says what of it, if that is known."""
        self._broken[claim] = broken

    def broken(self, claim: Claim) -> str:
        """What of its proof does not hold any more; empty if that is not known."""
        return self._broken.get(claim, "")

    def place(self, claim: Claim) -> tuple[int, int]:
        """By what claims are sorted: those that are due, those that failed, the rest. Which fails first does not matter."""
        number = self._order.get(claim)
        return (2, 0) if number is None else (int(claim in self._broken), number)
