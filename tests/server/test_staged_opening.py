"""A large program is shown in stages, and what is known is kept when a check is cancelled or the checker is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from lsp_editor import Editor, data
from lsprotocol import types

TEXT = "int callee(int *p) {\n    return BUG;\n}\n"
PUBLISH = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS


async def test_the_open_file_is_shown_by_itself_before_the_rest_is_read(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "// ALONE HANG\n" + TEXT)
    [found] = await editor.diagnostics(uri, 1, stale=True)
    assert found.range.start.line == 2
    status = await editor.until("everproof/status", lambda params: params.uri == uri and bool(params.functions))
    assert status.state == "checking"
    (said,) = await editor.command("everproof.status")
    assert [(f.name, f.stale, f.standing) for f in said.functions] == [("callee", True, "possible")]
    hover = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(1, 6))
    shown = await editor.text_document_hover_async(hover)
    assert shown is not None
    assert "*Stale: the rest of the program is being read.*" in shown.contents.value


async def test_the_whole_program_takes_its_place(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "// ALONE\n" + TEXT)
    await editor.status(uri, "idle", 1)
    published = [params for method, params in editor.messages if method == PUBLISH and params.diagnostics]
    assert [[bool(data(item)["stale"]) for item in params.diagnostics] for params in published] == [[True], [False]]


async def test_what_a_file_shows_by_itself_does_not_replace_what_is_known_of_the_program(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", TEXT.replace("BUG", "BUG + BUG"))
    assert len(await editor.diagnostics(uri, 1)) == 2
    after = len(editor.messages)
    editor.replace(uri, 2, "// ALONE HANG\n" + TEXT.replace("BUG", "BUG + BUG"))
    await editor.status(uri, "checking", 2, after)
    (said,) = await editor.command("everproof.status")
    assert said.functions[0].reason == "null-dereference"
    published = [params for method, params in editor.messages[after:] if method == PUBLISH]
    assert {len(params.diagnostics) for params in published} <= {2}


async def test_a_killed_checker_is_back_without_a_key(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", TEXT)
    await editor.status(uri, "idle", 1)
    before, after = int((editor.state / "pid").read_text()), len(editor.messages)
    os.kill(before, signal.SIGKILL)
    status = await editor.until("everproof/status", lambda params: params.state == "idle", after)
    assert [(f.name, f.stale) for f in status.functions] == [("callee", False)]
    assert int((editor.state / "pid").read_text()) != before
    latest = [params for method, params in editor.messages if method == PUBLISH][-1]
    assert [bool(data(item)["stale"]) for item in latest.diagnostics] == [False]
    shown = [params.message for method, params in editor.messages[after:] if method == types.WINDOW_SHOW_MESSAGE]
    assert len(shown) == 1, "said once"


async def test_findings_stay_when_a_full_check_is_cancelled(editor: Editor, workspace: Path) -> None:
    os.mkfifo(editor.state / "go")
    uri = editor.open(workspace / "a.c", TEXT)
    await editor.status(uri, "idle", 1)
    after = len(editor.messages)
    other = editor.open(workspace / "b.c", "// SLOW\n")
    await editor.status(other, "checking", 1, after)
    request: Any = editor.protocol.send_request(
        types.WORKSPACE_EXECUTE_COMMAND, types.ExecuteCommandParams("everproof.fullCheck", []), msg_id="full"
    )
    editor.cancel_request(types.CancelParams("full"))
    (editor.state / "go").write_bytes(b"1")
    await editor.status(uri, "idle", 1, after)
    (status, _) = await editor.command("everproof.status")
    assert [(f.name, f.verdict, f.standing) for f in status.functions] == [("callee", "violated", "possible")]
    latest = [params for method, params in editor.messages if method == PUBLISH and params.uri == uri][-1]
    assert len(latest.diagnostics) == 1
    assert request.cancelled() or request.exception() is not None
