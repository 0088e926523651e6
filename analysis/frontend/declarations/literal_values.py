"""Literals as constants: numbers, characters, strings (C11 6.4.4, 6.4.5)."""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from fractions import Fraction

from analysis.frontend.declarations.types import LONG_DOUBLE
from analysis.model import ir
from analysis.model.c_types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG_LONG,
    UNSIGNED_INT,
    UNSIGNED_LONG_LONG,
    DataModel,
    Floating,
    Integer,
    Pointer,
    Type,
)
from analysis.model.ranges import bounds, wrapped

_INTEGER = re.compile(r"^(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uU]?(?:l|ll|L|LL)?|(?:l|ll|L|LL)[uU])$")
_FLOATING = re.compile(
    r"^(?:0[xX](?=\.?[0-9a-fA-F])[0-9a-fA-F]*+\.?+[0-9a-fA-F]*+[pP][+-]?[0-9]++"
    r"|(?=\.?[0-9])[0-9]*+\.?+[0-9]*+(?:[eE][+-]?[0-9]++)?)([fFlL]?)$"
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|.", re.DOTALL)
_LONGEST = 1000  # digits; no type holds more, and Python reads no more than 4300
_WIDE = {"L": INT, "u": Integer(16, False, "unsigned short"), "U": UNSIGNED_INT}
_SIMPLE = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "E": 27}


def number(text: str, model: DataModel) -> ir.Expr | None:
    """A number literal with the type that C11 6.4.4.1p5 gives it; None when it is no number, or of a type of compilers' own."""
    found = _INTEGER.match(text)
    if found is None:
        return _floating(text)
    digits, suffix = found.group(1), found.group(2).lower()
    prefix = digits[:2].lower()
    if prefix in ("0x", "0b"):
        value = int(digits, 16 if prefix == "0x" else 2)
    else:
        octal = digits.startswith("0") and len(digits) > 1
        if len(digits) > _LONGEST or (octal and not set(digits) <= set("01234567")):
            return None
        value = int(digits, 8 if octal else 10)
    decimal = not digits.startswith("0") or digits == "0"
    for candidate in _candidates(suffix, decimal, model):
        if value <= bounds(candidate)[1]:
            return ir.IntConst(value, candidate)
    return None


def _candidates(suffix: str, decimal: bool, model: DataModel) -> list[Integer]:
    unsigned = "u" in suffix
    length = suffix.count("l")
    every = [(INT, UNSIGNED_INT), (model.long, model.unsigned_long), (LONG_LONG, UNSIGNED_LONG_LONG)][length:]
    if unsigned:
        return [u for _, u in every]
    return [s for s, _ in every] if decimal else [t for pair in every for t in pair]


def _floating(text: str) -> ir.Expr | None:
    found = _FLOATING.match(text)
    if found is None:
        return None
    return ir.FloatConst(text, {"f": FLOAT, "l": LONG_DOUBLE, "": DOUBLE}[found.group(1).lower()])


def float_value(text: str, type_: Type) -> float:
    """The value of a floating literal (C11 6.4.4.2), rounded once to `float` or `double`; it may be infinite.

    Raises ValueError for what is no such literal."""
    digits = text.rstrip("lL") if text[:2] in ("0x", "0X") else text.rstrip("fFlL")
    is_hexadecimal = digits[:2] in ("0x", "0X")
    if is_hexadecimal and "p" in digits.lower():
        digits = digits.rstrip("fF")
    try:
        nearest = float.fromhex(digits) if is_hexadecimal else float(digits)
    except OverflowError:
        return math.inf
    is_float = isinstance(type_, Floating) and type_.bits == 32
    if not is_float or nearest == 0 or math.isinf(nearest):
        return nearest
    exact = _exact_hexadecimal(digits) if is_hexadecimal else Fraction(Decimal(digits))
    below = nearest if nearest <= exact else math.nextafter(nearest, 0.0)
    is_even = struct.unpack("<q", struct.pack("<d", below))[0] % 2 == 0
    # rounding to odd first: rounding to the nearest double and then to float could round the wrong way
    odd = math.nextafter(below, math.inf) if below != exact and is_even else below
    try:
        return float(struct.unpack("<f", struct.pack("<f", odd))[0])
    except OverflowError:
        return math.inf


def _exact_hexadecimal(digits: str) -> Fraction:
    mantissa, _, exponent = digits[2:].lower().partition("p")
    whole, _, rest = mantissa.partition(".")
    power = int(exponent or "0") - 4 * len(rest)
    return Fraction(int(whole + rest, 16)) * Fraction(2) ** power


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


def character(text: str, model: DataModel) -> ir.IntConst | None:
    """A character constant: an int, with the value of a char (C11 6.4.4.4p10); of wide ones, those with one character of ASCII.
    None for others."""
    prefix, _, rest = text.partition("'")
    units = code_units(rest.removesuffix("'"))
    if prefix:
        type_ = _WIDE.get(prefix)
        is_known = type_ is not None and len(units) == 1 and units[0] < 128
        return ir.IntConst(units[0], type_) if type_ is not None and is_known else None
    if not units or any(unit > 255 for unit in units):
        return None
    value = 0
    for unit in units:
        value = (value << 8) | (unit & 255)
    if len(units) == 1:
        value = wrapped(value, model.char)
    return ir.IntConst(value, INT)


def string(text: str, model: DataModel) -> ir.StringConst:
    """A string literal, its adjacent parts as written."""
    return ir.StringConst(text, Pointer(model.char))


_PART = re.compile(r'(u8|[uUL])?"((?:[^"\\]++|\\.)*+)"?+', re.DOTALL)
_WIDTHS = {"L": 4, "U": 4, "u": 2}  # bytes of one character


def is_wide(text: str) -> bool:
    """Whether a string literal is one of wide characters (C11 6.4.5p6), of which only the length is modelled."""
    return any(found.group(1) in _WIDTHS for found in _PART.finditer(text))


def is_utf8(text: str) -> bool:
    """Whether a string literal has a part `u8"..."`."""
    return any(found.group(1) == "u8" for found in _PART.finditer(text))


def string_length(text: str) -> int | None:
    """How many elements the array of a string literal has, with the zero at its end; None if that is not known."""
    if is_wide(text) and not (text.isascii() and "\\u" not in text and "\\U" not in text):
        return None
    return sum(len(code_units(found.group(2))) for found in _PART.finditer(text)) + 1


def string_bytes(text: str) -> bytes | None:
    """The array that a string literal stands for, with the zero at its end; adjacent parts are one literal (C11 6.4.5p5).
    None for wide ones with other characters than those of ASCII, which `code_units` gives as bytes."""
    parts = [(found.group(1), code_units(found.group(2))) for found in _PART.finditer(text)]
    width = max((_WIDTHS.get(prefix, 1) for prefix, _ in parts), default=1)
    units = [unit for _, found in parts for unit in found] + [0]
    if width > 1:
        return None if any(unit > 127 for unit in units) else b"".join(unit.to_bytes(width, "little") for unit in units)
    return bytes(unit & 255 for unit in units)
