"""Only harmless flags reach the compiler, wherever they come from."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.frontend.compiler_flags import allowed, default_flags, find_compile_commands, load_compile_commands
from analysis.model.options import CompilerFlags

HARMFUL = [
    "-fplugin=x.so",
    "-B.",
    "-wrapper",
    "@file",
    "-specs=x",
    "--specs=x",
    "-o",
    "-Wp,-MD,x",
    "-save-temps",
    "-fdump-tree-all",
    "-dumpdir",
]


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (["-Iinc", "-I", "../x"], ["-I/p/inc", "-I/p/../x"]),
        (["-isystem", "s", "-iquoteq", "-idirafter", "/a"], ["-isystem", "/p/s", "-iquote", "/p/q", "-idirafter", "/a"]),
        (["-DA", "-D", "B=1", "-UC"], ["-DA", "-DB=1", "-UC"]),
        (["-std=gnu11", "--std=c99", "-ansi", "-m32", "-m64", "-fsigned-char", "-fno-short-enums", "-pthread", "-O2"],
         ["-std=gnu11", "-std=c99", "-ansi", "-m32", "-m64", "-fsigned-char", "-fno-short-enums", "-pthread", "-O2"]),
        (["-Wall", "-g", "-c", "a.c", "-o", "-DX", "-x", "c++", "-MF", "-I/evil"], []),
        (["-wrapper", "-DX", "-B", "-Iy", "-include-pch", "-DZ"], []),
        (["-I", "@f", "-D", "@g", "-include", "@h", "-include", "-h"],
         ["-I/p/@f", "-D@g", "-include", "./@h", "-include", "./-h"]),
        (["-I"], []),
    ],
)  # fmt: skip
def test_the_allow_list(given_: list[str], expected: list[str]) -> None:
    assert list(allowed(given_, "/p")) == expected


@pytest.mark.parametrize("flag", HARMFUL)
def test_harmful_flags_are_dropped(flag: str) -> None:
    assert allowed([flag], "/p") == ()


@given(
    st.lists(
        st.one_of(st.text(max_size=8), st.sampled_from([*HARMFUL, "-I", "-D", "-include", "-isystem", "-imacros"])), max_size=8
    )
)
def test_no_argument_can_be_misread(arguments: list[str]) -> None:
    result = allowed(arguments, "/p")
    assert not any(argument.startswith("@") or "\0" in argument for argument in result)
    values = [value for flag, value in pairwise(result) if flag in ("-include", "-imacros", "-isystem", "-iquote")]
    assert not any(value.startswith("-") for value in values)
    assert not any(argument in HARMFUL for argument in result)


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
    assert database.messages == ()
    x = database.flags_for(str(tmp_path / "x.c"))
    assert x is not None
    assert x.arguments == (f"-I{tmp_path}/b/../inc", '-DS="a b"')
    y = database.flags_for(str(tmp_path / "b" / "y.c"))
    assert y is not None
    assert y.arguments == ("-DY",)
    assert database.flags_for(str(tmp_path / "other.c")) is None
    assert database.flags_for(str(tmp_path / "b" / "y.h")) == y


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
        "The compilation database cannot be used: no such file or directory."
    ]


def test_flags_of_the_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    flags = default_flags(CompilerFlags(include_dirs=("inc",), defines=("A=1",), standard="c99"))
    assert flags.arguments == (f"-I{tmp_path}/inc", "-DA=1", "-std=c99")
