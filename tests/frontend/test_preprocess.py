"""Preprocessing with the real compiler, and with compilers that misbehave."""

import os
import select
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec
import pytest

from analysis.frontend.compiler.command_line import has_32_bit_mode
from analysis.frontend.compiler.compiler_flags import read_flags
from analysis.frontend.compiler.compiler_run import Outcome, run_compiler
from analysis.frontend.text.preprocess import Preprocessed, doubt, preprocess
from analysis.model.limits import Limits
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags


def run(path: Path, text: bytes | None = None, *flags: str, **options: object) -> Preprocessed:
    given = read_flags(flags, str(path.parent))
    return preprocess(str(path), text, given, msgspec.structs.replace(Options(), **options))


def texts(result: Preprocessed) -> list[str]:
    return [message.text for message in result.messages]


def fake_compiler(folder: Path, script: str) -> str:
    path = folder / "fake-cc"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_unsaved_text_counts(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(b"int saved;\n")
    result = run(tmp_path / "a.c", b"#define V unsaved\nint V;\n")
    assert b"int unsaved;" in result.text
    assert not result.raw
    assert result.messages == ()
    assert b"int saved;" in run(tmp_path / "a.c").text


def test_headers_beside_the_file_and_along_the_flags(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "b.h").write_bytes(b"int b = B;\n")
    (tmp_path / "inc" / "c.h").write_bytes(b"int c;\n")
    result = run(tmp_path / "a.c", b'#include "b.h"\n#include <c.h>\n', "-Iinc", "-DB=42")
    assert b"int b = 42;" in result.text
    assert result.dependencies[-2:] == (str(tmp_path / "b.h"), str(tmp_path / "inc" / "c.h"))


def test_the_folder_of_the_file_comes_before_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "x.h").write_bytes(b"int wrong;\n")
    (tmp_path / "src" / "x.h").write_bytes(b"int right;\n")
    monkeypatch.chdir(tmp_path)
    result = preprocess("src/a.c", b'#include "x.h"\nchar *f = __FILE__;\n', UnitFlags(), Options())
    assert b"int right;" in result.text
    assert b'"src/a.c"' in result.text
    assert result.dependencies[-1] == str(tmp_path / "src" / "x.h")


def test_a_missing_header_is_named_and_the_rest_still_counts(tmp_path: Path) -> None:
    text = b'#include <stddef.h>\n#include "gone.h"\n#include <sub/lost.h>\n#include "../away.h"\nvoid *p = NULL;\n'
    result = run(tmp_path / "a.c", text)
    assert texts(result) == [
        f"The header '{name}' was not found; what it declares is not known." for name in ("gone.h", "sub/lost.h", "../away.h")
    ]
    assert [message.line for message in result.messages] == [2, 3, 4]
    assert not result.raw
    assert b"((void *)0)" in result.text
    assert b"everproof-" not in result.text


@pytest.mark.parametrize(
    ("file", "header", "folder"),
    [
        ("src/a.c", "src/x.h", "src"),
        ("src/a.c", "include/x.h", "include"),
        ("src/parts/a.c", "include/x.h", "include"),
        ("a.c", "include/x.h", "include"),
        ("a.c", "deep/inside/x.h", None),
        ("src/a.c", "with space/x.h", "with space"),
        ("src/a.c", "x.h", "."),
        ("src/a.c", ".hidden/x.h", None),
        ("src/a.c", "../beside/x.h", None),
    ],
)
def test_a_missing_header_that_is_near_is_pointed_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, header: str, folder: str | None
) -> None:
    project = tmp_path / "project"
    for path in (project / file, project / header):
        path.resolve().parent.mkdir(parents=True, exist_ok=True)
    (project / header).write_bytes(b"int there;\n")
    monkeypatch.chdir(project)
    (message,) = texts(preprocess(file, b"#include <x.h>\nint a;\n", UnitFlags(), Options()))
    hint = f" It is found with `-I {quote(folder)}` (in an editor: the setting `includeDirs`)." if folder else ""
    assert message == "The header 'x.h' was not found; what it declares is not known." + hint


