"""Edits against the simplest reference: a text and offsets into it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import PositionCodec

from analysis.model.places import Place, Position, Range
from server.client_columns import Columns
from server.client_lines import Edit, content_length, moved_place, moved_range, split_lines
from server.documents import Document

ENCODINGS = [types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16, types.PositionEncodingKind.Utf32]
# every character that str.splitlines splits at, line ends, and characters of one to four bytes
texts = st.text(alphabet=st.sampled_from("ab\n\r\f\v\x1c\x1d\x1e\x85\u2028\u2029é✓😀"), max_size=30)


def reference_offset(text: str, line: int, units: int, encoding: types.PositionEncodingKind) -> int:
    """The offset of a client's position, straight from the specification."""
    starts = [0]
    for index, character in enumerate(text):
        if character == "\n" or (character == "\r" and text[index + 1 : index + 2] != "\n"):
            starts.append(index + 1)
    if line >= len(starts):
        return len(text)
    offset = starts[line]
    codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding.value]
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding.value]
    while units > 0 and offset < len(text) and text[offset] not in "\r\n":
        units -= len(text[offset].encode(codec)) // width
        offset += 1
    return offset


@st.composite
def edits(draw: st.DrawFn) -> tuple[tuple[int, int], tuple[int, int], str]:
    start = (draw(st.integers(0, 12)), draw(st.integers(0, 20)))
    end = max(start, (draw(st.integers(0, 12)), draw(st.integers(0, 20))))
    return start, end, draw(texts)


@given(texts, st.lists(edits(), max_size=6), st.sampled_from(ENCODINGS))
def test_a_document_has_the_text_that_the_client_has(
    text: str, changes: list[tuple[tuple[int, int], tuple[int, int], str]], encoding: types.PositionEncodingKind
) -> None:
    document = Document("file:///a.c", text, 0, "c", position_codec=PositionCodec(encoding))
    for start, end, new in changes:
        from_, to = (reference_offset(text, *place, encoding) for place in (start, end))
        text = text[:from_] + new + text[to:]
        range_ = types.Range(types.Position(*start), types.Position(*end))
        document.apply_change(types.TextDocumentContentChangePartial(range=range_, text=new))
        assert document.source == text
        assert list(document.lines) == split_lines(text)


@given(texts, texts)
def test_a_change_of_the_whole_text_is_an_edit_that_leads_from_the_old_to_the_new(old: str, new: str) -> None:
    document = Document("file:///a.c", old, 0, "c")
    document.apply_change(types.TextDocumentContentChangeWholeDocument(new))
    (edit,) = document.take_edits()
    before, after = split_lines(old), split_lines(new)
    kept = after[edit.range.start.line - 1 : edit.new_end.line - 1]
    assert before[: edit.range.start.line - 1] + kept + before[edit.range.end.line - 1 :] == after


@given(st.lists(st.sampled_from(["int x;", "", "😀", "a\f"]), min_size=1, max_size=8), st.data())
def test_a_range_that_an_edit_does_not_touch_keeps_its_text(words: list[str], data: st.DataObject) -> None:
    text = "\n".join(words)
    document = Document("file:///a.c", text, 0, "c")
    lines = split_lines(text)
    line = data.draw(st.integers(0, len(words) - 1))
    target = Range(Position(line + 1, 1), Position(line + 1, content_length(lines[line]) + 1)) if line < len(lines) else None
    before, after = data.draw(texts), data.draw(texts)
    end = document.position(types.Position(len(words), 0))
    for place, new in ((end, after), ((0, 0), before)):
        at = types.Position(*place)
        if target is not None and place == end and line == len(words) - 1 and new[:1] not in ("\n", "\r"):
            new = "\n" + new
        document.apply_change(types.TextDocumentContentChangePartial(range=types.Range(at, at), text=new))
    if target is None:
        return
    for edit in document.take_edits():
        target = moved_range(target, edit) if target is not None else None
    assert target is not None
    if before.endswith("\r") and words[0] == "" and len(words) > 1:
        return  # the edit made one line end of two: the line is not what it was
    assert text_in(document, target) == words[line]


def text_in(document: Document, range_: Range) -> str:
    lines = document.lines
    if range_.start.line == range_.end.line:
        line = lines[range_.start.line - 1] if range_.start.line <= len(lines) else ""
        return line[range_.start.column - 1 : range_.end.column - 1]
    return "several lines"


def at(line: int, column: int) -> Position:
    return Position(line, column)


