"""Functions that look alike: where nothing was proved of one yet, the proof of another is where its own is looked for first. So a
function that was copied, or renamed, does not begin from nothing.

Nothing is believed of that: what does not fit costs the time to try it.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.session.provers.asking.claim import Claim

_ALIKE = 0.75  # of the operations are the same
_MOST = 200  # functions that are remembered, those that were proved last


class _Shape(NamedTuple):
    """What is compared of a function: the types of its parameters and its result, and how often each operation is in it, whatever
    it operates on."""

    signature: object
    operations: Counter[tuple[str, ...]]
    size: int


class Siblings:
    """The functions of which something was proved in this session, also those that are gone."""

    def __init__(self) -> None:
        self._proved: dict[str, set[Claim]] = {}
        self._shapes: dict[str, tuple[Cfa, _Shape]] = {}

    def proved(self, claim: Claim, cfa: Cfa) -> None:
        """A claim about a function was proved."""
        claims = self._proved[claim.function] = self._proved.pop(claim.function, set())
        claims.add(claim)
        self._shape(cfa, claim.function)
        while len(self._proved) > _MOST:
            oldest = next(iter(self._proved))
            del self._proved[oldest], self._shapes[oldest]

    def like(self, claim: Claim, cfa: Cfa) -> Claim | None:
        """The claim that was proved of the function that looks most like this one; of several, of the one that was proved last.
        None if none looks alike."""
        mine, best, found = _shape(cfa), _ALIKE, None
        for name, (_, shape) in self._shapes.items():
            other = claim._replace(function=name)
            if name == claim.function or other not in self._proved[name] or shape.signature != mine.signature:
                continue
            alike = _likeness(mine, shape)
            if alike >= best:
                best, found = alike, other
        return found

    def _shape(self, cfa: Cfa, name: str) -> None:
        known = self._shapes.pop(name, None)
        self._shapes[name] = known if known is not None and known[0] is cfa else (cfa, _shape(cfa))


def _likeness(one: _Shape, other: _Shape) -> float:
    """How much of the larger one the two have in common."""
    larger, smaller = max(one.size, other.size), min(one.size, other.size)
    if not larger or smaller < _ALIKE * larger:
        return 0.0
    return sum((one.operations & other.operations).values()) / larger


def _shape(cfa: Cfa) -> _Shape:
    operations = Counter(_operation(edge.effect) for edge in cfa.edges)
    return _Shape(cfa.type, operations, len(cfa.edges))


def _operation(effect: ir.Effect) -> tuple[str, ...]:
    parts = [type(effect).__name__]
    for expression in ir.expressions(effect):
        for part in ir.walk(expression):
            parts.append(getattr(part, "operator", "") or type(part).__name__)
    return tuple(parts)
