"""A translation unit as bytes, and back: all that the session knows of it but its syntax tree.

Ids of locations and edges survive edits, so CFAs cannot be made again from the text: they are what is kept. The maps from
offsets to places are read off the preprocessed text again.
"""

from __future__ import annotations

from functools import cache

import msgspec

from analysis.c.linkage import FileLinkage
from analysis.cfa.building.cfa_building import LoweredFunction
from analysis.cfa.building.unit import BrokenFunction, Unit
from analysis.cfa.graph import External, FunctionSource
from analysis.frontend.declarations.file_level import DeclaredFunction, FileLevel, Variable
from analysis.frontend.declarations.scope import Answer, Entry
from analysis.frontend.lowering.context import StaticLocal
from analysis.frontend.text.line_map import LineMap, printable
from analysis.frontend.text.preprocess import Preprocessed, doubt
from analysis.model import ir
from analysis.model.c_types import DataModel, RecordDefinition, Type
from analysis.model.places import Site
from analysis.model.report import Count, Message
from analysis.session.keeping.packed_cfas import PackedCfa, packed_cfa, unpacked_cfa
from analysis.session.units.built import Built
from analysis.store.packing import Codec


class _Function(msgspec.Struct):
    cfa: PackedCfa
    unit: str
    start: int
    sites: list[int]  # edge, start, end of one after the other
    name_site: Site
    end_site: Site
    text_key: str
    used: dict[tuple[str, str], Answer]
    statics: tuple[StaticLocal, ...]
    implicit: tuple[ir.Var, ...]
    externs: tuple[ir.Var, ...]
    records: dict[str, RecordDefinition]
    address_taken: frozenset[str]


class _Level(msgspec.Struct):
    names: dict[str, Entry]
    tags: dict[str, Type]
    records: dict[str, RecordDefinition]
    variables: dict[str, Variable]
    functions: dict[str, DeclaredFunction]
    address_taken: set[str]
    refused: list[tuple[int, str]]
    linkage: FileLinkage


class _Text(msgspec.Struct):
    path: str
    source: bytes
    text: bytes
    messages: tuple[Message, ...]
    dependencies: tuple[str, ...]
    raw: bool
    folder: str
    flags_doubt: str


class _Unit(msgspec.Struct):
    text: _Text
    parse_errors: int
    path: str
    model: DataModel
    functions: list[_Function]
    variables: tuple[Variable, ...]
    declared: tuple[External, ...]
    implicit: tuple[External, ...]
    records: dict[str, RecordDefinition]
    address_taken: frozenset[str]
    broken: tuple[BrokenFunction, ...]
    level: _Level
    level_digest: str
    last_good: list[_Function]


@cache
def _codec() -> Codec[_Unit]:
    """Made when it is first needed, which takes as long as some modules' imports."""
    return Codec(_Unit)


def pack_unit(built: Built) -> bytes:
    """A built unit as bytes."""
    unit, level, text = built.unit, built.unit.level, built.preprocessed
    return _codec().encode(
        _Unit(
            text=_Text(
                text.path, text.source, text.text, text.messages, text.dependencies, text.raw, text.folder, text.flags_doubt
            ),
            parse_errors=built.parse_errors,
            path=unit.path,
            model=unit.model,
            functions=[_packed(function) for function in unit.functions],
            variables=unit.variables,
            declared=unit.declared,
            implicit=unit.implicit,
            records=unit.records,
            address_taken=unit.address_taken,
            broken=unit.broken,
            level=_Level(
                level.scope.names,
                level.scope.tags,
                level.scope.records,
                level.variables,
                level.functions,
                level.address_taken,
                level.refused,
                level.linkage,
            ),
            level_digest=unit.level_digest,
            last_good=[_packed(function) for function in unit.last_good.values()],
        )
    )


def unpack_unit(data: bytes) -> Built:
    """The unit that was packed, without its times and counts; raises PackingError."""
    packed = _codec().decode(data)
    text = packed.text
    line_map = LineMap(text.text, printable(text.path), text.raw)
    preprocessed = Preprocessed(
        text.path, text.source, text.text, line_map, text.messages, text.dependencies, 0.0, text.raw, text.folder
    )._replace(flags_doubt=text.flags_doubt)
    level = FileLevel()
    level.scope.names = packed.level.names
    level.scope.tags = packed.level.tags
    level.scope.records = packed.level.records
    level.variables = packed.level.variables
    level.functions = packed.level.functions
    level.address_taken = packed.level.address_taken
    level.refused = packed.level.refused
    level.linkage = packed.level.linkage
    unit = Unit(
        path=packed.path,
        model=packed.model,
        functions=tuple([_unpacked(function) for function in packed.functions]),
        variables=packed.variables,
        declared=packed.declared,
        implicit=packed.implicit,
        records=packed.records,
        address_taken=packed.address_taken,
        broken=packed.broken,
        work=Count(),
        level=level,
        level_digest=packed.level_digest,
        last_good={function.cfa.name: _unpacked(function) for function in packed.last_good},
        doubt=doubt(preprocessed),
    )
    return Built(preprocessed, unit, packed.parse_errors, 0, 0.0, 0.0)


def _packed(function: LoweredFunction) -> _Function:
    source = function.source
    return _Function(
        cfa=packed_cfa(function.cfa),
        unit=source.unit,
        start=source.start,
        sites=[number for edge, site in source.sites.items() for number in (edge, site.start, site.end)],
        name_site=source.name_site,
        end_site=source.end_site,
        text_key=function.text_key,
        used=function.used,
        statics=function.statics,
        implicit=function.implicit,
        externs=function.externs,
        records=function.records,
        address_taken=function.address_taken,
    )


def _unpacked(packed: _Function) -> LoweredFunction:
    sites = packed.sites
    return LoweredFunction(
        cfa=unpacked_cfa(packed.cfa),
        source=FunctionSource(
            unit=packed.unit,
            start=packed.start,
            sites=dict(zip(sites[::3], map(Site, sites[1::3], sites[2::3]), strict=True)),
            name_site=packed.name_site,
            end_site=packed.end_site,
        ),
        text_key=packed.text_key,
        used=packed.used,
        statics=packed.statics,
        implicit=packed.implicit,
        externs=packed.externs,
        records=packed.records,
        address_taken=packed.address_taken,
    )
