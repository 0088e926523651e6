"""What searches found, kept over revisions: what still holds, and what holds if the graph is the same where it matters.

A search depends on the models of the functions that it looked into, at the edges that it came to; on which of the cells that it
asked for at an edge that one writes; and on a part of the derivation graph. Most edits change the graph of many functions, but
not the part that a search read. So what only the graph can make wrong is `in_question` until somebody looks (`slice_outline`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from typing import Generic, NamedTuple, Protocol, TypeVar

Cells = Mapping[str, Mapping[int, frozenset[str]]]
"""Cells of which it was asked whether an edge writes them, by function and edge (`EVERYWHERE`: whether any edge does)."""
EVERYWHERE = -1
Edges = Mapping[str, int]
"""Edges by their function, as the bits of a number (`bits`). One more bit says that calls enter the function (`ENTERED`)."""
ENTERED = 1


def bits(ids: Iterable[int]) -> int:
    """The ids of edges as the bits of a number."""
    found = 0
    for id_ in ids:
        found |= 2 << id_
    return found


def ids_of(edges: int) -> Iterator[int]:
    """The ids of which a number has the bits."""
    return (position - 1 for position, bit in enumerate(reversed(f"{edges:b}")) if position and bit == "1")


def all_of(*some: Edges | None) -> dict[str, int] | None:
    """All of the edges, None for any."""
    found: dict[str, int] = {}
    for one in some:
        if one is None:
            return None
        for name, edges in one.items():
            found[name] = found.get(name, 0) | edges
    return found


def merged(*some: Cells) -> dict[str, Mapping[int, frozenset[str]]]:
    """All of the cells."""
    found: dict[str, Mapping[int, frozenset[str]]] = {}
    for one in some:
        for name, asked in one.items():
            known = found.get(name)
            found[name] = asked if known is None or known is asked else _joined(known, asked)
    return found


def _joined(one: Mapping[int, frozenset[str]], other: Mapping[int, frozenset[str]]) -> Mapping[int, frozenset[str]]:
    found = dict(one)
    for edge, cells in other.items():
        known = found.get(edge)
        if known is None or known <= cells:  # then no set is made, of which there are many
            found[edge] = cells
        elif not cells <= known:
            found[edge] = known | cells
    return found


def both(cells: Cells | None, more: Cells | None) -> Cells | None:
    """The cells of both, None for any."""
    return None if cells is None or more is None else merged(cells, more)


class Differences(NamedTuple):
    """What differs in a revision. In `functions` it is the Delta, or the graph in a way that is not looked into; in `partly` ones
    it is the Delta at these edges, if at any; in `rewritten` ones, these edges write these other cells; `recalled` ones have
    callers that they did not have; in `rederived` ones it is the graph."""

    functions: Set[str]
    rewritten: Mapping[str, Mapping[int, Set[str]]]
    recalled: Set[str] = frozenset()
    rederived: Set[str] = frozenset()
    partly: Edges = {}

    @property
    def in_graph(self) -> Set[str]:
        """The functions in which the Delta or the graph differs."""
        return self.functions | self.rederived | self.partly.keys()

    def spare(self, functions: Set[str], cells: Cells | None, edges: Edges | None) -> bool:
        """Whether the Delta is the same for a search in these functions that asked for the writers of `cells` (None: of any), and
        passed these edges (None: any)."""
        if not self.functions.isdisjoint(functions):
            return False
        for name in self.partly.keys() & functions:
            if edges is None or edges.get(name, 0) & self.partly[name]:
                return False
        for name in self.rewritten.keys() & functions:
            passed = -1 if edges is None else edges.get(name, 0)
            for id_, written in self.rewritten[name].items():
                if passed & bits((id_,)) and (cells is None or _is_asked(cells.get(name, {}), id_, written)):
                    return False
        return True


class Searched(Protocol):
    """What a search found. `functions` are those whose graphs it looked at, and `read` those of them in which it asked the Delta;
    `cells` and `edges` as in `Differences.spare`; `called` are the functions whose callers it looked for; `dead`: it left out
    callers that no execution leads to."""

    @property
    def functions(self) -> frozenset[str]: ...  # noqa: D102
    @property
    def read(self) -> Set[str]: ...  # noqa: D102
    @property
    def cells(self) -> Cells | None: ...  # noqa: D102
    @property
    def edges(self) -> Edges | None: ...  # noqa: D102
    @property
    def called(self) -> frozenset[str]: ...  # noqa: D102
    @property
    def dead(self) -> bool: ...  # noqa: D102


def _is_asked(asked: Mapping[int, frozenset[str]], edge: int, written: Set[str]) -> bool:
    """Whether it was asked if an edge writes one of the cells."""
    return any(not asked.get(at, _NO_CELLS).isdisjoint(written) for at in (edge, EVERYWHERE))


_NO_CELLS: frozenset[str] = frozenset()
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
        kept = self.in_question | before
        stay = {key: one for key, one in kept.items() if differ.spare(one.read, one.cells, one.edges)}
        self.known = {key: found for key, found in stay.items() if key in before and _in_same_graph(found, differ)}
        self.in_question = {key: found for key, found in stay.items() if key not in self.known}
        return {key: found for key, found in before.items() if key not in self.known}

    def get(self, key: Key, holds: Callable[[Found], bool]) -> Found | None:
        """What was found, if that still holds; `holds` is asked where it is in question."""
        found = self.known.get(key)
        if found is None and (asked := self.in_question.pop(key, None)) is not None and holds(asked):
            found = self.known[key] = asked
        return found

    def restore(self, found: Mapping[Key, Found]) -> None:
        """Takes up again what was known in another revision, and holds in this one."""
        for key in found:
            self.in_question.pop(key, None)
        self.known = {**found, **self.known}

    def forget(self) -> None:
        """Nothing holds any more."""
        self.known, self.in_question = {}, {}


def _in_same_graph(found: Searched, differ: Differences) -> bool:
    is_called_otherwise = found.dead or not differ.recalled.isdisjoint(found.called)
    return (
        not is_called_otherwise
        and differ.rederived.isdisjoint(found.functions)
        and differ.partly.keys().isdisjoint(found.functions)
    )
