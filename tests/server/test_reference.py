"""Findings compared with a reference, through the real server and checker, on small programs in a repository.

The classes: an old finding that is called new, or a new one that is called old; a finding blamed on the wrong edit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsp_editor import Editor, capabilities, data
from lsprotocol import types

HEAD_FUNCTION = "int old(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
SECOND = "int second(void)\n{\n    int *q = 0;\n    return *q;\n}\n"
LAST = "int last(int n)\n{\n    int r = n;\n    return r;\n}\n"
DEFECT = "    { int *s = 0; *s = 1; }\n"
AUTOMATON = {"engine": "automaton"}


class Repository:
    """A repository in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> None:
        names = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *names, *words], cwd=self.folder, check=True, capture_output=True)

    def commit(self, **texts: str | None) -> None:
        """Writes files, or removes them, and commits what is there; `a_c` stands for a.c."""
        write(self.folder, **texts)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a")


def write(folder: Path, **texts: str | None) -> None:
    for name, text in texts.items():
        path = folder / name.replace("_", ".")
        if text is None:
            path.unlink()
        else:
            path.write_text(text)


@pytest.fixture
def repository(workspace: Path) -> Repository:
    return Repository(workspace)


@pytest_asyncio.fixture
async def opened(tmp_path: Path, workspace: Path) -> AsyncIterator[Callable[..., Any]]:
    """Starts a server with its real checker: `await opened(settings...)`."""
    editors: list[Editor] = []

    async def begin(folder: Path = workspace, **settings: object) -> Editor:
        editor = Editor()
        editors.append(editor)
        await editor.start_io(sys.executable, "-m", "server", "--store", str(tmp_path / "store"))
        folders = [types.WorkspaceFolder(folder.as_uri(), folder.name)]
        editor.settings = {**AUTOMATON, **settings}
        await editor.initialize_async(
            types.InitializeParams(capabilities(), workspace_folders=folders, initialization_options=editor.settings)
        )
        editor.initialized(types.InitializedParams())
        return editor

    yield begin
    for editor in editors:
        await editor.finish()
        await editor.stop()


def open_file(editor: Editor, path: Path) -> str:
    return editor.open(path, path.read_text())


def insert(editor: Editor, uri: str, version: int, line: int, text: str) -> None:
    editor.edit(uri, version, (line, 0), (line, 0), text)


async def marks(editor: Editor, uri: str, wanted: dict[str, str], version: int | None = None, after: int = 0) -> list[Any]:
    """The diagnostics of a document, once its findings, by function, are marked like this."""

    def fits(params: types.PublishDiagnosticsParams) -> bool:
        found = {function_of(item): data(item).get("since") for item in findings(params)}
        return params.uri == uri and version in (None, params.version) and found == wanted

    published = await editor.until(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, fits, after)
    return findings(published)


def findings(params: types.PublishDiagnosticsParams) -> list[types.Diagnostic]:
    return [item for item in params.diagnostics if data(item).get("fingerprint")]


def function_of(item: types.Diagnostic) -> str:
    """The variable that is null names the function, in these programs."""
    return {"p": "old", "q": "second", "s": "last"}[item.message.split("`")[1]]


def introduced(item: types.Diagnostic) -> Any:
    found = data(item).get("introduced")
    return found if found is None or isinstance(found, dict) else vars(found) | getattr(found, "_asdict", dict)()


@pytest.mark.parametrize(
    ("reference", "kept"),
    [
        ("HEAD", {"old": "old", "second": "new", "last": "new"}),
        ("merge-base main", {"old": "new", "second": "new", "last": "new"}),
        ("saved", {"old": "old", "second": "old", "last": "new"}),
        ("session", {"old": "old", "second": "old", "last": "new"}),
        ("session start", {"old": "old", "second": "old", "last": "new"}),
        ("none", {"old": "unknown", "second": "unknown", "last": "unknown"}),
    ],
)
async def test_each_reference(
    reference: str, kept: dict[str, str], repository: Repository, opened: Callable[..., Any], workspace: Path
) -> None:
    """The first function came with a commit on a branch, the second was saved, the third is edited."""
    repository.commit(a_c=LAST)
    repository.git("checkout", "-q", "-b", "work")
    repository.commit(a_c=HEAD_FUNCTION + LAST)
    write(workspace, a_c=HEAD_FUNCTION + SECOND + LAST)
    editor = await opened(reference=reference)
    uri = open_file(editor, workspace / "a.c")
    await marks(editor, uri, {name: kept[name] for name in ("old", "second")})
    insert(editor, uri, 2, 13, DEFECT)
    await marks(editor, uri, kept, 2)
    (workspace / "a.c").write_text(HEAD_FUNCTION + SECOND + LAST.replace("    return", DEFECT + "    return"))
    count = len(editor.messages)
    editor.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
    if reference == "saved":
        await marks(editor, uri, dict.fromkeys(kept, "old"), after=count)


