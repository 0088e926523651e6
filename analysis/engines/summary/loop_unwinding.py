"""Loops unwound: the copies of a body's locations, each with how often the jumps back were taken to come there.

A jump back is an edge that does not lead on in the reverse postorder of the body; its target is the head of a loop. A copy counts
the jumps back to each head that it is inside the loop of; outside of it they are forgotten. Each round of a cycle takes a jump
back to a head whose loop has all of the cycle, so that the copies end.

No two loops of a source text have one head (`analysis.frontend.lowering.statements`). Known limit: a loop that a `goto` jumps
into has no one head. Its jumps back may be counted together, and then fewer of its rounds are followed; the cut is noted.
"""

from __future__ import annotations

from collections.abc import Iterator

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
        self._place = cfa.reverse_postorder
        self._loops = _loops(cfa)
        self.first: Copy = (cfa.entry, ())
        self.order = self._ordered(most)

    def after(self, copy: Copy, edge: Edge) -> Copy | None:
        """The copy that an edge leads to from a copy of its source; None if the bound does not let it be taken."""
        counts = {head: count for head, count in copy[1] if edge.target in self._loops[head]}
        if self._place[edge.target] <= self._place[edge.source]:
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


def _loops(cfa: Cfa) -> dict[int, set[int]]:
    """The heads of loops, each with the locations from which a jump back to it can be reached without passing it."""
    place = cfa.reverse_postorder
    found: dict[int, set[int]] = {}
    for edge in cfa.edges:
        if edge.source not in place or place[edge.target] > place[edge.source]:
            continue
        inside = found.setdefault(edge.target, {edge.target})
        waiting = [edge.source]
        while waiting:
            location = waiting.pop()
            if location not in inside and location in place:
                inside.add(location)
                waiting.extend(before.source for before in cfa.incoming.get(location, ()))
    return found
