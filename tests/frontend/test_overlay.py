"""Unsaved headers reach the compiler."""

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from analysis.frontend.compiler import overlay
from analysis.frontend.compiler.compiler_flags import read_flags
from analysis.frontend.compiler.overlay import shared_mirror
from analysis.frontend.text.preprocess import Preprocessed, preprocess
from analysis.model.options import Options


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def run(path: Path, overlay: dict[Path, str], *flags: str) -> Preprocessed:
    given = read_flags(flags, str(path.parent))
    result = preprocess(str(path), None, given, Options(), {str(p): text.encode() for p, text in overlay.items()})
    assert result.messages == ()
    assert b"everproof-" not in result.text
    return result


def test_an_unsaved_header_and_back(tmp_path: Path) -> None:
    main = write(tmp_path / "a.c", '#include "b.h"\n')
    header = write(tmp_path / "b.h", "int saved;\n")
    result = run(main, {header: "int unsaved;\n"})
    assert b"int unsaved;" in result.text
    assert b"int saved;" not in result.text
    assert result.dependencies[-1] == str(header)
    assert b"int newer;" in run(main, {header: "int newer;\n"}).text
    assert b"int saved;" in run(main, {}).text
    assert b"int saved;" in run(main, {header: "int saved;\n"}).text


def test_no_mirror_where_only_the_file_itself_is_unsaved(tmp_path: Path) -> None:
    main, other = write(tmp_path / "a.c", '#include "b.h"\n'), write(tmp_path / "c.c", "int c;\n")
    write(tmp_path / "b.h", "int b;\n")
    before = mirrored(tmp_path)
    assert b"int b;" in run(main, {main: "int unsaved;\n", other: "int too;\n"}).text
    assert mirrored(tmp_path) == before == []
    run(main, {main: "int unsaved;\n", tmp_path / "b.h": "int newer;\n"})
    assert mirrored(tmp_path) == ["a.c", "b.h", "c.c"]


def mirrored(folder: Path) -> list[str]:
    """What the mirror has of a folder."""
    there = Path(shared_mirror().root + str(folder))
    return sorted(entry.name for entry in there.iterdir()) if there.exists() else []


@pytest.mark.parametrize("by", ['#include "b.h"\n', '#include "c.c"\n'])
def test_an_unsaved_file_that_is_included(tmp_path: Path, by: str) -> None:
    main, other = write(tmp_path / "a.c", by), write(tmp_path / "c.c", "int saved;\n")
    write(tmp_path / "b.h", '#include "./c.c"\n')
    text = run(main, {main: by, other: "int unsaved;\n"}).text
    assert b"int unsaved;" in text
    assert b"int saved;" not in text


def test_a_file_that_was_never_saved_and_is_included(tmp_path: Path) -> None:
    main = write(tmp_path / "a.c", '#include "c.c"\n')
    assert b"int unsaved;" in run(main, {tmp_path / "c.c": "int unsaved;\n"}).text


def test_an_unsaved_file_that_is_included_by_a_link(tmp_path: Path) -> None:
    main, other = write(tmp_path / "a.c", '#include "l.h"\n'), write(tmp_path / "c.c", "int saved;\n")
    (tmp_path / "l.h").symlink_to(other)
    run(main, {other: "int unsaved;\n"})  # which text counts is the mirror's affair; it is asked
    assert mirrored(tmp_path)


def test_a_header_that_includes_others(tmp_path: Path) -> None:
    main = write(tmp_path / "src" / "a.c", '#include "../inc/b.h"\n')
    header = write(tmp_path / "inc" / "b.h", "")
    write(tmp_path / "inc" / "c.h", "int c;\n")
    write(tmp_path / "x.h", "int x;\n")
    result = run(main, {header: '#include "c.h"\n#include "../x.h"\nint b;\n'})
    for declaration in (b"int b;", b"int c;", b"int x;"):
        assert declaration in result.text
    assert result.dependencies[-3:] == (str(header), str(tmp_path / "inc" / "c.h"), str(tmp_path / "x.h"))


