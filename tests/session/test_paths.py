import json
from pathlib import Path

import pytest

from analysis.model.options import Options
from analysis.session.files.named_files import collect, existing
from analysis.session.files.program_files import find_workspace


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b.c", "a.c", "sub/c.c", ".hidden/d.c", "sub/.e.c", "notes.txt"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("int x;")
    return tmp_path


def test_a_folder_stands_for_the_c_files_below_it(folder: Path) -> None:
    assert collect(["."]).files == ("a.c", "b.c", "sub/c.c")
    assert collect(["sub/"]).files == ("sub/c.c",)
    assert collect([str(folder)]).files == (f"{folder}/a.c", f"{folder}/b.c", f"{folder}/sub/c.c")


def test_a_file_keeps_its_spelling_and_counts_once(folder: Path) -> None:
    assert collect(["./b.c", "b.c", "."]).files == ("./b.c", "a.c", "sub/c.c")


def test_a_file_named_by_itself_need_not_end_in_c(folder: Path) -> None:
    for name in ("a.h", "a.i", "table.inc", "noname"):
        (folder / name).write_text("int x;")
        assert collect([name]).files == (name,)


def test_a_file_in_another_language_by_its_name_is_not_checked(folder: Path) -> None:
    for name in ("b.cc", "b.cpp", "b.C", "b.hpp", "build.json", "b.py"):
        (folder / name).write_text("int x;")
    found = collect(["notes.txt", "b.cc", "b.cpp", "b.C", "b.hpp", "b.py", "build.json", "a.c"])
    assert found.files == ("a.c",)
    assert [(m.severity, m.path) for m in found.messages if "its name is not that of a C file" in m.text] == [
        ("error", name) for name in ("notes.txt", "b.cc", "b.cpp", "b.C", "b.hpp", "b.py")
    ]
    assert [m.text for m in found.messages][-1].endswith("if it is a compilation database, pass it with -p.")


def test_links_to_folders_are_not_followed(folder: Path) -> None:
    (folder / "sub" / "loop").symlink_to(folder)
    assert collect(["."]).files == ("a.c", "b.c", "sub/c.c")


def test_what_does_not_exist_is_an_error_and_the_rest_goes_on(folder: Path) -> None:
    found = collect(["none.c", "a.c"])
    assert found.files == ("a.c",)
    assert [(m.severity, m.path) for m in found.messages] == [("error", "none.c")]


def test_a_folder_without_c_files_says_so(folder: Path) -> None:
    (folder / "empty").mkdir()
    assert [m.severity for m in collect(["empty"]).messages] == ["error"]


def test_files_of_a_database_that_are_gone_are_named_once(folder: Path) -> None:
    found = existing([str(folder / "a.c"), str(folder / "x.c"), str(folder / "y.c")], "compile_commands.json")
    assert found.files == ("a.c",)
    assert len(found.messages) == 1
    assert "x.c and 1 more" in found.messages[0].text


def test_a_workspace_opened_through_a_symbolic_link_has_the_files_that_its_database_names(tmp_path: Path) -> None:
    real, link, other = tmp_path / "real", tmp_path / "link", tmp_path / "other.c"
    real.mkdir()
    link.symlink_to(real)
    for file in (real / "a.c", real / "b.c", other):
        file.write_text("int x;\n")
    commands = [{"directory": str(real), "file": name, "arguments": ["cc", "-DA", "-c", name]} for name in ("a.c", str(other))]
    (real / "compile_commands.json").write_text(json.dumps(commands))
    found = find_workspace(str(link), [str(link / "a.c"), str(link / "b.c")], Options())
    assert found.files == (str(link / "a.c"), str(other), str(link / "b.c"))
    assert ["#define A 1" in found.flags[path].macros for path in found.files] == [True, True, False]
