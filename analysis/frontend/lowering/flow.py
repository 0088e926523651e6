"""Control flow under construction: locations, and edges between them that carry one effect each.

A location is a number. Two locations between which nothing happens are one (`join`), so there are no empty
edges but between locations that are to be kept apart. Emitting into an unreachable location is harmless:
`reachable_edges` leaves those edges out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from analysis.model import ir
from analysis.model.c_types import INT


class RawEdge(NamedTuple):
    """An edge with the byte range in the preprocessed text that its effect comes from, and the blocks around it (see
    `scope.Names`)."""

    source: int
    target: int
    effect: ir.Effect
    start: int
    end: int
    blocks: tuple[int, ...]


class Flow:
    """The edges emitted so far, and `current`, the location that control is at. `around` says which blocks are open."""

    def __init__(self, around: Callable[[], tuple[int, ...]]) -> None:
        self._around = around
        self.edges: list[RawEdge] = []
        self._parents: list[int] = [0]
        self._apart: set[int] = set()  # representatives of locations that are not to be one
        self._last_start = 0
        self.heads: list[tuple[int, tuple[int, ...]]] = []  # of loops and labels, with the blocks around them
        self.labelled: set[tuple[int, ...]] = set()  # the blocks around labels and cases, to which control may jump
        self.declared: list[tuple[int, str]] = []  # the locations of declarations, with what they declare
        self.entry = 0
        self.current = 0

    def location(self) -> int:
        """A fresh location, unreachable so far."""
        self._parents.append(len(self._parents))
        return len(self._parents) - 1

    def emit(self, effect: ir.Effect, start: int, end: int) -> None:
        """An edge with the effect from the current location to a fresh one, which becomes current."""
        target = self.location()
        self.edges.append(RawEdge(self.current, target, effect, start, end, self._around()))
        self.current = target

    def edge_to(self, target: int, effect: ir.Effect, start: int, end: int) -> None:
        """An edge with the effect from the current location, which stays current, to the target."""
        self.edges.append(RawEdge(self.current, target, effect, start, end, self._around()))

    def keep_apart(self, location: int) -> None:
        """The location is never to be one with another of which that is said."""
        self._apart.add(self.find(location))

    def join(self, target: int, start: int | None = None) -> None:
        """Control goes on at the target without any effect: the two locations become one, the current one. If they are to be
        kept apart, a condition that is true comes between. `start` is where the text of the target starts, if known."""
        here, there = self.find(self.current), self.find(target)
        if start is not None:
            self._last_start = start
            self.heads.append((target, self._around()))
        if here != there and {here, there} <= self._apart:
            self.edge_to(target, ir.Assume(ir.IntConst(1, INT), True), self._last_start, self._last_start)
        else:
            self._parents[here] = there
            self._apart.update((there,) if here in self._apart else ())
        self.current = target

    def label(self) -> None:
        """Control may jump to what follows, into the blocks that are open."""
        self.labelled.add(self._around())

    def declares(self, name: str) -> None:
        """What follows gives a variable the value that it starts with."""
        self.declared.append((self.current, name))

    def go(self, target: int) -> None:
        """A jump: control goes to the target; what follows here is unreachable."""
        self.join(target)
        self.stop()

    def stop(self) -> None:
        """Control does not come here: what follows is unreachable until a label."""
        self.current = self.location()

    def begin_with(self, effect: ir.Effect, start: int) -> None:
        """Puts an effect before all there is."""
        first, self.entry = self.entry, self.location()
        self.edges.append(RawEdge(self.entry, first, effect, start, start, self._around()))

    def find(self, location: int) -> int:
        """The representative of a location."""
        parents = self._parents
        while parents[location] != location:
            parents[location] = parents[parents[location]]
            location = parents[location]
        return location

    def reachable_edges(self) -> list[RawEdge]:
        """The edges that control can reach from the entry, in the order of emission, with representative locations."""
        resolved = [e._replace(source=self.find(e.source), target=self.find(e.target)) for e in self.edges]
        successors: dict[int, list[int]] = {}
        for edge in resolved:
            successors.setdefault(edge.source, []).append(edge.target)
        seen = {self.find(self.entry)}
        waiting = list(seen)
        while waiting:
            for target in successors.get(waiting.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return [edge for edge in resolved if edge.source in seen]
