"""What the formats of `printf` and `scanf` say of the arguments behind them (C11 7.21.6.1, 7.21.6.2)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from analysis.model.c_types import DataModel

NUMBERS = frozenset("diouxXcfFeEgGaA*")
"""Conversions of `printf` that take a number, not a pointer; `*` is that of a width or a precision."""

# What stands for itself in a format, as it is written in the program. Escapes that may stand for a percent sign do not, nor does
# what a trigraph may begin with (C11 5.2.1.1, 6.4.4.4).
_OTHER = re.compile(r"""[^%\\?]|\\[abfnrtv"'\\]|\?(?!\?)|%%""")
_LITERAL = re.compile(r"""(?:u8)?"(?P<body>(?:[^"\\]++|\\.)*+)"\s*+""", re.DOTALL)
_LENGTH = r"(?P<length>hh|h|ll|l|j|z|t|L)?"
_AT = r"(?:(?P<at>[1-9][0-9]{0,3})\$)?"
# The bracket behind `[` or `[^` is one of the set. Escapes that may stand for a bracket are not understood, nor are trigraphs.
_SET = r"""\[\^?\]?(?:[^\]\\?]|\?(?!\?)|\\[abfnrtv"'\\])*\]"""
_PRINTED = re.compile(
    rf"%{_AT}[-+ #0']*+(?>(?P<width>\*|[0-9]++)?)(?>(?:\.(?P<precision>\*|[0-9]*+))?){_LENGTH}(?P<letter>[diouxXcsfFeEgGaApn])"
)
_SCANNED = re.compile(rf"%{_AT}(?>(?P<star>\*)?)(?>(?P<width>[0-9]{{1,9}}+)?){_LENGTH}(?P<letter>[diouxXcsaAeEfFgGpn]|{_SET})")
_INTEGERS, _FLOATS = frozenset("diouxXn"), frozenset("aAeEfFgG")
_LONG_DOUBLE = 128


_Match = Callable[[str, int], "re.Match[str] | None"]


class Conversion(NamedTuple):
    """What a format does with one argument. `letter` is `*` for a width or a precision, and `[` for a set of characters; `width`
    is the greatest field width."""

    letter: str
    length: str = ""
    width: int | None = None

    @property
    def is_wide(self) -> bool:
        """Whether it is of wide characters: `%ls`, `%lc`."""
        return self.letter in ("s", "c", "[") and bool(self.length)


@cache
def printed(text: str) -> tuple[Conversion, ...] | None:
    """What a format of `printf`, as it is written in the program, does with its arguments, in turn; None if it is not
    understood."""
    found: list[Conversion] = []
    numbers: list[int] = []
    for match in _conversions(_PRINTED.match, text):
        if match is None:
            return None
        found += [Conversion("*")] * ((match["width"], match["precision"]).count("*"))
        found.append(Conversion(match["letter"], match["length"] or ""))
        numbers += [] if match["at"] is None else [int(match["at"])]
    return _in_turn(found, numbers)


@cache
def scanned(text: str) -> tuple[Conversion, ...] | None:
    """The same of a format of `scanf`."""
    found: list[Conversion] = []
    numbers: list[int] = []
    for match in _conversions(_SCANNED.match, text):
        if match is None or (match["star"] and match["at"]):
            return None
        if not match["star"]:
            letter, width = match["letter"][0], int(match["width"]) if match["width"] else None
            found.append(Conversion(letter, match["length"] or "", width))
            numbers += [] if match["at"] is None else [int(match["at"])]
    return _in_turn(found, numbers)


def _in_turn(found: list[Conversion], numbers: list[int]) -> tuple[Conversion, ...] | None:
    """The conversions in the order of their arguments, where they have these numbers (POSIX: `%2$d`): all or none, and each
    argument in one of them. None if it is otherwise."""
    if not numbers:
        return tuple(found)
    by_number = dict(zip(numbers, found, strict=False))
    is_each = len(numbers) == len(found) and by_number.keys() == set(range(1, len(found) + 1))
    return tuple(by_number[number] for number in sorted(by_number)) if is_each else None


def _conversions(conversion: _Match, text: str) -> list[re.Match[str] | None]:
    """The conversions of a format; None stands for something that is not understood."""
    body = _body(text)
    if body is None:
        return [None]
    found: list[re.Match[str] | None] = []
    at = 0
    while at < len(body):
        match = _OTHER.match(body, at)
        if match is None:
            match = conversion(body, at)
            found.append(match)
        if match is None:
            break
        at = match.end()
    return found


def _body(text: str) -> str | None:
    """What is between the quotes of adjacent literals, which are one (C11 5.1.1.2p1); None if the text is something else."""
    parts, at = list[str](), 0
    while at < len(text):
        match = _LITERAL.match(text, at)
        if match is None:
            return None
        parts.append(match["body"])
        at = match.end()
    return "".join(parts) if parts else None


def stored_bits(conversion: Conversion, model: DataModel) -> int | None:
    """How many bits a conversion of `scanf` stores, at most; None if nothing says it."""
    letter, length, width = conversion
    if letter == "p":
        return model.pointer_bits
    if letter == "c" and not length:
        return 8 * (1 if width is None else width)
    if letter in ("s", "[") and not length and width:
        return 8 * (width + 1)
    if letter in _FLOATS:
        return {"": 32, "l": 64, "L": _LONG_DOUBLE}.get(length)
    widths = {"": 32, "hh": 8, "h": 16, "l": model.long_bits, "z": model.pointer_bits, "t": model.pointer_bits, "ll": 64, "j": 64}
    return widths.get(length) if letter in _INTEGERS else None
