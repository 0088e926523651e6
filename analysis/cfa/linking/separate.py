"""Records of one tag with different members in different files are different types: their keys are kept apart.

The first file's record keeps the key; another one gets "struct s~2", throughout its unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import msgspec

from analysis.cfa.building.cfa_building import LoweredFunction
from analysis.cfa.building.unit import Unit
from analysis.cfa.graph import Cfa, Edge
from analysis.cfa.linking.rewrite import Renaming
from analysis.model.c_types import RecordDefinition
from analysis.model.digest import digest_text

# a CFA under other keys (None: they do not occur in it) is made once, so that it stays the same object as long as its function
# does not change
_rewritten: WeakKeyDictionary[Cfa, dict[tuple[tuple[str, str], ...], Cfa | None]] = WeakKeyDictionary()


class Separated(msgspec.Struct, frozen=True):
    """The units with distinct keys for distinct records, and the records of all of them. `keys` are the new keys by unit."""

    units: tuple[Unit, ...]
    records: dict[str, RecordDefinition]
    keys: tuple[dict[str, str], ...]


def separate_records(units: Sequence[Unit]) -> Separated:
    """Gives distinct records distinct keys."""
    records: dict[str, RecordDefinition] = {}
    separated: list[Unit] = []
    new_keys: list[dict[str, str]] = []
    for unit in units:
        keys = _new_keys(unit, records)
        separated.append(_under_keys(unit, keys) if keys else unit)
        new_keys.append(keys)
        for key, definition in separated[-1].records.items():
            records.setdefault(key, definition)
    return Separated(tuple(separated), records, tuple(new_keys))


def separate_again(units: Sequence[Unit], given: Sequence[Unit], before: Separated) -> Separated:
    """The same for units that differ from those `given` before in nothing but functions' CFAs and places."""
    separated = []
    for unit, old, done, keys in zip(units, given, before.units, before.keys, strict=True):
        if unit is old:
            separated.append(done)
        elif not keys:
            separated.append(unit)
        else:
            rename = Renaming(records=keys)
            functions = tuple(_function(function, keys, rename) for function in unit.functions)
            separated.append(msgspec.structs.replace(done, functions=functions))
    return Separated(tuple(separated), before.records, before.keys)


def _new_keys(unit: Unit, records: dict[str, RecordDefinition]) -> dict[str, str]:
    """The keys of the unit that must change. A change can make the records that contain the changed one differ, too."""
    keys: dict[str, str] = {}
    while True:
        rename = Renaming(records=keys)
        clashes = [
            key
            for key, definition in unit.records.items()
            if key not in keys
            and (known := records.get(key)) is not None
            and known != (rename(definition) if keys else definition)
        ]
        if not clashes:
            return keys
        for key in clashes:
            keys[key] = _free_key(key, unit.records[key], records)


def _free_key(key: str, definition: RecordDefinition, records: dict[str, RecordDefinition]) -> str:
    """The key of an equal record that was set apart before, or the next free one."""
    number = 2
    while (known := records.get(f"{key}~{number}")) is not None and known.members != definition.members:
        number += 1
    return f"{key}~{number}"


def _under_keys(unit: Unit, keys: dict[str, str]) -> Unit:
    rename = Renaming(records=keys)
    return msgspec.structs.replace(
        unit,
        functions=tuple(_function(function, keys, rename) for function in unit.functions),
        variables=rename(unit.variables),
        declared=rename(unit.declared),
        implicit=rename(unit.implicit),
        records={d.key: d for d in map(rename, unit.records.values())},
    )


def _function(function: LoweredFunction, keys: dict[str, str], rename: Renaming) -> LoweredFunction:
    return msgspec.structs.replace(
        function, cfa=renamed_cfa(function.cfa, keys, rename), statics=rename(function.statics), externs=rename(function.externs)
    )


def renamed_cfa(cfa: Cfa, keys: Mapping[str, str], rename: Renaming) -> Cfa:
    """A function under other keys of records, or linkage names; the same one if there is nothing to change in it."""
    chosen = tuple(sorted(keys.items()))
    known = _rewritten.setdefault(cfa, {})
    if chosen in known:
        return known[chosen] or cfa
    edges = tuple(Edge(e.id, e.source, e.target, rename(e.effect)) for e in cfa.edges)
    type_, parameters = rename(cfa.type), rename(cfa.parameters)
    unordered = rename(cfa.unordered)
    name = keys.get(cfa.name, cfa.name)
    if (
        name == cfa.name
        and type_ is cfa.type
        and parameters is cfa.parameters
        and unordered is cfa.unordered
        and all(map(_same_effect, edges, cfa.edges))
    ):
        known[chosen] = None
        return cfa
    renamed = Cfa(
        name=name,
        path=cfa.path,
        type_=type_,
        parameters=parameters,
        entry=cfa.entry,
        exit_=cfa.exit,
        edges=edges,
        digest=digest_text(cfa.digest, *(part for pair in chosen for part in pair)),
        next_location=cfa.next_location,
        next_edge=cfa.next_edge,
        blocks=cfa.blocks,
        inside=cfa.inside,
        unordered=unordered,
    )
    known[chosen] = renamed
    return renamed


def _same_effect(one: Edge, other: Edge) -> bool:
    return one.effect is other.effect
