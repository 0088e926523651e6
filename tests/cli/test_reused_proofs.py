"""`everproof revisions --engine predicate`: proofs go from version to version, and outlive a run in the store."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main

pytestmark = pytest.mark.full_budget

PAPERS = Path(__file__).parents[2] / "fixtures" / "programs" / "papers"
SECOND = (PAPERS / "ipa-fig2-second.c").read_text("utf-8")
VERSIONS = {
    "v0.c": SECOND,
    "v1.c": SECOND.replace("i--;", "i = i - 2;"),
    "v2.c": SECOND.replace("the index is", "an index is"),
    "v3.c": SECOND.replace("i == N - 1", "i == N + 1"),
}
WORDS = ("--engine", "predicate", "--rule", "assertion")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in VERSIONS.items():
        Path(name).write_text(text)


def reports(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    assert main(["revisions", *WORDS, "--format", "json", *words]) == code
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def verdict(report: dict[str, Any]) -> str:
    found: str = next(one["verdicts"]["assertion"]["verdict"] for one in report["functions"] if one["name"] == "main")
    return found


def computed(report: dict[str, Any]) -> int:
    number: int = report["work"]["abstract_states"]["recomputed"]
    return number


def test_a_chain_reuses_its_proofs_and_says_what_from_scratch_says(capsys: pytest.CaptureFixture[str]) -> None:
    found = reports(capsys, *VERSIONS, "--compare", "--store", "none")
    assert [verdict(report) for report in found] == ["safe", "safe", "safe", "unknown"]
    assert [report["revision"]["differences"] for report in found] == [[], [], [], []]
    assert found[0]["work"]["reuse"]["proofs"] == 0
    for report in found[1:3]:
        assert report["work"]["reuse"]["proofs"] > 0
        assert report["work"]["reuse"]["asserted"] > 0
        assert computed(report) == 0


@pytest.mark.parametrize(("reuse", "proofs"), [("annotations", True), ("precisions", True), ("none", False)])
def test_what_is_reused_is_an_option(reuse: str, proofs: bool, capsys: pytest.CaptureFixture[str]) -> None:
    _, after = reports(capsys, "v0.c", "v1.c", "--reuse", reuse, "--store", "none")
    assert verdict(after) == "safe"
    assert (after["work"]["reuse"]["proofs"] > 0) == proofs
    assert (after["work"]["reuse"]["asserted"] > 0) == (reuse == "annotations")


def test_the_line_of_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["revisions", *WORDS, "v0.c", "v1.c", "--store", "none"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if line.startswith("reused: "))
    assert re.fullmatch(r"reused: proofs ([12]), assertions \1 of \1, lemmas 0", line)  # of main, and of the program


@pytest.mark.parametrize("engine", ["automaton", "summary"])
def test_engines_that_prove_nothing_reuse_no_proofs(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["revisions", "--engine", engine, "--reuse", "none", "v0.c", "v1.c"]) == 2
    assert f"--engine {engine} makes none" in capsys.readouterr().err


FIVE = """extern void reach_error(void);
int main(void)
{
    int i = 0;
    while (i < 5)
        i++;
    if (i != 5)
        reach_error();
    return 0;
}
"""


@pytest.mark.parametrize("engine", ["auto", "value", "symbolic"])
def test_all_engines_that_prove_reuse_proofs(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("five.c").write_text(FIVE)
    Path("later.c").write_text(FIVE.replace("return 0;", "i = 0;\n    return i;"))
    words = ("--engine", engine, "--rule", "assertion", "--format", "json", "--store", "none", "--compare")
    assert main(["revisions", *words, "five.c", "later.c"]) == 0
    out, err = capsys.readouterr()
    first, later = json.loads(out)
    assert [verdict(first), verdict(later)] == ["safe", "safe"]
    assert "proved with reuse only" not in err
    assert first["work"]["reuse"]["proofs"] == 0
    if engine == "value":  # for the others, a tree of all paths proves it before
        assert later["work"]["reuse"]["proofs"] > 0
        assert later["work"]["reuse"]["valid"] == later["work"]["reuse"]["asserted"] > 1


def test_a_later_run_reuses_what_the_store_has(capsys: pytest.CaptureFixture[str]) -> None:
    def check(text: str) -> dict[str, Any]:
        Path("p.c").write_text(text)
        assert main(["check", *WORDS, "--format", "json", "--store", "kept", "p.c"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    assert check(VERSIONS["v0.c"])["work"]["reuse"]["proofs"] == 0
    later = check(VERSIONS["v1.c"])
    assert verdict(later) == "safe"
    assert later["work"]["reuse"]["proofs"] > 0
    assert computed(later) == 0
