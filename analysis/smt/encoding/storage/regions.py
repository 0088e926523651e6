"""The objects of a path, and what may point to them."""

from __future__ import annotations

from typing import Literal, NamedTuple

from analysis.c.aliasing import scalar_class
from analysis.cfa.bit_layout import BitLayout
from analysis.model.c_types import Array, Record, Type
from analysis.smt.encoding.storage.content import Tag
from analysis.smt.logic.terms import Term

RegionKind = Literal["outside", "global", "local", "heap", "stack", "string", "function"]


class Region(NamedTuple):
    """An object. `size` is in bytes, None if it is no constant: `size_term` then says it if anything does. `type` is the declared
    type, None for allocated memory. `name` is for people."""

    number: int
    name: str
    kind: RegionKind
    type: Type | None
    size: int | None
    size_term: Term | None = None

    @property
    def is_static(self) -> bool:
        """Whether it is there before the path starts."""
        return self.kind in ("global", "string", "function")


class Spot(NamedTuple):
    """A place in an object: `bits` from its start, and `symbolic` bytes more if that is not None. What is accessed there is known
    to lie between the bits `low` and `high`, where these are not None. `is_typed`: that something is there is known only of a
    pointer from outside, whose accesses are kept apart from others by their types."""

    region: int
    bits: int
    symbolic: Term | None = None
    low: int | None = None
    high: int | None = None
    is_typed: bool = False


Alternatives = tuple[tuple[Term, Spot], ...]


def can_hold(type_: Type | None, tag: Tag, layout: BitLayout) -> bool:
    """Whether an object of a declared type can hold what an access with this tag is to. Allocated memory can hold anything."""
    if type_ is None or tag.scalar == "any" or (tag.scalar == "char" and not tag.record):
        return True
    return tag.scalar in _classes(type_, layout, set())


def _classes(type_: Type, layout: BitLayout, seen: set[Type]) -> set[str]:
    match type_:
        case Array(element):
            return _classes(element, layout, seen)
        case Record():
            if type_ in seen:
                return set()
            seen.add(type_)
            definition = layout.definition(type_)
            found: set[str] = set()
            for member in definition.members if definition is not None else ():
                found |= _classes(member.value_type, layout, seen)
            return found
        case _:
            return {scalar_class(type_)}
