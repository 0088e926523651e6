"""Solves the constraints of all that runs from `main`: what each node may hold, as the smallest sets that satisfy them.

Sets are numbers whose bits stand for objects. Nodes whose sets grew wait to pass on what is new [ANDERSEN]; a load or store
through a pointer becomes a flow for each object that the pointer may lead to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.certificate.pointed.nodes import ANYTHING, CHANGING, LIBRARY, UNSEEN, Node

WHOLLY = frozenset((ANYTHING, CHANGING, UNSEEN))
"""What is in these leads to such objects again, whatever it is read as."""


class Solution:
    """What nodes hold. `broken`: why that may not be all; empty if it is."""

    def __init__(self) -> None:
        self.broken = ""
        self._numbers: dict[Node, int] = {}
        self._objects: list[Node] = []
        self._bits: dict[Node, int] = {}
        self._held: list[int] = []
        self._new: list[int] = []
        self._into: list[set[int]] = []
        self._loads: list[list[tuple[int, bool]]] = []
        self._stores: list[list[int]] = []
        self._watched: list[list[Callable[[Node], None]]] = []
        self._waiting: list[int] = []

    # -- what is known ------------------------------------------------------------------------------------------

    def held(self, node: Node) -> frozenset[Node]:
        """The objects that a node may hold pointers to."""
        number = self._numbers.get(node)
        return frozenset() if number is None else frozenset(self._members(self._held[number]))

    def _members(self, bits: int) -> Iterator[Node]:
        while bits:
            lowest = bits & -bits
            yield self._objects[lowest.bit_length() - 1]
            bits ^= lowest

    # -- constraints --------------------------------------------------------------------------------------------

    def address(self, node: Node, of: Node) -> None:
        """The node holds the address of an object."""
        self._add(self._number(node), self._bit(of))

    def copy(self, target: Node, source: Node) -> None:
        """One node holds what another holds."""
        self._flow(self._number(source), self._number(target))

    def load(self, target: Node, pointer: Node, may_be_pointer: bool) -> None:
        """A node holds what is in the objects that another leads to. What the library's own objects lead to are such objects,
        where pointers are read."""
        to, through = self._number(target), self._number(pointer)
        self._loads[through].append((to, may_be_pointer))
        for one in list(self._members(self._held[through])):
            self._load_of(to, one, may_be_pointer)

    def store(self, pointer: Node, source: Node) -> None:
        """The objects that a node leads to hold what another holds."""
        through, what = self._number(pointer), self._number(source)
        self._stores[through].append(what)
        for one in list(self._members(self._held[through])):
            self._store_to(what, one)

    def watch(self, node: Node, see: Callable[[Node], None]) -> None:
        """`see` is called for each object that the node leads to, once, also for those that come later."""
        number = self._number(node)
        self._watched[number].append(see)
        for one in list(self._members(self._held[number])):
            see(one)

    def solve(self) -> None:
        """Satisfies all constraints. After that, no more can be added."""
        while self._waiting and not self.broken:
            number = self._waiting.pop()
            new, self._new[number] = self._new[number], 0
            if self._loads[number] or self._stores[number] or self._watched[number]:
                for one in list(self._members(new)):
                    for to, may_be_pointer in tuple(self._loads[number]):
                        self._load_of(to, one, may_be_pointer)
                    for what in tuple(self._stores[number]):
                        self._store_to(what, one)
                    for see in tuple(self._watched[number]):
                        see(one)
            for target in tuple(self._into[number]):
                self._add(target, new)
        self._into, self._loads, self._stores, self._watched = [], [], [], []  # who watches may hold the program

    # -- inside -------------------------------------------------------------------------------------------------

    def _number(self, node: Node) -> int:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self._held)
            self._held.append(0)
            self._new.append(0)
            self._into.append(set())
            self._loads.append([])
            self._stores.append([])
            self._watched.append([])
        return number

    def _bit(self, of: Node) -> int:
        bit = self._bits.get(of)
        if bit is None:
            bit = self._bits[of] = 1 << len(self._objects)
            self._objects.append(of)
        return bit

    def _add(self, number: int, bits: int) -> None:
        new = bits & ~self._held[number]
        if new:
            if not self._new[number]:
                self._waiting.append(number)
            self._held[number] |= new
            self._new[number] |= new

    def _flow(self, source: int, target: int) -> None:
        if target != source and target not in self._into[source]:
            self._into[source].add(target)
            self._add(target, self._held[source])

    def _load_of(self, to: int, one: Node, may_be_pointer: bool) -> None:
        if one in WHOLLY or (one == LIBRARY and may_be_pointer):
            self._add(to, self._bit(one))
        if one.kind != "code":
            self._flow(self._number(one), to)

    def _store_to(self, what: int, one: Node) -> None:
        if one == ANYTHING:
            self.broken = self.broken or "something is written through a pointer of which nothing is known"
        if one.kind != "code":
            self._flow(what, self._number(one))
