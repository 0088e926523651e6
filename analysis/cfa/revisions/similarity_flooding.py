"""Which edges of two revisions of a function correspond, by similarity flooding: the matching of [IPA] section 4.2.

Two locations are similar as far as they have the same operations around them, and as far as the locations that equal operations
lead to, and come from, are similar. So similarities flow along pairs of edges with the same operation, until they stay. Then the
most similar locations are those that correspond, each one only once; edges with the same operation between such locations are the
same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from analysis.cfa.graph import Cfa
from analysis.cfa.revisions.match import fingerprint

_Pair = tuple[int, int]
_MOST = 100_000  # pairs of edges: of functions with more, nothing is matched so
_ROUNDS = 40
_STILL = 0.001  # the largest change of a similarity, of at most 1, after which another round is not worth it
_THRESHOLD = 0.05  # what is less similar than that does not correspond


def by_flooding(new: Cfa, old: Cfa) -> list[_Pair]:
    """Pairs of positions of edges that correspond, in the order of the new function."""
    mine, theirs = _operations(new), _operations(old)
    if sum(len(here) * len(theirs.get(operation, ())) for operation, here in mine.items()) > _MOST:
        return []
    flows = {
        pair: None
        for operation, here in mine.items()
        for a in here
        for b in theirs.get(operation, ())
        for pair in [((new.edges[a].source, old.edges[b].source), (new.edges[a].target, old.edges[b].target), operation)]
    }
    found = _locations(new, old, _flooded(_similar(new, old, flows), flows))
    return list(_edges(new, old, theirs, found))


_Flows = Mapping[tuple[_Pair, _Pair, bytes], None]


def _operations(cfa: Cfa) -> dict[bytes, list[int]]:
    """The positions of the edges with each operation."""
    found: dict[bytes, list[int]] = {}
    for position, edge in enumerate(cfa.edges):
        found.setdefault(fingerprint(edge), []).append(position)
    return found


def _around(cfa: Cfa) -> dict[int, Counter[bytes]]:
    """The operations that enter or leave each location."""
    found: dict[int, Counter[bytes]] = {location: Counter() for location in cfa.locations}
    for edge in cfa.edges:
        found[edge.source][fingerprint(edge)] += 1
        found[edge.target][fingerprint(edge)] += 1
    return found


def _similar(new: Cfa, old: Cfa, flows: _Flows) -> dict[_Pair, float]:
    """How similar locations are by what is around them, from 0 to 1, of those that flows lead to or from."""
    mine, theirs = _around(new), _around(old)
    pairs = dict.fromkeys(pair for source, target, _ in flows for pair in (source, target))
    found = {}
    for here, there in pairs:
        common = (mine[here] & theirs[there]).total()
        found[here, there] = 2 * common / (mine[here].total() + theirs[there].total())
    return found


def _flooded(first: Mapping[_Pair, float], flows: _Flows) -> dict[_Pair, float]:
    """The similarities when they stay as they are. What a pair gives to others along one operation is divided among them."""
    forward = Counter((source, operation) for source, _, operation in flows)
    backward = Counter((target, operation) for _, target, operation in flows)
    known = dict(first)
    for _ in range(_ROUNDS):
        after = {pair: first[pair] + value for pair, value in known.items()}
        for source, target, operation in flows:
            after[target] += known[source] / forward[source, operation]
            after[source] += known[target] / backward[target, operation]
        largest = max(after.values(), default=1.0) or 1.0
        after = {pair: value / largest for pair, value in after.items()}
        is_still = all(abs(value - known[pair]) < _STILL for pair, value in after.items())
        known = after
        if is_still:
            break
    return known


def _locations(new: Cfa, old: Cfa, similar: Mapping[_Pair, float]) -> dict[int, int]:
    """The old location of each new one that has one: the most similar pairs first, and of those that are alike, the first."""
    found, given = {new.entry: old.entry, new.exit: old.exit}, {old.entry, old.exit}
    for here, there in sorted(similar, key=lambda pair: (-similar[pair], pair)):
        if similar[here, there] > _THRESHOLD and here not in found and there not in given:
            found[here] = there
            given.add(there)
    return found


def _edges(new: Cfa, old: Cfa, theirs: Mapping[bytes, list[int]], found: Mapping[int, int]) -> Iterator[_Pair]:
    given = set[int]()
    for position, edge in enumerate(new.edges):
        ends = found.get(edge.source), found.get(edge.target)
        for other in theirs.get(fingerprint(edge), ()):
            if other not in given and (old.edges[other].source, old.edges[other].target) == ends:
                given.add(other)
                yield position, other
                break
