"""Strongly connected components of a call graph, from callees to callers (Tarjan's algorithm, without recursion)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator


def bottom_up(functions: Iterable[str], callers: Callable[[str], Iterable[str]]) -> list[list[str]]:
    """The components of `functions` and of all their direct and indirect callers.

    Callees come before callers; within a component, and between components that do not call each other, the
    order is that of the arguments.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    found: list[list[str]] = []

    def visit(name: str) -> tuple[str, Iterator[str]]:
        index[name] = low[name] = len(index)
        path.append(name)
        on_path.add(name)
        return name, iter(callers(name))

    for root in functions:
        stack = [] if root in index else [visit(root)]
        while stack:
            name, above = stack[-1]
            caller = next(above, None)
            if caller is None:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[name])
                if low[name] == index[name]:
                    component = [path.pop()]
                    while component[-1] != name:
                        component.append(path.pop())
                    on_path.difference_update(component)
                    found.append(component[::-1])
            elif caller not in index:
                stack.append(visit(caller))
            elif caller in on_path:
                low[name] = min(low[name], index[caller])
    found.reverse()
    return found
