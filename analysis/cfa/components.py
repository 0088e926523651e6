"""Strongly connected components, by Tarjan's algorithm [TARJAN], without recursion.

Our own, because importing networkx takes as long as the rest of the checker process's start.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Set
from typing import TypeVar

_Node = TypeVar("_Node", bound=Hashable)


def strongly_connected(graph: Mapping[_Node, Iterable[_Node]]) -> list[list[_Node]]:
    """The components of a graph given by the successors of each node, successors before predecessors. Successors that are no
    nodes of the graph are left out. The order depends on the order of nodes and successors alone."""
    components: list[list[_Node]] = []
    number: dict[_Node, int] = {}  # in order of discovery
    lowest: dict[_Node, int] = {}  # the first discovered that is known to be reached, among those in no component yet
    open_: list[_Node] = []
    is_open: set[_Node] = set()
    for root in graph:
        if root in number:
            continue
        path: list[tuple[_Node, Iterator[_Node]]] = []
        entered: _Node | None = root
        while True:
            if entered is not None:
                number[entered] = lowest[entered] = len(number)
                open_.append(entered)
                is_open.add(entered)
                path.append((entered, iter(graph[entered])))
            node, successors = path[-1]
            entered = None
            for successor in successors:
                if successor not in graph:
                    continue
                if successor not in number:
                    entered = successor
                    break
                if successor in is_open:
                    lowest[node] = min(lowest[node], number[successor])
            if entered is not None:
                continue
            path.pop()
            if lowest[node] == number[node]:
                component: list[_Node] = []
                while not component or component[-1] != node:
                    component.append(open_.pop())
                is_open.difference_update(component)
                components.append(component)
            if not path:
                break
            parent = path[-1][0]
            lowest[parent] = min(lowest[parent], lowest[node])
    return components


def stay(
    place: Mapping[_Node, int], old: Mapping[_Node, Set[_Node]], new: Mapping[_Node, Set[_Node]], changed: Iterable[_Node]
) -> bool:
    """Whether the components of a graph are what they were, and can stay in their order, where `place` is the number of each
    node's component, and the successors of some nodes are not the `old` but `new` ones. It can be true where the answer is False:
    an edge inside of a component went, or one came to a later component."""
    for node in changed:
        gone, added, here = old[node] - new[node], new[node] - old[node], place[node]
        if any(other != node and place.get(other) == here for other in gone):
            return False
        if any(place.get(other, here) > here for other in added):
            return False
    return True
