"""The tokens of a replaced text that are still there in what replaced it, by their positions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from analysis.model.places import Position
from analysis.model.token_matching import matching

_TOKEN = re.compile(r"\w+|[^\w\s]")
_LINE_END = re.compile(r"\r\n|\n|\r")
_LONGEST = 200_000  # characters of a text whose tokens are compared; of a longer one none is kept


class KeptToken(msgspec.Struct, frozen=True, gc=False):
    """A token, from `start` to `end` before the edit, that begins and ends elsewhere after it."""

    start: Position
    end: Position
    new_start: Position
    new_end: Position


def kept_tokens(old: str, new: str, at: Position) -> tuple[KeptToken, ...]:
    """The tokens of a text that are in the one that replaced it; both begin at a position."""
    if not old or not new or len(old) + len(new) > _LONGEST:
        return ()
    before, after = list(_tokens(old, at)), list(_tokens(new, at))
    pairs = matching([text for text, _, _ in before], [text for text, _, _ in after])
    return tuple(KeptToken(*before[one][1:], *after[other][1:]) for one, other in pairs)


def _tokens(text: str, at: Position) -> Iterator[tuple[str, Position, Position]]:
    """The tokens with where they begin and end."""
    ends = [match.end() for match in _LINE_END.finditer(text)]
    line, begin, next_end = at.line, 1 - at.column, 0
    for match in _TOKEN.finditer(text):
        while next_end < len(ends) and ends[next_end] <= match.start():
            line, begin = line + 1, ends[next_end]
            next_end += 1
        yield match.group(), Position(line, match.start() - begin + 1), Position(line, match.end() - begin + 1)
