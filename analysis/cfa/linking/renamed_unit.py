"""A unit under other linkage names: those that say which of several programs a definition is of (`cfa.linking.programs`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar
from weakref import WeakKeyDictionary

import msgspec

from analysis.c.linkage import FileLinkage
from analysis.cfa.building.cfa_building import LoweredFunction
from analysis.cfa.building.unit import Unit
from analysis.cfa.graph import External
from analysis.cfa.linking.obstructed import names_in
from analysis.cfa.linking.programs import IN_DOUBT, Meant, apart_by_type, meanings, mentioned_in, names_of, several
from analysis.cfa.linking.rewrite import Renaming
from analysis.cfa.linking.separate import renamed_cfa
from analysis.frontend.declarations.file_level import FileLevel, Variable

T = TypeVar("T")
_levels: WeakKeyDictionary[FileLevel, tuple[Meant, FileLevel]] = WeakKeyDictionary()
"""Made once, so that it stays the same object as long as the file's own is."""


def as_linked(units: Sequence[Unit]) -> list[Unit]:
    """The units of a program, or of several, under the names by which they are linked."""
    names = apart_by_type([names_of(unit) for unit in units])
    found = several(names)
    if not found.owners:
        return list(units)
    meant = meanings([unit.path for unit in units], names, [mentioned_in(unit) for unit in units], found)
    return [renamed_unit(unit, one) if one.names or one.doubtful else unit for unit, one in zip(units, meant, strict=True)]


def renamed_unit(unit: Unit, meant: Meant) -> Unit:
    """The unit as it is linked, with what is in doubt among the names of which it is not known what they stand for."""
    names = meant.names
    rename = Renaming(linked=names)
    known = _levels.get(unit.level)
    if known is None or known[0] != meant:
        known = _levels[unit.level] = meant, _level(unit.level, meant, rename)
    level = known[1]
    return msgspec.structs.replace(
        unit,
        functions=tuple(renamed_function(function, names, rename) for function in unit.functions),
        variables=tuple(level.variables.values()),
        declared=_externals(unit.declared, names),
        implicit=_externals(unit.implicit, names),
        address_taken=_renamed(unit.address_taken, names),
        level=level,
    )


def renamed_function(function: LoweredFunction, names: Mapping[str, str], rename: Renaming) -> LoweredFunction:
    """A function under other names."""
    return msgspec.structs.replace(
        function,
        cfa=renamed_cfa(function.cfa, names, rename),
        statics=rename(function.statics),
        externs=rename(function.externs),
        address_taken=_renamed(function.address_taken, names),
    )


def _externals(externals: tuple[External, ...], names: Mapping[str, str]) -> tuple[External, ...]:
    return tuple(msgspec.structs.replace(e, name=names[e.name]) if e.name in names else e for e in externals)


def _renamed(found: frozenset[str], names: Mapping[str, str]) -> frozenset[str]:
    return found if found.isdisjoint(names) else frozenset(names.get(name, name) for name in found)


def _level(level: FileLevel, meant: Meant, rename: Renaming) -> FileLevel:
    names = meant.names
    made = FileLevel()
    made.scope, made.refused = level.scope, level.refused
    made.variables = {name: rename(one) for name, one in level.variables.items()}
    made.functions = {
        name: msgspec.structs.replace(one, linkage=names.get(one.linkage, one.linkage)) for name, one in level.functions.items()
    }
    made.address_taken = {names.get(name, name) for name in level.address_taken}
    made.linkage = _linkage(level.linkage, meant, [one.var.name for one in made.variables.values() if _points_to(one, meant)])
    return made


def _points_to(variable: Variable, meant: Meant) -> bool:
    """Whether a variable starts with the address of what is in doubt."""
    values = (variable.initial or variable.var, *(part.value for part in variable.parts))
    return any(name in meant.doubtful for name in names_in(values) if name != variable.var.name)


def _linkage(linkage: FileLinkage, meant: Meant, pointing: Iterable[str]) -> FileLinkage:
    """`pointing` are the variables that start with addresses of what is in doubt."""
    names = meant.names

    def keyed(table: dict[str, T]) -> dict[str, T]:
        return {names.get(name, name): said for name, said in table.items()}

    return FileLinkage(
        weak=keyed(linkage.weak),
        inlined=keyed(linkage.inlined),
        external=keyed(linkage.external),
        noreturn=keyed(linkage.noreturn),
        pure=keyed(linkage.pure),
        const=keyed(linkage.const),
        strange=keyed(linkage.strange) | dict.fromkeys(pointing, IN_DOUBT),
        labels=[msgspec.structs.replace(label, name=names.get(label.name, label.name)) for label in linkage.labels],
        starts=linkage.starts,
        everywhere=linkage.everywhere,
        here=linkage.here,
        doubtful=dict.fromkeys(meant.doubtful, IN_DOUBT),
    )
