"""Programs built with a harness and run in their room: what is reproduced, what goes another way, what they may not do."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.frontend.compiler.compiler_run import find_compiler
from analysis.model.places import Place, Position, Range
from analysis.model.report import Finding
from analysis.model.run_inputs import RunInput, RunStart
from analysis.replaying.building import Unit
from analysis.replaying.replayed import Outcome, replay

NULL = b"""# 1 "a.c"
int next(void);
static int *at(int *cells, int n) { return n > 2 ? cells + n : 0; }
int get(int *cells)
{
    return *at(cells, next());
}
"""


def outcome(
    tmp_path: Path, text: bytes, run: RunStart, line: int, rule: str = "null-dereference", has_signed_char: bool = True
) -> Outcome:
    compiler = find_compiler(None)
    assert compiler is not None
    place = Place("a.c", Range(Position(line, 1), Position(line, 9)))
    finding = Finding(rule, "confirmed", "error", "it fails", place, "get", "1", (), run=run)
    return replay(finding, [Unit("a.c", text, True, has_signed_char)], compiler, tmp_path.resolve())


def test_a_run_is_made_again_with_its_inputs(tmp_path: Path) -> None:
    inputs = (RunInput("parameter", "cells", fresh=16), RunInput("result", "next", 1, size=4))
    found = outcome(tmp_path, NULL, RunStart("get", inputs), 5)
    assert (found.status, "null pointer" in found.said) == ("reproduced", True)


@pytest.mark.parametrize("is_signed", [True, False])
def test_characters_are_as_the_flags_of_the_file_say(tmp_path: Path, is_signed: bool) -> None:
    text = b"""# 1 "a.c"
int get(char *cells)
{
    char c = -1;
    return c < 0 ? 0 : *(char *)0;
}
"""
    run = RunStart("get", (RunInput("parameter", "cells", fresh=1),))
    assert outcome(tmp_path, text, run, 4, has_signed_char=is_signed).status == ("otherwise" if is_signed else "reproduced")


def test_other_inputs_go_another_way(tmp_path: Path) -> None:
    inputs = (RunInput("parameter", "cells", fresh=16), RunInput("result", "next", 3, size=4))
    found = outcome(tmp_path, NULL, RunStart("get", inputs), 5)
    assert (found.status, found.words) == ("otherwise", "the program ends with status 0")


def test_a_program_writes_nothing_outside_of_its_room(tmp_path: Path) -> None:
    outside, room = tmp_path / "outside", tmp_path / "room"
    outside.mkdir()
    room.mkdir()
    text = """# 1 "a.c"
void *fopen(const char *, const char *); int puts(const char *);
int main(void)
{
    puts(fopen("%s/mark", "w") ? "written" : "refused");
    puts(fopen("mark", "w") ? "written here" : "refused here");
    return 0;
}
"""
    found = outcome(room, (text % outside).encode(), RunStart("main"), 5)
    if "written\n" in found.said:
        pytest.skip("the system has no Landlock")
    assert found.said.splitlines()[:2] == ["refused", "written here"]
    assert list(outside.iterdir()) == []


def test_what_cannot_be_compiled_is_not_run(tmp_path: Path) -> None:
    found = outcome(tmp_path, b"int main(void) { return }\n", RunStart("main"), 1)
    assert found.status == "refused"
    assert "cannot be compiled" in found.words
