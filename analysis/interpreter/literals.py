"""Literals as values: the bytes of string literals (C11 6.4.5)."""

from __future__ import annotations

import re

from analysis.frontend.declarations.literal_values import code_units
from analysis.interpreter.halting import not_modelled

_PART = re.compile(r'(u8|[uUL])?"((?:[^"\\]++|\\.)*+)"?+', re.DOTALL)
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