def test_a_missing_header_is_looked_for_up_to_the_top_of_a_project(tmp_path: Path) -> None:
    """Wherever the command runs; and no further."""
    for path in ("project/.git/x", "project/a/b/c.c", "project/include/x.h", "beside/y.h"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    said = texts(run(tmp_path / "project" / "a" / "b" / "c.c", b"#include <x.h>\n#include <y.h>\n"))
    assert [f"-I {tmp_path}/project/include" in said[0], "-I" in said[1]] == [True, False]


@pytest.mark.parametrize(
    "directive", [b"#include", b"# include", b" #\t include", b"#error", b"#  error", b"# if 1 +\n#endif\n#"]
)
def test_what_is_left_out_is_doubted_however_the_directive_is_spaced(tmp_path: Path, directive: bytes) -> None:
    result = preprocess(str(tmp_path / "a.c"), directive + b' "absent.h"\nint x;\n', UnitFlags(), Options())
    assert result.messages
    assert doubt(result)


def test_a_header_missing_from_a_header(tmp_path: Path) -> None:
    (tmp_path / "b.h").write_bytes(b'#include "gone.h"\nint b;\n')
    result = run(tmp_path / "a.c", b'#include "b.h"\nint a;\n')
    assert texts(result) == ["The header 'gone.h' was not found (included by b.h); what it declares is not known."]
    assert b"int b;" in result.text
    assert b"int a;" in result.text


def test_many_missing_headers_cost_one_more_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Sequence[str]] = []

    def counted(argv: Sequence[str], *rest: Any) -> Outcome:
        runs.append(argv)
        return run_compiler(argv, *rest)

    monkeypatch.setattr("analysis.frontend.text.preprocess.run_compiler", counted)
    (tmp_path / "there.h").write_bytes(b"int there;\n")
    text = b"".join(b'#include "gone%d.h"\n' % i for i in range(30)) + b'#include "there.h"\nint a;\n'
    result = run(tmp_path / "a.c", text)
    assert [m.line for m in result.messages] == list(range(1, 31))
    assert len(runs) == 2
    assert b"int there;" in result.text
    assert b"int a;" in result.text


def test_stand_ins_do_not_answer_has_include(tmp_path: Path) -> None:
    text = b'#include "gone.h"\n#if __has_include("opt.h")\n#include "opt.h"\nint with_it;\n#else\nint without;\n#endif\n'
    result = run(tmp_path / "a.c", text)
    assert b"int without;" in result.text
    assert [m.line for m in result.messages] == [1]


def test_errors_are_passed_on_with_their_lines(tmp_path: Path) -> None:
    result = run(tmp_path / "a.c", b"int a;\n#error no good\nint b;\n")
    assert [(m.line, m.text) for m in result.messages] == [(2, "The preprocessor reports: #error no good")]
    assert b"int b;" in result.text
    assert not result.raw


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/nothing:.")
    result = run(tmp_path / "a.c", b"int a;\n")
    assert result.raw
    assert result.text == b"int a;\n"
    assert len(result.messages) == 1
    assert result.messages[0].text.startswith("No C compiler was found")
    assert "'tinycc'" in texts(run(tmp_path / "a.c", b"int a;\n", compiler="tinycc"))[0]


def test_a_compiler_in_a_relative_folder_of_path_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "was-run"
    fake_compiler(tmp_path, f"touch {marker}")
    (tmp_path / "fake-cc").rename(tmp_path / "gcc")
    monkeypatch.setenv("PATH", ":.:./")
    monkeypatch.chdir(tmp_path)
    assert run(tmp_path / "a.c", b"int a;\n").raw
    assert not marker.exists()


@pytest.mark.parametrize(("options", "word"), [({"trusted": False}, "untrusted"), ({"compiler": "none"}, "switched off")])
def test_no_compiler_is_run_where_it_must_not(tmp_path: Path, options: dict[str, object], word: str) -> None:
    result = run(tmp_path / "a.c", b"#define A 1\nint a = A;\n", **options)
    assert result.raw
    assert result.text == b"#define A 1\nint a = A;\n"
    assert [m.severity for m in result.messages] == ["note"]
    assert word in texts(result)[0]


def test_a_hanging_compiler_is_killed_with_its_children(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(tmp_path / "pipe", os.O_WRONLY)
    os.write(writer, b"go\n")
    # the child reads that line, and holds the pipe open as long as it lives
    compiler = fake_compiler(tmp_path, f"{{ read line; sleep 600; }} < {tmp_path}/pipe & wait")
    result = run(tmp_path / "a.c", b"int a;\n", compiler=compiler, limits=Limits(preprocess_seconds=3))
    with pytest.raises(BlockingIOError):
        os.read(reader, 1)  # the child was there
    os.close(reader)
    gone = select.poll()
    gone.register(writer, 0)  # POLLERR: nobody has it open to read
    assert gone.poll(60_000)
    os.close(writer)
    assert result.raw
    assert texts(result) == [
        "fake-cc did not finish preprocessing within 3 seconds; the text is used as it is, without expanding macros and headers."
    ]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo boom >&2; exit 3", "fake-cc failed (boom)"),
        ("exit 3", "fake-cc failed (exit status 3)"),
        ("kill -9 $$", "fake-cc failed (exit status -9)"),
        ("yes 'int x;'", "Preprocessing gives more than 1,000,000 bytes"),
    ],
)
def test_a_failing_compiler(tmp_path: Path, script: str, expected: str) -> None:
    limits = Limits(preprocessed_bytes=1_000_000)
    result = run(tmp_path / "a.c", b"int a;\n", compiler=fake_compiler(tmp_path, script), limits=limits)
    assert result.raw
    assert result.text == b"int a;\n"
    assert texts(result) == [f"{expected}; the text is used as it is, without expanding macros and headers."]


