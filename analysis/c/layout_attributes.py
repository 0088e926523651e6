"""What attributes and pragmas say of the layout of records (GCC manual, "Common Type Attributes", "Structure-Layout Pragmas").

What is not understood makes the layout unknown: then there is no size and no offset that anything could rest on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from analysis.model.c_types import DataModel, Integer, Type

_PACKED = re.compile(rb"\b_*packed_*\b")
_ALIGNED = re.compile(rb"\b(?:_*aligned_*|_Alignas)\b(?:\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\))?")
_OTHER_NAMES = rb"ms_struct|gcc_struct|scalar_storage_order|vector_size|mode|warn_if_not_aligned|[Cc]omplex|Imaginary"
_OTHER = re.compile(rb"\b_*(?:" + _OTHER_NAMES + rb")_*\b")
_PRAGMA = re.compile(rb"#[ \t]*pragma[ \t]+pack\b[ \t]*(.*)", re.DOTALL)
_PACK = re.compile(rb"\(\s*+(?>(?:(push|pop)\b\s*+)?)(?>(?:,?+\s*+([A-Za-z_]\w*+)\s*+)?)(?>(?:,?+\s*+(\d{1,9}+)\s*+)?)\)")
_NUMBER = re.compile(rb"\s*(\d{1,9})\s*\Z")
_MOST = 16  # bytes: what `aligned` without a number means on x86
_MODE = re.compile(rb"\b_*+(?:vector_size|mode)_*+\s*+\(\s*+(\w++)\s*+\)")
_STRING = re.compile(rb"\"(?:[^\"\\]++|\\.)*+(?>(\")?)")
_BRACKETED = re.compile(rb"(?:\b(\w+)\s*::\s*)?\b\w+\s*(?:\((?:[^()]|\([^()]*\))*\))?")
_WIDTHS = {b"QI": 8, b"byte": 8, b"HI": 16, b"SI": 32, b"DI": 64}
_NAMES = {8: "char", 16: "short", 32: "int", 64: "long long"}


class LayoutAttributes(msgspec.Struct, frozen=True):
    """What attributes say of a record or a member: `alignment` is the least one in bytes, 0 if none is said; not `known`:
    something that is not understood."""

    packed: bool = False
    alignment: int = 0
    known: bool = True


NO_LAYOUT_ATTRIBUTES = LayoutAttributes()


def layout_attributes_in(texts: Iterable[bytes]) -> LayoutAttributes:
    """What the texts of some attributes say together."""
    packed, alignment, known, alignments = False, 0, True, 0
    for text in map(_meant, texts):
        packed = packed or _PACKED.search(text) is not None
        known = known and _OTHER.search(text) is None
        for found in _ALIGNED.finditer(text):
            given = _MOST if found.group(1) is None else _number(found.group(1))
            alignments += 1  # which one of two is meant depends on what they are of
            known = known and given is not None and alignments == 1
            alignment = max(alignment, given or 0)
    return LayoutAttributes(packed, alignment, known) if packed or alignment or not known else NO_LAYOUT_ATTRIBUTES


def _number(text: bytes) -> int | None:
    """A power of two; 0 says nothing (C11 6.7.5p6)."""
    found = _NUMBER.match(text)
    value = None if found is None else int(found.group(1))
    return value if value is not None and value & (value - 1) == 0 else None


def moded(type_: Type, texts: Iterable[bytes], model: DataModel) -> Type | None:
    """The type that attributes make of another, as `mode(DI)` an integer of 64 bits; None if it is not modelled."""
    for text in texts:
        for found in _MODE.finditer(_meant(text)):
            mode = found.group(1).strip(b"_")
            bits = model.long_bits if mode in (b"word", b"pointer") else _WIDTHS.get(mode)
            if bits is None or not isinstance(type_, Integer):
                return None
            name = "long" if mode == b"word" else _NAMES[bits]
            sign = "" if type_.signed and bits > 8 else "signed " if type_.signed else "unsigned "
            type_ = Integer(bits, type_.signed, sign + name)
    return type_


def is_mode(text: bytes) -> bool:
    """Whether the text of an attribute makes another type of what it is of."""
    return _MODE.search(_meant(text)) is not None


def is_gnu(space: str) -> bool:
    """Whether `[[space::name]]` is `__attribute__((name))`."""
    return space in ("gnu", "__gnu__")


def _meant(text: bytes) -> bytes:
    """The text of an attribute without its strings, and of `[[space::name]]` only what is of gcc's."""
    bare = _STRING.sub(lambda string: string.group() if string[1] is None else b'""', text)
    if not bare.startswith(b"[["):
        return bare
    return b", ".join(found.group() for found in _BRACKETED.finditer(bare) if found[1] is not None and is_gnu(found[1].decode()))


def is_packing(text: bytes) -> bool:
    """Whether the text of a directive is a `#pragma pack`."""
    return _PRAGMA.match(text) is not None


def packings(directives: Sequence[tuple[int, bytes]]) -> list[tuple[int, int | None]]:
    """From each of some `#pragma pack`, by offset, on: the most bytes that a member is aligned to, 0 if there is no such limit,
    None if that is not known."""
    found: list[tuple[int, int | None]] = []
    limit: int | None = 0
    stack: list[tuple[bytes | None, int | None]] = []
    for offset, text in directives:
        pragma = _PRAGMA.match(text)
        given = None if pragma is None else _PACK.match(pragma.group(1))
        if given is None:
            limit = None
        else:
            action, name, size = given.groups()
            limit = _after(limit, stack, action, name, None if size is None else int(size))
        found.append((offset, limit))
    return found


def _after(
    limit: int | None, stack: list[tuple[bytes | None, int | None]], action: bytes | None, name: bytes | None, size: int | None
) -> int | None:
    if size is not None and size not in (0, 1, 2, 4, 8, 16):
        return None
    if action is None:
        return None if name is not None else size or 0
    if action == b"push":
        stack.append((name, limit))
        return limit if size is None else size
    is_there = name is not None and any(known == name for known, _ in stack)
    while stack:
        known, limit = stack.pop()
        if not is_there or known == name:  # gcc takes one away where the name is not there
            break
    return limit
