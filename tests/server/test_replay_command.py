"""The command that runs a finding: only a confirmed one, and only in a trusted workspace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsp_editor import Editor
from lsprotocol import types
from test_features import actions

TEXT = "int f(void) {\n    return BUG + BUG;\n}\n"


@pytest.mark.parametrize(
    ("trusted", "fingerprint", "why"), [(False, "a.c:f:1", "not trusted"), (True, "a.c:f:0", "not confirmed")]
)
async def test_nothing_is_run_that_is_not_to_be(
    start: Callable[..., Any], workspace: Path, trusted: bool, fingerprint: str, why: str
) -> None:
    editor: Editor = await start(options={"trusted": trusted})
    uri = editor.open(workspace / "a.c", TEXT)
    await editor.until("everproof/status", lambda p: p.uri == uri and p.state == "idle" and p.functions)
    offered = [one for one in await actions(editor, uri, 1, 18) if one.command and one.command.command == "everproof.replay"]
    assert len(offered) == trusted  # of the confirmed one
    command = types.ExecuteCommandParams("everproof.replay", [uri, fingerprint])
    told: Any = await editor.workspace_execute_command_async(command)
    assert told["status"] == "refused"
    assert why in told["text"]
