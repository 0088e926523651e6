"""Compile commands are read off what a build prints, and judgements off a table."""

from __future__ import annotations

from pathlib import Path

from benchmarks.build_commands import commands_of
from benchmarks.judged_findings import RIGHT, Judged, is_shown, learned, read_judgements, score, table
from benchmarks.real_sources import NAMES


def files(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def found(output: str, folder: Path) -> list[tuple[str, str, list[str]]]:
    commands = commands_of(output.replace("TOP", str(folder)), folder)
    return [(str(Path(str(c["directory"])).relative_to(folder)), str(c["file"]), list(c["arguments"])) for c in commands]  # type: ignore[call-overload]


def test_flags_that_say_how_the_text_is_read_are_kept(tmp_path: Path) -> None:
    files(tmp_path, "a.c")
    output = "gcc -Wall -O2 -g -I. -D 'N=\"x y\"' -std=gnu99 -MT a.o -MD -MP -MF .deps/a.Tpo -c -o a.o a.c && mv -f a b"
    assert found(output, tmp_path) == [(".", "a.c", ["cc", "-I.", "-D", 'N="x y"', "-std=gnu99", "-c", "a.c"])]


def test_the_folders_of_recursive_makes_and_of_cd_count(tmp_path: Path) -> None:
    files(tmp_path, "lib/a.c", "src/b.c", "src/c.c")
    output = (
        "make[1]: Entering directory 'TOP/lib'\ncc -c a.c\nmake[1]: Leaving directory 'TOP/lib'\n"
        "cd src && cc -DX \\\n -c b.c\ncc -c src/c.c\n"
    )
    assert [(folder, name) for folder, name, _ in found(output, tmp_path)] == [("lib", "a.c"), ("src", "b.c"), (".", "src/c.c")]


def test_one_command_can_compile_many_files_and_a_file_counts_once(tmp_path: Path) -> None:
    files(tmp_path, "a.c", "b.c")
    output = "/bin/sh ./libtool --mode=compile gcc -c a.c\ngcc -DPIC -c a.c\ncc a.c b.c -lm -o prog\necho cc -c b.c\n"
    assert [(name, arguments) for _, name, arguments in found(output, tmp_path)] == [
        ("a.c", ["cc", "-c", "a.c"]),
        ("b.c", ["cc", "-c", "b.c"]),
    ]


def test_the_folder_of_a_source_that_automake_looks_up(tmp_path: Path) -> None:
    files(tmp_path, "a.c")
    assert [name for _, name, _ in found("gcc -c -o x.o `test -f 'a.c' || echo './'`a.c", tmp_path)] == ["./a.c"]


def test_every_judgement_is_of_a_project_and_has_a_verdict() -> None:
    judgements = read_judgements()
    assert judgements
    assert {project for project, _ in judgements} <= set(NAMES)
    assert set(judgements.values()) <= {*RIGHT, "false"}


def test_points_that_are_learned_follow_what_was_judged() -> None:
    judged = [Judged("p", ("straight",), False, "true")] * 9 + [Judged("p", ("reachable",), False, "false")] * 9
    chosen = learned(judged)
    assert chosen["straight"] > 0 > chosen["reachable"]
    assert score(["straight"], chosen) > score([], chosen) > score(["reachable"], chosen)
    assert learned([Judged("p", ("reachable",), False, "true")] * 9)["reachable"] == 0  # the direction is fixed


def test_the_table_counts_what_is_shown() -> None:
    judged = [
        Judged("p", ("own-test",), False, "true"),
        Judged("p", ("macro",), False, "false"),
        Judged("q", (), True, "plausible"),
    ]
    assert [is_shown(one) for one in judged] == [True, False, True]
    rows = table(judged, {"p": 5, "q": 1}).splitlines()[2:]
    assert rows[0].startswith("| p | 5 | 1 | 1 | 0 | 0 | 100 % (1 of 1) | 1 | 0 |")
    assert rows[1].startswith("| q | 1 | 1 | 0 | 1 | 0 | 100 % (1 of 1) | 0 | 0 |")
    assert rows[2].startswith("| all | 6 | 2 | 1 | 1 | 0 | 100 % (2 of 2) | 1 | 0 |")
