"""The edits of a session, and which of them introduced a finding.

The class: an edit is undone to another text than there was; a finding is blamed on the wrong edit."""

from __future__ import annotations

from array import array

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import Workspace

from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding
from server.documents import Document, OpenDocuments
from server.introductions import BEFORE, Introductions
from server.results import FileState
from server.session_edits import MOST_CHANGES, SessionEdits

TEXTS = st.text(alphabet="ab\n\r é𝄞", max_size=6)
EDITS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 30), st.integers(0, 6), TEXTS, st.booleans()), max_size=25)


class Session:
    """Documents that are edited without a server."""

    def __init__(self, *texts: str) -> None:
        self.documents = OpenDocuments.adopt(Workspace(None))
        self.uris = [f"file:///w/{number}.c" for number in range(len(texts))]
        for uri, text in zip(self.uris, texts, strict=True):
            self.documents.put_text_document(types.TextDocumentItem(uri, "c", 1, text))
        self.edits = SessionEdits(self.documents)

    def document(self, number: int) -> Document:
        found = self.documents.find(self.uris[number])
        assert found is not None
        return found

    def change(self, number: int, *changes: types.TextDocumentContentChangeEvent) -> None:
        document = self.document(number)
        identifier = types.VersionedTextDocumentIdentifier(document.current_version + 1, document.uri)
        for change in changes:
            self.documents.update_text_document(identifier, change)
        document.take_edits()
        self.edits.note(document, document.take_changes())

    def replace(self, number: int, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        range_ = types.Range(types.Position(*start), types.Position(*end))
        self.change(number, types.TextDocumentContentChangePartial(range=range_, text=text))

    def texts(self) -> dict[str, str]:
        documents = [self.document(number) for number in range(len(self.uris))]
        return {document.file_path: document.source for document in documents}


@given(TEXTS, TEXTS, EDITS)
def test_the_texts_between_edits_are_those_that_there_were(
    first: str, second: str, made: list[tuple[int, int, int, str, bool]]
) -> None:
    session = Session(first, second)
    seen = [session.texts()]
    for number, at, length, text, is_whole in made:
        if is_whole:
            session.change(number, types.TextDocumentContentChangeWholeDocument(text))
        else:
            line, column = divmod(at, 6)
            session.replace(number, (line, column), (line, column + length), text)
        seen.append(session.texts())
    edits = session.edits.between(0, session.edits.changes)
    assert bool(edits) == bool(made)
    if edits:
        steps = session.edits.versions(edits, session.edits.changes)
        assert steps is not None
        now = seen[0] | steps.texts
        assert now == seen[0]
        for edit, (path, text) in zip(edits, steps.steps, strict=True):
            now[path] = text
            assert now == seen[edit.last]


def test_keys_at_one_place_are_one_edit_and_others_are_not() -> None:
    session = Session("int a;\nint b;\n", "int c;\n")
    session.replace(0, (0, 5), (0, 5), "x")
    session.replace(0, (0, 6), (0, 6), "y")
    session.replace(0, (0, 6), (0, 7), "")
    session.replace(0, (1, 5), (1, 5), "z")
    session.replace(1, (0, 5), (0, 5), "z")
    session.replace(0, (0, 0), (0, 0), "\n")
    edits = session.edits.between(0, session.edits.changes)
    assert [(edit.number, edit.first, edit.last, edit.version) for edit in edits] == [
        (1, 1, 3, 4), (2, 4, 4, 5), (3, 5, 5, 2), (4, 6, 6, 6)
    ]  # fmt: skip
    assert (edits[0].before, edits[0].after) == ("int a;\n", "int ax;\n")
    assert session.edits.present_place(edits[0]) == Range(Position(2, 6), Position(2, 7))


def test_what_is_not_remembered_is_not_made_up() -> None:
    session = Session("\n")
    for number in range(MOST_CHANGES + 2):
        session.replace(0, (number, 0), (number, 0), "a\n")
    last = session.edits.between(0, session.edits.changes)
    assert len(last) == 64
    assert session.edits.versions(last, session.edits.changes) is not None
    first = session.edits.edit(1)
    assert first is not None
    assert session.edits.versions([first], session.edits.changes) is None


def finding(fingerprint: str, status: str = "possible") -> Finding:
    place = Place("/w/0.c", Range(Position(1, 1), Position(1, 2)), None)
    return Finding("rule", status, "warning", fingerprint, place, "f", fingerprint, ())  # type: ignore[arg-type]


class Checks:
    """Checks of a session, one after the other, and what they found."""

    def __init__(self, session: Session) -> None:
        self.introductions = Introductions(session.edits)
        self._generation = 0
        self.state = FileState("/w/0.c")

    def check(self, *findings: Finding) -> None:
        self._generation += 1
        self.introductions.check_started(self._generation)
        self.hear(*findings)
        self.introductions.check_finished(self._generation, [self.state])

    def hear(self, *findings: Finding) -> None:
        before, self.state.findings = self.state.findings, findings
        self.state.since = {one.fingerprint: "new" for one in findings}
        self.introductions.file_checked(self.state, before, self._generation)

    def number(self, fingerprint: str) -> int | None:
        return self.introductions.number(fingerprint)


def test_the_edit_between_two_checks_is_blamed() -> None:
    session = Session("a\nb\nc\n")
    checks = Checks(session)
    checks.check(finding("old"))
    session.replace(0, (0, 0), (0, 0), "x\n")
    checks.check(finding("old"))
    session.replace(0, (2, 0), (2, 0), "x\n")
    checks.check(finding("old"), finding("new"))
    assert (checks.number("old"), checks.number("new")) == (BEFORE, 2)
    session.replace(0, (0, 0), (1, 0), "")
    checks.check(finding("old"))
    session.replace(0, (0, 0), (0, 0), "x\n")
    checks.check(finding("old"), finding("new"))
    assert checks.number("new") == 4
    assert not checks.introductions.to_ask([checks.state])


def test_the_edit_is_blamed_that_exchanges_a_defect_for_one_of_the_same_words() -> None:
    session = Session("a\nb\n")
    checks = Checks(session)
    first, second = (msgspec.structs.replace(finding("1"), at=(at,), clear=array("I", [3 - at]).tobytes()) for at in (1, 2))
    checks.check(first)
    session.replace(0, (0, 0), (0, 0), "x\n")
    checks.check(second)
    assert checks.number("1") == 1
    session.replace(0, (2, 0), (2, 0), "x\n")
    checks.check(second)
    assert checks.number("1") == 1


def test_what_comes_to_the_place_of_a_defect_of_the_same_words_is_looked_for_in_all_edits() -> None:
    session = Session("a\nb\n")
    checks = Checks(session)
    checks.check(msgspec.structs.replace(finding("1"), at=(1,)))
    session.replace(0, (0, 0), (0, 0), "x\n")
    session.replace(0, (2, 0), (2, 0), "x\n")
    checks.check(msgspec.structs.replace(finding("1"), at=(2,)))
    assert checks.number("1") is None
    (asked,) = checks.introductions.to_ask([checks.state])
    assert [edit.number for edit in asked.edits] == [1, 2]
    checks.introductions.answered(asked, {"1": 1})
    assert checks.number("1") == 1


def test_an_edit_that_a_check_has_seen_half_of_is_blamed() -> None:
    session = Session("a\n")
    checks = Checks(session)
    checks.check()
    session.replace(0, (0, 0), (0, 0), "x")
    checks.check()
    session.replace(0, (0, 1), (0, 1), "y")
    checks.check(finding("new"))
    assert checks.number("new") == 1


def test_several_edits_are_asked_about_once() -> None:
    session = Session("a\nb\n")
    checks = Checks(session)
    checks.check()
    session.replace(0, (0, 0), (0, 0), "x\n")
    session.replace(0, (2, 0), (2, 0), "y\n")
    checks.check(finding("new"))
    assert checks.number("new") is None
    (asked,) = checks.introductions.to_ask([checks.state])
    assert [text for _, text in asked.steps.steps] == ["x\na\nb\n", "x\na\ny\nb\n"]
    assert not checks.introductions.to_ask([checks.state])
    assert checks.introductions.answered(asked, {"new": 2})
    assert checks.number("new") == 2


def test_what_provers_say_later_may_have_been_there() -> None:
    session = Session("a\n")
    checks = Checks(session)
    checks.check()
    session.replace(0, (0, 0), (0, 0), "x\n")
    checks.check()
    checks.hear(finding("late", "confirmed"))
    (asked,) = checks.introductions.to_ask([checks.state])
    assert [edit.number for edit in asked.edits] == [1]
    assert checks.introductions.answered(asked, {"late": 0})
    assert checks.number("late") == BEFORE


def test_what_provers_find_again_was_there_all_the_time_or_came_since() -> None:
    session = Session("a\n")
    checks = Checks(session)
    checks.check()
    session.replace(0, (0, 0), (0, 0), "x\n")
    checks.check(finding("late"))
    assert checks.number("late") == 1
    for answer, number in ((0, 1), (1, 3)):
        session.replace(0, (0, 0), (0, 0), "y\n")
        checks.check()
        checks.hear(finding("late", "confirmed"))
        (asked,) = checks.introductions.to_ask([checks.state])
        assert len(asked.edits) == 1
        assert checks.introductions.answered(asked, {"late": answer})
        assert checks.number("late") == number


def test_a_finding_at_another_statement_keeps_its_edit() -> None:
    session = Session("a\n")
    checks = Checks(session)
    checks.check()
    session.replace(0, (0, 0), (0, 0), "x\n")
    first, second = (msgspec.structs.replace(finding(name), message="m") for name in ("first", "second"))
    checks.check(first)
    session.replace(0, (0, 0), (0, 0), "y\n")
    checks.check(second)
    assert checks.number("second") == 1
