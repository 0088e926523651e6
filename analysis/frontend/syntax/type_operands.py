"""Takes operands that are types out of C text: those of `typeof`, `va_arg`, `offsetof` and `__builtin_types_compatible_p`."""

from __future__ import annotations

import re
from typing import NamedTuple

from analysis.frontend.syntax.scanning import blank, outside_literals
from analysis.model.limits import OPERAND_BYTES, OPERAND_LEVELS

TYPEOF = b"__type"
"""The type name that stands where a `typeof` was; not longer than that word."""
OFFSETOF = b"__offset"
"""The function name that stands where `offsetof` was."""

_OPERATORS = {  # each with a literal beginning; what may stand before it is checked afterwards
    "typeof": re.compile(rb"typeof(?>(?:_unqual)?)(?>(?:__)?)\s*+\("),
    "va_arg": re.compile(rb"va_arg\s*+\("),
    "offsetof": re.compile(rb"offsetof\s*+\("),
    "compatible": re.compile(rb"types_compatible_p\s*+\("),
}
_BEFORE_OPERATOR = re.compile(rb"(?:^|[^\w$.>])(__builtin_|__)?\Z")
_ERROR = ord("@")  # what no statement holds
_PUNCTUATION = re.compile(rb"""[()\[\]{},]|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?""")


class Fragment(NamedTuple):
    """An operand that is parsed on its own; `text`, cleaned, stood at `start`.

    `kind` says which table it belongs to; `key` is the offset of the construct that it was taken from.
    """

    start: int
    text: bytes
    kind: str
    key: int

    @property
    def end(self) -> int:
        """The offset after the operand."""
        return self.start + len(self.text)


def _arguments(text: bytes, opening: int, closings: dict[int, int | None]) -> list[tuple[int, int]] | None:
    """The ranges of the arguments of a call whose parenthesis is at `opening`; None when it is not closed near.

    `closings` says where those calls are closed that were looked at before; it takes this one in.
    """
    closings[opening] = None
    depth, start, position = 0, opening + 1, opening
    ranges: list[tuple[int, int]] = []
    while (match := _PUNCTUATION.search(text, position, opening + OPERAND_BYTES)) is not None:
        mark, position = match.group(), match.end()
        if match.start() in closings and depth:
            closing = closings[match.start()]
            if closing is None:
                return None
            position = closing + 1
        elif mark in b"([{":
            depth += 1
        elif mark in b")]}":
            depth -= 1
            if depth == 0:
                closings[opening] = match.start()
                return [*ranges, (start, match.start())]
        elif mark == b"," and depth == 1:
            ranges.append((start, match.start()))
            start = match.end()
    return None


def take_operands(buffer: bytearray, fragments: list[Fragment]) -> None:
    """Takes the types out of `typeof`, `va_arg`, `offsetof` and `__builtin_types_compatible_p`."""
    text = bytes(buffer)
    found: list[tuple[int, int, str]] = []
    for kind, pattern in _OPERATORS.items():
        for match, _ in outside_literals(text, pattern):
            before = _BEFORE_OPERATOR.search(text[max(0, match.start() - 20) : match.start()])
            if before is not None:
                found.append((match.start() - len(before.group(1) or b""), match.end(), kind))
    closings: dict[int, int | None] = {}
    inner: list[tuple[int, int]] = []  # operators that are in no other one so far: where, and how many levels
    for key, after, kind in sorted(found, reverse=True):  # the inner ones first, so that they are clean in the outer ones
        ranges = _arguments(text, after - 1, closings)
        if ranges is None:
            if len(text) - after > OPERAND_BYTES:
                buffer[key] = _ERROR
            continue
        levels = 1
        while inner and inner[-1][0] < ranges[-1][1]:
            levels = max(levels, inner.pop()[1] + 1)
        inner.append((key, levels))
        if levels > OPERAND_LEVELS:
            buffer[key] = _ERROR
        elif len(ranges) == 2 or kind == "typeof":
            _take_out(buffer, fragments, key, after, kind, ranges)


def _take_out(
    buffer: bytearray, fragments: list[Fragment], key: int, after: int, kind: str, ranges: list[tuple[int, int]]
) -> None:
    """Makes the operands of one operator, of those ranges, fragments; `key` is where it begins, `after` where they begin."""
    opening, last = after, ranges[-1][1]
    if kind == "typeof":
        ranges = [(opening, last)]  # a comma in it is an operator
    elif kind == "va_arg":
        opening, ranges = ranges[0][1], ranges[1:]
    fragments.extend(Fragment(start, bytes(buffer[start:end]), kind, key) for start, end in ranges)
    if kind == "typeof":
        buffer[key : last + 1] = TYPEOF + blank(bytes(buffer[key + len(TYPEOF) : last + 1]))
    else:
        buffer[opening:last] = blank(bytes(buffer[opening:last]))
    if buffer.startswith(b"offsetof", key):  # a keyword of the grammar, which takes no blanks for its operands
        buffer[key : key + len(OFFSETOF)] = OFFSETOF
