"""The nodes of the analysis: each stands for all values that something may hold at any time."""

from __future__ import annotations

from typing import NamedTuple

from analysis.c.library_variables import SECOND_NAMES
from analysis.model import ir


class Node(NamedTuple):
    """What variable `name` of a function holds (`function` is empty for static storage), or a call or an expression gives; by
    `kind`. As the object that a pointer leads to it is named by what it holds."""

    kind: str
    function: str
    name: str


ANYTHING = Node("anything", "", "")
"""An object of which nothing is known: any, also one that has ended."""
LIBRARY = Node("library", "", "")
"""The library's own objects, which do not end, and the texts that `main` is passed. What the library keeps for later calls is
there."""
ARGUMENTS = Node("arguments", "", "")
"""The array of words that `main` is passed."""
ENVIRONMENT = Node("environment", "", "")
"""The array of the environment."""
FOUND_THERE = Node("found there", "", "")
"""What the library may return of the environment, also if the program has put it there."""
CHANGING = Node("changing", "", "")
"""The library's own objects that later calls may end, and all that is in them."""
TEXT = Node("text", "", "")
"""The library's own texts that later calls may end."""
UNSEEN = Node("unseen", "", "")
"""The variables without names in initialisers that are not known."""
FIXED_PLACE = Node("place", "", "")
"""What lies at addresses that the program writes as numbers."""
FURTHER = Node("further", "", "")
"""What is passed for `...` to functions of the program: what it holds, and, as an object, where that lies."""
HANDLERS = Node("handlers", "", "")
"""The handlers of signals that the program has set. Those that it started with are numbers (C11 7.14.1.1, exec in POSIX)."""
HEAP = "heap"
OPENED = frozenset(("stream", "directory"))
"""The kinds of objects that have pointers of the library's in them, as `f->_IO_read_ptr`: these lead to what ends with them."""
MADE = frozenset((HEAP, *OPENED))
"""The kinds of objects that programs have to end."""


def of_variable(function: str, variable: ir.Var) -> Node:
    """What a variable holds, in all calls of its function."""
    if variable.scope == "global":
        return Node("variable", "", SECOND_NAMES.get(variable.name, variable.name))
    if variable.scope == "function":
        return of_code(variable.name)
    return Node("variable", function, variable.name)


def of_code(name: str) -> Node:
    """A function, as an object that pointers lead to."""
    return Node("code", "", name)


def of_result(function: str) -> Node:
    """What a function returns."""
    return Node("result", function, "")
