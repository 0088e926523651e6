"""Loops unwound: the copies of a body's locations, each with how often the jumps back were taken to come there.

A loop is a strongly connected part of the body, and a jump back is an edge of the loop to its head. The head is where the loop is
entered; if that is at several places, as a `goto` jumps into it, the first one of its text. Without its jumps back, loops in the
loop are left, with heads of their own. A copy counts the jumps back to each head that it is inside the loop of; outside of it
they are forgotten. Each cycle takes a jump back of the smallest loop that has all of it, so that the copies end.

No two loops of a source text have one head (`analysis.frontend.lowering.statements`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analysis.cfa.components import strongly_connected
from analysis.cfa.graph import Cfa, Edge
from analysis.smt.transitions.vocabulary import TooLargeError

Copy = tuple[int, tuple[tuple[int, int], ...]]
"""A location, and for each head of a loop around it (ascending) how many jumps back to it were taken, where any were."""


class UnwoundBody:
    """The copies of one body, with jumps back to each head at most `bound` times in a row. `order` has each copy after all that
    lead to it. TooLargeError if there are more copies than `most`."""

    def __init__(self, cfa: Cfa, bound: int, most: int) -> None:
        self._cfa = cfa
        self._bound = bound
        self._loops = _loops(cfa)
        self.first: Copy = (cfa.entry, ())
        self.order = self._ordered(most)

    @property
    def loops(self) -> Iterable[frozenset[int]]:
        """The locations of each loop."""
        return self._loops.values()

    def after(self, copy: Copy, edge: Edge) -> Copy | None:
        """The copy that an edge leads to from a copy of its source; None if the bound does not let it be taken."""
        counts = {head: count for head, count in copy[1] if edge.target in self._loops[head]}
        if edge.source in self._loops.get(edge.target, ()):
            counts[edge.target] = counts.get(edge.target, 0) + 1
            if counts[edge.target] > self._bound:
                return None
        return edge.target, tuple(sorted(counts.items()))

    def _following(self, copy: Copy) -> Iterator[Copy]:
        for edge in self._cfa.outgoing.get(copy[0], ()):
            after = self.after(copy, edge)
            if after is not None:
                yield after

    def _ordered(self, most: int) -> list[Copy]:
        done: list[Copy] = []
        seen = {self.first}
        stack = [(self.first, self._following(self.first))]
        while stack:
            copy, rest = stack[-1]
            after = next((other for other in rest if other not in seen), None)
            if after is None:
                done.append(copy)
                stack.pop()
                continue
            seen.add(after)
            if len(seen) > most:
                raise TooLargeError(f"at this bound, loops make more than {most} locations of one function")
            stack.append((after, self._following(after)))
        done.reverse()
        return done


def _loops(cfa: Cfa) -> dict[int, frozenset[int]]:
    """The heads of loops, each with the locations of its loop."""
    place: dict[int, int] = {}
    for position, edge in enumerate(cfa.edges):  # in source order
        place.setdefault(edge.source, position)
    found: dict[int, frozenset[int]] = {}
    waiting = [{location: [edge.target for edge in cfa.outgoing.get(location, ())] for location in cfa.reverse_postorder}]
    while waiting:
        graph = waiting.pop()
        for component in strongly_connected(graph):
            inside = frozenset(component)
            if len(inside) == 1 and component[0] not in graph[component[0]]:
                continue
            entered = [location for location in inside if _is_entered(cfa, location, inside)]
            head = entered[0] if len(entered) == 1 else min(inside, key=place.__getitem__)
            found[head] = inside
            waiting.append({at: [to for to in graph[at] if to in inside and to != head] for at in component})
    return found


def _is_entered(cfa: Cfa, location: int, inside: frozenset[int]) -> bool:
    """Whether control comes there from outside a part of the body."""
    if location == cfa.entry:
        return True
    sources = (edge.source for edge in cfa.incoming.get(location, ()))
    return any(source not in inside and source in cfa.reverse_postorder for source in sources)
