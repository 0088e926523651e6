"""What answers rest on, from revision to revision, in memory and in the store: the summaries of calls, of answers within a bound;
the program and the annotations, of proofs of rules.

What the store gives may have been written by anybody, so it is marked: a prover validates it before it counts.
"""

from __future__ import annotations

import msgspec

from analysis.cfa.graph import Program
from analysis.model.digest import digest_text
from analysis.model.report import ProofReuse
from analysis.session.portfolio.request_terms import Kept, Terms
from analysis.session.portfolio.turns import BOUNDED, FROM_EARLIER
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.claim import Claim
from analysis.session.provers.asking.kept_answers import Decisions
from analysis.session.provers.asking.read_answers import marked_as_kept
from analysis.session.provers.asking.siblings import Siblings

_MOST_BYTES = 64_000_000  # in memory, of all claims


class KeptTexts:
    """What the last answers rest on, by claim and terms."""

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions
        self._own: dict[str, bytes] = {}
        self._asked: set[str] = set()
        self._bytes = 0
        self._siblings = Siblings()

    @property
    def keys(self) -> frozenset[str]:
        """The keys that the store is to keep."""
        return frozenset(self._asked)

    def of(self, claim: Claim, terms: Terms, program: Program | None = None) -> Kept:
        """What is kept for a claim; nothing where nothing is to be reused. In a `program`, if that is nothing: what is kept for a
        function of it, or of one before, that looks alike."""
        if not _keeps(claim, terms):
            return Kept()
        kept = self._of(claim, terms)
        cfa = program.functions.get(claim.function) if program is not None and not kept.text and _is_of_function(claim) else None
        other = None if cfa is None else self._siblings.like(claim, cfa)
        return kept if other is None else self._of(other, terms)._replace(of=other.function)

    def proved(self, claim: Claim, program: Program) -> None:
        """A claim was proved: if it is about a function by itself, its proof is where others that look like it begin."""
        if _is_of_function(claim) and claim.function in program.functions:
            self._siblings.proved(claim, program.functions[claim.function])

    def _of(self, claim: Claim, terms: Terms) -> Kept:
        key = _key(claim, terms)
        self._asked.add(key)
        if key in self._own:
            return Kept(self._own[key], are_believed=True)
        stored = self._decisions.get((key,)).get(key)
        if stored is not None and stored.kept is None and stored.reason:
            stored = self._decisions.get((stored.reason,)).get(stored.reason)
        return Kept() if stored is None or stored.kept is None else Kept(stored.kept)

    def take(self, claim: Claim, terms: Terms, answer: Decided, key: str) -> Decided:
        """Keeps an answer of a prover, which has the key, and what it rests on; the answer without that."""
        if answer.kept is not None:
            self._add(claim, terms, answer.kept, key)
        for part in answer.parts:
            if part.kept:
                self._add(Claim("program", "", part.rule, True), terms, part.kept)
        answer = msgspec.structs.replace(answer, parts=tuple(map(marked_as_kept, answer.parts)))
        without = msgspec.structs.replace(answer, kept=None)
        lasting = without if terms.engine == BOUNDED else answer
        lasting = msgspec.structs.replace(lasting, repairs={}, reuse=ProofReuse(), broken="")  # these are of this revision
        self._decisions.add(key, lasting)
        return without

    def _add(self, claim: Claim, terms: Terms, text: bytes, at: str = "") -> None:
        """Takes in what a prover of this session has made. A proof can be kept with its decision, which has the key `at`."""
        key = _key(claim, terms)
        self._bytes += len(text) - len(self._own.pop(key, b""))
        self._own[key] = text
        while self._bytes > _MOST_BYTES:
            self._bytes -= len(self._own.pop(next(iter(self._own))))
        is_elsewhere = bool(at) and terms.engine != BOUNDED
        self._decisions.add(key, Decided("possible", reason=at) if is_elsewhere else Decided("possible", kept=text))

    def forget(self) -> None:
        """Forgets everything."""
        self._own, self._asked, self._bytes, self._siblings = {}, set(), 0, Siblings()

    def has_proof(self, claim: Claim, terms: Terms) -> bool:
        """Whether a proof of what a claim asks may be known, of this revision or an earlier one."""
        return terms.engine != BOUNDED and _keeps(claim, terms) and self._decisions.has(_key(claim, terms))


def _keeps(claim: Claim, terms: Terms) -> bool:
    return terms.engine == BOUNDED or (claim.kind in FROM_EARLIER and terms.reuse != "none")


def _is_of_function(claim: Claim) -> bool:
    return claim.kind == "function" and not claim.whole


def _key(claim: Claim, terms: Terms) -> str:
    if terms.engine == BOUNDED:
        return digest_text("summaries of calls", claim.rule, terms.data_model, terms.encoding, str(terms.unwind))
    whole = "whole" if claim.whole else "own"
    return digest_text("proofs", claim.kind, claim.function, claim.rule, whole, terms.data_model, terms.encoding, *terms.assume)
