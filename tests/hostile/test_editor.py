"""Hostile workspaces through the real language server: a sample of those that the command gets.

The class: whatever is in a folder that somebody opens in an editor. The finding in `bad.c` is shown all the same, nothing in the
folder is run, and nothing is written there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.resident import memory_of
from demo.editor import Editor
from tests.hostile.canary import contents, plant
from tests.hostile.test_workspaces import BAD, MEGABYTES, SMALL
from tests.hostile.workspaces import Workspace

SERVER = [sys.executable, "-P", "-m", "server", "--store", "none"]
_KINDS = ("a source in the folder is", "the settings is", "a compilation database that is found is")
SAMPLE = [workspace for workspace in SMALL if workspace.name.startswith(_KINDS) or workspace.name.startswith("folder: ")]
SAMPLE = [workspace for workspace in SAMPLE if "is missing" not in workspace.name and "nothing to check" not in workspace.name]


def test_how_many() -> None:
    assert len(SAMPLE) >= 20


@pytest.mark.parametrize("workspace", SAMPLE, ids=lambda workspace: workspace.name)
async def test_opened_in_an_editor(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, mark = tmp_path / "opened", tmp_path / "canary"
    folder.mkdir()
    workspace.make(folder)
    (folder / "bad.c").write_text(BAD)
    plant(folder, mark)
    before = contents(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)  # as editors start servers
    editor = await Editor.start(SERVER, folder, {"rulesDirs": [os.fspath(folder / "rules")]})
    try:
        _, settled = await editor.open(folder / "bad.c")
        used = sum(memory_of(editor.process_id).values())
    finally:
        await editor.close()
    assert [diagnostic["range"]["start"]["line"] for diagnostic in settled.diagnostics] == [3]
    assert used / 1e6 < MEGABYTES
    assert not mark.exists()
    assert contents(folder) == before
