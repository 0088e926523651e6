"""What goes wrong: the checker dies, hangs or talks nonsense; the client cancels; something prints."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import PATIENCE, Editor
from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

BUGGY = "int f(int *p) {\n    return BUG;\n}\n"
SHOW = types.WINDOW_SHOW_MESSAGE


@pytest.mark.parametrize("fault", ["CRASH", "GARBAGE"])
async def test_a_checker_that_fails_is_started_again_and_sent_everything(editor: Editor, workspace: Path, fault: str) -> None:
    other = editor.open(workspace / "b.c", BUGGY)
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.diagnostics(uri, version=1)
    editor.edit(uri, 2, (0, 0), (0, 0), f"// {fault}\n")
    await editor.status(uri, "failed", version=2)
    (found,) = await editor.diagnostics(uri, version=2)
    assert found.range.start.line == 2
    assert len(await editor.diagnostics(other, version=1)) == 1
    log = editor.checker_log()
    restart = max(index for index, line in enumerate(log) if line.startswith("configure"))
    assert sorted(log[restart + 1 : restart + 3]) == ["edit a.c 2", "edit b.c 1"]
    said = [params.message for method, params in editor.messages if method == SHOW]
    assert len(said) == 1
    assert "checker process" in said[0]
    assert "started again" in said[0]


async def test_a_text_that_no_checker_survives_is_given_up_with_one_sentence(editor: Editor, workspace: Path) -> None:
    """A text that hangs the checker ends like this, too: it is killed for giving no sign of life."""
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.diagnostics(uri, version=1)
    editor.edit(uri, 2, (0, 0), (0, 0), "// CRASHES\n")
    said = await editor.until(SHOW, lambda params: "checks in a row" in params.message)
    assert said.message == (
        "Everproof: The checker process ended with exit code 3. 3 checks in a row ended like this: "
        "the next one is made when a file or setting changes."
    )
    editor.edit(uri, 3, (0, 0), (1, 0), "")
    assert len(await editor.diagnostics(uri, version=3)) == 1
    assert [line for line in editor.checker_log() if line.endswith("check")].count("check") == 1 + 3 + 1
    assert len([method for method, _ in editor.messages if method == SHOW]) == 2


async def test_while_the_checker_is_down_verdicts_are_stale_not_gone(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    editor.edit(uri, 2, (0, 0), (0, 0), "// CRASH\n")
    status = await editor.status(uri, "failed", version=2)
    assert [(f.name, f.verdict, f.stale) for f in status.functions] == [("f", "violated", True)]


async def test_a_checker_that_cannot_be_started_is_said_once(
    workspace: Path, server_command: list[str], start: Callable[..., Any]
) -> None:
    server_command[-1] = "/no/such/program"
    editor: Editor = await start()
    uri = editor.open(workspace / "a.c", BUGGY)
    said = await editor.until(SHOW)
    assert "could not be started: No such file or directory" in said.message
    await editor.status(uri, "failed", version=1)
    answer = await editor.command("everproof.fullCheck")
    assert not answer.complete


async def test_a_check_that_fails_says_why_and_the_next_edit_is_checked(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "// FAILED\n" + BUGGY)
    status = await editor.status(uri, "failed", version=1)
    assert status.message == "The rules could not be read."
    editor.edit(uri, 2, (1, 0), (1, 0), "// still\n")
    await editor.status(uri, "failed", version=2)
    editor.edit(uri, 3, (0, 0), (1, 0), "")
    assert len(await editor.diagnostics(uri, version=3)) == 1
    said = [params.message for method, params in editor.messages if method == SHOW]
    assert said == ["Everproof: the check is not complete: The rules could not be read."]


async def test_a_full_check_that_hangs_ends_when_it_is_cancelled(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    editor.edit(uri, 2, (0, 0), (0, 0), "// HANG\n")
    await editor.status(uri, "checking", version=2)
    params = types.ExecuteCommandParams("everproof.fullCheck", [])
    request = editor.protocol.send_request(types.WORKSPACE_EXECUTE_COMMAND, params, msg_id="full")
    editor.cancel_request(types.CancelParams("full"))
    with pytest.raises(JsonRpcRequestCancelled):
        await asyncio.wait_for(asyncio.wrap_future(request), PATIENCE)
    # what is asked after the cancellation is answered by a server that does nothing any more
    (status,) = await editor.command("everproof.status")
    assert status.state == "idle"
    assert {function.stale for function in status.functions} == {True}
    editor.replace(uri, 3, BUGGY)
    assert len(await editor.diagnostics(uri, version=3)) == 1


async def test_requests_are_answered_while_the_checker_hangs(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    editor.edit(uri, 2, (2, 1), (2, 1), "// HANG")
    await editor.status(uri, "checking", version=2)
    hover = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 4))
    found = await asyncio.wait_for(editor.text_document_hover_async(hover), PATIENCE)
    assert "*Stale: edited since.*" in found.contents.value


async def test_long_checks_show_progress_that_can_be_cancelled(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "// HANG\n" + BUGGY)
    created = await editor.until(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
    begun = await editor.until(types.PROGRESS, lambda p: p.token == created.token)
    assert begun.value["kind"] == "begin"
    assert begun.value["cancellable"] is True
    said = await editor.until(types.PROGRESS, lambda p: p.token == created.token and "message" in p.value)
    assert said.value["message"] == "checking slowly"  # where the checker is slow to say it, a report has it
    editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(created.token))
    await editor.until(types.PROGRESS, lambda p: p.value["kind"] == "end")
    await editor.status(uri, "idle", version=1)
    editor.replace(uri, 2, BUGGY)
    assert len(await editor.diagnostics(uri, version=2)) == 1


async def test_a_newer_text_does_not_wait_for_a_long_check(editor: Editor, workspace: Path) -> None:
    os.mkfifo(editor.state / "go")
    uri = editor.open(workspace / "a.c", "// SLOW\n" + BUGGY)
    await editor.status(uri, "checking", version=1)
    editor.replace(uri, 2, BUGGY)
    (editor.state / "go").write_bytes(b"1")
    assert len(await editor.diagnostics(uri, version=2)) == 1
    assert (await editor.status(uri, "idle", version=2)).message is None


async def test_what_the_checker_prints_does_not_reach_its_messages(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "// LOUD\n" + BUGGY)
    assert len(await editor.diagnostics(uri, version=1)) == 1


@pytest.mark.parametrize("unbuffered", ["", "1"])
async def test_messages_of_a_megabyte_arrive_whole(start: Callable[..., Any], workspace: Path, unbuffered: str) -> None:
    editor: Editor = await start(env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
    many = "int f(void) {\n" + "    BUG;\n" * 3000 + "}\n"
    uris = [editor.open(workspace / f"{name}.c", many) for name in "abc"]
    for uri in uris:
        assert len(await editor.diagnostics(uri, version=1)) == 3000


def test_what_is_printed_in_the_server_does_not_reach_the_client() -> None:
    code = (
        "import sys, os, subprocess; from server.transport.stdio import ThreadedWriter, take_standard_output\n"
        "stream = take_standard_output(); writer = ThreadedWriter(stream)\n"
        "print('printed'); os.write(1, b'written'); subprocess.run([sys.executable, '-c', 'print(1234)'])\n"
        "writer.write(b'message'); writer.finish()"
    )
    ran = subprocess.run([sys.executable, "-u", "-c", code], capture_output=True, timeout=PATIENCE, check=True)
    assert ran.stdout == b"message"
    assert b"printed" in ran.stderr
    assert b"1234" in ran.stderr


def test_messages_written_from_several_threads_do_not_mix() -> None:
    code = (
        "import threading; from server.transport.stdio import ThreadedWriter, take_standard_output\n"
        "writer = ThreadedWriter(take_standard_output())\n"
        "def send(n):\n    for _ in range(20): writer.write(bytes([65 + n]) * 100_000)\n"
        "threads = [threading.Thread(target=send, args=(n,)) for n in range(4)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; writer.finish()"
    )
    ran = subprocess.run([sys.executable, "-u", "-c", code], capture_output=True, timeout=PATIENCE, check=True)
    chunks = [ran.stdout[index : index + 100_000] for index in range(0, len(ran.stdout), 100_000)]
    assert len(chunks) == 80
    assert all(len(set(chunk)) == 1 for chunk in chunks)


def test_malformed_messages_are_answered_and_do_not_end_the_server(server_command: list[str]) -> None:
    bad = [b"{", b'{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": 3}', b"[]"]
    good = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
    sent = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in [*bad, good])
    ran = subprocess.run(server_command, input=sent, capture_output=True, timeout=PATIENCE, check=False)
    assert b'"name": "everproof"' in ran.stdout
    assert ran.stdout.count(b'"error"') == 2, "a notification has no answer"
    assert ran.stdout.count(b"Content-Length") == 3
    assert ran.returncode == 1, "the input ended without shutdown"


@pytest.mark.parametrize(("word", "kind", "is_shown"), [("AUDITED", 3, False), ("AUDITWRONG", 2, True)])
async def test_audits_are_logged_and_differences_shown(
    editor: Editor, workspace: Path, word: str, kind: int, is_shown: bool
) -> None:
    uri = editor.open(workspace / "a.c", f"// {word}\n" + BUGGY)
    said = "self-audit: as it was said"
    await editor.until("window/logMessage", lambda shown: (shown.type, shown.message) == (kind, said))
    await editor.status(uri, "idle", version=1)
    assert editor.count("window/showMessage") == is_shown
