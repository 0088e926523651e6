"""Flags from a folder are parsed; nothing of them reaches a compiler as text.

The class of defects: a text that comes with the code becomes an argument of a compiler, or a part of one that the compiler takes
apart, and names code to load. `tests/benchmarks/test_canary.py` runs compilers on such flags.
"""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.c.translation_time import MOMENT
from analysis.frontend.compiler.command_line import _headers_for_32_bits, above, arguments
from analysis.frontend.compiler.compiler_flags import default_flags, find_compile_commands, load_compile_commands, read_flags
from analysis.model.options import CompilerFlags
from analysis.model.unit_flags import STANDARDS, SWITCHES, Folder, Forced, UnitFlags, definition, flags_problems, undefinition

HARMFUL = [
    "-fplugin=x.so",
    "-B.",
    "-wrapper",
    "@file",
    "-D@file",
    "-U@file",
    "-I@file",
    "-specs=x",
    "--specs=x",
    "-o",
    "-Wp,-MD,x",
    "-Xclang",
    "-Xpreprocessor",
    "--define-macro=@file",
    "--include=@file",
    "-save-temps",
    "-fdump-tree-all",
    "-dumpdir",
    "-std=@file",
    "-std=c11 -fplugin=x.so",
    "-msse -fplugin=x.so",
    "-mssefoo",
]


def folder(kind: str, path: str) -> Folder:
    return Folder(kind, path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (["-Iinc", "-I", "../x"], UnitFlags(folders=(folder("-I", "/p/inc"), folder("-I", "/p/../x")))),
        (
            ["-isystem", "s", "-iquoteq", "-idirafter", "/a"],
            UnitFlags(folders=(folder("-isystem", "/p/s"), folder("-iquote", "/p/q"), folder("-idirafter", "/a"))),
        ),
        (["-DA", "-D", "B=1", "-UC"], UnitFlags(macros=("#define A 1", "#define B 1", "#undef C"))),
        (
            ["-D_FORTIFY_SOURCE=2", "-D_FORTIFY_SOURCES"],
            UnitFlags(macros=("#undef _FORTIFY_SOURCE", "#define _FORTIFY_SOURCES 1")),
        ),
        (["-Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=3"], UnitFlags()),
        (["-Wp,-D_FORTIFY_SOURCE=2,-MD,x"], UnitFlags(doubtful=("-Wp,-D_FORTIFY_SOURCE=2,-MD,x",))),
        (["-DA=", "-Df(x,...)=g(x)"], UnitFlags(macros=("#define A ", "#define f(x,...) g(x)"))),
        (["-std=gnu11", "--std=c99", "-m32", "-O2"], UnitFlags(standard="c99", switches=("-m32", "-O2"))),
        (["-ansi", "-fno-short-enums", "-pthread"], UnitFlags(standard="c90", switches=("-fno-short-enums", "-pthread"))),
        (["-std=c++17", "-std=gnu999"], UnitFlags(doubtful=("-std=c++17", "-std=gnu999"))),
        (["-Wall", "-g", "-c", "a.c", "-o", "-DX", "-x", "c++", "-MF", "-I/evil"], UnitFlags(doubtful=("-x c++",))),
        (
            ["-wrapper", "-DX", "-B", "-Iy", "-include-pch", "-DZ"],
            UnitFlags(doubtful=("-wrapper -DX", "-B -Iy", "-include-pch -DZ")),
        ),
        (["-I", "@f", "-I-", "-I=x"], UnitFlags(folders=tuple(folder("-I", f"/p/{name}") for name in ("@f", "-", "=x")))),
        (["-D", "@g", "-U@h"], UnitFlags(refused=("-D@g", "-U@h"))),
        (["-include", "@h", "-imacros", "-h"], UnitFlags(forced=(Forced("@h", "/p"), Forced("-h", "/p")))),
        (["-I"], UnitFlags()),
        (["-D"], UnitFlags(refused=("-D",))),
    ],
)
def test_what_is_kept(given_: list[str], expected: UnitFlags) -> None:
    assert read_flags(given_, "/p") == expected


