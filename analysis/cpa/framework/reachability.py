"""The reached set as a reachability graph (ARG): nodes are abstract states with precisions, edges are steps.

Every node keeps the parent that it was made from, so that there is a path to it from an initial node; merged nodes have further
parents. A state that was not added because others covered it leaves a note at its parent, so that it is looked at again when
those that covered it are removed (`remove_subtree`, for lazy refinement).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import msgspec

from analysis.cpa.framework.interface import Analysis
from analysis.cpa.framework.steps import Step

S = TypeVar("S", bound=Hashable)
P = TypeVar("P")


class Node(Generic[S, P]):
    """An abstract state that was reached, with its precision.

    `number` counts nodes in the order of their making. `parent` and `step` are what it was made from, None for an initial node;
    `merged` are further parents. `covered` are steps to states that others cover, with their partitions. `waiting`: it
    is in the waitlist. `reached` is False once it is removed, or merged into an equal node. `target`: it violates the property.
    """

    __slots__ = ("covered", "merged", "number", "parent", "precision", "reached", "state", "step", "target", "waiting")

    def __init__(self, number: int, state: S, precision: P, parent: Node[S, P] | None, step: Step | None, target: bool) -> None:
        self.number = number
        self.state = state
        self.precision = precision
        self.parent = parent
        self.step = step
        self.merged: tuple[tuple[Node[S, P], Step], ...] = ()
        self.covered: tuple[tuple[Step, Hashable], ...] = ()
        self.waiting = False
        self.reached = True
        self.target = target

    @property
    def parents(self) -> tuple[tuple[Node[S, P], Step], ...]:
        """All parents, each with the step, the one it was made from first."""
        if self.parent is None or self.step is None:
            return self.merged
        return ((self.parent, self.step), *self.merged)

    def __repr__(self) -> str:
        return f"Node({self.number}, {self.state!r})"


class PathStep(msgspec.Struct, Generic[S, P], frozen=True):
    """One step of a path, and the node that it leads to."""

    step: Step
    node: Node[S, P]


Bucket = dict[S, Node[S, P]]
Partition = dict[int | None, Bucket[S, P]]
"""The nodes of one partition by rank, those of each rank by state."""


class ReachabilityGraph(Generic[S, P]):
    """The nodes reached so far. `analysis` says which states can meet."""

    def __init__(self, analysis: Analysis[S, P]) -> None:
        self._partition_of = analysis.partition
        self._rank_of = analysis.rank
        self._partitions: dict[Hashable, Partition[S, P]] = {}
        self._initial: list[tuple[Node[S, P], S, P]] = []
        self._absorbed: list[Node[S, P]] = []
        self._made = 0
        self._size = 0

    def __len__(self) -> int:
        """The number of reached nodes."""
        return self._size

    @property
    def made(self) -> int:
        """How many nodes were ever made: the number of the next one."""
        return self._made

    def __iter__(self) -> Iterator[Node[S, P]]:
        """The reached nodes in the order of their making."""
        found = [node for part in self._partitions.values() for bucket in part.values() for node in bucket.values()]
        found.sort(key=lambda node: node.number)
        return iter(found)

    # -- growing ------------------------------------------------------------------------------------------------

    def add_initial(self, state: S, precision: P) -> Node[S, P]:
        """A node without parents; the node of this state if there is one."""
        found = self.find(state)
        if found is None:
            found = self.add(state, precision, None, None, False)
            self._initial.append((found, state, precision))
        return found

    def add(self, state: S, precision: P, parent: Node[S, P] | None, step: Step | None, target: bool) -> Node[S, P]:
        """A new node for a state that has none."""
        node = Node(self._made, state, precision, parent, step, target)
        self._made += 1
        self._enter(node)
        return node

    def _enter(self, node: Node[S, P]) -> None:
        key, rank = self._partition_of(node.state), self._rank_of(node.state)
        part = self._partitions.get(key)
        if part is None:
            part = self._partitions[key] = {}
        bucket = part.get(rank)
        if bucket is None:
            bucket = part[rank] = {}
        bucket[node.state] = node
        self._size += 1

    def _withdraw(self, node: Node[S, P]) -> None:
        key, rank = self._partition_of(node.state), self._rank_of(node.state)
        part = self._partitions[key]
        del part[rank][node.state]
        if not part[rank]:
            del part[rank]
        if not part:
            del self._partitions[key]
        self._size -= 1

    def find(self, state: S) -> Node[S, P] | None:
        """The node of exactly this state."""
        part = self._partitions.get(self._partition_of(state))
        bucket = None if part is None else part.get(self._rank_of(state))
        return None if bucket is None else bucket.get(state)

    def meeting(self, state: S) -> Sequence[Node[S, P]]:
        """The nodes with which the state could merge."""
        part = self._partitions.get(self._partition_of(state))
        return () if part is None else [node for bucket in part.values() for node in bucket.values()]

    def covers(self, state: S) -> tuple[Node[S, P] | None, Sequence[S]]:
        """The node of exactly this state, if there is one, and the other states that could cover it, targets left out."""
        part = self._partitions.get(self._partition_of(state))
        if part is None:
            return None, ()
        rank = self._rank_of(state)
        bucket = part.get(rank)
        same = None if bucket is None else bucket.get(state)
        if same is not None or (len(part) == 1 and rank is not None and bucket is not None):
            return same, ()
        found = [
            other
            for at, nodes in part.items()
            if at is None or rank is None or at < rank
            for other, node in nodes.items()
            if not node.target
        ]
        return None, found

    def replace(self, node: Node[S, P], state: S, precision: P, parent: Node[S, P], step: Step) -> Node[S, P]:
        """Gives the node the merged state. If another node has this state already, `node` goes into that one. Returns the node
        that has the state now."""
        self._withdraw(node)
        there = self.find(state)
        if there is not None:
            node.reached = False
            self._absorbed.append(node)
            there.merged = (*there.merged, *node.parents)
            node = there
        else:
            node.state = state
            self._enter(node)
        node.precision = precision
        node.merged = (*node.merged, (parent, step))
        return node

    # -- reading ------------------------------------------------------------------------------------------------

    def path(self, node: Node[S, P]) -> list[PathStep[S, P]]:
        """The steps from an initial node to this one, through the nodes that each was made from."""
        found: list[PathStep[S, P]] = []
        while node.parent is not None and node.step is not None:
            found.append(PathStep(node.step, node))
            node = node.parent
        found.reverse()
        return found

    def targets(self) -> list[Node[S, P]]:
        """The reached nodes that violate the property."""
        return [node for node in self if node.target]

    def steps(self) -> set[Step]:
        """The steps that were taken, also those to states that others cover."""
        found: set[Step] = set()
        for node in self:
            found.update(step for _, step in node.parents)
            found.update(step for step, _ in node.covered)
        return found

    # -- shrinking ----------------------------------------------------------------------------------------------

    def remove_subtree(self, root: Node[S, P], precision: Callable[[P], P] | None = None) -> list[Node[S, P]]:
        """Removes the node and all that was reached from it, and returns the nodes that must be explored again: parents of what
        is gone, and nodes whose successors were covered where something is gone, with precisions changed by `precision`.

        Initial nodes are not removed but get their initial state back, and are among those returned. The caller adds the
        returned nodes to the waitlist; a waitlist leaves removed nodes out by itself (`reached` is False).
        """
        everything = [*self, *self._absorbed]
        gone = _descendants(root, everything)
        touched = {self._partition_of(node.state) for node in gone if node.reached}
        again: dict[Node[S, P], None] = {}
        for node in gone:
            again.update(dict.fromkeys(parent for parent, _ in node.parents if parent not in gone))
            if node.reached:
                self._withdraw(node)
                node.reached = False
        for node, state, first in self._initial:
            if node in gone:
                node.state, node.precision, node.merged, node.covered = state, first, (), ()
                node.reached = True
                self._enter(node)
                again[node] = None
        self._absorbed = [node for node in self._absorbed if node not in gone]
        for node in self:
            node.merged = tuple(parent for parent in node.merged if parent[0] not in gone)
            if any(key in touched for _, key in node.covered):
                again[node] = None
        found = sorted((node for node in again if node.reached), key=lambda node: node.number)
        for node in found:
            node.covered = ()
            if precision is not None:
                node.precision = precision(node.precision)
        return found


def _descendants(root: Node[S, P], nodes: Iterable[Node[S, P]]) -> dict[Node[S, P], None]:
    children: dict[Node[S, P], list[Node[S, P]]] = {}
    for node in nodes:
        for parent, _ in node.parents:
            children.setdefault(parent, []).append(node)
    found = {root: None}
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found[child] = None
                waiting.append(child)
    return found
