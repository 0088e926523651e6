"""Both versions in one word, as git has it. The class: `A..B` is no revision, and nobody says what would be."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from analysis.cli.difference.version_names import named_apart
from analysis.cli.main import main

GOOD = "int f(int *p)\n{\n    return p ? *p : 0;\n}\n"
OTHER = "#include <stdlib.h>\nvoid h(void)\n{\n    char *q = malloc(1);\n    if (q)\n        q[0] = 1;\n}\n"
BAD = "int g(void)\n{\n    int *p = 0;\n    return *p;\n}\n"


def git(*words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first commit; then a finding on the branch `work`, and another one on `main`."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "-b", "main")
    for branch, name, text in (("main", "a.c", GOOD), ("work", "b.c", BAD), ("main", "c.c", OTHER)):
        if (branch, name) != ("main", "a.c"):
            git("checkout", "-q", *(["-b"] if branch == "work" else []), branch)
        Path(name).write_text(text)
        git("add", "-A")
        git("commit", "-q", "-m", name)


@pytest.mark.parametrize(
    ("word", "introduced", "fixed"),
    [("main..work", ["g"], ["h"]), ("main...work", ["g"], []), ("HEAD~1..", ["h"], []), ("work...", ["h"], [])],
)
def test_one_word_names_both(word: str, introduced: list[str], fixed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "--engine", "automaton", "--format", "json", word]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [one["function"] for one in document["introduced"]] == introduced
    assert [one["function"] for one in document["fixed"]] == fixed


def test_names_of_files_are_no_revisions() -> None:
    Path("a..b").write_text(GOOD)
    assert named_apart(("a..b",)) == ("a..b",)
    assert named_apart(("../a.c", "../b.c")) == ("../a.c", "../b.c")
    assert named_apart(("../not-there.c",)) == ("../not-there.c",)
    assert named_apart(("x/../not-there.c",)) == ("x/../not-there.c",)


def test_without_a_common_commit_there_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "nothing...work"]) == 2
    assert "nothing...work names no common commit" in capsys.readouterr().err
