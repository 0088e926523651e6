"""Where the scalars of an object are, in bits: records, unions, arrays, bit-fields (`analysis.c.layout`)."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping

from analysis.c.layout import Layout
from analysis.cfa.graph import Program
from analysis.model.c_types import Array, DataModel, Floating, Integer, Pointer, Record, RecordDefinition, Type

MOST_LEAVES = 4096
_LAYOUTS: weakref.WeakKeyDictionary[Program, dict[str, BitLayout]] = weakref.WeakKeyDictionary()


class BitLayout:
    """Offsets and sizes in bits for the types of a program. It remembers its answers, which paths ask for at every access."""

    def __init__(self, records: Mapping[str, RecordDefinition], model: DataModel) -> None:
        self.layout = Layout(model, records.get)
        self._records = records
        self._leaves: dict[Type, tuple[tuple[int, Type], ...] | None] = {}
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
        return self._records.get(record.key) if isinstance(record, Record) else None

    def member(self, record: Type, name: str, type_: Type) -> int | None:
        """Where a member of that type starts. Anonymous records have an empty name: they are known by their type."""
        key = record, name, type_
        if key not in self._members:
            self._members[key] = self.layout.start(record, name, type_)
        return self._members[key]

    def leaves(self, type_: Type) -> tuple[tuple[int, Type], ...] | None:
        """The scalars that make up an object, by offset: of a union those of its largest member. None if they are not known, or
        more than MOST_LEAVES."""
        if type_ not in self._leaves:
            found: list[tuple[int, Type]] = []
            for leaf in self._walk(type_, 0):
                if leaf is None or len(found) >= MOST_LEAVES:
                    self._leaves[type_] = None
                    return None
                found.append(leaf)
            self._leaves[type_] = tuple(found)
        return self._leaves[type_]

    def _walk(self, type_: Type, start: int) -> Iterator[tuple[int, Type] | None]:
        match type_:
            case Integer() | Floating() | Pointer():
                yield start, type_
            case Array(element, length):
                size = self.size(element)
                if length is None or size is None:
                    yield None
                    return
                for position in range(length):
                    yield from self._walk(element, start + position * size)
            case Record():
                yield from self._walk_members(type_, start)
            case _:
                yield None

    def _walk_members(self, record: Record, start: int) -> Iterator[tuple[int, Type] | None]:
        definition = self.definition(record)
        if definition is None:
            yield None
            return
        members = [m for m in definition.members if m.name or isinstance(m.type, Record)]
        if definition.kind == "union" and members:
            members = [max(members, key=lambda m: self.size(m.type) or 0)]
        for member in members:
            offset = self.member(record, member.name, member.type)
            if offset is None:
                yield None
                return
            yield from self._walk(
                member.type if member.bits is None else self._bit_field(member.type, member.bits), start + offset
            )

    @staticmethod
    def _bit_field(type_: Type, bits: int) -> Type:
        return Integer(bits, isinstance(type_, Integer) and type_.signed, f"bits{bits}")
