"""Where everything is: sizes, alignments, and where members and bit-fields start (C11 6.2.8, 6.7.2.1).

What C leaves to the implementation is as the System V ABI has it, which gcc and clang follow: members in order, each at the
next multiple of its alignment, bit-fields packed into units of their declared type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from analysis.model.c_types import (
    Array,
    DataModel,
    Floating,
    Function,
    Integer,
    Member,
    Pointer,
    Record,
    RecordDefinition,
    Type,
    Void,
)
from analysis.model.limits import RECORD_LEVELS

RecordLookup = Callable[[str], RecordDefinition | None]


class _Laid(NamedTuple):
    """How a record is laid out. `size` and `alignment` in bytes; `starts` in bits: of members by their names, those of anonymous
    records among them; `unnamed` in bits: of anonymous records, by their types; `bit_fields`: the names of those.
    Not `is_known`: something in it is not understood, or it holds itself, or records are inside each other too deeply."""

    size: int
    alignment: int
    starts: dict[str, int]
    unnamed: dict[Type, int]
    bit_fields: frozenset[str]
    is_known: bool


_ENDLESS = _Laid(0, 1, {}, {}, frozenset(), is_known=False)


class _Cursor:
    """A record while it is laid out: the next free bit, and what is behind it."""

    def __init__(self, definition: RecordDefinition) -> None:
        self.is_union = definition.kind == "union"
        self.is_known = definition.is_laid_out
        self.bit = self.largest = 0
        self.alignment = max(1, definition.alignment)
        self.starts: dict[str, int] = {}
        self.unnamed: dict[Type, int] = {}
        self.bit_fields: set[str] = set()

    def align(self, bits: int) -> None:
        """Goes on to a multiple of so many bits."""
        self.bit = -(-self.bit // bits) * bits

    def take(self, bits: int) -> int:
        """The place of so many bits, from the next one on."""
        start = self.bit
        self.bit += bits
        self.largest = max(self.largest, self.bit)
        return start

    def laid(self) -> _Laid:
        """The record, padded at its end (C11 6.7.2.1p17)."""
        size = -(-self.largest // (8 * self.alignment)) * self.alignment
        return _Laid(size, self.alignment, self.starts, self.unnamed, frozenset(self.bit_fields), self.is_known)


class Layout:
    """Sizes, alignments and starts for one data model; records are looked up by key.

    Each record inside others is laid out once for each question, however many there are of it (eight in each of eight in each of
    eight ...); not once for ever, because what is looked up may be declared anew."""

    def __init__(self, model: DataModel, lookup: RecordLookup) -> None:
        self.model = model
        self._lookup = lookup
        self._known: dict[str, _Laid | None] = {}  # of the present question; None while it is laid out
        self._depth = 0

    def size(self, type_: Type) -> int | None:
        """`sizeof`, in bytes; 1 for void and functions as gcc has it, None for incomplete types and variable-length arrays."""
        match type_:
            case Void() | Function():
                return 1
            case Integer():
                return max(1, type_.bits // 8)
            case Floating():
                return self._floating(type_)[0]
            case Pointer():
                return self.model.pointer_bits // 8
            case Array(element, length):
                size = self.size(element)
                return None if size is None or length is None else size * length
            case Record():
                laid = self._laid(type_)
                return None if laid is None else laid.size

    def alignment(self, type_: Type) -> int:
        """`_Alignof`, in bytes."""
        match type_:
            case Array(element):
                return self.alignment(element)
            case Record(_, key):
                definition = self._lookup(key)
                return 1 if definition is None else self._record(definition).alignment
            case Floating():
                return self._floating(type_)[1]
            case _:
                size = self.size(type_) or 1
                return min(size, 4) if self.model.pointer_bits == 32 else size

    def preferred_alignment(self, type_: Type) -> int:
        """`__alignof__`, an extension of gcc: what variables are aligned to. On i386 that is more for 64 bits than what members
        are aligned to (System V ABI, Intel386 Supplement, 3-2; GCC manual, "Alignment")."""
        match type_:
            case Array(element):
                return self.preferred_alignment(element)
            case Integer() | Floating() if self.size(type_) == 8:
                return 8
            case _:
                return self.alignment(type_)

    def start(self, record: Type, name: str, type_: Type) -> int | None:
        """The bit that a member starts at, counted from the start of the record; None where that is not known, or there is no
        such member. `type_` is the member's: anonymous records have no name, and are known by it."""
        laid = self._laid(record)
        if laid is None:
            return None
        return laid.starts.get(name) if name else laid.unnamed.get(type_)

    def offset(self, record: Type, name: str) -> int | None:
        """`offsetof` a member, in bytes; None when there is none or it is a bit-field."""
        laid = self._laid(record)
        start = None if laid is None or name in laid.bit_fields else laid.starts.get(name)
        return None if start is None else start // 8

    def bit_field(self, record: Type, name: str) -> int | None:
        """How many bits before the bit-field `name` the record has, None when it has no such bit-field."""
        laid = self._laid(record)
        return None if laid is None or name not in laid.bit_fields else laid.starts[name]

    def _laid(self, record: Type) -> _Laid | None:
        definition = self._lookup(record.key) if isinstance(record, Record) else None
        laid = None if definition is None else self._record(definition)
        return laid if laid is not None and laid.is_known else None

    def _floating(self, type_: Floating) -> tuple[int, int]:
        if self.model.pointer_bits == 32:
            return (12, 4) if type_.bits == 128 and "128" not in type_.name else (type_.bits // 8, 4)
        return type_.bits // 8, min(16, type_.bits // (16 if "_Complex" in type_.name else 8))

    def _record(self, definition: RecordDefinition) -> _Laid:
        if definition.key in self._known:
            return self._known[definition.key] or _ENDLESS
        if self._depth > RECORD_LEVELS:
            return _ENDLESS
        self._known[definition.key] = None
        self._depth += 1
        try:
            laid = self._lay_out(definition)
            if laid.size >= 1 << self.model.pointer_bits - 1:  # no object is so large
                laid = laid._replace(is_known=False)
            self._known[definition.key] = laid
            return laid
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._known.clear()

    def _lay_out(self, definition: RecordDefinition) -> _Laid:
        cursor = _Cursor(definition)
        for member in definition.members:
            inner = self._inner(member.type)
            cursor.is_known = cursor.is_known and (inner is None or inner.is_known) and self._is_sized(definition, member)
            if cursor.is_union:
                cursor.bit = 0
            alignment = self._member_alignment(definition, member)
            if member.bits is None:
                self._place(cursor, member, alignment)
            else:
                self._place_bit_field(cursor, definition, member, member.bits, alignment)
        return cursor.laid()

    def _is_sized(self, definition: RecordDefinition, member: Member) -> bool:
        """Whether it is known how large a member is. A flexible array takes no place, and is the last member (C11 6.7.2.1p18); an
        array of variable length, which gcc allows elsewhere, takes an unknown one."""
        if self.size(member.type) is not None:
            return True
        is_open = isinstance(member.type, Array) and member.type.length is None
        return is_open and (definition.kind == "union" or member is definition.members[-1])

    def _member_alignment(self, definition: RecordDefinition, member: Member) -> int:
        """What a member is aligned to, in bytes, with what attributes and pragmas say (GCC manual, "Type Attributes",
        "Structure-Layout Pragmas")."""
        alignment, is_bit_field = self.alignment(member.type), member.bits is not None
        if (definition.packed or member.packed) and (not is_bit_field or (member.bits != 0 and not definition.packing)):
            alignment = 1
        alignment = max(alignment, member.alignment)
        return min(alignment, definition.packing) if definition.packing and member.bits != 0 else alignment

    def _place(self, cursor: _Cursor, member: Member, alignment: int) -> None:
        cursor.align(8 * alignment)
        start = cursor.take(8 * (self.size(member.type) or 0))
        cursor.alignment = max(cursor.alignment, alignment)
        if member.name:
            cursor.starts[member.name] = start
        elif isinstance(member.type, Record):  # its members are the outer record's, too (C11 6.7.2.1p13)
            cursor.unnamed[member.type] = start
            inner = self._inner(member.type) or _ENDLESS
            cursor.starts.update({name: start + at for name, at in inner.starts.items()})
            cursor.bit_fields |= inner.bit_fields

    def _place_bit_field(self, cursor: _Cursor, definition: RecordDefinition, member: Member, bits: int, alignment: int) -> None:
        """A bit-field shares the units of its type with what is before it, if it fits (C11 6.7.2.1p11-12)."""
        unit = 8 * alignment
        if bits == 0:
            cursor.align(unit)
            cursor.take(0)
            return
        is_packed = definition.packed or member.packed or definition.packing
        units = -(-(cursor.bit % unit + bits) // unit)
        if units > (self.size(member.type) or 0) // alignment and not is_packed:  # over more units than the type has
            cursor.align(unit)
        start = cursor.take(bits)
        if member.name:
            cursor.starts[member.name] = start
            cursor.bit_fields.add(member.name)
            cursor.alignment = max(cursor.alignment, alignment)

    def _inner(self, type_: Type) -> _Laid | None:
        """The layout of the record that a member is, or that its elements are; None if it is none, or incomplete."""
        while isinstance(type_, Array):
            type_ = type_.element
        definition = self._lookup(type_.key) if isinstance(type_, Record) else None
        return None if definition is None else self._record(definition)
