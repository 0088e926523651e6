"""A language server in a process of its own, in front of a checker that does what the test needs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsp_editor import Editor, capabilities
from lsprotocol import types

FAKE_CHECKER = Path(__file__).with_name("fake_checker.py")


@pytest.fixture
def checker_state(tmp_path: Path) -> Path:
    """Where the fake checker keeps what must outlive it."""
    state = tmp_path / "checker state"
    state.mkdir()
    return state


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def server_command(checker_state: Path) -> list[str]:
    checker = [sys.executable, str(FAKE_CHECKER), "--state", str(checker_state)]
    return [sys.executable, "-m", "server", "--checker-command", shlex.join(checker)]


@pytest_asyncio.fixture
async def start(server_command: list[str], checker_state: Path, workspace: Path) -> AsyncIterator[Callable[..., Any]]:
    """Starts servers: `await start(capabilities=..., folders=..., options=..., settings=...)` is an initialised client."""
    editors: list[Editor] = []

    async def begin(
        client_capabilities: types.ClientCapabilities | None = None,
        folders: list[Path] | None = None,
        options: object = None,
        settings: object = None,
        env: dict[str, str] | None = None,
    ) -> Editor:
        editor = Editor()
        editor.state = checker_state
        editor.settings = settings
        editors.append(editor)
        await editor.start_io(*server_command, env=env)
        uris = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in (folders or [workspace])]
        editor.initialized_with = await editor.initialize_async(
            types.InitializeParams(client_capabilities or capabilities(), workspace_folders=uris, initialization_options=options)
        )
        editor.initialized(types.InitializedParams())
        return editor

    yield begin
    for editor in editors:
        if editor._server is not None and editor._server.returncode is None and not editor._stop_event.is_set():
            await editor.finish()
        await editor.stop()


@pytest_asyncio.fixture
async def editor(start: Callable[..., Any]) -> Editor:
    """A client like VS Code, with one folder."""
    client: Editor = await start()
    return client
