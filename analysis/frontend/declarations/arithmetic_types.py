"""The types of arithmetic type specifiers, which stand in any order (C11 6.7.2p2), and of names for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from analysis.frontend.declarations.types import LONG_DOUBLE
from analysis.model import c_types
from analysis.model.c_types import INT, DataModel, Floating, Integer, Type

_FLOATS = {
    "float": c_types.FLOAT, "double": c_types.DOUBLE, "long double": LONG_DOUBLE, "_Float128": Floating(128, "_Float128"),
    "__float128": Floating(128, "_Float128"), "_Float64": c_types.DOUBLE, "_Float32": c_types.FLOAT,
    "_Float64x": LONG_DOUBLE, "_Float32x": c_types.DOUBLE,
}  # fmt: skip
_WHOLE: dict[str, Type] = {**_FLOATS, "void": c_types.VOID, "_Bool": c_types.BOOL, "bool": c_types.BOOL}
"""Types with one spelling."""
_FIXED = {"int8_t": (8, True), "int16_t": (16, True), "int32_t": (32, True), "int64_t": (64, True)} | {
    "uint8_t": (8, False), "uint16_t": (16, False), "uint32_t": (32, False), "uint64_t": (64, False),
    "char8_t": (8, False), "char16_t": (16, False), "char32_t": (32, False),
}  # fmt: skip
_NAMED = {(8, True): c_types.SIGNED_CHAR, (16, True): c_types.SHORT, (32, True): INT, (8, False): c_types.UNSIGNED_CHAR}
_NAMED |= {(16, False): c_types.UNSIGNED_SHORT, (32, False): c_types.UNSIGNED_INT}


@cache
def basic_type(words: str, model: DataModel) -> Type | None:
    """The type of arithmetic type specifiers in any order; None when they are none."""
    given = words.replace("__signed__", "signed").replace("__signed", "signed").split()
    joined = " ".join(given)
    if not given or joined in _WHOLE:
        return _WHOLE.get(joined)
    if any(word in ("_Complex", "__complex__", "_Imaginary") for word in given):
        inner = basic_type(" ".join(w for w in given if not w.startswith("_")) or "double", model)
        return Floating(2 * inner.bits, f"{inner.name} _Complex") if isinstance(inner, Floating) else None
    if sorted(given) == ["double", "long"]:
        return LONG_DOUBLE
    if set(given) - {"signed", "unsigned", "short", "long", "int", "char", "__int128"}:
        return _fixed_type(joined, model)
    return _integer_type(given, model)


def _integer_type(given: Sequence[str], model: DataModel) -> Type:
    """The type of these keywords, which are of integer types."""
    unsigned = "unsigned" in given
    if "char" in given:
        return c_types.UNSIGNED_CHAR if unsigned else c_types.SIGNED_CHAR if "signed" in given else model.char
    if "short" in given:
        return c_types.UNSIGNED_SHORT if unsigned else c_types.SHORT
    if "__int128" in given:
        return Integer(128, not unsigned, "unsigned __int128" if unsigned else "__int128")
    if given.count("long") >= 2:
        return c_types.UNSIGNED_LONG_LONG if unsigned else c_types.LONG_LONG
    if "long" in given:
        return model.unsigned_long if unsigned else model.long
    return c_types.UNSIGNED_INT if unsigned else INT


def _fixed_type(name: str, model: DataModel) -> Type | None:
    """The types of <stddef.h> and <stdint.h>, for text that is not preprocessed."""
    if name in ("size_t", "uintptr_t"):
        return Integer(model.pointer_bits, False, "unsigned long" if model.pointer_bits == model.long_bits else "unsigned int")
    if name in ("ssize_t", "ptrdiff_t", "intptr_t"):
        return model.intptr
    key = _FIXED.get(name)
    if key is None:
        return None
    if key in _NAMED:
        return _NAMED[key]
    return (model.long if key[1] else model.unsigned_long) if model.long_bits == 64 else (
        c_types.LONG_LONG if key[1] else c_types.UNSIGNED_LONG_LONG
    )  # fmt: skip
