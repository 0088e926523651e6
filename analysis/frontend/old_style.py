"""Old-style (K&R) function definitions: `char *f(a, b) char *a; int b; { ... }` (C11 6.9.1p6), and results without a type.

The grammar fails on many of them, above all on those with pointer results, which old programs are full of. Here the
parameter declarations are found and blanked, which leaves `char *f(a, b) { ... }`; the parser takes that; the
declarations are parsed on their own, at the same offsets.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from analysis.frontend.cleaning import blank

_HEAD = re.compile(
    rb"(?<![\w$])(?P<name>[A-Za-z_$][\w$]*+)\s*+\(\s*+(?P<names>[A-Za-z_$][\w$]*+(?:\s*+,\s*+[A-Za-z_$][\w$]*+)*+)\s*+\)"
    rb"(?P<gap>(?:\s|\)|\([^(){};]*+\))*+)"
    rb"(?P<declarations>(?:[A-Za-z_$](?:[^;{}=\"#]|\{[^{}]*+\})*+;\s*+)++)\{"
)
_NOT_A_NAME = frozenset({b"if", b"while", b"for", b"switch", b"return", b"sizeof", b"do", b"else", b"defined"})
_NOT_A_DECLARATION = re.compile(
    rb"\s*+(?:return|goto|break|continue|else|if|while|do|case|default|typedef|extern|static)(?![\w$])"
)
_NAME = re.compile(rb"[A-Za-z_$][\w$]*+")


class OldStyle(NamedTuple):
    """The parameter declarations [start, end) of the definition whose `(` is at `parameters`."""

    parameters: int
    start: int
    end: int


def separate(text: bytes) -> tuple[bytes, list[OldStyle]]:
    """The text without the parameter declarations of old-style definitions, and where they were, by offset."""
    if not re.search(rb";\s*+\{", text):  # the tell-tale of such a definition; also `; {` between statements
        return text, []
    found: list[OldStyle] = []
    buffer = bytearray(text)
    for match in _HEAD.finditer(text):
        if not _is_definition(match):
            continue
        start, end = match.span("declarations")
        found.append(OldStyle(text.index(b"(", match.end("name")), start, end))
        buffer[start:end] = blank(match.group("declarations"))
    return bytes(buffer), found


def _is_definition(match: re.Match[bytes]) -> bool:
    """Whether every declaration declares some of the parameters, which no statement after a call does."""
    if match.group("name") in _NOT_A_NAME or match.group("gap").count(b"(") > match.group("gap").count(b")"):
        return False
    names = set(_NAME.findall(match.group("names")))
    for declaration in match.group("declarations").split(b";")[:-1]:
        words = _NAME.findall(declaration)
        if not names.intersection(words) and b"}" not in declaration and b"{" not in declaration:
            return False
        if len(words) < 2 or _NOT_A_DECLARATION.match(declaration):
            return False
    return True


_TOP_LEVEL = re.compile(
    rb"(?:[;}]|\A)(?P<space>\s*+)(?:(?:static|extern)\s++)?(?P<name>[A-Za-z_$][\w$]*+)\s*+\([^(){};=]*+\)\s*+\{"
)


def give_types(text: bytes) -> bytes:
    """The text with `int` written before definitions without a result type (`main() { ... }`, C89), where there is room.

    The room is white space before the name; a blanked line marker leaves plenty. A newline is never overwritten.
    """
    buffer: bytearray | None = None
    for match in _TOP_LEVEL.finditer(text):
        if match.group("name") in _NOT_A_NAME:
            continue
        space = match.group("space")
        room = space.rfind(b"    ")
        if room < 0:
            continue
        if buffer is None:
            buffer = bytearray(text)
        start = match.start("space") + room
        buffer[start : start + 3] = b"int"
    return text if buffer is None else bytes(buffer)
