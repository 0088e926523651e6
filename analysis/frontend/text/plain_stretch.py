"""The edit of a plain stretch of lines that also have macros: before the first, behind the last, or between two of them.

Outside of macros and their arguments a preprocessor copies tokens in their order (C11 5.1.1.2, phases 3 and 4). So when lines
differ in a stretch of such tokens alone, line ends among them, so do their preprocessed texts; all there is to find out is where
the stretch is in the old one. With no macro before it, that is as many tokens from the beginning of the line, with none behind
it, from the end. Between macros, a token beside the stretch shows it: one that is in the preprocessed text just as often as it
stands outside of macros and their arguments, so that no macro expands to it, is there in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.frontend.text.line_map import LineMap
from analysis.frontend.text.macros import Macros
from analysis.frontend.text.source_lines import TOKEN, Copied


class Piece(NamedTuple):
    """A token, and what is printed before it: a space, nothing, or line ends and an indentation."""

    gap: bytes
    text: bytes
    is_word: bool


class Stretch(NamedTuple):
    """What an edit replaces: the bytes `start` to `end` of the preprocessed text, by `now`."""

    start: int
    end: int
    now: bytes


def find_stretch(
    text: bytes, line_map: LineMap, number: int, old: Sequence[Copied], now: Sequence[Copied], macros: Macros
) -> Stretch | None:
    """What the edit of the lines from `number` on replaces in `text`, that of before; None if they differ in more than a plain
    stretch, or if it is not found. That what is above ends in no macro is the caller's to know, if a parenthesis that the lines
    begin with comes or goes."""
    rows = [row for at in range(len(old)) for row in line_map.rows_at(number + at)]
    was, is_ = pieces(old), pieces(now)
    if not rows or not is_:
        return None
    begin = next((at for at, (one, other) in enumerate(zip(was, is_, strict=False)) if one != other), min(len(was), len(is_)))
    same = 0
    while same < min(len(was), len(is_)) - begin and was[-1 - same].text == is_[-1 - same].text:
        same += 1
        if was[-same].gap != is_[-same].gap:
            break
    end, new_end = len(was) - same, len(is_) - same
    if any_macro((*was[begin:end], *is_[begin:new_end]), macros) or (begin and not stands_free(was[:begin], macros)):
        return None
    start = _position(text, rows, was, begin, end, macros)
    if start is None:
        return None
    return _replaced(text, start, was[begin : end + 1], is_[begin : new_end + 1], bool(same), macros)


def _replaced(text: bytes, start: int, was: Sequence[Piece], is_: Sequence[Piece], kept: bool, macros: Macros) -> Stretch | None:
    """The stretch that begins at `start`. With `kept`, the last pieces stay: only what is before them can be another."""
    old = b"".join(piece.gap + piece.text for piece in was[: len(was) - kept])
    now = b"".join(piece.gap + piece.text for piece in is_[: len(is_) - kept])
    if kept:
        gap, new_gap = was[-1].gap, is_[-1].gap
        if not any_macro(is_[-1:], macros) or b"\n" in gap:
            old, now = old + gap, now + new_gap
        elif b"\n" in new_gap:
            now += new_gap
        elif text[start + len(old) : start + len(old) + 1] not in (b" ", b"\n", b""):
            now += b" "  # the first token of a macro's expansion must not join what is before it
    return Stretch(start, start + len(old), now) if text.startswith(old, start) else None


def _position(
    text: bytes, rows: Sequence[tuple[int, int]], was: Sequence[Piece], begin: int, end: int, macros: Macros
) -> int | None:
    """Where in the text the pieces before `begin` are over."""
    head, tail = was[:begin], was[begin:]
    shown = [piece for piece in was[begin : end + 1] if not any_macro((piece,), macros)]
    if not any_macro(head, macros) and (head or shown):
        there = printed(head)
        first = there + (b"" if not shown or was[begin] is not shown[0] else shown[0].gap + shown[0].text)
        if first and text.startswith(first, rows[0][0]):
            return rows[0][0] + len(there)
    if head and not any_macro(tail, macros) and text[: rows[-1][1]].endswith(head[-1].text + printed(tail)):
        return rows[-1][1] - len(printed(tail))
    return _beside_token(text, rows, was, begin, macros)


def _beside_token(text: bytes, rows: Sequence[tuple[int, int]], was: Sequence[Piece], begin: int, macros: Macros) -> int | None:
    """The same by a token that no macro of the lines expands to: the one before `begin`, or the one at it."""
    plain = _outside_of_macros(was, macros)
    printed_tokens = [
        (match.start() + start, match.group())
        for start, end in rows
        for match in TOKEN.finditer(text[start:end])
        if match.lastgroup != "space"
    ]
    for at in (begin - 1, begin):
        if at in plain:
            wanted = was[at].text
            found = [offset for offset, token in printed_tokens if token == wanted]
            order = [index for index in plain if was[index].text == wanted]
            if len(found) == len(order) == sum(piece.text == wanted for piece in was):
                offset = found[order.index(at)]
                return offset + len(wanted) if at < begin else offset - len(was[at].gap)
    return None


def pieces(lines: Sequence[Copied]) -> list[Piece]:
    """The tokens of lines with what is printed before each."""
    found: list[Piece] = []
    blank = 0
    for number, line in enumerate(lines):
        for at, token in enumerate(line.tokens):
            if at:
                gap = b" " * token.spaced
            else:
                gap, blank = b"\n" * (number - blank) + b" " * line.indent, number
            found.append(Piece(gap, token.text, token.is_word))
    return found


def printed(of: Sequence[Piece]) -> bytes:
    """Pieces as they are printed."""
    return b"".join(piece.gap + piece.text for piece in of)


def any_macro(tokens: Sequence[Piece], macros: Macros) -> bool:
    """Whether a token can be a macro."""
    return any(token.is_word and macros.may_be(token.text) for token in tokens)


def stands_free(tokens: Sequence[Piece], macros: Macros) -> bool:
    """Whether the last token of the line's beginning is neither a macro nor among the arguments of a macro on
    the line."""
    return len(tokens) - 1 in _outside_of_macros(tokens, macros)


def _outside_of_macros(tokens: Sequence[Piece], macros: Macros) -> set[int]:
    """Which tokens are no macros and in no arguments of one."""
    return set(_plain(tokens, macros))


def _plain(tokens: Sequence[Piece], macros: Macros) -> Iterator[int]:
    at = 0
    while at < len(tokens):
        if tokens[at].is_word and macros.may_be(tokens[at].text):
            at = _behind_arguments(tokens, at + 1)
        else:
            yield at
            at += 1


def _behind_arguments(tokens: Sequence[Piece], at: int) -> int:
    """Where the arguments in parentheses that begin at a token are over; `at` itself if none do."""
    depth = 0
    while at < len(tokens):
        depth += {b"(": 1, b")": -1}.get(tokens[at].text, 0)
        if depth == 0 and tokens[at].text != b")":
            return at
        at += 1
        if depth == 0:
            return at
    return at
