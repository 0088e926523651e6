from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import Editor, capabilities, data
from lsprotocol import types

from analysis.model.report import LIKELY

BUGGY = "int f(int *p) {\n    return BUG;\n}\n"
FINE = "int f(int *p) {\n    return 0;\n}\n"
PUBLISH = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
STATUS = "everproof/status"


def span(line: int, start: int, end: int) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, end))


async def test_a_finding_in_the_unsaved_text_is_pushed_with_its_version(editor: Editor, workspace: Path) -> None:
    (workspace / "a.c").write_text(FINE)
    uri = editor.open(workspace / "a.c", BUGGY, version=7)
    (found,) = await editor.diagnostics(uri, version=7)
    assert found.range == span(1, 11, 14)
    assert (found.code, found.source, found.severity) == ("null-dereference", "everproof", types.DiagnosticSeverity.Warning)
    known = {"fingerprint": "a.c:f:0", "status": "possible", "stale": False, "score": LIKELY, "reasons": [], "since": "unknown"}
    assert data(found) == {**known, "reason": "a loop without bound"}


async def test_a_confirmed_finding_is_an_error(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "int f(void) { BUG; BUG; }\n")
    severities = [item.severity for item in await editor.diagnostics(uri, version=1)]
    assert severities == [types.DiagnosticSeverity.Warning, types.DiagnosticSeverity.Error]