@pytest.mark.parametrize("flag", HARMFUL)
def test_nothing_of_a_harmful_flag_is_kept_but_a_folder_below(flag: str) -> None:
    flags = read_flags([flag], "/p")
    assert (flags.macros, flags.forced, flags.standard, flags.switches) == ((), (), "", ())
    assert all(folder.path.startswith("/p/") for folder in flags.folders)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A", "#define A 1"),
        ("A=@x -fplugin=y", "#define A @x -fplugin=y"),
        ('S="a b"', '#define S "a b"'),
        ('P="/*"', '#define P "/*"'),
        ("C=/* c */1", "#define C /* c */1"),
        ("f()=1", "#define f() 1"),
        ("f(a, b...)=b", "#define f(a, b...) b"),
        ("\u00e9=1", "#define \u00e9 1"),
        *((text, None) for text in ("", "1A", "-x", "@f", "A B", " A", "A ", "A-=1", "f(=1", "f(a,)=1", "f(a b)=1", "f((a))=1")),
        *((text, None) for text in ("A=1\n#include </dev/zero>", "A=1\rB", "A=\x0b", "A=\0", "A=\x85", "A=\ud800")),
        *((text, None) for text in ("A=\\", "A=\\ ", "A=??/", "A=/*", "A=\"\"/*", 'A=R"(', 'A=u8R"x(")x"/*')),
        *((text, None) for text in ("defined", "__VA_ARGS__=1")),
    ],
)  # fmt: skip
def test_macros(text: str, line: str | None) -> None:
    assert definition(text) == line


def test_undefinitions() -> None:
    assert undefinition("A") == "#undef A"
    assert [undefinition(text) for text in ("", "A B", "A=1", "@f", "A\n", "defined")] == [None] * 6


