"""Findings as questions to an engine that decides them: where the violation is, and the path that is claimed to lead there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from analysis.cfa.graph import Program
from analysis.cfa.linking.obstructed import obstacle_before
from analysis.engines.automaton.facts.facts import NOTHING, Fact, FactTable
from analysis.engines.automaton.facts.spelled import spell_path
from analysis.engines.automaton.functions.access_paths import beside, path_of
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir
from analysis.model.spelling import spell_expr

_LEAKS = frozenset({"memory-leak", "resource-leak"})

Error = tuple[str, Fact]
"""A function, and what is wrong at an edge of it."""


class Suspicion(msgspec.Struct, frozen=True):
    """A finding, by its fingerprint. `error` names it to the engine; it is the same in later revisions, as long as its edge is.
    `function` and `edge` say where the violation happens: there, or where an error happens that was raised to a call.

    `path` are the edges that are claimed to lead to it, from the start of an entry function on, as (function, edge); calls are
    opened or stepped over. `expression` is the part of the edge that the message is about, if that is known. `moves` are those
    edges of the path that move the tracked pointer by a distance other than zero. If it is null, that is undefined already (C11
    6.5.6p8), so what no run violates at `edge` may be violated at one of `moves`. `made`: of a leak, the call of the path that
    makes what is lost, if it is one.
    """

    fingerprint: str
    error: Error
    function: str
    edge: int
    rule: str
    path: tuple[tuple[str, int], ...]
    expression: ir.Expr | None
    moves: tuple[tuple[str, int], ...] = ()
    made: tuple[str, int] | None = None


def suspicion(
    program: Program, facts: FactTable, rule: str, fingerprint: str, error: Error, below: Error, steps: Sequence[Taken]
) -> Suspicion:
    """The question about a finding with this path, which need not have the obstacles that the program has at entries. `below` is
    the error where it happens."""
    function, edge = below[0], below[1].edge
    moves = tuple(dict.fromkeys(_moves(program, facts, steps)))
    path, expression = tuple(_path(program, steps)), _expression(program, *below)
    made = _made(program, steps) if rule in _LEAKS else None
    return Suspicion(fingerprint, error, function, edge, rule, path, expression, moves, made)


def _made(program: Program, steps: Sequence[Taken]) -> tuple[str, int] | None:
    """The call with which the path begins to track what is lost."""
    first = next((one for one in steps if one.event == "edge" and one.before == NOTHING != one.after), None)
    if first is None or not isinstance(program.functions[first.function].by_id[first.edge].effect, ir.Call):
        return None
    return first.function, first.edge


def _path(program: Program, steps: Sequence[Taken]) -> Iterator[tuple[str, int]]:
    for taken in steps:
        if taken.event in ("edge", "call", "descent"):
            obstacle = obstacle_before(program.functions[taken.function], taken.edge)
            if obstacle is not None:
                yield taken.function, obstacle
            yield taken.function, taken.edge


def _moves(program: Program, facts: FactTable, steps: Sequence[Taken]) -> Iterator[tuple[str, int]]:
    for taken in steps:
        if taken.event != "edge":
            continue
        effect = program.functions[taken.function].by_id[taken.edge].effect
        value = effect.value if isinstance(effect, ir.Assign | ir.Return) else None
        pointer = None if value is None else beside(value)
        if pointer is not None and path_of(pointer) in facts[taken.before].paths:
            yield taken.function, taken.edge


def _expression(program: Program, function: str, fact: Fact) -> ir.Expr | None:
    if not fact.paths:
        return None
    text = spell_path(fact.paths[0])
    parts = program.functions[function].parts.get(fact.edge, ())
    return next((part for part in parts if spell_expr(part) == text), None)
