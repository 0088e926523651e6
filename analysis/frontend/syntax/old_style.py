"""Old-style (K&R) function definitions: `char *f(a, b) char *a; int b; { ... }` (C11 6.9.1p6), and results without a type.

The grammar fails on many of them, above all on those with pointer results, which old programs are full of. Here the
parameter declarations are found and blanked, which leaves `char *f(a, b) { ... }`; the parser takes that; the
declarations are parsed on their own, at the same offsets.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from analysis.frontend.syntax.scanning import Literals, blank

_HEAD = re.compile(
    rb"(?<![\w$])(?P<name>[A-Za-z_$][\w$]*+)\s*+(?P<parameters>\()\s*+"
    rb"(?P<names>[A-Za-z_$][\w$]*+(?>(?:\s*+,\s*+[A-Za-z_$][\w$]*+)*))\s*+\)"
    rb"(?P<gap>(?>(?:\s|\)|\([^(){};]*+\))*))(?=[A-Za-z_$])"
)
_NO_DECLARATION = re.compile(rb"[={}\"#]|;\s*+[^\sA-Za-z_$]")  # what ends in none of the declarations before a body
_TELL_TALE = re.compile(rb";\s*+\{")  # also an ordinary block after a statement
_LONGEST_HEAD = 8_000  # bytes; what is longer is not looked at
_NOT_A_NAME = frozenset({b"if", b"while", b"for", b"switch", b"return", b"sizeof", b"do", b"else", b"defined"})
_NOT_A_DECLARATION = re.compile(
    rb"\s*+(?:return|goto|break|continue|else|if|while|do|case|default|typedef|extern|static)(?![\w$])"
)
_MEMBERS = re.compile(rb"\{[^{}]*+\}")
_NAME = re.compile(rb"[A-Za-z_$][\w$]*+")


class OldStyle(NamedTuple):
    """The parameter declarations [start, end) of the definition whose `(` is at `parameters`."""

    parameters: int
    start: int
    end: int


def separate(text: bytes) -> tuple[bytes, list[OldStyle]]:
    """The text without the parameter declarations of old-style definitions, and where they were, by offset."""
    found: list[OldStyle] = []
    buffer: bytearray | None = None
    literals, begin = Literals(text), 0
    for tell_tale in _TELL_TALE.finditer(text):
        end = tell_tale.end() - 1
        begin = max(begin, text.rfind(b"\n}", begin, end) + 1, end - _LONGEST_HEAD)
        definition = None if literals.hold(tell_tale.start()) else _definition_before(text, begin, end)
        begin = end + 1  # no head goes over such an end of declarations
        if definition is not None:
            found.append(definition)
            buffer = buffer or bytearray(text)
            buffer[definition.start : definition.end] = blank(text[definition.start : definition.end])
    return bytes(buffer) if buffer else text, found


def _definition_before(text: bytes, begin: int, end: int) -> OldStyle | None:
    """The old-style definition whose head is in [begin, end), and whose body is at `end`.

    What is between two heads cannot belong to declarations; it is looked for once, not from each head again.
    """
    before = max(0, begin - 1)  # a name does not begin behind a letter
    between = text[before:end]
    plain = _MEMBERS.sub(lambda members: b"+" * len(members.group()), between)
    first = max((found.end() for found in _NO_DECLARATION.finditer(plain)), default=0)
    outside = _MEMBERS.sub(lambda members: b"}" * len(members.group()), between)  # which no head holds
    for head in _HEAD.finditer(outside, begin - before):
        start = before + head.end()
        if head.end() >= first:
            is_definition = _is_definition(head, text[start:end])
            return OldStyle(before + head.start("parameters"), start, end) if is_definition else None
    return None


def _is_definition(head: re.Match[bytes], declarations: bytes) -> bool:
    """Whether every declaration declares some of the parameters, which no statement after a call does."""
    if head.group("name") in _NOT_A_NAME or head.group("gap").count(b"(") > head.group("gap").count(b")"):
        return False
    names = set(_NAME.findall(head.group("names")))
    for declaration in _MEMBERS.sub(b" ", declarations).split(b";")[:-1]:
        words = _NAME.findall(declaration)
        if not names.intersection(words):
            return False
        if len(words) < 2 or _NOT_A_DECLARATION.match(declaration):
            return False
    return True


_UNTYPED = re.compile(
    rb"(?:\n|\A)(?P<head>[ \t]*+(?:(?:static|extern)\s++)?(?P<name>[A-Za-z_$][\w$]*+)[ \t]*+\()[\w$\s,*]*+\)\s*+\{"
)  # at the beginning of a line, as definitions are; nothing else in C has the form `name(...) {`, keywords apart
_TYPE = b"int "


def give_types(text: bytes) -> bytes:
    """The text for the parser, in which definitions without a result type (`main() { ... }`, C89) begin with `int`.

    It is written over the white space before them, line ends included. Where there is not enough, the definition is made an
    error: the grammar would take `f(a) { ... }` for the definition of an `a` of type `f`.
    """
    buffer: bytearray | None = None
    for match in _UNTYPED.finditer(text):
        if match.group("name") in _NOT_A_NAME:
            continue
        start = match.end("head") - len(match.group("head").lstrip())
        before = _end_of_code(text, start)
        if before > 0 and text[before - 1] not in b";}":
            continue
        buffer = buffer or bytearray(text)
        if start - before >= len(_TYPE):
            buffer[start - len(_TYPE) : start] = _TYPE
        else:
            buffer[match.end("head") - 1] = ord("@")
    return bytes(buffer) if buffer else text


def _end_of_code(text: bytes, offset: int) -> int:
    """The offset after the last byte before `offset` that is not white space."""
    begin = max(0, offset - _LONGEST_HEAD)
    return begin + len(text[begin:offset].rstrip())
