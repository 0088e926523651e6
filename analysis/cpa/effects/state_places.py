"""Lvalues: what they are part of, and whether two of them can be the same object.

Accesses through pointers are kept apart by their types, as C11 6.5p7 has it: what is written through a member of one record is
not what is read through another member of the same record, and scalars of different kinds are different objects, characters and
members of unions aside.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Literal, NamedTuple

from analysis.c.aliasing import of_characters, scalar_class
from analysis.model import ir
from analysis.model.c_types import Array, Record, RecordDefinition, Type


class Tag(NamedTuple):
    """The kind of an access: `scalar` is the kind of value, "char" for bytes, "any" for what can be anything; `record` and
    `member` say which member of which record it is, empty if none."""

    scalar: str
    record: str = ""
    member: str = ""


ANY = Tag("any")
Overlap = Literal["never", "same", "part", "maybe"]


def base_of(lvalue: ir.Expr) -> ir.Var | ir.Deref | None:
    """The variable or dereferenced pointer that the lvalue is a part of; None if it is neither."""
    root = ir.root(lvalue)
    return root if isinstance(root, ir.Var | ir.Deref) else None


def onto(base: ir.Expr, steps: list[ir.Field | ir.Index]) -> ir.Expr:
    """The same members and elements of another object."""
    for step in steps:
        base = ir.Field(base, step.name, step.type) if isinstance(step, ir.Field) else ir.Index(base, step.index, step.type)
    return base


def tag_of(lvalue: ir.Expr, bytes_of_any: Container[str]) -> Tag:
    """What the access says about its object. `bytes_of_any`: the records that hold characters only."""
    scalar = scalar_class(lvalue.type)
    named: ir.Field | None = None
    for step in ir.steps(lvalue):
        if isinstance(step, ir.Field):
            record = step.record.type
            if not isinstance(record, Record) or record.kind == "union" or not step.name:
                return ANY
            named = step
    if named is None or not isinstance(named.record.type, Record):
        return Tag(scalar)
    if named.record.type.key in bytes_of_any and isinstance(base_of(lvalue), ir.Deref):
        return Tag(scalar)
    return Tag(scalar, named.record.type.key, named.name)


def may_alias(one: Tag, other: Tag) -> bool:
    """Whether two accesses at places that are not known can be to one object."""
    if "any" in (one.scalar, other.scalar):
        if one.scalar == other.scalar or not (one.record and one.record == other.record):
            return True
        return one.member == other.member  # an aggregate member and another one of the same record
    if one.record and one.record == other.record:
        return one.member == other.member and one.scalar == other.scalar
    if "char" in (one.scalar, other.scalar):
        return not (one.record and other.record) or one.scalar == other.scalar
    return one.scalar == other.scalar


def tags_in(type_: Type, records: dict[str, RecordDefinition]) -> frozenset[Tag]:
    """The kinds of access to the scalars in an object of the type."""
    found: set[Tag] = set()
    _collect(type_, records, "", "", found, set())
    return frozenset(found)


def _collect(
    type_: Type, records: dict[str, RecordDefinition], record: str, member: str, found: set[Tag], seen: set[Type]
) -> None:
    match type_:
        case Array(element):
            _collect(element, records, record, member, found, seen)
        case Record(kind, key):
            definition = records.get(key)
            if kind == "union" or definition is None:
                found.add(ANY)
            elif type_ not in seen:
                seen.add(type_)
                key = "" if key in of_characters({key: definition}) else key  # its members may be the bytes of any object
                for inner in definition.members:
                    if not inner.name:
                        found.add(ANY)
                    _collect(inner.value_type, records, key, inner.name, found, seen)
        case _:
            found.add(Tag(scalar_class(type_), record, member))


def overlap(written: list[ir.Field | ir.Index], read: list[ir.Field | ir.Index]) -> tuple[Overlap, tuple[ir.Expr, ...]]:
    """How two parts of one object lie to each other, and the pairs of indices, one after the other, that have to be equal for it.
    "part": what is read is in what is written."""
    pairs: list[ir.Expr] = []
    for one, other in zip(written, read, strict=False):
        if isinstance(one, ir.Field) and isinstance(other, ir.Field):
            if one.name == other.name and one.name:
                continue
            record = one.record.type
            if one.name and other.name and isinstance(record, Record) and record.kind == "struct":
                return "never", ()
            return "maybe", ()
        if not isinstance(one, ir.Index) or not isinstance(other, ir.Index):
            return "maybe", ()
        if one.index == other.index:
            continue
        if isinstance(one.index, ir.IntConst) and isinstance(other.index, ir.IntConst):
            if one.index.value != other.index.value:
                return "never", ()
            continue
        pairs += [one.index, other.index]
    if len(read) < len(written):
        return "maybe", ()  # a part of what is read
    return ("same" if len(read) == len(written) else "part"), tuple(pairs)
