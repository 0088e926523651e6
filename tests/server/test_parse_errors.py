"""A place that does not parse is told after a pause, or on save, as a short squiggle; and a finding whose text is gone is listed
without a place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lsp_editor import Editor, data
from lsprotocol import types

from analysis.model.report import Message
from server.typing_pauses import PAUSE, TypingPauses

TEXT = "int callee(int *p) {\n    return BUG;\n}\n"
PUBLISH = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
SYNTAX = Message("warning", "/a.c", "This does not parse.", 3, 5, 9, syntax=True)
NOTE = Message("note", "/a.c", "A header is missing.", 1)


class Clock:
    """Calls are made when the test says that time has passed."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def later(self, seconds: float, call: Callable[[], None]) -> Clock.Timer:
        assert seconds == PAUSE
        self.calls.append(call)
        return Clock.Timer(self, call)

    class Timer:
        def __init__(self, clock: Clock, call: Callable[[], None]) -> None:
            self._clock, self._call = clock, call

        def cancel(self) -> None:
            if self._call in self._clock.calls:
                self._clock.calls.remove(self._call)

    def pass_by(self) -> None:
        calls, self.calls = self.calls, []
        for call in calls:
            call()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_what_does_not_parse_is_told_after_a_pause_and_everything_else_at_once(clock: Clock) -> None:
    paused: list[str] = []
    pauses = TypingPauses(clock.later, paused.append)
    assert pauses.to_tell("/a.c", [NOTE, SYNTAX]) == [NOTE, SYNTAX], "nobody types in it"
    assert pauses.to_tell("/b.c", []) == []
    for _ in range(3):
        pauses.typed("/b.c")
    assert len(clock.calls) == 1, "each key puts it off"
    assert pauses.to_tell("/b.c", [NOTE, SYNTAX]) == [NOTE]
    clock.pass_by()
    assert paused == ["/b.c"]
    assert pauses.to_tell("/b.c", [NOTE, SYNTAX]) == [NOTE, SYNTAX]


def test_what_was_told_stays_while_one_types_on_until_it_is_mended(clock: Clock) -> None:
    pauses = TypingPauses(clock.later, lambda _: None)
    assert pauses.to_tell("/a.c", [SYNTAX]) == [SYNTAX]
    pauses.typed("/a.c")
    assert pauses.to_tell("/a.c", [SYNTAX]) == [SYNTAX]
    assert pauses.to_tell("/a.c", []) == []
    assert pauses.to_tell("/a.c", [SYNTAX]) == [], "a new error"


def test_a_save_is_a_pause_and_a_file_that_is_closed_is_forgotten(clock: Clock) -> None:
    paused: list[str] = []
    pauses = TypingPauses(clock.later, paused.append)
    pauses.pause("/a.c")
    assert paused == []
    pauses.typed("/a.c")
    pauses.pause("/a.c")
    assert paused == ["/a.c"]
    pauses.typed("/a.c")
    pauses.closed("/a.c")
    assert clock.calls == []


def squiggles(params: types.PublishDiagnosticsParams) -> list[types.Range]:
    return [item.range for item in params.diagnostics if item.code == "input"]


async def test_while_one_types_there_is_no_squiggle_and_after_the_pause_a_short_one(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", TEXT)
    await editor.status(uri, "idle", 1)
    after = len(editor.messages)
    editor.edit(uri, 2, (1, 4), (1, 4), "SYNTAX ")
    await editor.status(uri, "idle", 2, after)
    published = [params for method, params in editor.messages[after:] if method == PUBLISH]
    assert published
    assert not any(map(squiggles, published))
    told = await editor.until(PUBLISH, lambda params: bool(squiggles(params)), after)
    assert squiggles(told) == [types.Range(types.Position(1, 4), types.Position(1, 10))]


async def test_what_does_not_parse_is_told_when_the_file_is_saved(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", TEXT)
    await editor.status(uri, "idle", 1)
    after = len(editor.messages)
    editor.edit(uri, 2, (1, 4), (1, 4), "SYNTAX ")
    editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    told = await editor.until(PUBLISH, lambda params: bool(squiggles(params)), after)
    assert squiggles(told) == [types.Range(types.Position(1, 4), types.Position(1, 10))]


async def test_a_finding_whose_text_is_deleted_is_listed_and_not_shown_until_the_check_says_more(
    editor: Editor, workspace: Path
) -> None:
    uri = editor.open(workspace / "a.c", TEXT)
    await editor.diagnostics(uri, 1)
    after = len(editor.messages)
    editor.edit(uri, 2, (0, 0), (2, 1), "int other(int *p) { // HANG\n}")
    await editor.until(PUBLISH, lambda params: params.version == 2 and not params.diagnostics, after)
    status = await editor.status(uri, "checking", 2, after)
    [listed] = status.unplaced
    assert (listed.fingerprint, listed.rule, listed.function, listed.status) == (
        "a.c:callee:0",
        "null-dereference",
        "callee",
        "possible",
    )


async def test_text_that_is_formatted_keeps_its_findings(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", TEXT)
    await editor.diagnostics(uri, 1)
    after = len(editor.messages)
    editor.replace(uri, 2, "// HANG\nint callee(int *p)\n{\n\n  return BUG;\n}\n")

    def shows_the_bug(params: types.PublishDiagnosticsParams) -> bool:
        return [item.range.start for item in params.diagnostics if data(item).get("stale")] == [types.Position(4, 9)]

    await editor.until(PUBLISH, shows_the_bug, after)
