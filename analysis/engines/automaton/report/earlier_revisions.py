"""What searches found in the last revisions, for a program that is again what it was in one of them: an edit is taken back.

What a search finds follows from the program, the rules and the limits alone (invariants I7 and I11). So it holds again where
nothing differs from the revision in which it was found, the ids of locations and edges among that. Programs are compared as a
whole. What a search read does not matter here, and the search need not say it.

A statement that was deleted and is put back has another id than before (invariant I4). So its function is another one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Set
from typing import Generic, NamedTuple, TypeVar

from analysis.cfa.graph import Cfa, Program

_REVISIONS = 8  # that are kept: an edit of a few keys is taken back in as many steps

Paths = TypeVar("Paths")
Calls = TypeVar("Calls")


class Revision(NamedTuple):
    """A program, and the functions where its executions begin."""

    program: Program
    entries: tuple[str, ...]


class Step(NamedTuple):
    """The revision before, and the present one."""

    before: Revision
    now: Revision


class _Left(NamedTuple, Generic[Paths, Calls]):
    """What was known in a revision, and not in the next one, in which the functions `texts` have other text."""

    revision: Revision
    texts: Set[str]
    paths: Mapping[tuple[str, frozenset[int]], Paths]
    beginnings: Mapping[tuple[str, frozenset[int]], Calls]


class EarlierRevisions(Generic[Paths, Calls]):
    """What was known in the last revisions, by what paths are searched to (`raised_errors.Sought.at`)."""

    def __init__(self) -> None:
        self._left: deque[_Left[Paths, Calls]] = deque(maxlen=_REVISIONS)

    def leave(
        self,
        revision: Revision,
        texts: Set[str],
        paths: Mapping[tuple[str, frozenset[int]], Paths],
        beginnings: Mapping[tuple[str, frozenset[int]], Calls],
    ) -> None:
        """Keeps what was known in a revision, and does not hold in the next one for all that is known. There, the functions
        `texts` have other text."""
        self._left.append(_Left(revision, texts, paths, beginnings))

    def like(self, now: Revision) -> Iterator[_Left[Paths, Calls]]:
        """What was known in revisions that this one is the same as."""
        return (left for left in self._left if _is_back(left.revision, left.texts, now) and is_same(left.revision, now))

    def forget(self) -> None:
        """The rules are other ones."""
        self._left.clear()


def _is_back(revision: Revision, texts: Set[str], now: Revision) -> bool:
    """Whether some functions are what they were. Most edits are not taken back, and this looks at the edited functions alone."""
    before, functions = revision.program.functions, now.program.functions
    there = texts & before.keys()
    return all(name in functions and is_same_function(before[name], functions[name]) for name in there)


def is_same(one: Revision, other: Revision) -> bool:
    """Whether nothing differs that an analysis can ask for. Where a text stands is not part of a program (invariant I3)."""
    old, new = one.program, other.program
    return (
        one.entries == other.entries
        and [*old.functions] == [*new.functions]
        and all(map(is_same_function, old.functions.values(), new.functions.values()))
        and (old.called is new.called or old.called == new.called)
        and (old.exposed, old.address_taken) == (new.exposed, new.address_taken)
        and old.globals == new.globals
        and old.externals == new.externals
        and old.records == new.records
    )


def is_same_function(one: Cfa, other: Cfa) -> bool:
    """Whether two CFAs are the same, with their ids. (`next_location` and `next_edge` are about ids of later ones, and graphs
    are about programs without obstacles.)"""
    return one is other or (
        one.digest == other.digest
        and (one.name, one.path, one.type, one.parameters) == (other.name, other.path, other.type, other.parameters)
        and (one.entry, one.exit) == (other.entry, other.exit)
        and one.edges == other.edges
        and (one.blocks, one.inside, one.unordered) == (other.blocks, other.inside, other.unordered)
        and one.unobstructed is None
        and other.unobstructed is None
    )