async def test_the_related_locations_are_the_trace_in_order_with_values(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    (found,) = await editor.diagnostics(uri, version=1)
    related = found.related_information or ()
    assert [(item.location.uri, item.location.range) for item in related] == [(uri, span(0, 0, 1)), (uri, span(1, 11, 14))]
    assert [item.message for item in related] == ["f()", "*p (in f) [p = NULL]"]


async def test_an_edit_replaces_the_findings_with_those_of_its_version(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    assert len(await editor.diagnostics(uri, version=1)) == 1
    editor.edit(uri, 2, (1, 11), (1, 14), "0")
    assert await editor.diagnostics(uri, version=2) == []
    editor.edit(uri, 3, (1, 11), (1, 12), "BUG + BUG")
    await editor.until(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lambda shown: (shown.version, len(shown.diagnostics)) == (3, 2))


async def test_versions_never_go_back(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    for version in range(2, 30):
        editor.edit(uri, version, (0, 0), (0, 0), "\n")
    (found,) = await editor.diagnostics(uri, version=29)
    assert found.range == span(29, 11, 14)
    versions = [params.version for method, params in editor.messages if method == PUBLISH and params.uri == uri]
    assert versions == sorted(versions)


async def test_between_an_edit_and_its_result_the_findings_move_and_are_stale(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.diagnostics(uri, version=1)
    editor.edit(uri, 2, (0, 0), (0, 0), "// HANG\n\n")
    (found,) = await editor.diagnostics(uri, version=2, stale=True)
    assert found.range == span(3, 11, 14)
    assert [item.location.range.start.line for item in found.related_information or ()] == [2, 3]
    status = await editor.status(uri, "checking", version=2)
    assert [(f.name, f.stale, f.range.start.line) for f in status.functions] == [("f", True, 2)]


async def test_a_result_of_an_earlier_version_is_moved_and_stale(editor: Editor, workspace: Path) -> None:
    os.mkfifo(editor.state / "go")
    uri = editor.open(workspace / "a.c", "// SLOW\n" + BUGGY)
    await editor.status(uri, "checking", version=1)
    editor.edit(uri, 2, (0, 0), (0, 7), "// SLOW\n//")
    (editor.state / "go").write_bytes(b"1")
    (found,) = await editor.diagnostics(uri, version=2, stale=True)
    assert found.range == span(3, 11, 14)
    (editor.state / "go").write_bytes(b"2")
    (found,) = await editor.diagnostics(uri, version=2)
    assert found.range == span(3, 11, 14)


async def test_an_edit_that_moves_nothing_publishes_nothing_before_its_result(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.diagnostics(uri, version=1)
    before = editor.count(PUBLISH)
    editor.edit(uri, 2, (2, 1), (2, 1), " // HANG")
    for _ in range(3):  # the server has gone through what it does at once
        await editor.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    assert editor.count(PUBLISH) == before


async def test_the_state_changes_at_a_key_only_if_its_check_takes_long(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    before = len(editor.messages)
    for version in (2, 3):
        editor.edit(uri, version, (2, 1), (2, 1), " ")
        await editor.status(uri, "idle", version)
    said = [params.state for method, params in editor.messages[before:] if method == STATUS and params.uri == uri]
    assert set(said) == {"idle"}
    editor.edit(uri, 4, (2, 1), (2, 1), " // HANG")
    await editor.status(uri, "checking", version=4)


async def test_findings_come_and_go_in_a_file_that_is_not_open(editor: Editor, workspace: Path) -> None:
    (workspace / "b.c").write_text(BUGGY)
    uri = editor.open(workspace / "a.c", FINE)
    await editor.status(uri, "idle", version=1)
    changed = types.FileEvent((workspace / "b.c").as_uri(), types.FileChangeType.Changed)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
    assert len(await editor.diagnostics(changed.uri)) == 1
    (workspace / "b.c").unlink()
    after = len(editor.messages)
    gone = types.FileEvent(changed.uri, types.FileChangeType.Deleted)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([gone]))
    assert await editor.diagnostics(changed.uri, after=after) == []


async def test_closing_a_file_of_the_workspace_shows_what_is_on_disk(editor: Editor, workspace: Path) -> None:
    (workspace / "a.c").write_text("\n\n" + BUGGY)
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.diagnostics(uri, version=1)
    after = len(editor.messages)
    editor.close(uri)
    params = await editor.until(
        PUBLISH, lambda p: p.uri == uri and p.version is None and not data(p.diagnostics[0])["stale"], after
    )
    assert params.diagnostics[0].range == span(3, 11, 14)


async def test_the_data_say_why_a_finding_is_possible_or_what_it_rests_on(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "int f(void) {\n    BUG; BUG;\n}\n")
    possible, confirmed = map(data, await editor.diagnostics(uri, version=1))
    assert (possible["status"], possible["reason"], "assumptions" in possible) == ("possible", "a loop without bound", False)
    assert (confirmed["status"], confirmed["assumptions"], "reason" in confirmed) == (
        "confirmed",
        ["f() is called with 0"],
        False,
    )


async def test_closing_a_file_outside_the_workspace_clears_it(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open(tmp_path / "alone.c", BUGGY)
    assert len(await editor.diagnostics(uri, version=1)) == 1
    editor.close(uri)
    await editor.until(PUBLISH, lambda params: params.uri == uri and not params.diagnostics)


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "vscode-vfs://github/x/y.c"])
async def test_a_document_that_is_no_file_is_checked_alone(editor: Editor, uri: str) -> None:
    editor.open(uri, BUGGY)
    (found,) = await editor.diagnostics(uri, version=1)
    assert [item.location.uri for item in found.related_information or ()] == [uri, uri]


async def test_a_document_that_is_not_c_is_left_alone(editor: Editor, workspace: Path) -> None:
    other = editor.open(workspace / "a.py", BUGGY, language="python")
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    assert not [1 for method, params in editor.messages if method == PUBLISH and params.uri == other]
    assert not [line for line in editor.checker_log() if "a.py" in line]


async def test_a_message_about_the_input_is_a_diagnostic_of_its_line(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "\n    MESSAGE here  \n")
    (found,) = await editor.diagnostics(uri, version=1)
    assert (found.range.start, found.message) == (types.Position(1, 4), "This line is not understood.")


@pytest.mark.parametrize(("encodings", "column"), [(None, 9), (["utf-8"], 11), (["utf-32", "utf-16"], 8)])
async def test_columns_are_in_the_client_s_units(
    start: Callable[..., Any], workspace: Path, encodings: list[str] | None, column: int
) -> None:
    editor: Editor = await start(capabilities(encodings))
    uri = editor.open(workspace / "a.c", 'int f() {\n  g("😀",BUG);\n}\n')
    (found,) = await editor.diagnostics(uri, version=1)
    assert found.range == span(1, column, column + 3)
    editor.edit(uri, 2, (1, column), (1, column + 3), "x + BUG")
    (found,) = await editor.diagnostics(uri, version=2)
    assert found.range == span(1, column + 4, column + 7)


async def test_a_form_feed_moves_no_line(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "/* a */\n\f\n" + FINE)
    assert await editor.diagnostics(uri, version=1) == []
    editor.edit(uri, 2, (3, 11), (3, 12), "BUG")
    (found,) = await editor.diagnostics(uri, version=2)
    assert found.range == span(3, 11, 14)


async def test_a_client_that_only_pulls_gets_the_same_and_nothing_is_pushed(start: Callable[..., Any], workspace: Path) -> None:
    editor: Editor = await start(capabilities(pull=True, push=False))
    assert editor.initialized_with.capabilities.diagnostic_provider is not None
    uri = editor.open(workspace / "a.c", BUGGY)
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    report = await editor.text_document_diagnostic_async(params)
    assert [item.range for item in report.items] == [span(1, 11, 14)]
    again = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=report.result_id)
    assert (await editor.text_document_diagnostic_async(again)).kind == "unchanged"
    editor.edit(uri, 2, (1, 11), (1, 14), "0")
    fresh = await editor.text_document_diagnostic_async(again)
    assert (fresh.kind, list(fresh.items)) == ("full", [])
    assert editor.count(PUBLISH) == 0
    await editor.until(types.WORKSPACE_DIAGNOSTIC_REFRESH)


async def test_a_client_that_takes_both_is_pushed_to_only(start: Callable[..., Any], workspace: Path) -> None:
    editor: Editor = await start(capabilities(pull=True))
    assert editor.initialized_with.capabilities.diagnostic_provider is None
    uri = editor.open(workspace / "a.c", BUGGY)
    assert len(await editor.diagnostics(uri, version=1)) == 1
