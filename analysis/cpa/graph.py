"""The reached set as a reachability graph (ARG): nodes are abstract states with precisions, edges are steps.

Every node keeps the parent that it was made from, so that there is a path to it from an initial node; merged nodes have further
parents. A state that was not added because others covered it leaves a note at its parent, so that it is looked at again when
those that covered it are removed (`remove_subtree`, for lazy refinement).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import msgspec

from analysis.cpa.interface import Analysis
from analysis.cpa.steps import Step

S = TypeVar("S", bound=Hashable)
P = TypeVar("P")


class Node(Generic[S, P]):
    """An abstract state that was reached, with its precision.

    `number` counts nodes in the order of their making. `parents` are the nodes it came from, each with the step; the first one it
    was made from. `covered` are steps to states that others cover, with their partitions. `waiting`: it is in the waitlist.
    `reached` is False once it is removed, or merged into an equal node. `target`: it violates the property.
    """

    __slots__ = ("children", "covered", "number", "parents", "precision", "reached", "state", "target", "waiting")

    def __init__(self, number: int, state: S, precision: P, parents: list[tuple[Node[S, P], Step]], target: bool) -> None:
        self.number = number
        self.state = state
        self.precision = precision
        self.parents = parents
        self.children: list[Node[S, P]] = []
        self.covered: list[tuple[Step, Hashable]] = []
        self.waiting = False
        self.reached = True
        self.target = target

    def __repr__(self) -> str:
        return f"Node({self.number}, {self.state!r})"


class PathStep(msgspec.Struct, Generic[S, P], frozen=True):
    """One step of a path, and the node that it leads to."""

    step: Step
    node: Node[S, P]


class _Partition(Generic[S, P]):
    """The nodes of one partition: by state, and by rank where there are ranks."""

    __slots__ = ("by_rank", "by_state")

    def __init__(self) -> None:
        self.by_state: dict[S, Node[S, P]] = {}
        self.by_rank: dict[int, dict[S, Node[S, P]]] = {}


class ReachabilityGraph(Generic[S, P]):
    """The nodes reached so far. `analysis` says which states can meet."""

    def __init__(self, analysis: Analysis[S, P]) -> None:
        self._partition_of = analysis.partition
        self._rank_of = analysis.rank
        self._partitions: dict[Hashable, _Partition[S, P]] = {}
        self._initial: list[tuple[Node[S, P], S, P]] = []
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
        found = [node for part in self._partitions.values() for node in part.by_state.values()]
        found.sort(key=lambda node: node.number)
        return iter(found)

    # -- growing ------------------------------------------------------------------------------------------------

    def add_initial(self, state: S, precision: P) -> Node[S, P]:
        """A node without parents; the node of this state if there is one."""
        part = self._partitions.get(self._partition_of(state))
        if part is not None and state in part.by_state:
            return part.by_state[state]
        node = self.add(state, precision, None, None, False)
        self._initial.append((node, state, precision))
        return node

    def add(self, state: S, precision: P, parent: Node[S, P] | None, step: Step | None, target: bool) -> Node[S, P]:
        """A new node for a state that has none."""
        parents = [] if parent is None or step is None else [(parent, step)]
        node = Node(self._made, state, precision, parents, target)
        self._made += 1
        if parent is not None:
            parent.children.append(node)
        self._enter(node)
        return node

    def _enter(self, node: Node[S, P]) -> None:
        key = self._partition_of(node.state)
        part = self._partitions.get(key)
        if part is None:
            part = self._partitions[key] = _Partition()
        part.by_state[node.state] = node
        rank = self._rank_of(node.state)
        if rank is not None:
            part.by_rank.setdefault(rank, {})[node.state] = node
        self._size += 1

    def _withdraw(self, node: Node[S, P]) -> None:
        key = self._partition_of(node.state)
        part = self._partitions[key]
        del part.by_state[node.state]
        rank = self._rank_of(node.state)
        if rank is not None:
            del part.by_rank[rank][node.state]
            if not part.by_rank[rank]:
                del part.by_rank[rank]
        if not part.by_state:
            del self._partitions[key]
        self._size -= 1

    def find(self, state: S) -> Node[S, P] | None:
        """The node of exactly this state."""
        part = self._partitions.get(self._partition_of(state))
        return None if part is None else part.by_state.get(state)

    def meeting(self, state: S) -> Sequence[Node[S, P]]:
        """The nodes with which the state could merge."""
        part = self._partitions.get(self._partition_of(state))
        return () if part is None else tuple(part.by_state.values())

    def possible_covers(self, state: S) -> Iterable[S]:
        """The states, other than the state itself, that could cover it."""
        part = self._partitions.get(self._partition_of(state))
        if part is None:
            return ()
        rank = self._rank_of(state)
        if rank is None:
            return part.by_state.keys()
        lower = [r for r in part.by_rank if r < rank]
        if not lower:
            return ()
        return [other for r in lower for other in part.by_rank[r]]

    def replace(self, node: Node[S, P], state: S, precision: P, parent: Node[S, P], step: Step) -> Node[S, P]:
        """Gives the node the merged state. If another node has this state already, `node` goes into that one. Returns the node
        that has the state now."""
        self._withdraw(node)
        there = self.find(state)
        if there is not None:
            node.reached = False
            there.parents.extend(node.parents)
            for other, _ in node.parents:
                other.children.append(there)
            node = there
        else:
            node.state = state
            self._enter(node)
        node.precision = precision
        node.parents.append((parent, step))
        parent.children.append(node)
        return node

    # -- reading ------------------------------------------------------------------------------------------------

    def path(self, node: Node[S, P]) -> list[PathStep[S, P]]:
        """The steps from an initial node to this one, by way of the nodes that each was made from."""
        found: list[PathStep[S, P]] = []
        while node.parents:
            parent, step = node.parents[0]
            found.append(PathStep(step, node))
            node = parent
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
        returned nodes to the waitlist, and takes removed ones (`reached` is False) out of it.
        """
        gone = _descendants(root)
        touched = {self._partition_of(node.state) for node in gone if node.reached}
        again: dict[Node[S, P], None] = {}
        for node in gone:
            again.update(dict.fromkeys(parent for parent, _ in node.parents if parent not in gone))
            if node.reached:
                self._withdraw(node)
                node.reached = False
        for node, state, first in self._initial:
            if node in gone:
                node.state, node.precision, node.parents, node.children, node.covered = state, first, [], [], []
                node.reached = True
                self._enter(node)
                again[node] = None
        for node in self:
            if any(key in touched for _, key in node.covered):
                again[node] = None
        for node in again:
            node.children = [child for child in node.children if child not in gone]
            if precision is not None:
                node.precision = precision(node.precision)
        return sorted((node for node in again if node.reached), key=lambda node: node.number)


def _descendants(root: Node[S, P]) -> dict[Node[S, P], None]:
    found = {root: None}
    waiting = [root]
    while waiting:
        for child in waiting.pop().children:
            if child not in found:
                found[child] = None
                waiting.append(child)
    return found
