"""What answers rest on, from revision to revision, in memory and in the store: the summaries of calls, of answers within a bound;
the annotations, of proofs by predicates.

What the store gives may have been written by anybody, so it is marked: a prover validates it before it counts.
"""

from __future__ import annotations

from analysis.model.digest import digest_text
from analysis.session.portfolio.request_terms import Kept, Terms
from analysis.session.portfolio.turns import BOUNDED, REUSING
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.claim import Claim
from analysis.session.provers.asking.kept_answers import Decisions


class KeptTexts:
    """What the last answers rest on, by claim and terms."""

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions
        self._own: dict[str, bytes] = {}
        self._asked: set[str] = set()

    @property
    def keys(self) -> frozenset[str]:
        """The keys that the store is to keep."""
        return frozenset(self._asked)

    def of(self, claim: Claim, terms: Terms) -> Kept:
        """What is kept for a claim; nothing where the engine keeps nothing."""
        if terms.engine not in (BOUNDED, REUSING):
            return Kept()
        key = _key(claim, terms)
        self._asked.add(key)
        if key in self._own:
            return Kept(self._own[key], are_believed=True)
        stored = self._decisions.get((key,)).get(key)
        return Kept() if stored is None or stored.kept is None else Kept(stored.kept)

    def add(self, claim: Claim, terms: Terms, text: bytes) -> None:
        """Takes in what a prover of this session has made."""
        key = _key(claim, terms)
        self._own[key] = text
        self._decisions.add(key, Decided("possible", kept=text))

    def forget(self) -> None:
        """Forgets everything."""
        self._own, self._asked = {}, set()


def _key(claim: Claim, terms: Terms) -> str:
    if terms.engine == BOUNDED:
        return digest_text("summaries of calls", claim.rule, terms.data_model, terms.encoding, str(terms.unwind))
    whole = "whole" if claim.whole else "own"
    return digest_text("proofs", claim.kind, claim.function, claim.rule, whole, terms.data_model, terms.encoding, *terms.assume)
