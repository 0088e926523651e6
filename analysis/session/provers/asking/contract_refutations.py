"""Which findings cannot happen, because their functions are proved by contracts.

A proof about values says that no place of the function violates the rule, in runs from its entries, or whoever calls it. Findings
at these places are refuted. Those that a rule finds elsewhere are left alone, and so are blocks and streams: their proofs assume
more of callers than that.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

import msgspec

from analysis.c.undefined import CertifiedRule
from analysis.certificate.nonzero.needed_values import RULES as OF_VALUES
from analysis.certificate.ranges.range_checker import RULES as OF_OPERATORS
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import violations_in
from analysis.session.provers.asking.answer import Decided
from analysis.session.provers.asking.claim import Key

_RULES = OF_VALUES | OF_OPERATORS
Refuted = Mapping[tuple[str, int, str], Decided]
"""By function, edge and rule."""


def refuting(answers: Mapping[Key, tuple[Decided, float]], program: Program, reached: Container[str]) -> Refuted:
    """What cannot happen by these answers about functions. `reached`: the functions that only runs from `main` reach."""
    found: dict[tuple[str, int, str], Decided] = {}
    for (name, rule), (decided, _) in answers.items():
        is_proved = rule in _RULES and decided.status == "refuted" and decided.certified and name in program.functions
        if is_proved and (not decided.entries or name in reached):
            for place in violations_in(program, name, msgspec.convert(rule, CertifiedRule)):
                for edge in _beside(program, name, place.edge):
                    found[name, edge, rule] = decided
    return found


def _beside(program: Program, name: str, edge: int) -> tuple[int, ...]:
    """The edges that are one place: of a branch, either edge violates with its condition."""
    cfa = program.functions[name]
    return tuple(one.id for one in cfa.outgoing[cfa.by_id[edge].source])
