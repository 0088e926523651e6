"""Operands whose order C leaves open, where it may matter (`cfa.linking.open_order`): they are followed from left to right, where
that shows what happens to blocks in each order.

So it does if these do not meet:

- *Variables*: no operand assigns to a tracked variable that another operand mentions.
- *Blocks*: no block that the variables of two operands lead to changes its state meanwhile: as they are, or as they were in front
  of all operands, which memory states keep up to the end. (That a parameter is null is nothing that changes: it was so before.)

Then what an operand does to blocks, and what it needs, is the same whatever comes before it, or in between: all else, memory
and the course of branches included, may be anything anyway. No operand may jump out of the expression. As no call among them
may end the run for sure (nothing is proved then), all operands are looked at. That they come to an end is `assumptions.ORDER`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations

from analysis.certificate.ownership.memory_state import ABSENT, Memory, block_of
from analysis.cfa.graph import Cfa, Edge
from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.model import ir
from analysis.model.unordered import Operand, Unordered


class OpenOperands:
    """The open orders of one function. `names`: its tracked variables."""

    def __init__(self, cfa: Cfa, names: frozenset[str]) -> None:
        self._names = names
        self._followed = dict[int, tuple[Unordered, ...]]()
        self._groups = dict[int, list[tuple[frozenset[str], ...]]]()
        for edge in cfa.unsupported:
            if isinstance(edge.effect, ir.Unsupported) and is_open_order(edge.effect.reason):
                groups = tuple(group for group in cfa.unordered if group.location == edge.source)
                if groups and all(map(self._is_apart, groups)):
                    self._followed[edge.id] = groups
        self._kept = dict[int, set[str]]()
        for id_, groups in self._followed.items():
            for group in groups:
                mentioned = tuple(map(self._mentioned, group.operands))
                with_before = tuple(names | {_before(id_, name) for name in names} for names in mentioned)
                for location in _inside(cfa, cfa.by_id[id_], group):
                    self._groups.setdefault(location, []).append(with_before)
                    self._kept.setdefault(location, set()).update(*with_before)

    def is_followed(self, edge: Edge) -> bool:
        """Whether an edge is in front of such operands, and they do not meet in variables."""
        return edge.id in self._followed

    def is_amid(self, edge: Edge) -> bool:
        """Whether an edge is among such operands."""
        return edge.source in self._groups

    def begin(self, edge: Edge, memory: Memory) -> None:
        """Keeps what variables hold in front of operands."""
        for name in {
            name for group in self._followed[edge.id] for operand in group.operands for name in self._mentioned(operand)
        }:
            memory.hold(_before(edge.id, name), memory.value(name))

    def kept(self, location: int) -> Collection[str]:
        """The variables whose values matter to the order of operands at a location, though nothing may read them."""
        return self._kept.get(location, ())

    def met(self, edge: Edge, before: Memory, after: Memory) -> bool:
        """Whether an edge changes a block that the variables of two operands of one group lead to."""
        for mentioned in self._groups.get(edge.source, ()):
            blocks = [{block_of(before.value(name)) for name in names} - {None} for names in mentioned]
            shared = {block for one, other in combinations(blocks, 2) for block in one & other}
            if any(after.blocks.get(block or "") not in (before.blocks.get(block or ""), ABSENT) for block in shared):
                return True
        return False

    def _is_apart(self, group: Unordered) -> bool:
        """Whether no operand jumps away, or assigns to a tracked variable that another one mentions; and where they call
        anything, all is seen up to the last of them."""
        if any(operand.leaves for operand in group.operands):
            return False
        if group.end < 0 and any(operand.calls for operand in group.operands):
            return False
        pairs = (pair for one, other in combinations(group.operands, 2) for pair in ((one, other), (other, one)))
        return all(self._assigned(one).isdisjoint(self._mentioned(other)) for one, other in pairs)

    def _assigned(self, operand: Operand) -> frozenset[str]:
        return frozenset(target.name for target in operand.writes if isinstance(target, ir.Var)) & self._names

    def _mentioned(self, operand: Operand) -> frozenset[str]:
        exprs: Iterable[ir.Expr] = (
            *operand.reads,
            *operand.writes,
            *(expr for call in operand.calls for expr in ir.expressions(call)),
        )
        return frozenset(part.name for expr in exprs for part in ir.walk(expr) if isinstance(part, ir.Var)) & self._names


def _before(front: int, name: str) -> str:
    """Stands for a variable as it was in front of operands, by the edge there."""
    return f"$before {front} {name}"


def _inside(cfa: Cfa, front: Edge, group: Unordered) -> frozenset[int]:
    """The locations from the first operand of a group to its end, which is left out; none if nobody knows where that is: then no
    operand calls anything."""
    if group.end < 0:
        return frozenset()
    waiting, seen = [front.target], {front.target, group.end}
    while waiting:
        for edge in cfa.outgoing.get(waiting.pop(), ()):
            if edge.target not in seen:
                seen.add(edge.target)
                waiting.append(edge.target)
    return frozenset(seen - {group.end})
