"""Literals as values: the bytes of string literals, the numbers of floating constants (C11 6.4.4.2, 6.4.5)."""

from __future__ import annotations

import re

from analysis.engines.witness.halting import not_modelled
from analysis.engines.witness.scalars import round_to_float
from analysis.frontend.constants import code_units
from analysis.model.c_types import Floating, Type

_PART = re.compile(r'(u8|[uUL])?"((?:[^"\\]|\\.)*)"', re.DOTALL)
_WIDTHS = {"L": 4, "U": 4, "u": 2}


def literal_bytes(text: str) -> bytes:
    """The array that a string literal stands for, with the zero at its end; adjacent parts are one literal."""
    units: list[int] = []
    width = 1
    for found in _PART.finditer(text):
        width = max(width, _WIDTHS.get(found.group(1) or "", 1))
        units.extend(code_units(found.group(2)))
    if width > 1:  # code_units gives the bytes of what is written in UTF-8
        if any(unit > 127 for unit in units):
            not_modelled("a wide string with other than ASCII characters")
        return b"".join(unit.to_bytes(width, "little") for unit in [*units, 0])
    return bytes(unit & 255 for unit in units) + b"\0"


def float_value(text: str, type_: Type) -> float:
    """The value of a floating constant."""
    bare = text.replace("'", "").rstrip("fFlL") if not text.lower().startswith("0x") else text.rstrip("lL")
    is_hexadecimal = bare.lower().startswith("0x")
    value = float.fromhex(bare.rstrip("fF")) if is_hexadecimal else float(bare)
    return round_to_float(value) if isinstance(type_, Floating) and type_.bits == 32 else value
