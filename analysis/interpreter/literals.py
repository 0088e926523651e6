"""Literals as values: the bytes of string literals (C11 6.4.5)."""

from __future__ import annotations

from analysis.frontend.declarations.literal_values import string_bytes
from analysis.interpreter.halting import not_modelled


def literal_bytes(text: str) -> bytes:
    """The array that a string literal stands for, with the zero at its end; adjacent parts are one literal."""
    found = string_bytes(text)
    if found is None:
        not_modelled("a wide string with other than ASCII characters")
    return found
