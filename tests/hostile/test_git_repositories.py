"""`everproof diff` on repositories that somebody else made: nothing that they name is executed, and nothing outside is read."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from analysis.cli.main import main

_TEXT = "int main(void)\n{\n    int *p = 0;\n    return *p;\n}\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    _git("init", "-q")
    (folder / "a.c").write_text(_TEXT)
    _commit()
    return folder


def _git(*words: str, given: bytes | None = None) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], input=given, check=True, capture_output=True
    )
    return os.fsdecode(done.stdout).strip()


def _commit() -> None:
    _git("add", "-A")
    _git("commit", "-q", "-m", "a")


def _diff(*words: str) -> int:
    return main(["diff", "--engine", "automaton", "--format", "json", *words])


def _canary(folder: Path) -> tuple[Path, str]:
    """A file that is there after a command was executed, and the command."""
    touched, script = folder.parent / "executed", folder.parent / "script"
    script.write_text(f"#!/bin/sh\ntouch {touched}\nexit 1\n")
    script.chmod(0o755)
    return touched, str(script)


_PROGRAMS = [
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.gitProxy",
    "core.askPass",
    "core.alternateRefsCommand",
    "pager.ls-tree",
    "pager.rev-parse",
    "pager.cat-file",
    "diff.external",
    "diff.c.textconv",
    "diff.c.command",
    "filter.c.clean",
    "filter.c.smudge",
    "filter.c.process",
    "merge.c.driver",
    "credential.helper",
    "gpg.program",
    "uploadpack.packObjectsHook",
    "alias.ls-tree",
    "alias.cat-file",
]


@pytest.mark.parametrize("name", _PROGRAMS)
def test_no_program_of_the_configuration_is_executed(name: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    touched, script = _canary(repository)
    (repository / ".gitattributes").write_text("*.c filter=c diff=c merge=c\n")
    _commit()
    _git("config", name, f"!{script}" if name.startswith("alias") else script)
    assert _diff("HEAD") == 0
    assert len(json.loads(capsys.readouterr().out)["unchanged"]) == 1
    assert not touched.exists()


def test_no_hook_is_executed(repository: Path) -> None:
    touched, script = _canary(repository)
    _git("config", "core.hooksPath", str(repository / "hooks"))
    for folder in (repository / "hooks", repository / ".git" / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("post-checkout", "pre-commit", "post-index-change", "fsmonitor-watchman", "reference-transaction"):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(script)
    assert _diff("HEAD") == 0
    assert not touched.exists()


def test_configuration_that_includes_another_file_names_no_programs(repository: Path) -> None:
    touched, script = _canary(repository)
    (repository / "more").write_text(f"[core]\n\tfsmonitor = {script}\n\tpager = {script}\n[diff]\n\texternal = {script}\n")
    _git("config", "include.path", str(repository / "more"))
    assert _diff("a.c") == 0
    assert not touched.exists()


@pytest.mark.parametrize("kind", ["submodule", "nested"])
def test_no_program_of_a_repository_inside_is_executed(kind: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    touched, script = _canary(repository)
    inside = repository / "inside"
    inside.mkdir()
    _git("-C", "inside", "init", "-q")
    (inside / "b.c").write_text("int b(void) { int *p = 0; return *p; }\n")
    _git("-C", "inside", "add", "-A")
    _git("-C", "inside", "commit", "-q", "-m", "a")
    if kind == "submodule":
        address = f"ext::{script}"
        (repository / ".gitmodules").write_text(f'[submodule "i"]\n\tpath = inside\n\turl = {address}\n\tupdate = !{script}\n')
        _commit()
        _git("config", "submodule.i.update", f"!{script}")
        _git("config", "submodule.recurse", "true")
    for name in ("core.fsmonitor", "core.pager", "filter.c.clean"):
        _git("-C", "inside", "config", name, script)
    (inside / ".git" / "hooks").mkdir(exist_ok=True)
    (inside / ".git" / "hooks" / "post-checkout").symlink_to(script)
    assert _diff("HEAD", "HEAD") == 0
    assert not touched.exists()
    assert {one["path"] for one in json.loads(capsys.readouterr().out)["functions"]} == {"a.c"}


def test_git_by_itself_would_execute_them(repository: Path) -> None:
    touched, script = _canary(repository)
    _git("config", "core.fsmonitor", script)
    subprocess.run(["git", "status"], capture_output=True, check=False)
    assert touched.exists()


@pytest.mark.parametrize("address", ["ext::{script}", "{folder}", "ssh://nowhere/x", "file://{folder}"])
def test_objects_that_are_missing_are_not_fetched(address: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    touched, script = _canary(repository)
    blob = _git("rev-parse", "HEAD:a.c")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": address.format(script=script, folder=repository.parent),
        "remote.origin.promisor": "true",
        "remote.origin.partialCloneFilter": "blob:none",
        "remote.origin.uploadpack": script,
        "core.sshCommand": script,
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
    }.items():
        _git("config", name, value)
    assert _diff("HEAD") == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not touched.exists()
    subprocess.run(["git", "cat-file", "-p", blob], capture_output=True, check=False)
    assert touched.exists()  # git by itself would have asked for it


def test_variables_of_the_caller_name_no_programs(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched, script = _canary(repository)
    for name in ("GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS"):
        monkeypatch.setenv(name, script)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", script)
    assert _diff("HEAD") == 0
    assert not touched.exists()


def test_links_are_not_followed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = repository.parent / "outside.h"
    outside.write_text("#define SECRET 1\n")
    (repository / "linked.h").symlink_to(outside)
    (repository / "folder").symlink_to(repository.parent)
    (repository / "b.c").write_text('#include "linked.h"\nint secret(void) { return SECRET; }\n')
    _commit()
    assert _diff("HEAD~1", "HEAD") == 0
    captured = capsys.readouterr()
    assert "The header 'linked.h' was not found" in captured.err
    assert "SECRET 1" not in captured.err + captured.out


@pytest.mark.parametrize("name", ["..", ".git", "."])
def test_a_path_that_leads_out_is_left_out(name: str, repository: Path) -> None:
    blob = _git("hash-object", "-w", "--stdin", given=b"int x;\n")
    tree = b"100644 stolen.c\0" + bytes.fromhex(blob)
    below = _git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=tree)
    top = b"40000 " + name.encode() + b"\0" + bytes.fromhex(below)
    whole = _git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=top)
    made = _git("commit-tree", whole, "-m", "a")
    before = {path for path in repository.parent.rglob("*") if ".git/objects" not in str(path)}
    _diff(made)
    assert {path for path in repository.parent.rglob("*") if ".git/objects" not in str(path)} == before


def test_a_working_tree_elsewhere_is_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = repository.parent / "elsewhere"
    elsewhere.mkdir()
    _git("config", "core.worktree", str(elsewhere))
    assert _diff("HEAD") == 2
    assert "its working tree is elsewhere" in capsys.readouterr().err


def test_a_revision_is_no_option(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "--engine", "automaton", "--", "--output=x"]) == 2
    assert not (repository / "x").exists()
    assert capsys.readouterr().err.count("\n") == 1


def test_a_git_of_the_folder_is_not_run(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched, script = _canary(repository)
    (repository / "git").symlink_to(script)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    assert _diff("HEAD") == 0
    assert not touched.exists()


def test_a_damaged_repository_is_one_sentence(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blob = _git("rev-parse", "HEAD:a.c")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert _diff("HEAD") == 2
    said = capsys.readouterr().err
    assert "it lacks what a.c holds" in said
    assert said.count("\n") == 1


def test_a_file_that_is_a_folder_as_well_is_one_sentence(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blob = bytes.fromhex(_git("hash-object", "-w", "--stdin", given=b"int x;\n"))
    below = _git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=b"100644 b.c\0" + blob)
    both = b"100644 a.c\0" + blob + b"40000 a.c\0" + bytes.fromhex(below)
    made = _git("commit-tree", _git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=both), "-m", "a")
    assert _diff(made) == 2
    said = capsys.readouterr().err
    assert "cannot be copied" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '[{"directory": "\\u0000", "file": "a.c"}]', "{}", '[1, {"file": 2}]', "no JSON"]
)
def test_a_database_that_makes_no_sense_is_reported_as_always(
    text: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "compile_commands.json").write_text(text)
    assert _diff("HEAD") in (0, 2)
    assert "defect of Everproof" not in capsys.readouterr().err
