"""What changed between two revisions of a program: their delta, function by function and edge by edge.

Functions correspond by name, static ones as `counterparts` says, and their edges as `edge_delta` says.
Positions alone are no change: layout, comments, and the order and files of functions. Neither is a change of
what no function of either revision uses, such as most of a header, including functions in system headers.

The analysis does not know the initial value of a variable that is initialised with an aggregate, so a change
of such an initialiser is no change here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

import msgspec

from analysis.cfa.graph import Cfa, External, Global, Places, Program
from analysis.cfa.revisions.counterparts import counterparts
from analysis.cfa.revisions.edge_delta import FunctionChange, Kind, Linkage, function_change
from analysis.cfa.revisions.used import Used, used_by_functions
from analysis.model.c_types import RecordDefinition
from analysis.model.spelling import display_name

T = TypeVar("T")


class Revision(msgspec.Struct, frozen=True):
    """A program with its places. `unparsed` are the names, as in the text, of functions that it lacks because they do not parse;
    `system` the linkage names of functions that are defined in headers of the system's."""

    program: Program
    places: Places
    unparsed: frozenset[str] = frozenset()
    system: frozenset[str] = frozenset()


class Change(msgspec.Struct, Generic[T], frozen=True):
    """What a name stood for and what it stands for, None for nothing."""

    name: str
    old: T | None
    new: T | None

    @property
    def kind(self) -> Kind:
        """What happened to it."""
        return "added" if self.old is None else "deleted" if self.new is None else "modified"


class ProgramChange(msgspec.Struct, frozen=True):
    """All that changed. Names are those of the old revision where something is in both. `added` and `deleted` are functions, by
    linkage name.

    `unparsed` functions do not parse in one of the revisions, so that nobody knows whether they changed. `targets` are functions
    whose address is taken in one revision only, so that calls through pointers can reach them in that one only.
    """

    added: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    modified: tuple[FunctionChange, ...] = ()
    unparsed: tuple[str, ...] = ()
    globals: tuple[Change[Global], ...] = ()
    externals: tuple[Change[External], ...] = ()
    records: tuple[Change[RecordDefinition], ...] = ()
    targets: tuple[Change[str], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing changed, and everything was compared."""
        return self == ProgramChange()

    def only(self, function: str) -> ProgramChange:
        """What changed in the functions of this name, as in the text or as linked; nothing of what is around them."""

        def wanted(name: str) -> bool:
            return function in (name, display_name(name))

        return ProgramChange(
            added=tuple(filter(wanted, self.added)),
            deleted=tuple(filter(wanted, self.deleted)),
            modified=tuple(change for change in self.modified if wanted(change.old.name)),
            unparsed=tuple(filter(wanted, self.unparsed)),
        )


def program_change(old: Revision, new: Revision) -> ProgramChange:
    """The delta between two revisions. The new one need not have been read as an edit of the old: ids are compared by `match`."""
    linkage = Linkage(counterparts(new.program, old.program))
    before = old.program.functions
    after = {linkage.names.get(name, name): cfa for name, cfa in new.program.functions.items()}
    surroundings = _Surroundings(old, new, linkage)
    relevant, lost = surroundings.relevant, _lost(old, new, after)
    modified = (
        function_change(cfa, after[name], old.places, new.places, linkage) for name, cfa in before.items() if name in after
    )
    added = [cfa for name, cfa in after.items() if name not in before and name not in lost and relevant(name)]
    deleted = [cfa for name, cfa in before.items() if name not in after and name not in lost and relevant(name)]
    return ProgramChange(
        added=tuple(cfa.name for cfa in added),
        deleted=tuple(cfa.name for cfa in deleted),
        modified=tuple(change for change in modified if change is not None and relevant(change.old.name)),
        unparsed=tuple(lost),
        globals=surroundings.globals(),
        externals=surroundings.externals(),
        records=surroundings.records(),
        targets=surroundings.targets(),
    )


def _lost(old: Revision, new: Revision, after: Mapping[str, Cfa]) -> list[str]:
    """The functions that are in one revision only, and may be among what does not parse in the other one. `after` are those of
    the new revision under the names that they have in the old one."""
    before = old.program.functions
    appeared = [name for name in after if name not in before and display_name(name) in old.unparsed]
    return appeared + [name for name in before if name not in after and display_name(name) in new.unparsed]


def changes(old: Mapping[str, T], new: Mapping[str, T]) -> tuple[Change[T], ...]:
    """What differs between two tables: first what the old one has, in its order."""
    names = dict.fromkeys((*old, *new))
    return tuple(Change(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name))


class _Surroundings:
    """Compares what two programs hold beside their functions' CFAs, as far as it is used."""

    def __init__(self, old: Revision, new: Revision, linkage: Linkage) -> None:
        self._old, self._new = old.program, new.program
        self._systems = old.system, new.system
        self._linkage = linkage
        self._system = old.system.union(map(self._name, new.system))
        self._used: tuple[Used, Used] | None = None

    def relevant(self, function: str) -> bool:
        """Whether it matters that a function changed: it is the program's own, or used."""
        return function not in self._system or self._is_used(function)

    def globals(self) -> tuple[Change[Global], ...]:
        """Variables: their types and initial values."""
        if self._old.globals is self._new.globals and not self._linkage.names:
            return ()
        old = {name: msgspec.structs.replace(variable, path="") for name, variable in self._old.globals.items()}
        new = {variable.var.name: variable for variable in map(self._renamed, self._new.globals.values())}
        return tuple(change for change in changes(old, new) if self._is_used(change.name))

    def _renamed(self, variable: Global) -> Global:
        return self._linkage(msgspec.structs.replace(variable, path=""))

    def externals(self) -> tuple[Change[External], ...]:
        """External functions; one that gets or loses a body is named among the functions."""
        if self._old.externals is self._new.externals and not self._linkage.names:
            return ()
        new = {self._name(name): msgspec.structs.replace(e, name=self._name(name)) for name, e in self._new.externals.items()}
        defined = self._old.functions.keys() | map(self._name, self._new.functions)
        found = (change for change in changes(self._old.externals, new) if change.name not in defined)
        return tuple(change for change in found if self._is_used(change.name))

    def records(self) -> tuple[Change[RecordDefinition], ...]:
        """Structures and unions: their members."""
        if self._old.records is self._new.records:
            return ()
        found = changes(self._old.records, self._new.records)
        if not found:
            return ()
        one, other = self._used_names()
        return tuple(change for change in found if change.name in one.records or change.name in other.records)

    def targets(self) -> tuple[Change[str], ...]:
        """Functions whose address is taken."""
        return changes(_table(self._old.address_taken), _table(map(self._name, self._new.address_taken)))

    def _name(self, name: str) -> str:
        return self._linkage.names.get(name, name)

    def _is_used(self, name: str) -> bool:
        one, other = self._used_names()
        return name in one.names or name in other.names

    def _used_names(self) -> tuple[Used, Used]:
        """What is used in the revisions; takes a while, so that it is asked only where something differs."""
        if self._used is None:
            old, new = self._systems
            now = used_by_functions(self._new, new)
            now = msgspec.structs.replace(now, names=frozenset(map(self._name, now.names)))
            self._used = (used_by_functions(self._old, old), now)
        return self._used


def _table(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in sorted(names)}
