"""Operands that C may evaluate in either order (C11 6.5p2-3, 6.5.2.2p10), in a run.

Linking puts an edge `Unsupported` in front of operands of which one may change what another one reads (`cfa.linking.open_order`).
A run goes on behind it, from left to right, and looks whether the order matters in this run. It does not where

- one operand at most has calls, and none writes anything itself or jumps away;
- the objects that the others read can be read before the first operand, and hold the same at each place up to the end of the
  last one.

Then every order gives the operands the same values, and the call finds the same memory. A run in which that is not so, or that
violates a rule in between, in the function itself, ends as one that is not modelled: the violation may be one of this order only.
What is violated inside of the call is violated in every order, unless another operand violates a rule before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from analysis.cfa.graph import Cfa
from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.interpreter.arithmetic import Evaluate, Registers
from analysis.interpreter.expressions import Expressions
from analysis.interpreter.halting import ViolationError, not_modelled
from analysis.interpreter.objects import is_aggregate
from analysis.model import ir
from analysis.model.unordered import Operand, Unordered

Node = Callable[[Registers], int]


class Begun(NamedTuple):
    """Operands that a run is between. `registers` are those of the function they are in, `end` is the location behind them,
    `reads` are the values that must stay as they were, `values` what these were; `reason` says which operands they are."""

    registers: Registers
    end: int
    reads: tuple[Evaluate, ...]
    values: list[Any]
    reason: str


def begun_in(begun: Iterable[Begun], registers: Registers) -> Begun | None:
    """The first of the operands that lie in the activation with these registers; None if there are none."""
    return next((one for one in begun if one.registers is registers), None)


class OpenOrders:
    """The operands of one function whose order may matter, compiled."""

    def __init__(self, cfa: Cfa, expressions: Expressions) -> None:
        self._cfa, self._expressions = cfa, expressions
        fronts = {
            edge.source
            for edge in cfa.unsupported
            if isinstance(edge.effect, ir.Unsupported) and is_open_order(edge.effect.reason)
        }
        self._groups = tuple(group for group in cfa.unordered if group.location in fronts)
        self._between = frozenset(place for group in self._groups for place in _between(cfa, group))

    def begin(self, location: int, reason: str, number: int) -> Node:
        """The node of the edge in front of operands; `number` is the edge's."""
        groups = [group for group in self._groups if group.location == location]
        if not groups or not all(map(_may_be_followed, groups)):
            not_modelled(reason)
        compiled = [(group.end, tuple(self._reads(group))) for group in groups]

        def front(r: Registers) -> int:
            begun = r[1].begun
            begun[:] = [one for one in begun if one.registers is not r or one.end not in [end for end, _ in compiled]]
            for end, reads in compiled:
                begun.append(Begun(r, end, reads, _values(reads, r, reason), reason))
            return number

        return front

    def checked(self, location: int, node: Node) -> Node:
        """The node of a location, which compares first what the operands around it read."""
        if location not in self._between:
            return node

        def compare(r: Registers) -> int:
            for one in [one for one in r[1].begun if one.registers is r]:
                if _values(one.reads, r, one.reason) != one.values:
                    not_modelled(one.reason)
                if one.end == location:
                    r[1].begun.remove(one)
            return node(r)

        return compare

    def _reads(self, group: Unordered) -> Iterator[Evaluate]:
        """What the operands read that have no call; of one operand alone it does not matter when it is read."""
        for operand in group.operands:
            for lvalue in () if operand.calls else operand.reads:
                is_whole = is_aggregate(lvalue.type)
                yield self._expressions.contents(lvalue) if is_whole else self._expressions.value(lvalue)


def _may_be_followed(group: Unordered) -> bool:
    return (
        group.end >= 0
        and sum(1 for operand in group.operands if operand.calls) <= 1
        and not any(operand.writes or operand.leaves for operand in group.operands)
        and not any(_has_temporary(operand) for operand in group.operands)
    )


def _has_temporary(operand: Operand) -> bool:
    """Whether the operand reads what its own temporaries lead to: they have no value yet before it."""
    parts = (part for lvalue in operand.reads for part in ir.walk(lvalue))
    return not operand.calls and any(isinstance(part, ir.Var) and part.scope == "temporary" for part in parts)


def _values(reads: Sequence[Evaluate], registers: Registers, reason: str) -> list[Any]:
    """What is read now. Ends the run if it cannot be read."""
    try:
        return [read(registers) for read in reads]
    except ViolationError:
        not_modelled(reason)


def _between(cfa: Cfa, group: Unordered) -> Iterator[int]:
    """The locations behind the first edge of operands, the last of which is the end of all."""
    seen: set[int] = {group.location}
    waiting = [group.location]
    while waiting:
        for edge in cfa.outgoing.get(waiting.pop(), ()):
            if edge.target not in seen:
                seen.add(edge.target)
                yield edge.target
                if edge.target != group.end:
                    waiting.append(edge.target)
