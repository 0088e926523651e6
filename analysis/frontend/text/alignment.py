"""Aligns the tokens of a preprocessed line with those of the source line that it came from.

Preprocessors keep lines but not columns: white space collapses and macros expand. Equal tokens in equal order are taken for the
same tokens (longest common blocks). What is left over in the source is the use of a macro: its name and arguments. Its expansion
is what is left over in the preprocessed text between the same neighbours.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    rb"(?P<skip>/\*.*?(?:\*/|\Z)|//[^\n]*|\\\r?\n|\n[ \t]*#[^\n]*)"
    rb"|(?P<word>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)"
    rb"|\.?\d(?:[eEpP][+-]|[\w.])*"
    rb"|(?:u8|[uUL])?\"(?:[^\"\\\n]|\\.)*\"?|[uUL]?'(?:[^'\\\n]|\\.)*'?"
    rb"|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|[^\s\w]",
    re.DOTALL,
)
_MOST_LINES = 200  # of one macro call
_MOST_CELLS = 400_000  # tokens times tokens; beyond, only what is equal at both ends is aligned


class Token(NamedTuple):
    """A token: its text, where it is, and whether it is an identifier or keyword."""

    text: bytes
    start: int
    end: int
    word: bool


class Use(NamedTuple):
    """A use of the macro `name` in the source: its first and last token, and its expansion [low, high) in preprocessed tokens."""

    name: bytes
    first: int
    last: int
    low: int
    high: int


class Span(NamedTuple):
    """Byte offsets into the source block that was aligned; `macro` when the span is a use of it."""

    start: int
    end: int
    macro: bytes | None


class Alignment:
    """The tokens of a preprocessed line (`result`) and of its source (`source`), aligned."""

    def __init__(self, result: Sequence[Token], source: Sequence[Token]) -> None:
        self._result = result
        self._source = source
        self._starts = [token.start for token in result]
        self._ends = [token.end for token in result]
        self._from = _match([token.text for token in source], [token.text for token in result])
        self._origin = {of: at for at, of in self._from.items()}
        self._uses = list(self._find_uses())

    def span(self, start: int, end: int) -> Span | None:
        """Where the bytes [start, end) of the preprocessed text come from; None when there is no token to go by."""
        if not self._result or not self._source:
            return None
        first = min(bisect_right(self._ends, start), len(self._result) - 1)
        last = max(bisect_left(self._starts, end) - 1, first)
        use, other = self._use_of(first), self._use_of(last)
        if use is not None and use is other:
            return self._argument(use, first, last) or Span(self._source[use.first].start, self._source[use.last].end, use.name)
        begin = self._source[self._source_of(first, use.first if use else None)].start
        finish = self._source[self._source_of(last, other.last if other else None)].end
        return Span(begin, max(begin, finish), None)

    def open_call(self) -> int | None:
        """The source token that is the name of a macro whose call is not closed; a name at the end may have its call after it."""
        at = 0
        while at < len(self._source):
            if at not in self._from and self._source[at].word:
                end = self._call_end(at)
                if end == at and (at + 1 == len(self._source) or self._source[at + 1].text == b"("):
                    return at
                at = end
            at += 1
        return None

    def _source_of(self, index: int, known: int | None) -> int:
        """The source token of a preprocessed one; for one that fits nowhere, that of the last one before it that fits."""
        if known is not None:
            return known
        while index >= 0 and index not in self._origin:
            index -= 1
        return self._origin.get(index, 0)

    def _use_of(self, index: int) -> Use | None:
        return next((use for use in self._uses if use.low <= index < use.high), None)

    def _argument(self, use: Use, first: int, last: int) -> Span | None:
        """The argument of the macro that the tokens are, when they are all of one and not the macro's own."""
        wanted = [token.text for token in self._result[first : last + 1]]
        if len(wanted) == 1 and not wanted[0][:1].isalnum() and not self._result[first].word and wanted[0][:1] not in b"\"'":
            return None
        inside = range(use.first + 2, use.last - len(wanted) + 1)
        for at in inside:
            if [token.text for token in self._source[at : at + len(wanted)]] == wanted:
                return Span(self._source[at].start, self._source[at + len(wanted) - 1].end, None)
        return None

    def _find_uses(self) -> Iterator[Use]:
        at = 0
        previous = -1  # the last preprocessed token that is not of an expansion
        while at < len(self._source):
            if at in self._from:
                previous = self._from[at]
            elif self._source[at].word:
                first, last = at, self._call_end(at)
                while last + 1 < len(self._source) and last + 1 not in self._from and self._source[last + 1].word:
                    last = self._call_end(last + 1)
                following = next(
                    (self._from[i] for i in range(last + 1, len(self._source)) if i in self._from), len(self._result)
                )
                if previous + 1 < following:
                    yield Use(self._source[first].text, first, last, previous + 1, following)
                at = last
            at += 1

    def _call_end(self, name: int) -> int:
        """The last token of a use that begins at `name`: the closing parenthesis if there are arguments."""
        depth = 0
        for at in range(name + 1, len(self._source)):
            text = self._source[at].text
            depth += (text == b"(") - (text == b")")
            if depth <= 0:  # at once: there are no arguments
                return at if at > name + 1 else name
        return name