@pytest.mark.parametrize("place", ["cc1:", "/usr/include/stdc-predef.h:8:", "limits.h:337701:45:"])
def test_a_place_that_gcc_gives_by_chance_is_not_told(tmp_path: Path, place: str) -> None:
    script = f"cat; echo '{place} error: unterminated argument list invoking macro \"F\"' >&2; exit 1"
    result = run(tmp_path / "a.c", b"int a;\n", compiler=fake_compiler(tmp_path, script))
    assert b"int a;" in result.text
    assert [(message.text, message.line) for message in result.messages] == [
        ('The preprocessor reports: unterminated argument list invoking macro "F"', 0)
    ]


def test_a_compiler_that_crashes_is_run_again(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(pipe, b"crash\ncrash\nwell\nleft\n")  # each run reads one of them
    crash = "{ echo 'x.h:1: internal compiler error: Segmentation fault' >&2; exit 4; }"
    script = f"read line < {tmp_path}/pipe; cat; test $line = crash && {crash} || exit 0"
    result = run(tmp_path / "a.c", b"int a;\n", compiler=fake_compiler(tmp_path, script))
    assert b"int a;" in result.text
    assert texts(result) == []
    assert os.read(pipe, 100) == b"left\n"
    os.close(pipe)


def test_what_a_failing_compiler_prints_is_used(tmp_path: Path) -> None:
    result = run(tmp_path / "a.c", b"int a;\n", compiler=fake_compiler(tmp_path, "cat; echo boom >&2; exit 1"))
    assert not result.raw
    assert b"int a;" in result.text
    assert texts(result) == ["fake-cc failed (boom); what it printed is used."]


def test_a_file_that_is_not_a_program(tmp_path: Path) -> None:
    script = tmp_path / "not-a-program"
    script.write_text("\x7fELF")
    script.chmod(0o755)
    result = run(tmp_path / "a.c", b"int a;\n", compiler=str(script))
    assert result.raw
    assert len(result.messages) == 1


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "binary.c").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "large.c").write_bytes(b"int x;\n" * 100)
    (tmp_path / "empty.c").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe.c")
    limits = Limits(source_bytes=100)
    cases = {
        "binary.c": "NUL bytes",
        "large.c": "larger than 100 bytes",
        "none.c": "no such file",
        ".": "folder",
        "pipe.c": "it is a pipe",
    }
    for name, why in cases.items():
        result = run(tmp_path / name, limits=limits)
        assert result.text == b""
        assert [m.severity for m in result.messages] == ["error"]
        assert why in texts(result)[0]
    assert run(tmp_path / "empty.c").messages == ()
    assert run(tmp_path / "large.c", b"x" * 101, limits=limits).text == b""


@pytest.mark.parametrize(
    "text", [b"int caf\xe9; // \xe9\n", b"\xef\xbb\xbfint a;\n", b"int a;\r\nint b;\r\n", b"int a;\x0c\nint b;", b"\n\n"]
)
def test_odd_bytes_survive(tmp_path: Path, text: bytes) -> None:
    result = run(tmp_path / "a.c", text)
    assert result.messages == ()
    assert result.source == text.removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize("name", ["a b.c", 'a"b.c', "a\\b.c", "a\nb.c", "ä.c", "@a.c", "-o.c"])
def test_odd_names(tmp_path: Path, name: str) -> None:
    result = run(tmp_path / name, b"#define A 1\nint a = A;\n")
    assert result.messages == ()
    offset = result.text.index(b"int a = 1")
    assert result.line_map.in_main_file(offset)
    assert result.line_map.line_at(offset).number == 2


@pytest.mark.skipif(not has_32_bit_mode(), reason="the compilers of this machine know one data model")
@pytest.mark.parametrize("compiler", [name for name in ("gcc", "clang") if shutil.which(name)])
def test_macros_and_headers_are_those_of_the_data_model(tmp_path: Path, compiler: str) -> None:
    """Also where no C library for 32 bits is installed."""
    headers = b"".join(b"#include <%s.h>\n" % name for name in (b"limits", b"stdint", b"stdio", b"stdlib", b"time", b"pthread"))
    text = headers + b"long most =\nLONG_MAX\n; int pointer = __SIZEOF_POINTER__; uintptr_t all; int64_t wide;\n"
    result = run(tmp_path / "a.c", text, data_model="ILP32", compiler=compiler)
    assert (texts(result), doubt(result)) == ([], "")
    words = b" ".join(line for line in result.text.split(b"\n") if not line.startswith(b"#"))
    words = b" ".join(words.replace(b"0x7fffffffL", b"2147483647L").split())
    assert b"long most = 2147483647L ; int pointer = 4; uintptr_t all; int64_t wide;" in words
    assert b"typedef unsigned int uintptr_t;" in words
    assert b"long long int __int64_t;" in words