_PIECES = [*HARMFUL, "-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "@", "=", "\n", "-std="]
_ARGUMENT = st.one_of(st.text(max_size=8), st.sampled_from(_PIECES), st.lists(st.sampled_from(_PIECES), max_size=3).map("".join))


@given(st.lists(_ARGUMENT, max_size=8), st.sampled_from(["LP64", "ILP32"]))
def test_a_command_line_holds_nothing_but_lists_and_folders(given_: list[str], model: str) -> None:
    """Folders are all taken for present here: `/` is in the place of each."""
    flags = read_flags(given_, "/p")
    command = arguments("/cc", flags, model, (), lambda path: "/", None)
    assert command[:3] == ["/cc", "-E", "-w"]
    assert command[-3:] == ["-x", "c", "-"]
    known = {f"-D{macro}={value}" for macro, value in MOMENT.items()}
    known |= {"-m32", *_headers_for_32_bits()} if model == "ILP32" else set()
    known |= {*SWITCHES, *(f"-std={standard}" for standard in STANDARDS), "-I/", "-iquote", "-isystem", "-idirafter", "/"}
    assert set(command[3:-3]) <= known
    lines = above(flags, (), lambda path: path).text.decode("utf-8", "surrogateescape").split("\n")[1:-1]
    assert all(line.startswith(("#define ", "#undef ", "#include ")) for line in lines)


def test_a_command_line_names_only_folders_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("there")
    flags = read_flags(["-Ithere", "-Igone", "-Ifile", "-isystem", "pipe", "-iquote", "link"], str(tmp_path))
    command = arguments("/cc", flags, "LP64", ("-dD",), lambda path: path, "/last")
    moment = [f"-D{macro}={value}" for macro, value in MOMENT.items()]
    assert command[3:-3] == ["-dD", *moment, f"-I{tmp_path}/there", "-iquote", f"{tmp_path}/link", "-idirafter", "/last"]


def test_only_ordinary_files_are_included(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("")
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "b.h").write_text("")
    (tmp_path / 'q"uote.h').write_text("")
    os.mkfifo(tmp_path / "pipe")
    names = ["a.h", "b.h", "pipe", "/dev/zero", "inc", 'q"uote.h', "../../gone.h", "stdio.h"]
    flags = read_flags(["-Iinc", *(word for name in names for word in ("-include", name))], str(tmp_path))
    first = above(flags, (), lambda path: path)
    assert first.text.decode().splitlines() == [
        '# 1 "<command-line>"',
        f'#include "{tmp_path}/a.h"',
        f'#include "{tmp_path}/inc/b.h"',
        "#include <stdio.h>",
    ]
    assert first.lines == 4
    assert dict(first.left_out) == {
        "pipe": "it is not an ordinary file",
        "/dev/zero": "it is not an ordinary file",
        "inc": "it is not an ordinary file",
        'q"uote.h': "its path cannot be written in C",
        "../../gone.h": "it was not found",
    }


def test_both_forms_of_a_database(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    entries = [
        {
            "directory": str(tmp_path / "b"),
            "file": "../x.c",
            "command": "evil-cc -I../inc '-DS=\"a b\"' -c ../x.c -fplugin=evil.so",
        },
        {"directory": "b", "file": "y.c", "arguments": ["cc", "-DY", "y.c"]},
        {"directory": "b", "file": "y.c", "arguments": ["cc", "-DSECOND", "y.c"]},
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    path = find_compile_commands(str(tmp_path / "b"))
    assert path == str(tmp_path / "compile_commands.json")
    database = load_compile_commands(path)
    assert not database.messages
    x = database.flags_for(str(tmp_path / "x.c"))
    macros, folders = ('#define S "a b"',), (folder("-I", f"{tmp_path}/b/../inc"),)
    assert x == UnitFlags(macros=macros, folders=folders, doubtful=("-fplugin=evil.so",))
    y = database.flags_for(str(tmp_path / "b" / "y.c"))
    assert y == UnitFlags(macros=("#define Y 1",), others=(UnitFlags(macros=("#define SECOND 1",)),))
    assert database.flags_for(str(tmp_path / "other.c")) is None
    assert database.flags_for(str(tmp_path / "b" / "y.h")) == y


def test_a_database_says_which_macros_are_none(tmp_path: Path) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps([{"file": f"{i}.c", "arguments": ["cc", "-D@flags.txt", "-DA=\n", "-DB"]} for i in range(3)]))
    assert [message.text for message in load_compile_commands(str(path)).messages] == [
        "2 flags of the compilation database define no macro and were left out, among them '-D@flags.txt', '-DA=?'."
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "not valid JSON"),
        ("{}", "not a list"),
        ('[{"file": "x.c"}, 3, {"file": "y.c", "command": "\'"}]', "3 of the 3 entries"),
        ("[" * 100_000, "not valid JSON"),
        ("\ud800", "not valid JSON"),
    ],
)
def test_a_bad_database_is_one_message(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    database = load_compile_commands(str(path))
    assert len(database.messages) == 1
    assert why in database.messages[0].text


def test_no_database(tmp_path: Path) -> None:
    assert [m.text for m in load_compile_commands(str(tmp_path / "none.json")).messages] == [
        "The compilation database cannot be used: no such file or directory. The files are checked without a database."
    ]


def test_flags_of_the_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    flags = default_flags(CompilerFlags(include_dirs=("inc",), defines=("A=1",), standard="c99"))
    assert flags == UnitFlags(macros=("#define A 1",), folders=(folder("-I", f"{tmp_path}/inc"),), standard="c99")


def test_what_is_wrong_in_settings_is_said() -> None:
    assert list(flags_problems(("A=1", "f(x)=x"), "gnu2x")) == []
    assert list(flags_problems((), None)) == []
    assert list(flags_problems(("@flags.txt",), "c11 -fplugin=x")) == [
        ("defines", "'@flags.txt' is not a macro; write NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE"),
        ("standard", "'c11 -fplugin=x' is not a known C standard; write one like c11 or gnu17"),
    ]
