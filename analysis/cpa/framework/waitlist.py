"""The frontier of an exploration, and the order in which it is explored."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, Protocol

from analysis.cpa.framework.reachability import Node

AnyNode = Node[Any, Any]
Priority = Callable[[AnyNode], Any]


class Waitlist(Protocol):
    """A set of nodes. A node is in it as long as its `waiting` is True, once."""

    def push(self, node: AnyNode) -> None:
        """Adds the node, if it is not there."""

    def pop(self) -> AnyNode | None:
        """Takes the next node; None if there is none."""

    def __iter__(self) -> Iterator[AnyNode]:
        """The nodes, in no particular order."""

    def __bool__(self) -> bool:
        """Whether there is any."""


class SequentialWaitlist:
    """Breadth-first or depth-first."""

    def __init__(self, order: Literal["breadth-first", "depth-first"], nodes: Iterable[AnyNode] = ()) -> None:
        self._nodes: deque[AnyNode] = deque()
        self._take = self._nodes.popleft if order == "breadth-first" else self._nodes.pop
        for node in nodes:
            self.push(node)

    def push(self, node: AnyNode) -> None:
        """Adds the node, if it is not there."""
        if not node.waiting:
            node.waiting = True
            self._nodes.append(node)

    def pop(self) -> AnyNode | None:
        """Takes the next node; None if there is none."""
        while self._nodes:
            node = self._take()
            node.waiting = False
            if node.reached:
                return node
        return None

    def __iter__(self) -> Iterator[AnyNode]:
        return (node for node in self._nodes if node.reached)

    def __bool__(self) -> bool:
        return any(node.reached for node in self._nodes)


class PriorityWaitlist:
    """The node with the least priority first; of equal ones the one that was added first.

    `priority` is asked when a node is added. Reverse postorder is a priority (`domains.location.reverse_postorder`), and so is
    the distance to an error in a derivation graph.
    """

    def __init__(self, priority: Priority, nodes: Iterable[AnyNode] = ()) -> None:
        self._priority = priority
        self._heap: list[tuple[Any, int, AnyNode]] = []
        self._pushed = 0
        for node in nodes:
            self.push(node)

    def push(self, node: AnyNode) -> None:
        """Adds the node, if it is not there."""
        if not node.waiting:
            node.waiting = True
            heapq.heappush(self._heap, (self._priority(node), self._pushed, node))
            self._pushed += 1

    def pop(self) -> AnyNode | None:
        """Takes the next node; None if there is none."""
        while self._heap:
            node = heapq.heappop(self._heap)[2]
            node.waiting = False
            if node.reached:
                return node
        return None

    def __iter__(self) -> Iterator[AnyNode]:
        return (node for _, _, node in self._heap if node.reached)

    def __bool__(self) -> bool:
        return any(node.reached for _, _, node in self._heap)
