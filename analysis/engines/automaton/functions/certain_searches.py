"""Calls that look for something in a string that is always there: the zero at its end, or the empty string."""

from __future__ import annotations

from analysis.c.text_searches import CHARACTER_SEARCHES, SEARCHES
from analysis.model import ir

_EMPTY = '""'


def always_finds(call: ir.Call, callee: str) -> bool:
    """Whether a call of this function of the library returns no null pointer because of what it looks for."""
    if len(call.arguments) != 2:
        return False
    wanted = ir.strip_casts(call.arguments[1])
    if callee in CHARACTER_SEARCHES:
        return isinstance(wanted, ir.IntConst) and CHARACTER_SEARCHES[callee](b"\0", wanted.value & 0xFF) == 0
    return callee in SEARCHES and isinstance(wanted, ir.StringConst) and wanted.text == _EMPTY and SEARCHES[callee](b"", b"") == 0
