"""What is being typed at file level must not take the functions below for its own, nor make them something else.

`int limited(int x, int most)` without a body yet, or with a body that is not closed yet, makes a parser read
on: the next function becomes its body, or a part of it. For the person who types, the functions below did not
change. So unfinished text between two known functions is left out until it is finished. Spaces replace it, so
that nothing moves.

Only the text that was inserted since the last good text is examined, or, if something else was edited as
well, all text between the two functions. Its last item is unfinished if it has no end and cannot belong to
what follows. That is so if it opens a brace or bracket and does not close it, if it has a list of parameters,
if it has a word or sign that means nothing there, or if it has a type or storage class and what follows has
one, too. Everything else can belong to what follows: `static`, or a type where the function has none.

Text that makes another word of one that was there, as `un` does before `signed`, and `32_t` behind `int`, was not put in
between two items: it is no item, but changes one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from analysis.cfa.building.unit import BrokenFunction
from analysis.frontend.declarations.scope import TypedefEntry
from analysis.frontend.text.difference import Difference, difference
from analysis.session.units.built import Built

_TOKEN = re.compile(
    rb"""(?P<skip>^\#[^\n]*|\s+)|(?P<word>[A-Za-z_$][\w$]*)|(?P<text>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|(?P<other>.)""",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(rb"[\w$]++")
_MARKER = re.compile(rb'\n# (\d{1,9})(?= ")')
_STORAGE = frozenset((b"static", b"extern", b"typedef", b"register", b"auto"))
_TAGGED = frozenset((b"struct", b"union", b"enum"))
_TYPES = frozenset((b"void", b"char", b"int", b"float", b"double", b"_Bool")) | _TAGGED
_COMBINED = frozenset(b"short long signed unsigned _Complex const volatile restrict inline _Noreturn _Thread_local".split())
_SIZES = frozenset((b"short", b"long", b"signed", b"unsigned"))
_WITH_SIZE = {b"int": _SIZES, b"char": frozenset((b"signed", b"unsigned")), b"double": frozenset((b"long",))}
_EXTENSIONS = frozenset(b"__attribute__ __attribute __extension__ __inline __inline__ __const __restrict __signed__".split())
_WITH_ARGUMENTS = frozenset(b"__attribute__ __attribute __declspec _Alignas __asm__ asm _Atomic typeof __typeof__".split())
_FAR = 4096  # bytes that are looked at above the first function, and below what is unfinished: headers are long
_CLOSING = frozenset((b"*", b")", b"]", b"}"))
_KNOWN = _STORAGE | _TYPES | _COMBINED | _EXTENSIONS | _WITH_ARGUMENTS


class _Gap(NamedTuple):
    """What is between two functions, where it was in the text before and where it is now; with what the second one begins with up
    to the edit, if that is `in_head`."""

    old_start: int
    old_end: int
    start: int
    end: int
    in_head: bool = False


class _Item(NamedTuple):
    """Tokens at file level since the end of what came before: what they are at depth 0, how deep the last one is, and whether
    there is a list of parameters."""

    start: int
    end: int
    words: tuple[bytes, ...]
    depth: int
    declares: bool


def unfinished(previous: Built, text: bytes) -> list[BrokenFunction]:
    """What of a preprocessed text is unfinished at file level, where it was edited since the last revision or did not parse."""
    old, names = previous.preprocessed.text, previous.unit.level.scope.names
    broken = [(part.start, part.end) for part in previous.unit.broken]
    start = _edit(old, text, broken).start
    places = {old.rfind(b"\n", 0, start) + 1, *(begin for begin, _ in broken)}
    gaps = {gap for place in places if (gap := _gap(previous, text, place, start)) is not None}

    def is_type(word: bytes) -> bool:
        return isinstance(names.get(word.decode(errors="replace")), TypedefEntry)

    found = []
    for gap in sorted(gaps):
        examined = _examined(text, gap, _put_in(previous, text, gap), is_type)
        if examined is None:
            continue
        begin, end = examined
        item = _last_item(text, begin, end)
        if item is not None:
            if _goes_on(text, end) or (item.depth and _last_item(text, begin, gap.end) is None):  # it is closed further down
                continue
            at_function = not text[end : gap.end].strip()
            if (
                item.depth
                or item.declares
                or _joins(text, item.end)
                or _is_foreign(item.words, _head(text, end), at_function, is_type)
            ):
                found.append(BrokenFunction(None, item.start, item.end, item.end - 1))
    return found


def _examined(text: bytes, gap: _Gap, put_in: tuple[int, int] | None, is_type: Callable[[bytes], bool]) -> tuple[int, int] | None:
    """What of a gap may be unfinished: what was put in, if that is all; None if nothing can be."""
    if put_in is not None and _changes_word(text, gap.start, *put_in, is_type):
        if put_in[1] == gap.end:
            return None  # the first word of the function
        put_in = None
    if put_in is not None:
        return put_in
    return None if gap.in_head else (gap.start, gap.end)


def _joins(text: bytes, at: int) -> bool:
    """Whether a word goes on across this place."""
    return _is_word(text[at - 1 : at]) and _is_word(text[at : at + 1])


def without(text: bytes, parts: Sequence[BrokenFunction]) -> bytes:
    """The text with spaces in place of parts of it."""
    for part in parts:
        text = text[: part.start] + re.sub(rb"[^\n]", b" ", text[part.start : part.end]) + text[part.end :]
    return text


def _gap(previous: Built, text: bytes, place: int, edited: int) -> _Gap | None:
    """What is between the functions around a place of the text before; None if the place is inside of one, or the function behind
    it is called otherwise. `edited` is where the texts begin to differ."""
    old = previous.preprocessed.text
    old_begin, by = max(0, old.rfind(b"\n", 0, max(0, place - _FAR))), len(text) - len(old)
    for function in previous.unit.functions:
        source = function.source
        first, last = source.start, source.start + source.end_site.end
        if first + source.name_site.start < place < last:
            return None
        if last > place:
            name = first + source.name_site.end
            rest = first
            if not any(text.startswith(old[first:name], at) for at in (first, first + by)):
                rest = next((match.start() for match in _tokens(old, first, name) if match.start() >= edited), name)
            end = next((at for at in (rest, rest + by) if rest < name and text.startswith(old[rest:name], at)), None)
            begin = old_begin + by * (edited < old_begin)
            return None if end is None else _Gap(old_begin, rest, begin, end, rest > first)
        old_begin = last
    return _Gap(old_begin, len(old), old_begin + by * (edited < old_begin), len(text))


def _put_in(previous: Built, text: bytes, gap: _Gap) -> tuple[int, int] | None:
    """What was put in between two functions since the text there was good; None if that is not all, or is not between items."""
    old, new = _even(previous.preprocessed.text[gap.old_start : gap.old_end]), _even(text[gap.start : gap.end])
    broken = [
        (part.start - gap.old_start, part.end - gap.old_start)
        for part in previous.unit.broken
        if gap.old_start <= part.start < gap.old_end
    ]
    edit = _edit(old, new, broken)
    start = min([edit.start, *(begin for begin, _ in broken)])
    old_end = max([edit.old_end, *(end for _, end in broken)])
    good = bytearray(old[:old_end])
    for begin, end in broken:
        good[begin:end] = b" " * (end - begin)
    if good[start:].strip():
        return None
    end = old_end + len(new) - len(old)
    for match in reversed(list(_tokens(new, 0, start))):
        if match.group() in (b";", b"}"):
            break
        if match.group() not in _KNOWN:
            return None
    return gap.start + start, gap.start + end


def _changes_word(text: bytes, begin: int, start: int, end: int, is_type: Callable[[bytes], bool]) -> bool:
    """Whether what was put in makes another word of one that was there: of one that it is added to, or goes before, if the whole
    means something, or other words of the same declaration are before it. `begin` is where the text between functions does."""
    if start > begin and _WORD.match(text, start - 1, start) and _WORD.match(text, start):
        return True
    if not _joins(text, end):
        return False
    first = end
    while first > start and _WORD.match(text, first - 1, first):
        first -= 1
    rest = _WORD.match(text, end)
    word = text[first:end] + (b"" if rest is None else rest.group())
    if word in _KNOWN or is_type(word):
        return True
    before = [token.group() for token in _tokens(text, begin, start)][-1:]
    return bool(before) and before[0] not in (b";", b"}")


def _edit(old: bytes, new: bytes, broken: Sequence[tuple[int, int]]) -> Difference:
    """Where two texts differ. Where equal text follows what was put in, it is not known which of both was: if it can have been
    put in at the beginning of a line, or in what is broken, it was."""
    start, old_end, new_end = found = difference(old, new)
    by = 0
    while start == old_end and by <= start:
        at = start - by
        if at == 0 or new[at - 1 : at] == b"\n" or any(begin <= at <= end for begin, end in broken):
            return Difference(at, at, new_end - by)
        if new[at - 1] != new[new_end - by - 1]:
            break
        by += 1
    return found


def _even(text: bytes) -> bytes:
    """The text with no numbers of lines in its markers, which an added line changes."""
    return _MARKER.sub(lambda match: b"\n# " + b"0" * len(match[1]), b"\n" + text)[1:]


def _last_item(text: bytes, start: int, stop: int) -> _Item | None:
    """What has no end in a part of the text; None if nothing has, or something ends that does not begin there."""
    begin: int | None = None
    end = depth = 0
    declares = False
    words: list[bytes] = []
    for match in _tokens(text, start, stop):
        token = match.group()
        if begin is None and token != b";":
            begin, declares, words = match.start(), False, []
        end = match.end()
        if token in (b"(", b"[", b"{"):
            depth += 1
            named = bool(words) and _is_word(words[-1]) and words[-1] not in _WITH_ARGUMENTS
            declares = declares or (token == b"(" and depth == 1 and named)
        elif token in (b")", b"]", b"}"):
            depth -= 1
        if depth < 0:
            return None
        if depth == 0:
            words.append(token)
            if token == b";" or (token == b"}" and declares):
                begin = None
    return None if begin is None else _Item(begin, end, tuple(words), depth, declares)


def _is_foreign(words: Sequence[bytes], head: Sequence[bytes], at_function: bool, is_type: Callable[[bytes], bool]) -> bool:
    """Whether words cannot stand before a declaration that begins with others, its head; or before that of a function."""
    if at_function and b"typedef" in words:
        return True
    types: list[bytes] = []
    before = b""
    for word in words:
        if before in _TAGGED or word in _STORAGE:
            pass  # a tag, or of no type
        elif word in _TYPES or is_type(word):
            types.append(word)
        elif word not in _KNOWN and word not in _CLOSING:
            return True
        before = word
    is_tag = before in _TAGGED and not _KNOWN.issuperset(head[:1])
    behind = {word for word in head[is_tag:] if word in _TYPES or word in _SIZES or is_type(word)}
    two_storages = not (_STORAGE.isdisjoint(words) or _STORAGE.isdisjoint(head))
    return two_storages or bool(types and behind and not _are_one(types, behind))


def _are_one(types: Sequence[bytes], behind: set[bytes]) -> bool:
    """Whether words before and behind a place name one type, as in `char unsigned` (C11 6.7.2p2)."""
    return len(types) == 1 and behind <= _WITH_SIZE.get(types[0], frozenset())


def _goes_on(text: bytes, start: int) -> bool:
    """Whether what follows is left over of what seems unfinished: it begins as nothing at file level does, or is a body behind
    the declarations of parameters (C11 6.9.1p13)."""
    before = b""
    for match in _tokens(text, start, start + _FAR):
        if not before and match.lastgroup == "other":
            return True
        if match.group() == b"{":
            return before == b";"
        before = match.group()
    return False


def _is_word(token: bytes) -> bool:
    return token[:1].isalpha() or token[:1] in (b"_", b"$")


def _head(text: bytes, start: int) -> list[bytes]:
    """The words that a declaration has before the name that it declares."""
    words: list[bytes] = []
    for match in _tokens(text, start, len(text)):
        if match.lastgroup == "word":
            words.append(match.group())
        elif match.group() != b"*":
            break
    return words[:-1]


def _tokens(text: bytes, start: int, end: int) -> Iterator[re.Match[bytes]]:
    """The tokens between two places, without those of directives."""
    if text.startswith(b"#", text.rfind(b"\n", 0, start) + 1):
        line_end = text.find(b"\n", start)
        start = len(text) if line_end < 0 else line_end
    return (match for match in _TOKEN.finditer(text, start, end) if match.lastgroup != "skip")