def test_ranges_move_with_what_is_before_them() -> None:
    inserted_line = Edit(Range(at(1, 1), at(1, 1)), at(2, 1))
    assert moved_range(Range(at(3, 5), at(3, 8)), inserted_line) == Range(at(4, 5), at(4, 8))
    typed_before = Edit(Range(at(3, 2), at(3, 4)), at(3, 9))
    assert moved_range(Range(at(3, 5), at(3, 8)), typed_before) == Range(at(3, 10), at(3, 13))
    after = Edit(Range(at(3, 8), at(3, 8)), at(3, 9))
    assert moved_range(Range(at(3, 5), at(3, 8)), after) == Range(at(3, 5), at(3, 8))
    just_before = Edit(Range(at(3, 5), at(3, 5)), at(3, 6))
    assert moved_range(Range(at(3, 5), at(3, 8)), just_before) == Range(at(3, 6), at(3, 9))
    inside = Edit(Range(at(3, 6), at(3, 6)), at(4, 1))
    assert moved_range(Range(at(3, 5), at(3, 8)), inside) == Range(at(3, 5), at(4, 3))
    replaced = Edit(Range(at(3, 1), at(3, 9)), at(3, 4))
    assert moved_range(Range(at(3, 5), at(3, 8)), replaced) is None
    cut_into = Edit(Range(at(3, 1), at(3, 6)), at(3, 3))
    assert moved_range(Range(at(3, 5), at(3, 8)), cut_into) == Range(at(3, 3), at(3, 5))


def moved(text: str, target: str, start: tuple[int, int], end: tuple[int, int], new: str) -> str | None:
    """What a range over the first occurrence of a text covers after an edit."""
    document = Document("file:///a.c", text, 0, "c")
    line = next(number for number, one in enumerate(document.lines) if target in one)
    column = document.lines[line].index(target)
    edited = types.Range(types.Position(*start), types.Position(*end))
    document.apply_change(types.TextDocumentContentChangePartial(range=edited, text=new))
    (edit,) = document.take_edits()
    range_ = moved_range(Range(at(line + 1, column + 1), at(line + 1, column + len(target) + 1)), edit)
    return None if range_ is None else text_in(document, range_)


@pytest.mark.parametrize(
    ("text", "target", "start", "end", "new", "left"),
    [
        ("int f;\nreturn *p;\n", "*p", (0, 0), (1, 10), "long f;\n  return *p;", "*p"),
        ("int f;\nreturn *p;\n", "*p", (0, 0), (1, 10), "long f;\n  return q;", None),
        ("return *p;\n", "*p", (0, 7), (0, 9), "q", None),
        ("return p->next;\n", "p->next", (0, 7), (0, 9), "q", ">next"),
        ("return p->next;\n", "p->next", (0, 10), (0, 15), "last;", "p->"),
        ("return p->next;\n", "p->next", (0, 0), (0, 15), "", None),
        ("{\n\tint x = 1;\n\tx = p->n;\n}\nint g;\n", "p->n", (0, 0), (1, 11), "", "p->n"),
        ("{\n\tx = p->n;\n}\nint g(void);\n", "p->n", (1, 0), (3, 0), "", None),
    ],
)
def test_of_a_replaced_range_the_tokens_that_are_still_there_are_left(
    text: str, target: str, start: tuple[int, int], end: tuple[int, int], new: str, left: str | None
) -> None:
    assert moved(text, target, start, end, new) == left


def test_what_is_gone_stays_gone() -> None:
    document = Document("file:///a.c", "return *p;\n", 0, "c")
    for start, end, new in ((7, 9, ""), (7, 7, "*p")):
        range_ = types.Range(types.Position(0, start), types.Position(0, end))
        document.apply_change(types.TextDocumentContentChangePartial(range=range_, text=new))
    place = Place("/a.c", Range(at(1, 8), at(1, 10)))
    assert moved_place(place, "/a.c", document.take_edits()).gone


def test_columns_count_the_client_s_units() -> None:
    line = "é✓😀x"
    for encoding, expected in (("utf-8", [0, 2, 5, 9, 10]), ("utf-16", [0, 1, 2, 4, 5]), ("utf-32", [0, 1, 2, 3, 4])):
        columns = Columns.of(encoding)
        assert [columns.units(line[:index]) for index in range(5)] == expected
        assert [columns.to_code_points(line, units) for units in expected] == [0, 1, 2, 3, 4]


def test_a_position_encoding_that_nobody_knows_is_utf_16() -> None:
    assert Columns.of("utf-7").units("😀") == 2
    assert Columns.of(None).units("😀") == 2


def test_edits_since_a_version_are_those_made_after_it() -> None:
    document = Document("file:///a.c", "a\n", 1, "c")
    for version in (2, 3, 4):
        document.apply_change(types.TextDocumentContentChangeWholeDocument("x\n" * version))
        document.version = version
        document.take_edits()
    assert len(document.edits_since(1) or []) == 3
    assert len(document.edits_since(3) or []) == 1
    assert document.edits_since(4) == []
    assert document.edits_since(0) is None
