"""What files held at a reference, read from real repositories.

The class: a file is taken for what it was not, or a text that differs is overlooked."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from analysis.model.options import Options
from analysis.session.files.git_versions import Repository
from analysis.worker.reference.reading_process import read
from analysis.worker.reference.reference_texts import missing_files, program_texts, read_reference, text_of
from analysis.worker.reference.task import ReferenceTask

START = "the start of the session"


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    return os.fsdecode(subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True).stdout).strip()


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a")


@pytest.fixture(params=["sha1", "sha256"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", f"--object-format={request.param}")
    (folder / "a.c").write_text("int a;\n")
    (folder / "b.h").write_text("int b;\n")
    commit(folder)
    return folder


def test_nothing_differs(folder: Path) -> None:
    found = read_reference(str(folder), "HEAD", {})
    assert (found.name, found.texts) == ("HEAD", {})
    assert found.was_there(str(folder / "a.c"))
    assert not found.was_there(str(folder / "new.c"))


def test_what_differs_is_read_whatever_its_size_and_time(folder: Path) -> None:
    status = (folder / "a.c").stat()
    (folder / "a.c").write_text("int x;\n")
    os.utime(folder / "a.c", ns=(status.st_atime_ns, status.st_mtime_ns))
    (folder / "b.h").unlink()
    found = read_reference(str(folder), "HEAD", {})
    assert found.texts == {str(folder / "a.c"): "int a;\n", str(folder / "b.h"): "int b;\n"}


def test_files_that_are_new_hold_nothing_but_generated_ones_stay(folder: Path) -> None:
    (folder / ".gitignore").write_text("made.c\n")
    for name in ("new.c", "made.c"):
        (folder / name).write_text("int x;\n")
    found = read_reference(str(folder), "HEAD", {})
    files = [str(folder / name) for name in ("a.c", "new.c", "made.c")]
    assert program_texts(found, files) == {str(folder / "new.c"): ""}


def test_files_that_are_gone_are_a_part_of_the_program_if_the_build_lists_them(folder: Path) -> None:
    (folder / "a.c").unlink()
    texts = read_reference(str(folder), "HEAD", {}).texts
    assert list(missing_files(texts, str(folder), lambda _path: True)) == [str(folder / "a.c")]
    assert not list(missing_files(texts, str(folder), lambda _path: False))


def test_the_merge_base_is_where_the_branch_began(folder: Path) -> None:
    git(folder, "checkout", "-q", "-b", "work")
    (folder / "a.c").write_text("int work;\n")
    commit(folder)
    git(folder, "checkout", "-q", "main")
    (folder / "a.c").write_text("int later;\n")
    commit(folder)
    git(folder, "checkout", "-q", "work")
    assert read_reference(str(folder), "HEAD", {}).texts == {}
    found = read_reference(str(folder), "merge-base main", {})
    assert (found.name, found.texts) == ("merge-base main", {str(folder / "a.c"): "int a;\n"})


@pytest.mark.parametrize("branch", ["nowhere", "--all", "HEAD:a.c"])
def test_where_there_is_no_such_branch_the_session_start_counts(branch: str, folder: Path) -> None:
    found = read_reference(str(folder), f"merge-base {branch}", {str(folder / "a.c"): "int first;\n"})
    assert (found.name, found.texts) == (START, {str(folder / "a.c"): "int first;\n"})
    assert found.problem.startswith(f"Findings are not compared with merge-base {branch}: ")


def test_branches_without_a_common_commit(folder: Path) -> None:
    git(folder, "checkout", "-q", "--orphan", "apart")
    (folder / "a.c").write_text("int apart;\n")
    commit(folder)
    found = read_reference(str(folder), "merge-base main", {})
    assert found.name == START
    assert found.problem


def test_paths_are_spelled_as_the_folder_is(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    (folder / "a.c").write_text("int x;\n")
    assert list(read_reference(str(tmp_path / "link"), "HEAD", {}).texts) == [str(tmp_path / "link" / "a.c")]


def test_a_folder_inside_a_repository(folder: Path) -> None:
    (folder / "in").mkdir()
    (folder / "in" / "c.c").write_text("int c;\n")
    commit(folder)
    (folder / "in" / "c.c").write_text("int x;\n")
    (folder / "b.h").write_text("int x;\n")
    texts = read_reference(str(folder / "in"), "HEAD", {}).texts
    assert texts == {str(folder / "in" / "c.c"): "int c;\n", str(folder / "b.h"): "int b;\n"}


def test_what_changes_when_something_is_committed(folder: Path, tmp_path: Path) -> None:
    """Also in a working tree beside the first one."""
    beside = tmp_path / "beside"
    git(folder, "worktree", "add", "-q", "-b", "side", str(beside))
    for tree in (folder, beside):
        watched = Repository(str(tree)).changing_files()
        before = [Path(path).read_bytes() if os.path.exists(path) else None for path in watched]
        (tree / "a.c").write_text(f"int in_{tree.name};\n")
        commit(tree)
        after = [Path(path).read_bytes() if os.path.exists(path) else None for path in watched]
        assert before != after
        git(tree, "checkout", "-q", "--detach", "HEAD~1")
        assert after != [Path(path).read_bytes() if os.path.exists(path) else None for path in watched]


def test_outside_of_a_repository(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int a;\n")
    found = read_reference(str(tmp_path), "HEAD", {str(tmp_path / "a.c"): "int a;\n", str(tmp_path / "b.c"): "int b;\n"})
    assert (found.name, found.texts, found.problem) == (START, {str(tmp_path / "b.c"): "int b;\n"}, "")


def test_the_saved_texts_are_those_on_the_disk(folder: Path) -> None:
    assert read_reference(str(folder), "saved", {str(folder / "a.c"): "int first;\n"}).texts == {}


def test_reading_alone_says_whether_anything_differs(folder: Path) -> None:
    task = ReferenceTask(str(folder), "HEAD", Options(), None, {}, (), checks=False)
    assert read(task).is_disk
    assert not read(task).is_checked
    (folder / "new.c").write_text("int x;\n")
    assert not read(task).is_disk


def test_the_text_of_a_file(folder: Path) -> None:
    (folder / "a.c").write_text("int x;\n")
    (folder / "new.c").write_text("int x;\n")
    told = {name: text_of(str(folder), "HEAD", {}, str(folder / name)) for name in ("a.c", "b.h", "new.c")}
    assert told == {"a.c": ("HEAD", "int a;\n"), "b.h": ("HEAD", "int b;\n"), "new.c": ("HEAD", "")}
