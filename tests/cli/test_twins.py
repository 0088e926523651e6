"""Small programs, each with a defect and a corrected twin (fixtures/twins): what `everproof check` says of them.

The class: a defect that provers can confirm is a finding of the command, whoever looked for it first, and a program that they can
prove is safe by the command. The comment beside the line names the rule.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main

pytestmark = pytest.mark.full_budget

_FOLDER = Path(__file__).parents[2] / "fixtures" / "twins"
_BAD = sorted(_FOLDER.glob("*-bad.c"))
_DEFECT = re.compile(r"/\* defect: ([a-z-]+) \*/")


def _expected(file: Path) -> tuple[str, int]:
    """The rule that the program violates, and the line."""
    lines = file.read_text().splitlines()
    ((number, found),) = [(number, found) for number, line in enumerate(lines, 1) if (found := _DEFECT.search(line))]
    return found[1], number


def _checked(file: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    code = main(["check", "--format", "json", "--store", "none", *options, str(file)])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (1 if report["findings"] else 0)
    return report


def test_each_defect_has_its_twin() -> None:
    goods = {file.name.replace("-good.c", "-bad.c") for file in _FOLDER.glob("*-good.c")}
    assert goods == {file.name for file in _BAD}
    assert len(goods) >= 15


@pytest.mark.parametrize("file", _BAD, ids=lambda file: file.stem)
def test_the_defect_is_confirmed_and_the_twin_is_safe(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule, line = _expected(file)
    report = _checked(file, capsys, "--rule", rule)
    found = [(f["rule"], f["status"], f["range"]["start"]["line"]) for f in report["findings"]]
    assert found == [(rule, "confirmed", line)]
    twin = _checked(file.with_name(file.name.replace("-bad", "-good")), capsys, "--rule", rule)
    assert (twin["verdict"], twin["findings"]) == ("safe", [])
    assert all(verdict["certified"] for function in twin["functions"] for verdict in function["verdicts"].values())


@pytest.mark.nightly
@pytest.mark.parametrize("file", _BAD, ids=lambda file: file.stem)
def test_with_all_rules_the_defect_is_found_and_the_twin_has_no_finding(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule, line = _expected(file)
    found = [(f["rule"], f["range"]["start"]["line"]) for f in _checked(file, capsys, "--rule", "all")["findings"]]
    assert (rule, line) in found
    twin = file.with_name(file.name.replace("-bad", "-good"))
    assert _checked(twin, capsys, "--rule", "all")["findings"] == []
