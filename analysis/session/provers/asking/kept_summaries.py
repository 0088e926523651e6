"""The summaries of calls that answers within a bound rest on, from revision to revision: in memory, and in the store.

What the store gives may have been written by anybody, so it is marked: a prover validates it before it counts.
"""

from __future__ import annotations

from analysis.model.digest import digest_text
from analysis.session.portfolio.request_terms import Kept, Terms
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.kept_answers import Decisions


class KeptSummaries:
    """The summaries of the last revision that held, by rule and terms."""

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions
        self._own: dict[str, bytes] = {}
        self._asked: set[str] = set()

    @property
    def keys(self) -> frozenset[str]:
        """The keys that the store is to keep."""
        return frozenset(self._asked)

    def of(self, rule: str, terms: Terms) -> Kept:
        """What is kept for a rule."""
        key = _key(rule, terms)
        self._asked.add(key)
        if key in self._own:
            return Kept(self._own[key], are_believed=True)
        stored = self._decisions.get((key,)).get(key)
        return Kept() if stored is None or stored.kept is None else Kept(stored.kept)

    def add(self, rule: str, terms: Terms, text: bytes) -> None:
        """Takes in what a prover of this session has made."""
        key = _key(rule, terms)
        self._own[key] = text
        self._decisions.add(key, Decided("possible", kept=text))

    def forget(self) -> None:
        """Forgets everything."""
        self._own, self._asked = {}, set()


def _key(rule: str, terms: Terms) -> str:
    return digest_text("summaries of calls", rule, terms.data_model, terms.encoding, str(terms.unwind))
