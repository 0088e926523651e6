"""Claims: what there is to ask about a program, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from analysis.c.undefined import OBSERVED
from analysis.certificate.ownership.obligations import RULES as OF_BLOCKS
from analysis.session.portfolio.request_terms import Kind
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.question import Question, key_of

Key = tuple[str, str]
"""A function and a rule."""


class Claim(NamedTuple):
    """One thing to ask for. `kind` is that of `portfolio.request_terms`. `whole` claims are about runs from the program's start.
    No functions, or no rules, mean all of them."""

    kind: Kind
    function: str
    rule: str
    whole: bool


RUNS = Claim("runs", "", "", True)


class KnownClaim:
    """What is known of a claim. `names` are those of all parts of the program that the answer is about; `at_once`: it was asked
    before others, with little time."""

    def __init__(self, question: Question, *, at_once: bool = False) -> None:
        parts = question.program
        self.key = key_of(question)
        self.whole = question.whole
        self.entries = parts.entries if question.whole else ()
        self.names = frozenset((*parts.functions, *parts.globals, *parts.externals))
        self.seconds = question.seconds
        self.at_once = at_once
        self.decided: Decided | None = None
        self.ms = 0.0


class Wanted(NamedTuple):
    """What is to be proved: functions with rules, in this order; the `rules` in the program as a whole, and those of them that a
    condition on single edges speaks of (`conditions`) and that something in the program could violate. `by_contracts`: what
    contracts prove is asked about elsewhere (`contract_answers`)."""

    functions: tuple[Key, ...] = ()
    rules: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    by_contracts: bool = False

    def asked_alike(self, other: Wanted) -> bool:
        """Whether a claim that both want is the same question."""
        return (self.rules, self.by_contracts) == (other.rules, other.by_contracts)

    def for_runs(self) -> Wanted:
        """What is left to ask where only violations are of interest: runs of the program, which alone show them."""
        return self._replace(functions=(), conditions=())

    def besides_contracts(self) -> Wanted:
        """What is left to ask where contracts are asked about, too: they alone prove rules about blocks and streams."""
        functions = tuple(key for key in self.functions if key[1] not in OF_BLOCKS)
        return self._replace(functions=functions, by_contracts=True)


def observed(rules: Iterable[str]) -> tuple[str, ...]:
    """Those of the rules whose violations runs show."""
    return tuple(sorted(OBSERVED.intersection(rules)))