async def test_outside_of_a_repository_the_session_start_counts(opened: Callable[..., Any], workspace: Path) -> None:
    write(workspace, a_c=HEAD_FUNCTION + LAST)
    editor = await opened()
    uri = open_file(editor, workspace / "a.c")
    (older,) = await marks(editor, uri, {"old": "old"})
    assert older.severity == types.DiagnosticSeverity.Warning  # nobody has asked for that reference
    insert(editor, uri, 2, 8, DEFECT)
    await marks(editor, uri, {"old": "old", "last": "new"}, 2)
    status = await editor.until("everproof/status", lambda params: params.reference is not None and params.reference.new == 1)
    assert status.reference.text == "1 new since the start of the session, 1 older"


async def test_the_session_start_fades_what_is_older_if_it_is_asked_for(opened: Callable[..., Any], workspace: Path) -> None:
    write(workspace, a_c=HEAD_FUNCTION + LAST)
    editor = await opened(reference="session")
    uri = open_file(editor, workspace / "a.c")
    (older,) = await marks(editor, uri, {"old": "old"})
    assert older.severity == types.DiagnosticSeverity.Information
    insert(editor, uri, 2, 8, DEFECT)
    shown = await marks(editor, uri, {"old": "old", "last": "new"}, 2)
    assert [item.severity for item in shown] == [types.DiagnosticSeverity.Information, types.DiagnosticSeverity.Warning]


async def test_a_repository_without_a_commit(repository: Repository, opened: Callable[..., Any], workspace: Path) -> None:
    write(workspace, a_c=HEAD_FUNCTION + LAST)
    editor = await opened()
    uri = open_file(editor, workspace / "a.c")
    await marks(editor, uri, {"old": "old"})


async def test_a_branch_that_is_not_there_is_said_once(
    repository: Repository, opened: Callable[..., Any], workspace: Path
) -> None:
    repository.commit(a_c=HEAD_FUNCTION)
    editor = await opened(reference="merge-base nowhere")
    uri = open_file(editor, workspace / "a.c")
    await marks(editor, uri, {"old": "old"})
    said = await editor.until(types.WINDOW_SHOW_MESSAGE)
    assert said.message.startswith("Everproof: Findings are not compared with merge-base nowhere:")


async def test_older_findings_are_hints_if_that_is_asked_for(
    repository: Repository, opened: Callable[..., Any], workspace: Path
) -> None:
    repository.commit(a_c=HEAD_FUNCTION)
    editor = await opened(olderFindings="hint")
    uri = open_file(editor, workspace / "a.c")
    (older,) = await marks(editor, uri, {"old": "old"})
    assert older.severity == types.DiagnosticSeverity.Hint
    status = await editor.until("everproof/status", lambda params: params.reference is not None)
    assert status.reference.text == "0 new since HEAD, 1 older"


async def test_the_edit_is_blamed_that_introduced_a_finding(
    repository: Repository, opened: Callable[..., Any], workspace: Path
) -> None:
    """Also when it was taken back, and made again."""
    repository.commit(a_c=HEAD_FUNCTION + LAST)
    editor = await opened()
    uri = open_file(editor, workspace / "a.c")
    await marks(editor, uri, {"old": "old"})
    insert(editor, uri, 2, 0, "\n")
    await editor.status(uri, "idle", 2)
    insert(editor, uri, 3, 9, DEFECT)
    _, new = await marks(editor, uri, {"old": "old", "last": "new"}, 3)
    assert introduced(new) == {"edit": 2, "version": 3}
    editor.edit(uri, 4, (9, 0), (10, 0), "")
    await marks(editor, uri, {"old": "old"}, 4)
    insert(editor, uri, 5, 9, DEFECT)
    _, new = await marks(editor, uri, {"old": "old", "last": "new"}, 5)
    assert introduced(new) == {"edit": 4, "version": 5}
    answer = await editor.command("everproof.introduced", uri, data(new)["fingerprint"])
    assert (answer.since, answer.reference, answer.edit.number, answer.edit.function) == ("new", "HEAD", 4, "last")
    assert answer.edit.after == DEFECT + "    return r;\n"
    assert f"+{DEFECT}" in answer.difference
    assert "introduced by edit 4 of this session (version 5, line 10 in last)" in answer.text


