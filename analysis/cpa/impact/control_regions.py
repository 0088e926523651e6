"""What a branch decides: the locations that a run may pass after it, or not, before all its ways meet again.

The paper takes the statements that a condition dominates. With `goto`, `break` and `return` that is too little: here it is all
that lies before the branch's immediate postdominator [CYTRON].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_END = None  # behind everything


class ControlRegions:
    """The regions of one graph: `following` gives the nodes after each node, `exit_` is where it ends."""

    def __init__(self, nodes: Iterable[int], following: Mapping[int, tuple[int, ...]], exit_: int) -> None:
        self._following = following
        self._meets = _postdominators(tuple(nodes), following, exit_)

    def of(self, node: int) -> frozenset[int]:
        """The nodes between a node and where all ways from it meet; the node itself if it is on a cycle before that."""
        until = self._meets.get(node, _END)
        found: set[int] = set()
        waiting = [after for after in self._following.get(node, ()) if after != until]
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                waiting += [after for after in self._following.get(at, ()) if after != until]
        return frozenset(found)


def _postdominators(nodes: tuple[int, ...], following: Mapping[int, tuple[int, ...]], exit_: int) -> dict[int, int | None]:
    """The immediate postdominator of each node; None, the end, where there is none. From what cannot come to
    the exit, the end is one step away."""
    before: dict[int | None, list[int]] = {}
    for node in nodes:
        for after in following.get(node, ()):
            before.setdefault(after, []).append(node)
    for node in nodes:
        if node == exit_ or not following.get(node):
            before.setdefault(_END, []).append(node)
    order = _postorder(before)
    for node in nodes:
        if node not in order:
            before[_END].append(node)
            order = _postorder(before)
    after_of: dict[int | None, list[int | None]] = {}
    for follower, sources in before.items():
        for source in sources:
            after_of.setdefault(source, []).append(follower)
    meets: dict[int | None, int | None] = {_END: _END}
    changed = True
    while changed:
        changed = False
        for node in sorted(nodes, key=lambda n: -order[n]):
            known = [after for after in after_of.get(node, ()) if after in meets]
            found: int | None = known[0]  # what comes before it in this order has one
            for other in known[1:]:
                found = _common(found, other, meets, order)
            if node not in meets or meets[node] != found:
                meets[node] = found
                changed = True
    return {node: meets[node] for node in nodes if node in meets}


def _common(
    one: int | None, other: int | None, meets: Mapping[int | None, int | None], order: Mapping[int | None, int]
) -> int | None:
    while one != other:
        while order[one] < order[other]:
            one = meets[one]
        while order[other] < order[one]:
            other = meets[other]
    return one


def _postorder(before: Mapping[int | None, list[int]]) -> dict[int | None, int]:
    """Numbers in postorder of a search from the end against the edges."""
    found: dict[int | None, int] = {}
    seen: set[int | None] = {_END}
    stack: list[tuple[int | None, list[int]]] = [(_END, list(before.get(_END, ())))]
    while stack:
        node, rest = stack[-1]
        if rest:
            source = rest.pop()
            if source not in seen:
                seen.add(source)
                stack.append((source, list(before.get(source, ()))))
        else:
            found[node] = len(found)
            stack.pop()
    return found
