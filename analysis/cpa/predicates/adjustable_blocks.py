"""Where blocks end: without these locations, no function has a cycle."""

from __future__ import annotations

import msgspec

from analysis.cfa.graph import Cfa


class BlockEnds(msgspec.Struct, frozen=True):
    """Where blocks end: always at the heads of loops; if asked so, at entries and exits of functions, and where paths meet."""

    functions: bool = False
    joins: bool = False


def loop_heads(cfa: Cfa) -> frozenset[int]:
    """Locations without which the CFA has no cycle: where the back edges of a depth-first search lead."""
    heads: set[int] = set()
    done: set[int] = set()
    path = {cfa.entry}
    stack = [(cfa.entry, iter(cfa.outgoing.get(cfa.entry, ())))]
    while stack:
        location, edges = stack[-1]
        edge = next(edges, None)
        if edge is None:
            stack.pop()
            path.discard(location)
            done.add(location)
        elif edge.target in path:
            heads.add(edge.target)
        elif edge.target not in done:
            path.add(edge.target)
            stack.append((edge.target, iter(cfa.outgoing.get(edge.target, ()))))
    return frozenset(heads)


def block_ends(cfa: Cfa, ends: BlockEnds) -> frozenset[int]:
    """The locations of a function where blocks end."""
    found = set(loop_heads(cfa))
    if ends.functions:
        found |= {cfa.entry, cfa.exit}
    if ends.joins:
        found |= {location for location, edges in cfa.incoming.items() if len(edges) > 1}
    return frozenset(found)
