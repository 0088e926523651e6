"""Starting, ending, being left alone; standard input and output, and a socket."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import PATIENCE, Editor
from lsprotocol import types

from server.transport.parent import is_gone
from server.transport.tcp import parse_address

BUGGY = "int f(int *p) {\n    return BUG;\n}\n"


async def test_exit_after_shutdown_ends_with_0_and_ends_the_checker(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.diagnostics(uri, version=1)
    assert await editor.finish() == 0
    assert editor.checker_log()[-1] == "shutdown"


async def test_exit_without_shutdown_ends_with_1(editor: Editor) -> None:
    editor.exit(None)
    assert await editor.ended() == 1


async def test_what_the_server_offers(editor: Editor) -> None:
    offered = editor.initialized_with.capabilities
    assert editor.initialized_with.server_info.name == "everproof"
    assert offered.position_encoding == types.PositionEncodingKind.Utf16
    assert offered.text_document_sync.change == types.TextDocumentSyncKind.Incremental
    assert offered.text_document_sync.save is not None
    assert offered.hover_provider
    assert offered.code_lens_provider is not None
    assert {
        "everproof.fullCheck",
        "everproof.trace",
        "everproof.status",
        "everproof.clearStore",
    } <= set(offered.execute_command_provider.commands)


@pytest.mark.skipif(os.name != "posix", reason="the parent is watched on POSIX only")
def test_the_server_ends_when_the_editor_that_started_it_is_gone(server_command: list[str]) -> None:
    """The pipe to the server stays open here, so that only the death of the process tells it."""
    editor = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"processId":%d}}' % editor.pid
    with subprocess.Popen(server_command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        server.stdin.flush()
        assert server.stdout.readline().startswith(b"Content-Length")
        editor.communicate(timeout=PATIENCE)
        assert server.wait(timeout=PATIENCE) == 1


@pytest.mark.skipif(os.name != "posix", reason="signals are handled on POSIX only")
async def test_a_signal_ends_the_server_and_a_checker_that_hangs(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", "// HANG\n" + BUGGY)
    await editor.until(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
    await editor.status(uri, "checking", version=1)
    checker = int((editor.state / "pid").read_text())
    assert editor._server is not None
    editor._server.send_signal(signal.SIGTERM)
    assert await editor.ended() == 128 + signal.SIGTERM
    await asyncio.wait_for(asyncio.to_thread(until_gone, checker), PATIENCE)


def until_gone(process: int) -> None:
    """Returns when a process that is not our child has ended, whether or not anybody has asked how."""
    try:
        while ") Z " not in Path(f"/proc/{process}/stat").read_text():
            os.sched_yield()
    except OSError:
        return


def test_a_process_is_gone_when_it_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as child:
        assert not is_gone(child.pid, is_parent=False)
        assert is_gone(child.pid, is_parent=True), "it is not our parent, so our parent must have ended"
        child.communicate(timeout=PATIENCE)
    assert is_gone(child.pid, is_parent=False)


async def test_a_client_on_a_socket(server_command: list[str], checker_state: Path, workspace: Path) -> None:
    server = await asyncio.create_subprocess_exec(*server_command, "--tcp", "127.0.0.1:0", stderr=asyncio.subprocess.PIPE)
    assert server.stderr is not None
    line = (await asyncio.wait_for(server.stderr.readline(), PATIENCE)).decode()
    port = int(line.rsplit(":", 1)[1])
    editor = Editor()
    editor.state = checker_state
    await editor.start_tcp("127.0.0.1", port)
    folder = types.WorkspaceFolder(workspace.as_uri(), "w")
    await editor.initialize_async(types.InitializeParams(types.ClientCapabilities(), workspace_folders=[folder]))
    editor.initialized(types.InitializedParams())
    uri = editor.open(workspace / "a.c", BUGGY)
    assert len(await editor.diagnostics(uri, version=1)) == 1
    await asyncio.wait_for(editor.shutdown_async(None), PATIENCE)
    editor.exit(None)
    assert await asyncio.wait_for(server.wait(), PATIENCE) == 0
    await editor.stop()
    await server.communicate()


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:99999", "127.0.0.1:"])
def test_an_address_that_makes_no_sense_is_one_sentence(server_command: list[str], address: str) -> None:
    ran = subprocess.run([*server_command, "--tcp", address], capture_output=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 2
    assert address in ran.stderr.decode()
    assert "Traceback" not in ran.stderr.decode()


def test_addresses() -> None:
    assert parse_address("127.0.0.1:80") == ("127.0.0.1", 80)
    assert parse_address("[::1]:80") == ("::1", 80)
    assert parse_address(":80") == ("127.0.0.1", 80)


async def test_a_thousand_edits_leave_nothing_behind(start: Callable[..., Any], workspace: Path) -> None:
    """pygls keeps a future for every notification; ours are dropped. Seen from inside, in one process."""
    from pygls.workspace import Workspace

    from server.app import EverproofServer
    from server.features.registration import register_all

    server = EverproofServer()
    register_all(server)
    server.protocol._workspace = Workspace(None)
    server.protocol.adopt_workspace()
    identifier = types.VersionedTextDocumentIdentifier(2, "file:///a.py")
    item = types.TextDocumentItem("file:///a.py", "python", 1, "")
    server.workspace.put_text_document(item)
    server.begin()
    change = types.TextDocumentContentChangeWholeDocument("x")
    for _ in range(1000):
        params = types.DidChangeTextDocumentParams(identifier, [change])
        server.protocol._handle_notification(types.TEXT_DOCUMENT_DID_CHANGE, params)
    await asyncio.get_running_loop().run_in_executor(None, int)  # the loop goes round once
    assert not server.protocol._request_futures


async def test_the_checker_is_started_before_the_server_is_imported(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.diagnostics(uri, version=1)
    first = int((editor.state / "pid").read_text())
    editor.edit(uri, 2, (0, 0), (0, 0), "// CRASH\n")
    await editor.diagnostics(uri, version=2)
    assert int((editor.state / "pid").read_text()) != first, "the next one is started by asyncio"


async def test_a_checker_that_was_started_early_ends_with_a_server_that_nobody_initialises(
    server_command: list[str], checker_state: Path
) -> None:
    server = await asyncio.create_subprocess_exec(*server_command, stdin=asyncio.subprocess.PIPE)
    assert server.stdin is not None
    server.stdin.close()
    assert await asyncio.wait_for(server.wait(), PATIENCE) == 1
    pid = checker_state / "pid"
    assert not pid.exists() or is_gone(int(pid.read_text()), is_parent=False)