def test_an_unsaved_header_included_by_a_saved_one(tmp_path: Path) -> None:
    main = write(tmp_path / "src" / "a.c", "#include <sub/y.h>\n")
    write(tmp_path / "inc" / "sub" / "y.h", '#include "../b.h"\n')
    header = write(tmp_path / "inc" / "b.h", "int saved;\n")
    assert b"int unsaved;" in run(main, {header: "int unsaved;\n"}, "-I../inc").text


def test_a_header_that_was_never_saved(tmp_path: Path) -> None:
    main = write(tmp_path / "a.c", '#include "new.h"\n#include "sub/newer.h"\n')
    result = run(main, {tmp_path / "new.h": "int fresh;\n", tmp_path / "sub" / "newer.h": "int fresher;\n"})
    assert b"int fresh;" in result.text
    assert b"int fresher;" in result.text


def test_files_that_appear_later_are_seen(tmp_path: Path) -> None:
    main = write(tmp_path / "a.c", '#include "b.h"\n')
    header = write(tmp_path / "b.h", "int b;\n")
    run(main, {header: "int unsaved;\n"})
    write(tmp_path / "c.h", "int c;\n")
    assert b"int c;" in run(main, {header: '#include "c.h"\n'}).text


def test_nothing_is_written_into_the_project(tmp_path: Path) -> None:
    main = write(tmp_path / "a.c", '#include "b.h"\n')
    header = write(tmp_path / "b.h", "int saved;\n")
    run(main, {header: "int unsaved;\n", main: "int other;\n"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.c", "b.h"]
    assert header.read_text() == "int saved;\n"


@pytest.mark.parametrize("rounds", [8])
def test_several_at_once_with_different_overlays(tmp_path: Path, rounds: int) -> None:
    main = write(tmp_path / "a.c", '#include "b.h"\n')
    header = write(tmp_path / "b.h", "int saved;\n")
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda i: run(main, {header: f"int version{i % 3};\n"}), range(rounds)))
    for i, result in enumerate(results):
        assert f"int version{i % 3};".encode() in result.text


def mirror_root(header: str) -> str:
    """Runs in another process: preprocesses with an unsaved header, and gives the root of that process's mirror."""
    assert b"int unsaved;" in run(Path(header).with_name("a.c"), {Path(header): "int unsaved;\n"}).text
    return shared_mirror().root


def test_the_mirror_is_removed_when_its_process_ends(tmp_path: Path) -> None:
    write(tmp_path / "a.c", '#include "b.h"\n')
    header = write(tmp_path / "b.h", "int saved;\n")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        root = pool.submit(mirror_root, str(header)).result()
    assert root != shared_mirror().root
    assert not Path(root).exists()


def test_what_is_said_of_a_header_is_said_beside_unsaved_ones(tmp_path: Path) -> None:
    main = write(tmp_path / "a.c", '#include "b.h"\n#include "pipe.h"\nint a;\n')
    os.mkfifo(tmp_path / "pipe.h")
    overlay = {str(write(tmp_path / "b.h", "int saved;\n")): b"int unsaved;\n"}
    result = preprocess(str(main), None, read_flags((), str(tmp_path)), Options(), overlay)
    assert b"int unsaved;" in result.text
    assert [message.line for message in result.messages] == [2]


KILLED = """
import os, signal, sys
from analysis.frontend.compiler import overlay
from analysis.frontend.compiler.overlay import shared_mirror
print(shared_mirror().root, flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
sys.stdin.read()
"""


def test_mirrors_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", KILLED]
    killed = subprocess.run([*command, "killed"], env=environment, capture_output=True, text=True, check=False)
    with subprocess.Popen([*command, "alive"], env=environment, stdin=-1, stdout=-1, text=True) as alive:
        assert alive.stdout is not None
        roots = [Path(killed.stdout.strip()), Path(alive.stdout.readline().strip())]
        assert all(root.is_dir() for root in roots)
        (roots[0] / "link").symlink_to(tmp_path.parent)
        overlay._remove_left_behind(str(tmp_path))  # these may be without their locks yet
        assert all(root.is_dir() for root in roots)
        for root in roots:
            os.utime(root.parent, (0, 0))
        overlay._remove_left_behind(str(tmp_path))
        assert [root.parent.exists() for root in roots] == [False, True]
        alive.communicate("")
    assert list(tmp_path.iterdir()) == []
    assert tmp_path.parent.is_dir()
