"""`everproof diff` where not all of the new version can be read: nothing in that is said to be fixed, removed, or the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.diffs import put

from analysis.cli.main import main

TWICE = """#include <stdlib.h>
void twice(int *p) { free(p); free(p)@; }
int main(void) { int *p = malloc(4); twice(p); return 0; }
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("broken", [" +", "; {", "; /*", "; }"], ids=["an operand", "a brace", "a comment", "a brace too many"])
def test_what_could_not_be_read_is_not_said_to_be_fixed(broken: str, capsys: pytest.CaptureFixture[str]) -> None:
    put("old.c", TWICE.replace("@", ""))
    put("new.c", TWICE.replace("@", broken))
    assert main(["diff", "--engine", "automaton", "--format", "json", "old.c", "new.c"]) in (0, 2)
    document = json.loads(capsys.readouterr().out)
    assert document["fixed"] == []
    assert document["removed"] in ([], None)
    found = [finding["rule"] for key in ("open", "unchanged") for finding in document[key]]
    assert found == ["double-free"]


def test_a_copy_of_a_function_that_could_not_be_read_has_a_finding_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    put("o/a.c", TWICE.replace("@", ""))
    put("n/a.c", TWICE.replace("@", " +"))
    put("n/b.c", TWICE.replace("@", "").replace("twice", "thrice").replace("main", "other"))
    assert main(["diff", "--engine", "automaton", "o", "n"]) == 1
    said = capsys.readouterr().out
    assert "1 finding introduced, 0 fixed." in said
    assert "1 finding of OLD may be fixed or not" in said


def test_nothing_is_fixed_where_there_is_nothing_to_read(capsys: pytest.CaptureFixture[str]) -> None:
    put("o/a.c", TWICE.replace("@", ""))
    Path("n").mkdir()
    assert main(["diff", "--engine", "automaton", "o", "n"]) == 2
    said = capsys.readouterr().out
    assert "0 findings introduced, 0 fixed." in said
    assert "The functions were not compared" in said


def test_a_function_of_the_same_name_in_another_file_keeps_its_findings(capsys: pytest.CaptureFixture[str]) -> None:
    static = TWICE.replace("void twice", "static void twice")
    for folder, broken in (("o", ""), ("n", " +")):
        put(f"{folder}/a.c", static.replace("@", ""))
        put(f"{folder}/b.c", static.replace("@", broken).replace("main", "other"))
    assert main(["diff", "--engine", "automaton", "o", "n"]) == 0
    said = capsys.readouterr().out
    assert "0 findings introduced, 0 fixed." in said
    assert "1 finding in both versions." in said
    assert "1 finding of OLD may be fixed or not" in said
