"""Findings as questions to an engine that decides them: where the violation is, and the path that is claimed to lead there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import obstacle_before
from analysis.engines.automaton.facts.facts import Fact
from analysis.engines.automaton.facts.spelled import spell_path
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir
from analysis.model.spelling import spell_expr

Error = tuple[str, Fact]
"""A function, and what is wrong at an edge of it."""


class Suspicion(msgspec.Struct, frozen=True):
    """A finding, by its fingerprint. `error` names it to the engine; it is the same in later revisions, as long as its edge is.

    `path` are the edges that are claimed to lead to it, from the start of an entry function on, as (function, edge); calls are
    opened or stepped over. `expression` is the part of the edge that the message is about, if that is known.
    """

    fingerprint: str
    error: Error
    rule: str
    path: tuple[tuple[str, int], ...]
    expression: ir.Expr | None

    @property
    def function(self) -> str:
        """The linkage name of the function that it is in."""
        return self.error[0]

    @property
    def edge(self) -> int:
        """The edge at which the violation happens."""
        return self.error[1].edge


def suspicion(program: Program, rule: str, fingerprint: str, error: Error, steps: Sequence[Taken]) -> Suspicion:
    """The question about a finding with this path, which need not have the obstacles that the program has at entries."""
    return Suspicion(fingerprint, error, rule, tuple(_path(program, steps)), _expression(program, *error))


def _path(program: Program, steps: Sequence[Taken]) -> Iterator[tuple[str, int]]:
    for taken in steps:
        if taken.event in ("edge", "call", "descent"):
            obstacle = obstacle_before(program.functions[taken.function], taken.edge)
            if obstacle is not None:
                yield taken.function, obstacle
            yield taken.function, taken.edge


def _expression(program: Program, function: str, fact: Fact) -> ir.Expr | None:
    if not fact.paths:
        return None
    text = spell_path(fact.paths[0])
    parts = program.functions[function].parts.get(fact.edge, ())
    return next((part for part in parts if spell_expr(part) == text), None)
