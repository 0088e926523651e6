"""Arithmetic on types: promotions, the usual arithmetic conversions, sizes and offsets.

Conversions follow C11 6.3.1; layout follows the System V ABI, which gcc and clang use: members in order, each at
the next multiple of its alignment, bit-fields packed into units of their declared type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from analysis.frontend.lowering.refused import RefusedError
from analysis.model.c_types import (
    CHAR,
    DOUBLE,
    INT,
    UNSIGNED_INT,
    Array,
    DataModel,
    Floating,
    Function,
    Integer,
    Pointer,
    Record,
    RecordDefinition,
    Type,
    Void,
)
from analysis.model.limits import RECORD_LEVELS

RecordLookup = Callable[[str], RecordDefinition | None]

LONG_DOUBLE = Floating(128, "long double")
CHAR_POINTER = Pointer(CHAR)
VOID_POINTER = Pointer(Void())

_RANKS = {"_Bool": 0, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 3}
_RANKS |= {"unsigned int": 3, "long": 4, "unsigned long": 4, "long long": 5, "unsigned long long": 5}
_RANKS |= {"__int128": 6, "unsigned __int128": 6}

_BIT_FIELD = " : "  # between the declared type and the width in the name of a bit-field's type


def bit_field_type(declared: Type, bits: int | None) -> Type:
    """The type of a member's values: an integer of its width if it is a bit-field (C11 6.7.2.1p10), "unsigned int : 3"."""
    if bits is None or not isinstance(declared, Integer) or declared.name == "_Bool":
        return declared
    return Integer(bits, declared.signed, f"{declared.name}{_BIT_FIELD}{bits}")


def promote(type_: Type) -> Type:
    """The integer promotions (C11 6.3.1.1p2); other types stay as they are. Raises RefusedError where compilers differ."""
    if not isinstance(type_, Integer):
        return type_
    _, is_bit_field, _ = type_.name.partition(_BIT_FIELD)
    if is_bit_field:
        if type_.bits > INT.bits:  # gcc computes in the width of the bit-field, clang in the declared type
            raise RefusedError("arithmetic with a bit-field wider than int")
        return INT if type_.signed or type_.bits < INT.bits else UNSIGNED_INT
    if type_.name not in _RANKS:  # an enumeration has the rank of the int it is compatible with
        return INT if type_.signed else UNSIGNED_INT
    return INT if _RANKS[type_.name] < 3 else type_


def promote_argument(type_: Type) -> Type:
    """The default argument promotions (C11 6.5.2.2p6)."""
    if isinstance(type_, Floating) and type_.bits < 64:
        return DOUBLE
    return promote(type_)


def arithmetic_type(left: Type, right: Type) -> Type:
    """The type that the usual arithmetic conversions bring two arithmetic types to (C11 6.3.1.8)."""
    if isinstance(left, Floating) or isinstance(right, Floating):
        if isinstance(left, Floating) and isinstance(right, Floating):
            return left if left.bits >= right.bits else right
        return left if isinstance(left, Floating) else right
    one, other = promote(left), promote(right)
    if one == other or not isinstance(one, Integer) or not isinstance(other, Integer):
        return one
    if one.signed == other.signed:
        return one if _RANKS[one.name] >= _RANKS[other.name] else other
    unsigned, signed = (other, one) if one.signed else (one, other)
    if _RANKS[unsigned.name] >= _RANKS[signed.name]:
        return unsigned
    if signed.bits > unsigned.bits:
        return signed
    return Integer(signed.bits, False, f"unsigned {signed.name}")


def same_representation(one: Type, other: Type) -> bool:
    """Whether a value passes from one type to the other unchanged: equal types, pointers, or integers of one width."""
    if one == other:
        return True
    if isinstance(one, Pointer) and isinstance(other, Pointer):
        return True
    return (
        isinstance(one, Integer)
        and isinstance(other, Integer)
        and one.bits == other.bits
        and "_Bool" not in (one.name, other.name)
    )


def types_compatible(one: Type, other: Type) -> bool | None:
    """What `__builtin_types_compatible_p` says of two types; None where that depends on what types do not tell: qualifiers below
    the outermost level, what an enumeration is compatible with, lengths of arrays, parameters of functions."""
    match one, other:
        case Pointer(target), Pointer(other_target):
            return False if types_compatible(target, other_target) is False else None
        case Array(element), Array(other_element):
            return False if types_compatible(element, other_element) is False else None
        case Function(), Function():
            return None
        case Integer(), Integer() if one.name not in _RANKS or other.name not in _RANKS:
            return None
        case _:
            return one == other


