"""The records of a program of whose members nothing is said: parts of unions and of arrays in records, those whose layout is not
understood, and those that functions access otherwise (`other_accesses`)."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.certificate.nonzero.other_accesses import Otherwise
from analysis.certificate.nonzero.record_parts import held, inside, mentioned, reached
from analysis.certificate.nonzero.writes import overlaid
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.c_types import Array, Pointer, Record, Type
from analysis.model.kept_with import kept_with


@kept_with
def left_out(program: Program) -> frozenset[str]:
    """The keys of the records that are left out, whatever functions do with them."""
    found = set[str](overlaid(program))
    for key, one in program.records.items():
        if one.kind == "union":
            found |= _in_union(program, key)
        if one.strange or not one.is_laid_out or one.packed:
            found.add(key)
        for member in one.members:
            if isinstance(member.type, Array):
                found |= held(program, member.type)
    for variable in program.globals.values():
        if isinstance(variable.initial, ir.Unknown) and not variable.parts:
            found |= reached(program, held(program, variable.var.type) | mentioned(variable.var.type))
    return frozenset(found)


def confused_by(program: Program, found: Iterable[Otherwise]) -> frozenset[str]:
    """The keys of the records that functions access otherwise. Members may lead from a confused object to others; from one that
    is accessed as bytes only if these may come from objects of other types (`assumptions.OWN_KINDS`)."""
    found, keys = tuple(found), set[str]()
    copies = any(one.copies for one in found)
    for one in found:
        for type_ in one.confused | one.bytes:
            direct = mentioned(type_) | held(program, type_) | _behind(program, type_)
            keys |= reached(program, direct) if copies or type_ in one.confused else direct
        for type_ in one.raw:
            keys |= _behind(program, type_)
        for type_ in one.moved:
            keys |= held(program, type_)
        for type_ in one.outgrown:
            keys |= _holders(program, type_)
    return frozenset(keys)


def _holders(program: Program, type_: Type) -> frozenset[str]:
    """The records that have objects of this type as parts, with all their parts."""
    found = [keys for key, keys in inside(program).items() if not isinstance(type_, Record) or type_.key in keys - {key}]
    return frozenset().union(*found)


def _in_union(program: Program, key: str) -> frozenset[str]:
    """The records that may be something else because pointers to them are in a union."""
    definitions = (program.records.get(inner) for inner in inside(program)[key])  # of types that are not modelled there is none
    parts = (member.type for one in definitions for member in (() if one is None else one.members))
    return frozenset(found for part in parts for found in mentioned(part)) | inside(program)[key]


def _behind(program: Program, type_: Type) -> frozenset[str]:
    """The records in what a pointer leads to."""
    return held(program, type_.target) if isinstance(type_, Pointer) else frozenset()