async def test_what_was_there_before_the_session_is_blamed_on_no_edit(
    repository: Repository, opened: Callable[..., Any], workspace: Path
) -> None:
    repository.commit(a_c=HEAD_FUNCTION + LAST)
    write(workspace, a_c=HEAD_FUNCTION + SECOND + LAST)
    editor = await opened()
    uri = open_file(editor, workspace / "a.c")
    _, new = await marks(editor, uri, {"old": "old", "second": "new"})
    assert introduced(new) == {"edit": 0, "version": None}


async def test_of_edits_that_come_together_the_right_one_is_blamed(
    repository: Repository, opened: Callable[..., Any], workspace: Path
) -> None:
    repository.commit(a_c=HEAD_FUNCTION + LAST)
    editor = await opened()
    uri = open_file(editor, workspace / "a.c")
    await marks(editor, uri, {"old": "old"})
    insert(editor, uri, 2, 0, "\n")
    insert(editor, uri, 3, 9, DEFECT)
    insert(editor, uri, 4, 0, "\n\n")
    insert(editor, uri, 5, 11, "    r = r + 1;\n")

    def is_blamed(params: types.PublishDiagnosticsParams) -> bool:
        return params.version == 5 and any(introduced(item) == {"edit": 2, "version": 3} for item in findings(params))

    await editor.until(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, is_blamed)


async def test_keys_at_one_place_are_one_edit(repository: Repository, opened: Callable[..., Any], workspace: Path) -> None:
    repository.commit(a_c=HEAD_FUNCTION + LAST.replace("    return", "\n    return"))
    editor = await opened()
    uri = open_file(editor, workspace / "a.c")
    await marks(editor, uri, {"old": "old"})
    typed = DEFECT.strip()
    for number, key in enumerate(typed):
        editor.edit(uri, 2 + number, (8, number), (8, number), key)
    _, new = await marks(editor, uri, {"old": "old", "last": "new"}, 1 + len(typed))
    assert introduced(new) == {"edit": 1, "version": 1 + len(typed)}


async def test_a_finding_that_moved_is_not_new(repository: Repository, opened: Callable[..., Any], workspace: Path) -> None:
    """To another file, to a function with another name, and to another place."""
    repository.commit(a_c=HEAD_FUNCTION + LAST, b_c="int b;\n")
    editor = await opened()
    first, second = open_file(editor, workspace / "a.c"), open_file(editor, workspace / "b.c")
    await marks(editor, first, {"old": "old"})
    editor.edit(first, 2, (0, 0), (5, 0), "")
    await marks(editor, first, {}, 2)
    insert(editor, second, 2, 0, HEAD_FUNCTION)
    await marks(editor, second, {"old": "old"}, 2)
    editor.edit(second, 3, (0, 4), (0, 7), "ancient")
    await marks(editor, second, {"old": "old"}, 3)
    insert(editor, second, 4, 0, SECOND)
    await marks(editor, second, {"old": "old", "second": "new"}, 4)


async def test_files_that_came_and_went(repository: Repository, opened: Callable[..., Any], workspace: Path) -> None:
    """The findings of a file that the commit has not are new, whatever else was there; those of one that is gone are known."""
    repository.commit(a_c=LAST, gone_c=HEAD_FUNCTION)
    write(workspace, gone_c=None, came_c=HEAD_FUNCTION, more_c=SECOND)
    editor = await opened()
    uris = [open_file(editor, workspace / name) for name in ("came.c", "more.c")]
    await marks(editor, uris[0], {"old": "old"})
    await marks(editor, uris[1], {"second": "new"})


async def test_what_git_ignores_counts_as_it_is(repository: Repository, opened: Callable[..., Any], workspace: Path) -> None:
    write(workspace, made_c=SECOND)
    (workspace / ".gitignore").write_text("made.c\n")
    repository.commit(a_c=HEAD_FUNCTION)
    editor = await opened()
    await marks(editor, open_file(editor, workspace / "a.c"), {"old": "old"})
    await marks(editor, open_file(editor, workspace / "made.c"), {"second": "old"})


