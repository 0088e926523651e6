"""What there is to say about reading a file: what does not parse, and what is called without a declaration."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

import msgspec

from analysis.c.built_in import is_of_compilers
from analysis.c.functions import known
from analysis.cfa.building.unit import BrokenFunction
from analysis.model.report import Message, Severity
from analysis.model.spelling import display_name
from analysis.session.units.unit_view import UnitView

_LONGEST_WORD = 100  # bytes of a word that are marked
_WORD_THERE = re.compile(rb"\w+|[^\w\s]")
_NO_CODE = rb"""^[ \t]*#.*$|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_MOST_REPORTED = 20  # places of one file that do not parse; the rest is counted
_MOST_NAMED = 3


def unit_messages(unit: UnitView) -> tuple[Message, ...]:
    """What there is to say about reading the file: the preprocessor's complaints, and what does not parse."""
    messages = [*unit.built.preprocessed.messages, *unit.notes, *_undeclared(unit)]
    errors = _errors(unit)
    messages += [_syntax_message(unit, broken) for broken in errors[:_MOST_REPORTED]]
    more = len(errors) - _MOST_REPORTED
    if more > 0:
        messages.append(Message("warning", unit.path, f"{more:,} more places of the file do not parse and are not checked."))
    return tuple(messages)


def _undeclared(unit: UnitView) -> Iterator[Message]:
    """Functions of the library that the file calls though nothing declares them, which C does not allow since 1999. The note is
    at the first of these calls."""
    names = (external.name for external in unit.built.unit.implicit)
    names = (name for name in names if known(name) is not None and not is_of_compilers(name))
    calls = sorted((*at, name) for name in names if (at := _first_call(unit, name)) is not None)
    if calls:
        named = [f"{name}()" for _, _, name in calls]
        *others, last = named if len(named) <= _MOST_NAMED else [*named[:_MOST_NAMED], f"{len(named) - _MOST_NAMED:,} more"]
        shown = f"{', '.join(others)} and {last} are" if others else f"{last} is"
        text = f"{shown} called here and declared nowhere: a header is missing, or a flag under which it is included."
        start, end, _ = calls[0]
        yield _message_at(unit, "note", text, start, end)


def _first_call(unit: UnitView, name: str) -> tuple[int, int] | None:
    """Where the text calls this name, from byte to byte. A compiler's built-in function, which needs no declaration, has a prefix
    before it; lines of the preprocessor's own, strings and characters call nothing."""
    pattern = re.compile(rb"%b|(?<!\w)(%b)\s*\(" % (_NO_CODE, re.escape(name.encode())), re.MULTILINE)
    found = pattern.finditer(unit.built.preprocessed.text)
    return next((at.span(1) for at in found if at.group(1) is not None), None)


def _errors(unit: UnitView) -> list[BrokenFunction]:
    """What does not parse; of what follows on a broken function with nothing good in between, the function alone: what is left
    over of it is no error of its own."""
    good = sorted(function.source.start for function in unit.built.unit.functions)
    found: list[BrokenFunction] = []
    for broken in sorted(unit.built.unit.broken, key=lambda broken: (broken.start, -broken.end)):
        before = found[-1] if found else None
        is_rest = before is not None and bisect_left(good, before.start) == bisect_left(good, broken.start)
        if not (is_rest and broken.name is None):
            found.append(broken)
    return found


def _syntax_message(unit: UnitView, broken: BrokenFunction) -> Message:
    """The message about a place that does not parse, at one token of it."""
    text = unit.built.preprocessed.text
    at = broken.start if broken.error < 0 else broken.error
    token = _WORD_THERE.search(text, max(text.rfind(b"\n", 0, at) + 1, at - _LONGEST_WORD), at + _LONGEST_WORD)
    while token is not None and token.end() <= at:
        token = _WORD_THERE.search(text, token.end(), at + _LONGEST_WORD)
    what = "This text" if broken.name is None else f"The function {display_name(broken.name)}"
    is_stale = broken.name in {display_name(name) for name in unit.kept.stale}
    said = f"{what} does not parse and is not checked." + (" Its last good text is checked instead." if is_stale else "")
    message = _message_at(unit, "warning", said, *(token.span() if token is not None else (at, at)))
    return msgspec.structs.replace(message, syntax=True)


def _message_at(unit: UnitView, severity: Severity, text: str, first: int, last: int) -> Message:
    """A message about a part of the preprocessed text."""
    place = unit.places.place(first, last)
    start, end = place.range.start, place.range.end
    columns = (start.column, end.column) if start.line == end.line and start < end else (0, 0)
    return Message(severity, place.path, text, start.line, *columns)
