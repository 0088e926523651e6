"""C types after resolution of typedefs and qualifiers (C11 6.2.5).

A type is an immutable value: equal types are equal objects, whatever file they come from. Structures and
unions can refer to themselves, so `Record` holds only a key; the members are in a `RecordDefinition`,
looked up in the translation unit (and after linking, in the program) that declared it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec

BIT_FIELD = " : "
"""Between the declared type and the width in the name of a bit-field's type."""


class Void(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """`void`: no value."""


class Integer(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """An integer type; `_Bool`, `char` and enumerations included.

    `bits` is the width of the representation, `name` how a C programmer writes the type ("unsigned long",
    "enum colour"); two integer types with the same width and sign but different names are different types.
    """

    bits: int
    signed: bool
    name: str


class Floating(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A real or complex floating type; `bits` is the width of its representation."""

    bits: int
    name: str


class Pointer(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A pointer to `target`."""

    target: Type


class Array(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """An array; `length` is None for incomplete and variable-length arrays."""

    element: Type
    length: int | None


class Record(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A structure or union, by key.

    The key is "struct tag" or "union tag"; records without a tag get a key from their members, so that
    the same anonymous record in two files has the same key.
    """

    kind: Literal["struct", "union"]
    key: str


class Function(msgspec.Struct, frozen=True, gc=False, tag_field="node", cache_hash=True):
    """A function type. `prototyped` is False for old-style declarations `int f()`, whose parameters say nothing."""

    result: Type
    parameters: tuple[Type, ...]
    variadic: bool = False
    prototyped: bool = True


Type = Void | Integer | Floating | Pointer | Array | Record | Function


class Member(msgspec.Struct, frozen=True, gc=False):
    """One member of a record. Anonymous struct/union members have an empty name. `bits` is a bit-field's width; `volatile` says
    what is: 0 the member itself, 1 what it points to, and so on (C11 6.7.3). `packed`: it is not aligned; `alignment`: it is to
    so many bytes, at least."""

    name: str
    type: Type
    bits: int | None = None
    volatile: tuple[int, ...] = ()
    packed: bool = False
    alignment: int = 0

    @property
    def value_type(self) -> Type:
        """The type of the member's values: of a bit-field an integer of its width (C11 6.7.2.1p10), "unsigned int : 3"."""
        if self.bits is None or not isinstance(self.type, Integer) or self.type.name == "_Bool":
            return self.type
        return Integer(self.bits, self.type.signed, f"{self.type.name}{BIT_FIELD}{self.bits}")


class RecordDefinition(msgspec.Struct, frozen=True, gc=False):
    """The members of a record; an incomplete record has no definition. `packed`: there is no padding between them; `alignment`:
    the record is aligned to so many bytes, at least; `packing`: members are to so many, at most (0: there is no limit). Not
    `is_laid_out`: attributes say something of the layout that is not understood. `strange`: an attribute makes another type of it
    that is not understood at all."""

    key: str
    kind: Literal["struct", "union"]
    members: tuple[Member, ...]
    packed: bool = False
    alignment: int = 0
    packing: int = 0
    is_laid_out: bool = True
    strange: str = ""


VOID = Void()
BOOL = Integer(8, False, "_Bool")
CHAR = Integer(8, True, "char")
PLAIN_UNSIGNED_CHAR = Integer(8, False, "char")
"""The type `char` where it has the values of `unsigned char` (C11 6.2.5p15); it is a type of its own all the same."""
SIGNED_CHAR = Integer(8, True, "signed char")
UNSIGNED_CHAR = Integer(8, False, "unsigned char")
SHORT = Integer(16, True, "short")
UNSIGNED_SHORT = Integer(16, False, "unsigned short")
INT = Integer(32, True, "int")
UNSIGNED_INT = Integer(32, False, "unsigned int")
FLOAT = Floating(32, "float")
DOUBLE = Floating(64, "double")
VA_LIST = Array(Record("struct", "struct __va_list_tag"), 1)
"""`va_list`, of which C says only that it is a complete type (C11 7.16p3)."""


class DataModel(msgspec.Struct, frozen=True, gc=False):
    """What the C standard leaves to the implementation: the widths of LP64 or ILP32, and whether `char` is signed."""

    name: Literal["LP64", "ILP32"]
    long_bits: int
    pointer_bits: int
    has_signed_char: bool = True

    @property
    def char(self) -> Integer:
        """The type `char`."""
        return CHAR if self.has_signed_char else PLAIN_UNSIGNED_CHAR

    @property
    def long(self) -> Integer:
        """The type `long`."""
        return Integer(self.long_bits, True, "long")

    @property
    def unsigned_long(self) -> Integer:
        """The type `unsigned long`, which is also `size_t`."""
        return Integer(self.long_bits, False, "unsigned long")

    @property
    def intptr(self) -> Integer:
        """A signed integer type as wide as a pointer, which is also `ptrdiff_t`."""
        return Integer(self.pointer_bits, True, "long" if self.pointer_bits == self.long_bits else "int")


LP64 = DataModel("LP64", 64, 64)
ILP32 = DataModel("ILP32", 32, 32)
LONG_LONG = Integer(64, True, "long long")
UNSIGNED_LONG_LONG = Integer(64, False, "unsigned long long")


def is_pointer(type_: Type) -> bool:
    """Whether values of the type are pointers."""
    return isinstance(type_, Pointer)


def is_scalar(type_: Type) -> bool:
    """Whether the type is arithmetic or a pointer (C11 6.2.5p21)."""
    return isinstance(type_, Integer | Floating | Pointer)


@lru_cache(maxsize=10_000)
def extent(type_: Type) -> tuple[int, int]:
    """The number of parts of a type, with its typedefs written out, and how deep they are nested. A few lines
    of typedefs can name a type with more parts than fit into memory when it is written, hashed or
    compared."""
    match type_:
        case Pointer(inner) | Array(inner):
            parts, levels = extent(inner)
            return parts + 1, levels + 1
        case Function(result, parameters):
            inside = [extent(result), *map(extent, parameters)]
            return 1 + sum(parts for parts, _ in inside), 1 + max(levels for _, levels in inside)
        case _:
            return 1, 0


def spell(type_: Type) -> str:
    """The type as a person would write it, without the name being declared."""
    match type_:
        case Void():
            return "void"
        case Integer() | Floating():
            return type_.name
        case Pointer(target):
            spelled = spell(target)
            return f"{spelled} *" if not spelled.endswith("*") else f"{spelled}*"
        case Array(element, length):
            return f"{spell(element)} [{'' if length is None else length}]"
        case Record(_, key):
            return key
        case Function(result, parameters, variadic, prototyped):
            inside = ", ".join([spell(p) for p in parameters] + (["..."] if variadic else []))
            return f"{spell(result)} ({inside if inside or not prototyped else 'void'})"
