"""Repositories that somebody else made, opened in an editor that compares findings with their last commit: nothing that they name
is executed, and nothing outside is read.

`test_git_repositories` has the same for the command; what is read of a repository is read by the same module."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from demo.editor import Document, Editor
from tests.hostile.test_git_repositories import _PROGRAMS, _canary

TEXT = "int main(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
SERVER = [sys.executable, "-P", "-m", "server", "--store", "none"]
SETTINGS = {"engine": "automaton"}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)  # as editors start servers
    _git("init", "-q", "-b", "main")
    (folder / "a.c").write_text(TEXT)
    _commit()
    return folder


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)
    return os.fsdecode(done.stdout).strip()


def _commit() -> None:
    _git("add", "-A")
    _git("commit", "-q", "-m", "a")


@pytest_asyncio.fixture
async def compared(repository: Path) -> AsyncIterator[Callable[..., Any]]:
    """Opens a file, changes it, and waits until its findings are compared with a reference."""
    editors: list[Editor] = []

    async def begin(reference: str = "HEAD", file: str = "a.c") -> tuple[Document, str]:
        editor = await Editor.start(SERVER, repository, {**SETTINGS, "reference": reference})
        editors.append(editor)
        document, _ = await editor.open(repository / file)
        await editor.replace(document, 0, 0, "\n")
        return document, await _reference(editor, document)

    yield begin
    for editor in editors:
        await editor.close()


async def _reference(editor: Editor, document: Document) -> str:
    """What findings are compared with, asked for until it is known."""
    while True:
        for status in await editor.request("workspace/executeCommand", {"command": "everproof.status", "arguments": []}):
            if status["uri"] == document.uri and status["reference"] is not None:
                name: str = status["reference"]["name"]
                return name


async def test_no_program_of_the_configuration_is_executed(repository: Path, compared: Callable[..., Any]) -> None:
    """All at once: the comparison succeeds, so none of them hides another one."""
    touched, script = _canary(repository)
    (repository / ".gitattributes").write_text("*.c filter=c diff=c merge=c\n")
    _commit()
    for name in _PROGRAMS:
        _git("config", name, f"!{script}" if name.startswith("alias") else script)
    _, reference = await compared()
    assert reference == "HEAD"
    assert not touched.exists()


async def test_no_hook_is_executed(repository: Path, compared: Callable[..., Any]) -> None:
    touched, script = _canary(repository)
    _git("config", "core.hooksPath", str(repository / "hooks"))
    for folder in (repository / "hooks", repository / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("post-checkout", "pre-commit", "post-index-change", "fsmonitor-watchman", "reference-transaction"):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(script)
    _, reference = await compared("merge-base main")
    assert reference == "merge-base main"
    assert not touched.exists()


async def test_no_program_of_a_submodule_is_executed(repository: Path, compared: Callable[..., Any]) -> None:
    touched, script = _canary(repository)
    inside = repository / "inside"
    inside.mkdir()
    _git("-C", "inside", "init", "-q")
    (inside / "b.c").write_text("int b(void) { int *p = 0; return *p; }\n")
    _git("-C", "inside", "add", "-A")
    _git("-C", "inside", "commit", "-q", "-m", "a")
    settings = f'[submodule "i"]\n\tpath = inside\n\turl = ext::{script}\n\tupdate = !{script}\n'
    (repository / ".gitmodules").write_text(settings)
    _commit()
    _git("config", "submodule.i.update", f"!{script}")
    _git("config", "submodule.recurse", "true")
    for name in ("core.fsmonitor", "core.pager", "filter.c.clean"):
        _git("-C", "inside", "config", name, script)
    _, reference = await compared()
    assert reference == "HEAD"
    assert not touched.exists()


async def test_objects_that_are_missing_are_not_fetched(repository: Path, compared: Callable[..., Any]) -> None:
    """The text of the commit is not there: findings are compared with the start of the session."""
    touched, script = _canary(repository)
    (repository / "a.c").write_text(f"{TEXT}\n")
    blob = _git("rev-parse", "HEAD:a.c")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::{script}",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": script,
        "core.sshCommand": script,
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
    }.items():
        _git("config", name, value)
    _, reference = await compared()
    assert reference == "the start of the session"
    assert not touched.exists()


async def test_links_are_not_followed(repository: Path, compared: Callable[..., Any]) -> None:
    """A file of the commit that is a link now, or was one then, is not read through it."""
    outside = repository.parent / "outside.c"
    outside.write_text("int outside(void)\n{\n    int *q = 0;\n    return *q;\n}\n")
    (repository / "link.c").symlink_to(outside)
    _commit()
    (repository / "link.c").unlink()
    (repository / "link.c").write_text(outside.read_text())
    document, reference = await compared(file="link.c")
    assert reference == "HEAD"
    assert {diagnostic["data"].get("since") for diagnostic in document.shown} == {"new"}


async def test_a_working_tree_elsewhere_is_not_compared_with(repository: Path, compared: Callable[..., Any]) -> None:
    elsewhere = repository.parent / "elsewhere"
    elsewhere.mkdir()
    _git("config", "core.worktree", str(elsewhere))
    _, reference = await compared()
    assert reference == "the start of the session"


async def test_a_branch_is_no_option(repository: Path, compared: Callable[..., Any]) -> None:
    _, reference = await compared("merge-base --output=x")
    assert reference == "the start of the session"
    assert not (repository / "x").exists()


async def test_a_git_of_the_folder_is_not_run(
    repository: Path, compared: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    touched, script = _canary(repository)
    (repository / "git").symlink_to(script)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    _, reference = await compared()
    assert reference == "HEAD"
    assert not touched.exists()
