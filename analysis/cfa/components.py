"""Strongly connected components, by Tarjan's algorithm [TARJAN], without recursion.

Our own, because importing networkx takes as long as the rest of the checker process's start.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
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
