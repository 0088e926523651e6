"""Findings that are held back: counted everywhere, dropped nowhere, and one option away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main

LIKELY = "int f(void)\n{\n    int *p = 0;\n    return *p;\n}\n"
UNLIKELY = """#define CLEAR() do { if (p) *p = 0; } while (0)
struct s { int n; int *p; };
int g(struct s *s, int *p, int n)
{
    CLEAR();
    if (n > s->n)
        return 0;
    return *p;
}
"""
CHECK = ["check", "--engine", "automaton", "--store", "none"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("likely.c").write_text(LIKELY)
    Path("unlikely.c").write_text(UNLIKELY)


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main([*CHECK, "--format", "json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def test_text_counts_what_it_does_not_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "likely.c", "unlikely.c"]) == 1
    said = capsys.readouterr().out
    assert "likely.c:4:5: error: possible: `p` can be null here and is dereferenced (since `p = 0`) [null-dereference]" in said
    assert "unlikely.c:8" not in said
    assert said.splitlines()[-1].startswith("1 finding (1 held back as less likely: --show all): ")


def test_all_is_one_option_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "--show", "all", "unlikely.c"]) == 1
    said = capsys.readouterr().out
    assert "unlikely.c:8:5: error: possible: " in said
    assert "the test for NULL, or the NULL, is in a macro" in said
    assert said.splitlines()[-1].startswith("1 finding: ")


def test_json_has_all_findings_and_says_which_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    code, document = report(capsys, "likely.c", "unlikely.c")
    assert (code, document["verdict"], document["held_back"]) == (1, "violated", 1)
    assert [(f["path"], f["shown"], f["score"] >= 50) for f in document["findings"]] == [
        ("likely.c", True, True),
        ("unlikely.c", False, False),
    ]
    assert all(len(f["reasons"]) == len(f["evidence"]) > 0 for f in document["findings"])


def test_sarif_has_all_findings_ranked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "--format", "sarif", "likely.c", "unlikely.c"]) == 1
    [run] = json.loads(capsys.readouterr().out)["runs"]
    first, second = run["results"]
    assert (first["level"], first["properties"]["shown"]) == ("error", True)
    assert (second["level"], second["properties"]["shown"]) == ("note", False)
    assert 100 > first["rank"] >= 50 > second["rank"] > 0
    assert run["properties"]["heldBack"] == 1


def test_what_is_held_back_counts_for_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "unlikely.c"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("No finding is shown (1 held back as less likely")
    assert main([*CHECK, "--strict", "unlikely.c"]) == 1


def test_what_is_held_back_is_not_safe(capsys: pytest.CaptureFixture[str]) -> None:
    _, document = report(capsys, "unlikely.c")
    [function] = document["functions"]
    assert function["verdicts"]["null-dereference"]["verdict"] == "violated"


def test_the_setting_of_the_workspace_counts(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".everproof.toml").write_text('show = "all"\n')
    assert [f["shown"] for f in report(capsys, "unlikely.c")[1]["findings"]] == [True]
    assert [f["shown"] for f in report(capsys, "--show", "likely", "unlikely.c")[1]["findings"]] == [False]
    Path(".everproof.toml").write_text('show = "some"\n')
    assert main([*CHECK, "likely.c"]) == 1
    assert 'show: must be "likely" or "all"; using likely' in capsys.readouterr().err


def test_a_stored_answer_serves_both(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shared = ["check", "--engine", "automaton", "--store", str(tmp_path / "store"), "--format", "json", "unlikely.c"]
    for wanted in ("likely", "all", "likely"):
        main([*shared, "--show", wanted])
        [finding] = json.loads(capsys.readouterr().out)["findings"]
        assert finding["shown"] == (wanted == "all")


def test_a_baseline_holds_what_is_held_back_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CHECK, "--write-baseline", "known.json", "unlikely.c"]) == 1
    assert main([*CHECK, "--baseline", "known.json", "--show", "all", "unlikely.c"]) == 0
    assert "(1 known from the baseline)" in capsys.readouterr().out
