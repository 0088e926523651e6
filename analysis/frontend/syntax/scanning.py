"""Looks for forms in C text outside of its string literals and character constants (C11 6.4.4.4, 6.4.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

STRING = rb"\"(?:[^\"\\\n]++|\\.)*+\""
"""A string literal, as a part of regular expressions. It begins and ends on one line."""
CHARACTER = rb"'(?:[^'\\\n]++|\\.)*+'"
"""A character constant, likewise."""
_PARENTHESES = 12  # how deep they are counted; deeper ones are left as they are
_PLAIN = rb"[^()\"']++|" + STRING + rb"|" + CHARACTER
BALANCED = rb"(?>(?:" + _PLAIN + rb")*)"
"""What can stand between parentheses, likewise."""
for _ in range(_PARENTHESES):
    BALANCED = rb"(?>(?:" + _PLAIN + rb"|\(" + BALANCED + rb"\))*)"
_QUOTE = re.compile(rb"[\"']")
_LITERAL = re.compile(STRING + rb"?|" + CHARACTER + rb"?")  # one that is not closed goes to the end of the line
_NOTHING_MORE: dict[str | None, re.Pattern[bytes]] = {}
_TO_SPACE = bytes(0x0A if byte == 0x0A else 0x20 for byte in range(256))


class Literals:
    """Says which offsets of a text are inside a literal.

    The offsets are asked for in ascending order: so all answers together take one walk over the text, however long its
    lines are.
    """

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._seen = 0  # an offset that is in no literal: all before it has been looked at
        self._last = (0, 0)  # where the last literal begins and ends

    def hold(self, offset: int) -> bool:
        """Whether an offset is inside a literal; the first quote of a literal is not."""
        if self._last[1] <= offset:
            line = self._text.rfind(b"\n", self._seen, offset) + 1
            self._seen = max(self._seen, line, self._last[1])
        while self._last[1] <= offset:
            quote = _QUOTE.search(self._text, self._seen, offset)
            literal = None if quote is None else _LITERAL.match(self._text, quote.start())
            if literal is None:
                self._seen = offset
                return False
            self._last = literal.span()
            self._seen = literal.end()
        return self._last[0] < offset


def outside_literals(
    text: bytes, pattern: re.Pattern[bytes], rests: Mapping[str | None, re.Pattern[bytes]] = _NOTHING_MORE
) -> Iterator[tuple[re.Match[bytes], re.Match[bytes] | None]]:
    """The matches that do not begin inside a literal, each with the match of what must follow it, if anything must.

    `rests` says by the last group of a match what must follow. What can be long belongs there: it is only looked for outside
    of literals, and what it takes is not looked at again.
    """
    literals, position = Literals(text), 0
    while (match := pattern.search(text, position)) is not None:
        position = match.end()
        if literals.hold(match.start()):
            continue
        wanted = rests.get(match.lastgroup)
        rest = None if wanted is None else wanted.match(text, position)
        if wanted is None or rest is not None:
            position = (rest or match).end()
            yield match, rest


def blank(text: bytes) -> bytes:
    """Spaces of the same length, with the newlines of `text`."""
    return text.translate(_TO_SPACE)