def adjust_parameter(type_: Type) -> Type:
    """The type a parameter really has: arrays and functions are passed as pointers (C11 6.7.6.3p7-8)."""
    if isinstance(type_, Array):
        return Pointer(type_.element)
    return Pointer(type_) if isinstance(type_, Function) else type_


class _Laid(NamedTuple):
    """How a record is laid out: size and alignment in bytes, where members start in bytes, and where bit-fields start in bits.
    Not `is_known`: something in it is not understood, or it holds itself, or records are inside each other too deeply."""

    size: int
    alignment: int
    offsets: dict[str, int]
    fields: dict[str, int]
    is_known: bool


_ENDLESS = _Laid(0, 1, {}, {}, is_known=False)


class Layout:
    """Sizes, alignments and offsets, in bytes, for one data model; records are looked up by key.

    Each record inside others is laid out once for each question, however many there are of it (eight in each of eight in each of
    eight ...); not once for ever, because what is looked up may be declared anew."""

    def __init__(self, model: DataModel, lookup: RecordLookup) -> None:
        self.model = model
        self._lookup = lookup
        self._known: dict[str, _Laid | None] = {}  # of the present question; None while it is laid out
        self._depth = 0

    def size(self, type_: Type) -> int | None:
        """`sizeof`; 1 for void and functions as gcc has it, None for incomplete types and variable-length arrays."""
        match type_:
            case Void() | Function():
                return 1
            case Integer() | Floating():
                return self._floating(type_)[0] if isinstance(type_, Floating) else max(1, type_.bits // 8)
            case Pointer():
                return self.model.pointer_bits // 8
            case Array(element, length):
                size = self.size(element)
                return None if size is None or length is None else size * length
            case Record(_, key):
                definition = self._lookup(key)
                laid = None if definition is None else self._record(definition)
                return laid.size if laid is not None and laid.is_known else None

    def alignment(self, type_: Type) -> int:
        """`_Alignof`."""
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

    def offset(self, record: Record, name: str) -> int | None:
        """`offsetof` a member, None when there is none or it is a bit-field."""
        definition = self._lookup(record.key)
        laid = None if definition is None else self._record(definition)
        return laid.offsets.get(name) if laid is not None and laid.is_known else None

    def bit_field(self, record: Record, name: str) -> int | None:
        """How many bits before the bit-field `name` the record has, None when it has no such bit-field."""
        definition = self._lookup(record.key)
        laid = None if definition is None else self._record(definition)
        return laid.fields.get(name) if laid is not None and laid.is_known else None

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
        is_known = definition.is_laid_out
        bit, alignment = 0, max(1, definition.alignment)
        largest = 0
        offsets: dict[str, int] = {}
        fields: dict[str, int] = {}
        for member in definition.members:
            size, align = self.size(member.type) or 0, self.alignment(member.type)
            inner = self._inner(member.type)
            is_known = is_known and (inner is None or inner.is_known)
            packed = definition.packed or member.packed
            if packed and (member.bits is None or (member.bits != 0 and not definition.packing)):
                align = 1
            align = max(align, member.alignment)
            if definition.packing and member.bits != 0:
                align = min(align, definition.packing)
            if definition.kind == "union":
                bit = 0
            if member.bits is not None:
                unit = align * 8
                if member.bits == 0:
                    bit = -(-bit // unit) * unit
                    largest = max(largest, bit)
                    continue
                units = -(-(bit % unit + member.bits) // unit)
                if units > size // align and not (packed or definition.packing):  # over more units than the type has
                    bit = -(-bit // unit) * unit
                if member.name:
                    fields[member.name] = bit
                bit += member.bits
                alignment = max(alignment, align) if member.name else alignment
            else:
                bit = -(-bit // (align * 8)) * align * 8
                self._offsets(offsets, member.name, member.type, bit // 8)
                bit += size * 8
                alignment = max(alignment, align)
            largest = max(largest, bit)
        total = -(-largest // 8)
        return _Laid(-(-total // alignment) * alignment, alignment, offsets, fields, is_known)

    def _inner(self, type_: Type) -> _Laid | None:
        """The layout of the record that a member is, or that its elements are; None if it is none, or incomplete."""
        while isinstance(type_, Array):
            type_ = type_.element
        definition = self._lookup(type_.key) if isinstance(type_, Record) else None
        return None if definition is None else self._record(definition)

    def _offsets(self, offsets: dict[str, int], name: str, type_: Type, start: int) -> None:
        """Notes a member, and the members of an anonymous record as if they were the outer record's."""
        if name:
            offsets[name] = start
        elif isinstance(type_, Record) and (inner := self._lookup(type_.key)) is not None:
            for inner_name, offset in self._record(inner).offsets.items():
                offsets[inner_name] = start + offset
