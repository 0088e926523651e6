"""Operands whose order C leaves open, where it may matter (`cfa.linking.open_order`): they are followed from left to right, and
nothing is known meanwhile of what any of them may change.

So whatever is known holds all the time, in each order, whoever of them comes first; and so does what is found to be needed. As
no operand may end the run, or leave the expression, all are looked at. That they come to an end is `assumptions.ORDER`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from analysis.certificate.nonzero.callee_contracts import ANYTHING, Contract
from analysis.certificate.nonzero.values import Known
from analysis.certificate.nonzero.writes import EVERYTHING, Objects, Own, Place
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cfa.linking.obstacle_words import is_open_order
from analysis.model import ir
from analysis.model.kept_with import kept_with
from analysis.model.unordered import Unordered

Group = tuple[int, int]
"""The edge in front of unordered operands, and which of the groups of them that begin there."""


class Written(NamedTuple):
    """What operands may write, and what of that may be zero then, or changed in part."""

    places: frozenset[Place | Own]
    cleared: frozenset[Place | Own]


_ANYTHING = Written(EVERYTHING, EVERYTHING)


class OpenOrders:
    """The open orders of one function. `contracts`: of the functions that it calls."""

    def __init__(self, program: Program, cfa: Cfa, objects: Objects, contracts: Mapping[str, Contract]) -> None:
        self._program, self._objects, self._contracts = program, objects, contracts
        self._groups: dict[int, tuple[Unordered, ...]] = {}
        for edge in cfa.unsupported:
            if isinstance(edge.effect, ir.Unsupported) and is_open_order(edge.effect.reason):
                self._groups[edge.id] = tuple(group for group in cfa.unordered if group.location == edge.source)
        self._written: dict[Group, Written] = {}

    def is_followed(self, edge: Edge) -> bool:
        """Whether an edge is in front of such operands, and none of them leaves the expression by itself."""
        groups = self._groups.get(edge.id, ())
        return bool(groups) and not any(operand.leaves for group in groups for operand in group.operands)

    def entered(self, known: Known, edge: Edge) -> Known:
        """What is known where such operands begin."""
        begun = frozenset((edge.id, at) for at in range(len(self._groups[edge.id])))
        return self.inside(known._replace(unordered=known.unordered | begun), edge.target)

    def inside(self, known: Known, location: int) -> Known:
        """What is known at a location among such operands, or behind the last of them."""
        for group in sorted(known.unordered):
            written = self._of(group)
            known = self._objects.without(known, written.places, written.cleared)
        over = frozenset(group for group in known.unordered if self._groups[group[0]][group[1]].end == location)
        return known._replace(unordered=known.unordered - over) if over else known

    def _of(self, group: Group) -> Written:
        if group not in self._written:
            places, cleared = set[Place | Own](), set[Place | Own]()
            for operand in self._groups[group[0]][group[1]].operands:
                places.update(map(self._objects.place, operand.writes))
                cleared.update(map(self._objects.place, operand.writes))
                for call in operand.calls:
                    done = self._called(call)
                    places |= done.places
                    cleared |= done.cleared
            self._written[group] = Written(frozenset(places), frozenset(cleared))
        return self._written[group]

    def _called(self, call: ir.Call) -> Written:
        """What a call may write, if the function gets what it needs."""
        name = ir.direct_callee(call)
        if name is None:
            return _ANYTHING
        if name in self._program.functions:
            contract = self._contracts.get(name, ANYTHING)
            return Written(contract.writes, contract.clears)
        function = self._program.known(name)
        if function is None or not function.is_complete:
            return _ANYTHING
        places = self._objects.by_library(function, call)
        return Written(places, places)


@kept_with
def amid_operands(cfa: Cfa) -> frozenset[int]:
    """The locations at which control is among operands that may come in any order, behind the first edge of one. What a run needs
    there tells nothing of another operand: that one may come first."""
    found: set[int] = set()
    for group in cfa.unordered:
        waiting = [group.location]
        seen = {group.location, group.end}
        while waiting:
            for edge in cfa.outgoing.get(waiting.pop(), ()):
                if edge.target not in seen:
                    seen.add(edge.target)
                    waiting.append(edge.target)
        found |= seen - {group.end}
    return frozenset(found)