async def test_a_commit_makes_findings_older(repository: Repository, opened: Callable[..., Any], workspace: Path) -> None:
    repository.commit(a_c=HEAD_FUNCTION + LAST)
    editor = await opened()
    uri = open_file(editor, workspace / "a.c")
    insert(editor, uri, 2, 8, DEFECT)
    await marks(editor, uri, {"old": "old", "last": "new"}, 2)
    repository.commit(a_c=HEAD_FUNCTION + LAST.replace("    return", DEFECT + "    return"))
    log = workspace / ".git" / "logs" / "HEAD"
    changed = types.FileEvent(log.as_uri(), types.FileChangeType.Changed)
    editor.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
    await marks(editor, uri, {"old": "old", "last": "old"}, 2)


async def test_a_folder_inside_a_repository_and_a_header_above_it(
    repository: Repository, opened: Callable[..., Any], workspace: Path
) -> None:
    inside = workspace / "inside"
    inside.mkdir()
    (inside / "a.c").write_text('#include "../shared.h"\n' + HEAD_FUNCTION + "int use(void)\n{\n    return shared();\n}\n")
    repository.commit(shared_h="static int shared(void)\n{\n    return 1;\n}\n")
    write(workspace, shared_h="static int shared(void)\n{\n    int *q = 0;\n    return *q;\n}\n")
    editor = await opened(inside)
    uri = open_file(editor, inside / "a.c")
    await marks(editor, uri, {"old": "old"})
    header = open_file(editor, workspace / "shared.h")
    await marks(editor, header, {"second": "new"})


async def test_hover_and_code_action(repository: Repository, opened: Callable[..., Any], workspace: Path) -> None:
    repository.commit(a_c=HEAD_FUNCTION + LAST)
    editor = await opened()
    uri = open_file(editor, workspace / "a.c")
    await marks(editor, uri, {"old": "old"})
    insert(editor, uri, 2, 8, DEFECT)
    older, new = await marks(editor, uri, {"old": "old", "last": "new"}, 2)

    async def hovered(item: types.Diagnostic) -> str:
        at = types.HoverParams(types.TextDocumentIdentifier(uri), item.range.start)
        hover = await editor.text_document_hover_async(at)
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        return hover.contents.value

    assert "older than HEAD" in await hovered(older)
    assert "new since HEAD, introduced by edit 1 of this session (version 2, line 9 in `last`)" in await hovered(new)

    async def titles(item: types.Diagnostic) -> list[str]:
        context = types.CodeActionContext([item])
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), item.range, context)
        return [action.title for action in await editor.text_document_code_action_async(params) or []]

    assert "Everproof: show the change that introduced this" in await titles(new)
    assert "Everproof: show the change that introduced this" not in await titles(older)


PROGRAM = (
    "int table[4];\nint get(int i)\n{\n    return table[i];\n}\nint last(int n)\n{\n    int r = n;\n    return r;\n}\n"
    "int main(void)\n{\n    return get(5) + last(1);\n}\n"
)


async def test_what_only_provers_find_is_not_new_while_it_is_not_known(
    repository: Repository, opened: Callable[..., Any], workspace: Path
) -> None:
    """The defect of the commit is found by a run alone; edits before that is known, and after it, never make it new."""
    repository.commit(a_c=PROGRAM)
    editor = await opened(engine="auto")
    uri = open_file(editor, workspace / "a.c")
    insert(editor, uri, 2, 7, "    n = n + 1;\n")

    def is_older(params: types.PublishDiagnosticsParams) -> bool:
        return any(item.code == "array-bounds" and data(item).get("since") == "old" for item in findings(params))

    await editor.until(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, is_older)
    insert(editor, uri, 3, 7, "    n = n + 2;\n")
    await editor.until(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lambda params: params.version == 3 and is_older(params))
    shown = [
        item
        for method, params in editor.messages
        if method == types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
        for item in findings(params)
    ]
    assert {data(item).get("since") for item in shown if item.code == "array-bounds"} <= {"old", "unknown"}


async def test_a_checker_that_is_started_again_knows_how_the_session_began(start: Callable[..., Any], workspace: Path) -> None:
    editor = await start()
    path = workspace / "a.c"
    uri = editor.open(path, "int f(void)\n")
    await editor.status(uri, "idle", 1)
    editor.replace(uri, 2, "int f(void) CRASH\n")
    await editor.status(uri, "idle", 2)
    assert (editor.state / "first").read_text() == "int f(void)\n"


def test_the_settings_are_described_where_clients_look() -> None:
    settings = Path(__file__).parents[2] / "docs" / "settings.md"
    text = settings.read_text(encoding="utf-8")
    assert "| `reference` |" in text
    assert "| `olderFindings` |" in text
    assert os.path.exists(settings)
