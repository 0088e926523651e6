"""Where the scalars of an object are, in bits: records, unions, arrays, bit-fields (`analysis.c.layout`).

There is one walk over the scalars of a type. What it does at a union is said by who asks, since a union holds one of its
members at a time (C11 6.2.5p20).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from analysis.c.aliasing import of_characters
from analysis.c.layout import Layout
from analysis.cfa.graph import Program
from analysis.model.c_types import Array, DataModel, Floating, Integer, Member, Pointer, Record, RecordDefinition, Type

MOST_LEAVES = 4096
OfUnion = Literal["largest", "first", "none"]
"""Which member stands for a union: the largest one, which covers the others; the first one, which is initialised (C11 6.7.9p17);
or none, where the contents of unions are not followed."""
Span = tuple[int, int]
"""The bits from the first number up to the second one, which is not among them."""
_LAYOUTS: weakref.WeakKeyDictionary[Program, dict[str, BitLayout]] = weakref.WeakKeyDictionary()


class Part(NamedTuple):
    """A scalar of an object: the bit that it begins at, and its type. That of a bit-field is an integer of its width."""

    bit: int
    type: Type
    is_bit_field: bool = False


class BitLayout:
    """Offsets and sizes in bits for the types of a program. It remembers its answers, which paths ask for at every access."""

    def __init__(self, records: Mapping[str, RecordDefinition], model: DataModel) -> None:
        self.layout = Layout(model, records.get)
        self.records = records
        self._leaves: dict[tuple[Type, OfUnion], tuple[tuple[int, Type], ...] | None] = {}
        self._sizes: dict[Type, int | None] = {}
        self._members: dict[tuple[Type, str, Type], int | None] = {}
        self._bit_fields: dict[tuple[str, str], bool] = {}

    @classmethod
    def of(cls, program: Program, model: DataModel) -> BitLayout:
        """The layout of a program, the same object each time."""
        known = _LAYOUTS.setdefault(program, {})
        if model.name not in known:
            known[model.name] = cls(program.records, model)
        return known[model.name]

    @cached_property
    def bytes_of_any(self) -> frozenset[str]:
        """The keys of the records whose members may be the bytes of any object, where a pointer leads to them."""
        return of_characters(self.records)

    def size(self, type_: Type) -> int | None:
        """The size of an object; None for incomplete and variable-length types."""
        if isinstance(type_, Integer | Pointer):
            return type_.bits if isinstance(type_, Integer) else self.layout.model.pointer_bits
        size = self.bytes(type_)
        return None if size is None else 8 * size

    def bytes(self, type_: Type) -> int | None:
        """`sizeof`."""
        if type_ not in self._sizes:
            self._sizes[type_] = self.layout.size(type_)
        return self._sizes[type_]

    def is_bit_field(self, record: Type, name: str) -> bool:
        """Whether a member is a bit-field."""
        if not isinstance(record, Record):
            return False
        key = record.key, name
        if key not in self._bit_fields:
            self._bit_fields[key] = self.layout.bit_field(record, name) is not None
        return self._bit_fields[key]

    def definition(self, record: Type) -> RecordDefinition | None:
        """The members of a record type."""
        return self.records.get(record.key) if isinstance(record, Record) else None

    def member(self, record: Type, name: str, type_: Type) -> int | None:
        """Where a member of that type starts. Anonymous records have an empty name: they are known by their type."""
        key = record, name, type_
        if key not in self._members:
            self._members[key] = self.layout.start(record, name, type_)
        return self._members[key]

    def leaves(self, type_: Type, union: OfUnion = "largest") -> tuple[tuple[int, Type], ...] | None:
        """The scalars that make up an object, by the bits that they begin at. None if they are not known, or more than
        MOST_LEAVES."""
        key = type_, union
        if key not in self._leaves:
            found: list[tuple[int, Type]] = []
            for part in self.parts(type_, union):
                if part is None or len(found) >= MOST_LEAVES:
                    self._leaves[key] = None
                    return None
                found.append((part.bit, part.type))
            self._leaves[key] = tuple(found)
        return self._leaves[key]

    def parts(self, type_: Type, union: OfUnion, start: int = 0, span: Span | None = None) -> Iterator[Part | None]:
        """The scalars of an object that begins at the bit `start`, in order; None for each part of which they are not known.
        With a `span`: those that have bits in it."""
        if span is not None and (start >= span[1] or start + (self.size(type_) or 0) <= span[0]):
            return
        match type_:
            case Integer() | Floating() | Pointer():
                yield Part(start, type_)
            case Array(element, length):
                yield from self._parts_of_elements(element, length, union, start, span)
            case Record():
                yield from self._parts_of_members(type_, union, start, span)
            case _:
                yield None

    def _parts_of_elements(
        self, element: Type, length: int | None, union: OfUnion, start: int, span: Span | None
    ) -> Iterator[Part | None]:
        size = self.size(element)
        if length is None or size is None:
            yield None
            return
        if span is not None and size:
            numbers = range(max(0, (span[0] - start) // size), min(length, -(-(span[1] - start) // size)))
        else:
            numbers = range(length)
        for number in numbers:
            found = False
            for part in self.parts(element, union, start + number * size, span):
                found = True
                yield part
            if not found and (span is None or not size):  # then no other element has a scalar; there can be billions
                return

    def _parts_of_members(self, record: Record, union: OfUnion, start: int, span: Span | None) -> Iterator[Part | None]:
        definition = self.definition(record)
        if definition is None:
            yield None
            return
        for member in self._followed(definition, union):
            offset = self.member(record, member.name, member.type)
            if offset is None:
                yield None
            elif member.bits is None:
                yield from self.parts(member.type, union, start + offset, span)
            else:
                is_signed = isinstance(member.type, Integer) and member.type.signed
                yield Part(start + offset, Integer(member.bits, is_signed, f"bits{member.bits}"), is_bit_field=True)

    def _followed(self, definition: RecordDefinition, union: OfUnion) -> Sequence[Member]:
        """The members of a record that are followed. Bit-fields without a name hold nothing."""
        members = [m for m in definition.members if m.name or isinstance(m.type, Record)]
        if definition.kind == "struct":
            return members
        if union == "largest":
            members.sort(key=lambda m: self.size(m.type) or 0, reverse=True)
        return [] if union == "none" else members[:1]
