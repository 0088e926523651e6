"""Literals as constants: numbers, characters, strings (C11 6.4.4, 6.4.5)."""

from __future__ import annotations

import re

from analysis.model import ir
from analysis.model.c_types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG_LONG,
    UNSIGNED_INT,
    UNSIGNED_LONG_LONG,
    DataModel,
    Integer,
)

from .types import CHAR_POINTER, LONG_DOUBLE

_INTEGER = re.compile(r"^(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)$")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|.", re.DOTALL)
_SIMPLE = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "E": 27}


def wrap(value: int, type_: Integer) -> int:
    """The value brought into the range of the type, modulo 2 to its width (C11 6.3.1.3)."""
    if type_.name == "_Bool":
        return int(value != 0)
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.signed and value >> (type_.bits - 1) else value


def number(text: str, model: DataModel) -> ir.Expr | None:
    """A number literal with the type that C11 6.4.4.1p5 gives it; None when it is no number."""
    found = _INTEGER.match(text)
    if found is None:
        return _floating(text)
    digits, suffix = found.group(1).replace("'", ""), found.group(2).lower()
    prefix = digits[:2].lower()
    if prefix in ("0x", "0b"):
        value = int(digits, 16 if prefix == "0x" else 2)
    else:
        octal = digits.startswith("0") and len(digits) > 1
        if octal and not set(digits) <= set("01234567"):
            return None
        value = int(digits, 8 if octal else 10)
    decimal = not digits.startswith("0") or digits == "0"
    for candidate in _candidates(suffix, decimal, model):
        top = 1 << (candidate.bits - (1 if candidate.signed else 0))
        if value < top:
            return ir.IntConst(value, candidate)
    return ir.IntConst(wrap(value, UNSIGNED_LONG_LONG), UNSIGNED_LONG_LONG)


def _candidates(suffix: str, decimal: bool, model: DataModel) -> list[Integer]:
    unsigned = "u" in suffix
    length = suffix.count("l")
    every = [(INT, UNSIGNED_INT), (model.long, model.unsigned_long), (LONG_LONG, UNSIGNED_LONG_LONG)][length:]
    if unsigned:
        return [u for _, u in every]
    return [s for s, _ in every] if decimal else [t for pair in every for t in pair]


def _floating(text: str) -> ir.Expr | None:
    lower = text.lower()
    if not re.match(r"^(0x[0-9a-f.']+p|[0-9.])", lower):
        return None
    suffix = lower[-1]
    if suffix == "f" and not (lower.startswith("0x") and "p" not in lower):
        return ir.FloatConst(text, FLOAT)
    return ir.FloatConst(text, LONG_DOUBLE if suffix == "l" else DOUBLE)


def code_units(body: str) -> list[int]:
    """The values of the characters between the quotes of a literal, escapes resolved, bytes for non-ASCII ones."""
    values: list[int] = []
    for found in _ESCAPE.finditer(body):
        escape = found.group(1)
        if escape is None:
            values.extend(found.group(0).encode("utf-8", "surrogateescape"))
        elif escape[0] in "uU" and len(escape) > 1:
            values.extend(chr(min(int(escape[1:], 16), 0x10FFFF)).encode("utf-8", "replace"))
        elif escape[0] == "x" and len(escape) > 1:
            values.append(int(escape[1:], 16))
        elif escape[0] in "01234567":
            values.append(int(escape, 8))
        elif escape == "\n":
            continue
        else:
            values.append(_SIMPLE.get(escape, ord(escape[0])))
    return values


def character(text: str) -> ir.IntConst:
    """A character constant: an int, with the value of a (signed) char (C11 6.4.4.4p10)."""
    prefix, _, rest = text.partition("'")
    units = code_units(rest.removesuffix("'"))
    if prefix:
        decoded = bytes(u & 255 for u in units).decode("utf-8", "replace") if all(u < 256 for u in units) else ""
        return ir.IntConst(ord(decoded[0]) if len(decoded) == 1 and units[0] > 127 else (units or [0])[-1], INT)
    value = 0
    for unit in units:
        value = (value << 8) | (unit & 255)
    if len(units) == 1:
        value = wrap(value, Integer(8, True, "char"))
    return ir.IntConst(wrap(value, INT), INT)


def string(text: str) -> ir.StringConst:
    """A string literal, its adjacent parts as written."""
    return ir.StringConst(text, CHAR_POINTER)


_PART = re.compile(r'(u8|[uUL])?"((?:[^"\\]|\\.)*)"', re.DOTALL)


def is_wide(text: str) -> bool:
    """Whether a string literal is one of wide characters (C11 6.4.5p6), of which only the length is modelled."""
    return any(found.group(1) in ("L", "u", "U") for found in _PART.finditer(text))


def string_length(text: str) -> int | None:
    """How many elements the array of a string literal has, with the zero at its end; None if that is not known."""
    if is_wide(text) and not (text.isascii() and "\\u" not in text and "\\U" not in text):
        return None
    return sum(len(code_units(found.group(2))) for found in _PART.finditer(text)) + 1
