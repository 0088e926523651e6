"""Folders, files outside of them, settings wherever they come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsp_editor import Editor, data
from lsprotocol import types

BUGGY = "int f(int *p) {\n    return BUG;\n}\n"
SHOW = types.WINDOW_SHOW_MESSAGE


async def test_two_folders(start: Callable[..., Any], tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    editor: Editor = await start(folders=folders)
    uris = [editor.open(folder / "a.c", BUGGY) for folder in folders]
    for uri in uris:
        (found,) = await editor.diagnostics(uri, version=1)
        assert {item.location.uri for item in found.related_information or ()} == {uri}
    assert editor.checker_log()[0].startswith("configure 2 ")


async def test_a_folder_that_is_added_is_sent_to_the_checker(editor: Editor, workspace: Path, tmp_path: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    (tmp_path / "more").mkdir()
    added = types.WorkspaceFoldersChangeEvent(added=[types.WorkspaceFolder((tmp_path / "more").as_uri(), "more")], removed=[])
    editor.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(added))
    await _checker_is_told(editor)
    assert [line for line in editor.checker_log() if line.startswith("configure")][-1].startswith("configure 2 ")


async def test_settings_that_the_client_is_asked_for_are_in_force(start: Callable[..., Any], workspace: Path) -> None:
    editor: Editor = await start(settings={"rules": ["double-free"], "unknownHints": True})
    uri = editor.open(workspace / "a.c", "int unknown_one(void) {}\n")
    hints = await editor.until(
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lambda p: p.uri == uri and p.diagnostics and p.diagnostics[0].code == "unknown"
    )
    (hint,) = hints.diagnostics
    assert hint.severity == types.DiagnosticSeverity.Hint
    assert hint.message == "unknown_one: not known for memory-leak (not decided by this engine)"
    assert data(hint)["status"] == "unknown"
    await _checker_is_told(editor)
    assert [line for line in editor.checker_log() if line.startswith("configure")][-1] == "configure 1 True double-free"


async def test_an_untrusted_workspace_runs_no_compiler(start: Callable[..., Any], workspace: Path) -> None:
    (workspace / ".everproof.toml").write_text("trusted = true\n")
    editor: Editor = await start(options={"everproof": {"trusted": False}})
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    assert {line for line in editor.checker_log() if line.startswith("configure")} == {"configure 1 False "}


async def test_wrong_settings_are_reported_by_name_and_once(start: Callable[..., Any], workspace: Path) -> None:
    (workspace / ".everproof.toml").write_text('mode = "sometimes"\n')
    editor: Editor = await start(settings={"rulez": [], "budgets": {"configurations": -1}})
    said = await editor.until(SHOW, lambda p: "rulez" in p.message)
    assert "everproof.rulez: there is no such setting; the nearest is rules." in said.message
    assert "everproof.budgets.configurations: must be at least 1; using the usual one." in said.message
    assert 'in .everproof.toml: mode: must be "continuous", "onSave" or "onDemand"; using continuous.' in said.message
    uri = editor.open(workspace / "a.c", BUGGY)
    assert len(await editor.diagnostics(uri, version=1)) == 1
    before = editor.count(SHOW)
    editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    await editor.command("everproof.fullCheck")
    assert editor.count(SHOW) == before


async def test_a_settings_file_that_changes_is_read_again(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    (workspace / ".everproof.toml").write_text('rules = ["memory-leak"]\n')
    changed = types.FileEvent((workspace / ".everproof.toml").as_uri(), types.FileChangeType.Created)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
    await _checker_is_told(editor)
    assert "configure 1 True memory-leak" in editor.checker_log()


async def test_contracts_that_change_are_read_again(editor: Editor, workspace: Path) -> None:
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    await _checker_is_told(editor)
    contracts = workspace / ".everproof" / "functions" / "own.yaml"
    contracts.parent.mkdir(parents=True)
    contracts.write_text("functions: []")
    before = _configured(editor)
    created = types.FileEvent(contracts.as_uri(), types.FileChangeType.Created)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([created]))
    await _checker_is_told(editor)
    assert _configured(editor) == before + 1


async def _checker_is_told(editor: Editor) -> None:
    """Waits until the checker has had all that was sent. That the server is idle does not say so: it can say that twice."""
    await editor.command("everproof.fullCheck")


def _configured(editor: Editor) -> int:
    return sum(line.startswith("configure ") for line in editor.checker_log())


async def test_the_client_is_asked_to_watch_files(editor: Editor) -> None:
    asked = await editor.until(types.CLIENT_REGISTER_CAPABILITY)
    (registration,) = asked.registrations
    assert registration.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    assert "**/.everproof/{rules,functions}/*.{yaml,yml}" in [
        one["globPattern"] for one in registration.register_options["watchers"]
    ]


async def test_a_file_in_latin_1_that_is_not_open_is_shown_at_the_right_place(editor: Editor, workspace: Path) -> None:
    (workspace / "b.c").write_bytes(b"/* caf\xe9 */ MESSAGE\n")
    uri = editor.open(workspace / "a.c", BUGGY)
    await editor.status(uri, "idle", version=1)
    assert len(await editor.diagnostics(uri, version=1)) == 1


async def store_of(editor: Editor, workspace: Path) -> str:
    uri = editor.open(workspace / "a.c", "int f(void)\n{\n    return 0;\n}\n")
    await editor.diagnostics(uri, version=1)
    return (editor.state / "store").read_text()


async def test_the_store_to_use_is_sent_to_the_checker(start: Callable[..., Any], workspace: Path) -> None:
    assert await store_of(await start(), workspace) == "None"
    assert await store_of(await start(options={"store": "kept.everproof"}), workspace) == str(workspace / "kept.everproof")


async def test_the_command_line_names_a_store_where_no_setting_does(
    start: Callable[..., Any], server_command: list[str], workspace: Path
) -> None:
    server_command += ["--store", "none"]
    assert await store_of(await start(), workspace) == "none"
    assert await store_of(await start(options={"store": "/kept.everproof"}), workspace) == "/kept.everproof"
