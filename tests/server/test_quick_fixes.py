"""Fixes are offered once they are checked, for the text as it is, and as an edit of its version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_editor import Editor
from lsprotocol import types
from test_features import actions, opened

TEXT = "int f(void) {\n    /* FIXES */ return BUG;\n}\n"


async def fix(editor: Editor, uri: str, *arguments: object) -> list[dict[str, object]] | None:
    found: list[dict[str, object]] | None = await editor.workspace_execute_command_async(
        types.ExecuteCommandParams("everproof.fix", [uri, *arguments])
    )
    return found


def chooses(editor: Editor, title: str | None) -> asyncio.Queue[types.WorkspaceEdit]:
    """Makes the client choose a fix, or none; the edits that it is then asked to make."""
    made: asyncio.Queue[types.WorkspaceEdit] = asyncio.Queue()

    @editor.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        return next((one for one in params.actions or () if one.title == title), None)

    @editor.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        made.put_nowait(params.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    return made


async def test_an_action_waits_for_the_check_and_then_there_is_one_for_each_fix(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TEXT)
    (waits,) = [one for one in await actions(editor, uri, 1, 24) if one.command and one.command.command == "everproof.fix"]
    assert waits.command is not None
    made = chooses(editor, "make it 0")
    told = await fix(editor, uri, *list(waits.command.arguments or ())[1:])
    assert [one["title"] for one in told or ()] == ["take it out", "make it 0"]
    (change,) = (await made.get()).document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.version == 1
    (edit,) = change.edits
    assert isinstance(edit, types.TextEdit)
    assert (edit.range.start, edit.new_text) == (types.Position(1, 23), "0")
    offered = [one for one in await actions(editor, uri, 1, 24) if one.title.endswith("(checked)")]
    assert [one.title for one in offered] == ["Everproof: take it out (checked)", "Everproof: make it 0 (checked)"]
    assert [one.is_preferred for one in offered] == [True, False]


async def test_an_edit_makes_fixes_unknown_again(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TEXT)
    chooses(editor, None)
    assert await fix(editor, uri, "a.c:f:0")
    editor.replace(uri, 2, TEXT + "\n")
    assert not [one for one in await actions(editor, uri, 1, 24) if one.title.endswith("(checked)")]


async def test_nobody_waits_for_fixes_of_an_older_text(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TEXT.replace("FIXES", "BLOCKED"))
    await actions(editor, uri, 1, 26)
    waiting = asyncio.create_task(fix(editor, uri, "a.c:f:0"))
    await actions(editor, uri, 1, 26)  # answered while the other one waits
    editor.replace(uri, 2, TEXT)
    assert await waiting is None


async def test_where_no_fix_was_found_none_is_offered(editor: Editor, workspace: Path) -> None:
    uri = await opened(editor, workspace, TEXT.replace("FIXES", "NOTHING"))
    assert await fix(editor, uri, "a.c:f:0") == []
    offered = await actions(editor, uri, 1, 26)
    assert not [one for one in offered if "fix" in one.title or "(checked)" in one.title]


async def test_the_reason_of_a_suppression_is_asked_for_by_a_client_that_can(start: Callable[..., Any], workspace: Path) -> None:
    editor: Editor = await start(types.ClientCapabilities(experimental={"everproof": {"asksForReason": True}}))
    uri = editor.open(workspace / "a.c", TEXT)
    await editor.until("everproof/status", lambda p: p.uri == uri and p.state == "idle" and p.functions)
    (suppress,) = [one for one in await actions(editor, uri, 1, 24) if "suppress" in one.title]
    assert suppress.edit is None
    assert suppress.command is not None
    made = chooses(editor, None)
    arguments = [*list(suppress.command.arguments or ()), "  it is\n tested \\"]
    assert await editor.workspace_execute_command_async(types.ExecuteCommandParams("everproof.suppress", arguments)) is True
    (edit,) = ((await made.get()).changes or {})[uri]
    assert edit.new_text == "    // everproof: ignore null-dereference it is tested\n"