def _match(source: list[bytes], result: list[bytes]) -> dict[int, int]:
    """Which source token is which preprocessed one: what is equal at both ends, and the longest common blocks in between."""
    shorter = min(len(source), len(result))
    head = next((i for i in range(shorter) if source[i] != result[i]), shorter)
    tail = next((i for i in range(shorter - head) if source[-1 - i] != result[-1 - i]), shorter - head)
    matched = {i: i for i in range(head)}
    inner, outer = source[head : len(source) - tail], result[head : len(result) - tail]
    if inner and outer and len(inner) * len(outer) <= _MOST_CELLS:
        for block in difflib.SequenceMatcher(None, inner, outer, autojunk=False).get_matching_blocks():
            matched |= {head + block.a + i: head + block.b + i for i in range(block.size)}
    matched |= {len(source) - i: len(result) - i for i in range(tail, 0, -1)}
    return matched


def tokens(text: bytes, base: int = 0) -> Iterator[Token]:
    """The tokens of a text; `base` is added to their offsets."""
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skip":
            yield Token(match.group(), base + match.start(), base + match.end(), match.lastgroup == "word")


def source_block(lines: Sequence[bytes], number: int) -> bytes:
    """The source from line `number` (from 1) on, as far as one logical line or macro call can go."""
    return b"\n".join(lines[number - 1 : number - 1 + _MOST_LINES])


def align(result: Sequence[Token], block: bytes, limit: int) -> Alignment:
    """Aligns a preprocessed line with the block of source that begins at its line; `limit` bounds the source line in the block.

    A macro call that is open at the limit belongs to the line as a whole, since that is where its expansion is; what comes after
    the call does not.
    """
    source = logical_line(block, limit)
    alignment = Alignment(result, source)
    name = alignment.open_call()
    if name is None:
        return alignment
    depth = 0
    for token in tokens(block[source[name].end :], source[name].end):
        depth += (token.text == b"(") - (token.text == b")")
        if token.start > source[-1].start:
            source.append(token)
        if depth <= 0:
            break
    return Alignment(result, source) if depth == 0 and source[-1].text == b")" else alignment


def logical_line(block: bytes, limit: int) -> list[Token]:
    """The tokens of the first logical line of a block, and of the lines up to `limit` that its open parentheses reach over.

    When the line begins inside a comment, the tokens after the comment.
    """
    found: list[Token] = []
    depth = 0
    begin = 0
    end = _end_of_line(block, 0)
    close, open_ = block.find(b"*/", 0, end), block.find(b"/*", 0, end)
    if close >= 0 and not 0 <= open_ < close:
        begin = close + 2
    for token in tokens(block[begin:], begin):
        if token.start >= end:
            if depth <= 0 or token.start >= limit:
                break
            end = _end_of_line(block, token.start)
        found.append(token)
        depth += (token.text == b"(") - (token.text == b")")
    return found


def _end_of_line(block: bytes, offset: int) -> int:
    while True:
        end = block.find(b"\n", offset)
        if end < 0:
            return len(block)
        if not block[:end].rstrip(b"\r").endswith(b"\\"):
            return end
        offset = end + 1
