"""What searches found, kept over revisions: what still holds, and what holds if the graph is the same where it matters.

A search depends on the models of the functions that it looked into, on what is written to the cells that it asked for there, and
on a part of the derivation graph. The first two are compared by name. Most edits change the graph of many functions, but not the
part that a search read. So what only the graph can make wrong is `in_question` until somebody looks (`slice_outline`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Set
from typing import Generic, NamedTuple, Protocol, TypeVar

Cells = Mapping[str, frozenset[str]]
"""Cells whose writers were asked for, by the function in which."""


def merged(*some: Cells) -> dict[str, frozenset[str]]:
    """All of the cells."""
    found: dict[str, frozenset[str]] = {}
    for one in some:
        for name, cells in one.items():
            known = found.get(name)
            found[name] = cells if known is None or known is cells else known | cells
    return found


def both(cells: Cells | None, more: Cells | None) -> Cells | None:
    """The cells of both, None for any."""
    return None if cells is None or more is None else merged(cells, more)


class Differences(NamedTuple):
    """What differs in a revision. In `functions` it is the Delta, or the graph in a way that is not looked into; in `rewritten`
    ones, calls write these other cells; `recalled` ones have callers that they did not have; in `rederived` ones it is the
    graph."""

    functions: Set[str]
    rewritten: Mapping[str, Set[str]]
    recalled: Set[str] = frozenset()
    rederived: Set[str] = frozenset()

    @property
    def in_graph(self) -> Set[str]:
        """The functions in which the Delta or the graph differs."""
        return self.functions | self.rederived

    def spare(self, functions: Set[str], cells: Cells | None) -> bool:
        """Whether the Delta is the same for a search in these functions that asked for the writers of `cells` (None: of any)."""
        if not self.functions.isdisjoint(functions):
            return False
        concerned = self.rewritten.keys() & functions
        if not concerned or cells is None:
            return not concerned
        return all(cells[name].isdisjoint(self.rewritten[name]) for name in concerned if name in cells)


class Searched(Protocol):
    """What a search found. `functions` and `cells` as in `Differences.spare`; `called` are the functions whose callers it looked
    for; `dead`: it left out callers that no execution leads to."""

    @property
    def functions(self) -> frozenset[str]: ...  # noqa: D102
    @property
    def cells(self) -> Cells | None: ...  # noqa: D102
    @property
    def called(self) -> frozenset[str]: ...  # noqa: D102
    @property
    def dead(self) -> bool: ...  # noqa: D102


Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found", bound=Searched)


class KeptSearches(Generic[Key, Found]):
    """What was found, by key: what is `known` to hold, and what is in question."""

    def __init__(self) -> None:
        self.known: dict[Key, Found] = {}
        self.in_question: dict[Key, Found] = {}

    def changed(self, differ: Differences) -> dict[Key, Found]:
        """Takes the next revision. Returns what was known, and is not any more."""
        before = self.known
        stay = {key: found for key, found in (self.in_question | before).items() if differ.spare(found.functions, found.cells)}
        self.known = {key: found for key, found in stay.items() if key in before and _in_same_graph(found, differ)}
        self.in_question = {key: found for key, found in stay.items() if key not in self.known}
        return {key: found for key, found in before.items() if key not in self.known}

    def get(self, key: Key, holds: Callable[[Found], bool]) -> Found | None:
        """What was found, if that still holds; `holds` is asked where it is in question."""
        found = self.known.get(key)
        if found is None and (asked := self.in_question.pop(key, None)) is not None and holds(asked):
            found = self.known[key] = asked
        return found

    def forget(self) -> None:
        """Nothing holds any more."""
        self.known, self.in_question = {}, {}


def _in_same_graph(found: Searched, differ: Differences) -> bool:
    is_called_otherwise = found.dead or not differ.recalled.isdisjoint(found.called)
    return not is_called_otherwise and differ.rederived.isdisjoint(found.functions)
