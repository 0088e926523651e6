"""Call graphs of the shape that real programs have, of any size, from a seed: for `benchmarks.generated`.

`python -m benchmarks.shape`, on 2026-11-21, as mean and percentiles 10, 25, 50, 75, 90, 95, 99, 100:

| | spin 6.5.2 | sendmail 8.17.1.9 |
|---|---|---|
| lines of the C files | 29095 | 95993 |
| files | 29 | 42 |
| functions | 718 | 827 |
| functions a file | 24.8 (7 12 21 32 43 65 77 77) | 19.7 (6 8 14 24 49 56 79 79) |
| edges a function | 39.1 (2 10 20 38 74 116 348 1426) | 61.0 (1 2 16 62 143 233 566 2286) |
| callees a function | 2.3 (0 0 1 3 5 7 18 62) | 2.3 (0 0 0 2 6 10 27 110) |
| callers a function | 2.3 (1 1 1 2 4 6 16 110) | 2.3 (0 0 1 2 5 8 31 143) |
| null tests a function | 2.3 (0 0 1 3 5 8 18 43) | 2.6 (0 0 0 3 7 10 30 84) |
| largest recursions | 58, 6, 5, 4, 4, 3 | 101, 1, 1, 1, 1, 1 |
| the largest by calls by name only | 58 | 7 |
| functions in recursions by calls by name | 102 | 18 |
| functions that call themselves | 128 | 3 |
| pairs of a function and one that it calls by name | 1662 | 1941 |
| of these in one file | 859 | 450 |
| calls | 6919 | 10309 |
| calls of external functions | 3763 | 5928 |
| calls through pointers | 3 | 73 |
| functions that call through pointers | 3 | 38 |
| functions whose address is taken | 6 | 91 |
| allocations, releases | 144, 7 | 363, 210 |
| locks and unlocks | 5 | 42 |

What is drawn here lies between the two. Calls go from functions of lower rank to those of higher rank; every function but the
first is called. What many functions call has a high rank, as utilities do. The functions of a recursion have ranks next to each
other, so that recursions are those that are made on purpose: as many and as large in each `_STRETCH` functions, however large
the program is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from random import Random

import msgspec

PERCENTS = (0, 10, 25, 50, 75, 90, 95, 99, 100)
FUNCTIONS_A_FILE = (3.0, 6.0, 10.0, 17.0, 28.0, 46.0, 60.0, 78.0, 78.0)
CALLEES = (0.0, 0.0, 0.0, 0.6, 2.6, 5.5, 8.5, 22.0, 86.0)
POPULARITY = (0.4, 0.5, 0.5, 1.0, 2.0, 4.5, 7.0, 24.0, 126.0)
_SAME_FILE = 0.45  # of the calls by name that are drawn
_DRAWN = 0.75  # of the callees; the others come with the functions that nobody called yet
_SELF = 0.06  # of the functions
_STRETCH = 770
_RECURSIONS = (30, 6, 5, 4, 4, 3, 3, 2, 2)  # in as many functions
_CLOSE = 1e-13  # of ranks, which are between 0 and 1
ADDRESS_TAKEN = 0.05
THROUGH_POINTERS = 0.025


class Node(msgspec.Struct):
    """A function: the number of its file, the functions that it calls by name, and its dealings with pointers to functions."""

    file: int
    rank: float
    callees: list[int] = []
    address_taken: bool = False
    calls_through_pointer: bool = False


def drawn(quantiles: tuple[float, ...], random: Random) -> float:
    """A value of a distribution that is known by its percentiles; between them it is linear, above the 95th logarithmic."""
    at = random.random() * 100
    number = bisect_right(PERCENTS, at) - 1
    low, high = quantiles[number], quantiles[number + 1]
    share = (at - PERCENTS[number]) / (PERCENTS[number + 1] - PERCENTS[number])
    if PERCENTS[number] >= 95:
        return float(low * (high / low) ** share)
    return low + (high - low) * share


def call_graph(size: int, random: Random) -> list[Node]:
    """The functions of a program, the first of which is `main`."""
    nodes: list[Node] = []
    file = 0
    while len(nodes) < size:
        for _ in range(min(round(drawn(FUNCTIONS_A_FILE, random)), size - len(nodes))):
            nodes.append(Node(file, random.random()))
        file += 1
    weights = [drawn(POPULARITY, random) for _ in nodes]
    for node, weight in zip(nodes, weights, strict=True):
        node.rank = node.rank ** (1 / (1 + weight / 2))
        node.address_taken = random.random() < ADDRESS_TAKEN
        node.calls_through_pointer = random.random() < THROUGH_POINTERS
    nodes[0].rank, nodes[0].address_taken = 0.0, False
    rings = list(_rings(nodes, random))
    _Calls(nodes, weights, random).draw()
    _close(nodes, rings, random)
    return nodes


class _Calls:
    """Draws a call graph; calls go downwards in rank."""

    def __init__(self, nodes: list[Node], weights: list[float], random: Random) -> None:
        self._nodes = nodes
        self._random = random
        self._order = sorted(range(len(nodes)), key=lambda number: nodes[number].rank)
        self._ranks = [nodes[number].rank for number in self._order]
        self._sums = list(accumulate(weights[number] for number in self._order))
        self._files: dict[int, list[int]] = {}
        for number, node in enumerate(nodes):
            self._files.setdefault(node.file, []).append(number)

    def draw(self) -> None:
        """The callees of all functions."""
        called = {0}
        for number, node in enumerate(self._nodes):
            wanted = max(round(_DRAWN * drawn(CALLEES, self._random)), 3 if number == 0 else 0)
            found: dict[int, None] = {}
            for _ in range(2 * wanted):  # some are drawn twice
                if len(found) < wanted and (callee := self._callee(node)) is not None:
                    found[callee] = None
            node.callees = list(found)
            called.update(found)
        calling = [number for number in self._order if self._nodes[number].callees]
        ranks = [self._nodes[number].rank for number in calling]
        for number, node in enumerate(self._nodes):
            if number not in called:
                self._nodes[calling[self._random.randrange(max(bisect_right(ranks, node.rank) - 1, 1))]].callees.append(number)

    def _callee(self, node: Node) -> int | None:
        if self._random.random() < _SAME_FILE:
            below = [number for number in self._files[node.file] if self._nodes[number].rank > node.rank]
            return self._random.choice(below) if below else None
        first = bisect_right(self._ranks, node.rank)
        if first == len(self._order):
            return None
        at = self._random.uniform(self._sums[first - 1], self._sums[-1])
        return self._order[min(bisect_right(self._sums, at), len(self._order) - 1)]


def _rings(nodes: list[Node], random: Random) -> Iterator[list[int]]:
    """Chooses the functions of the recursions: neighbours, mostly in a few files. Gives them ranks next to each other."""
    for start in range(1, len(nodes), _STRETCH):
        left = list(range(start, min(start + _STRETCH, len(nodes))))
        for size in _RECURSIONS:
            if size * _STRETCH <= len(left) * max(_RECURSIONS):
                at = random.randrange(len(left) - size + 1)
                ring, left = left[at : at + size], left[:at] + left[at + size :]
                rank = nodes[random.choice(ring)].rank
                for number, member in enumerate(ring):
                    nodes[member].rank = rank + number * _CLOSE
                yield ring


def _close(nodes: list[Node], rings: list[list[int]], random: Random) -> None:
    for number, node in enumerate(nodes[1:], 1):
        if random.random() < _SELF:
            node.callees.append(number)
    for ring in rings:
        for caller, callee in zip(ring, [*ring[1:], ring[0]], strict=True):
            if callee not in nodes[caller].callees:
                nodes[caller].callees.append(callee)
