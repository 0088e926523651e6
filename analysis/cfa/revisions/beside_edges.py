"""What a control-flow automaton says beside its edges: how long local variables live, and which operands have no order.

Two functions with the same edges can differ in it: a variable may be declared in a block, or before it (C11 6.2.4p6). It is
written with numbers for variables, blocks and locations in the order in which edges come to them, so that the same text, read
twice, has the same in both.
"""

from __future__ import annotations

import re

from analysis.cfa.graph import Cfa
from analysis.model import ir

Named = re.compile(r"Var\(name='[^']*', (scope='(?:local|temporary|parameter)')")
"""Variables of a function's own, in the spelling of its expressions."""


class OwnNames:
    """Gives the variables of a function numbers in the order in which they are met."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}

    def __call__(self, value: object) -> str:
        """The spelling of a value, with numbers for variables."""
        return Named.sub(self._numbered, repr(value))

    def _numbered(self, found: re.Match[str]) -> str:
        return self._numbers.setdefault(found[0], f"Var({len(self._numbers)}, {found[1]}")


def beside_edges(cfa: Cfa) -> tuple[str, ...]:
    """What it is, as texts that can be compared; empty if there is nothing."""
    spelled, places = OwnNames(), dict[int, int]()
    variables: dict[str, int] = {}
    for edge in cfa.edges:
        spelled(edge.effect)
        for location in (edge.source, edge.target):
            places.setdefault(location, len(places))
        for part in cfa.parts[edge.id]:
            if isinstance(part, ir.Var):
                variables.setdefault(part.name, len(variables))
    groups = (f"{places.get(one.location)} {places.get(one.end)} {spelled(one.operands)}" for one in cfa.unordered)
    return (*_lives(cfa, variables), *groups)


def _lives(cfa: Cfa, variables: dict[str, int]) -> tuple[str, ...]:
    """The blocks of variables, and those around each edge; of blocks, those that a variable ends with."""
    last = {chain[-1] for chain in cfa.blocks.values() if chain}
    numbers: dict[int, int] = {}

    def numbered(chain: tuple[int, ...]) -> str:
        return " ".join(str(numbers.setdefault(block, len(numbers))) for block in chain if block in last)

    found = [f"around {numbered(cfa.inside.get(edge.id, ()))}" for edge in cfa.edges] if last else []
    named = sorted((variables.get(name, -1), chain) for name, chain in cfa.blocks.items())
    return (*found, *(f"{number} in {numbered(chain)}" for number, chain in named))
