"""What provers are asked about functions by `everproof diff`.

The class: it waits for proofs of functions that it says nothing of; or a violation that only runs show is not looked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.cli.main import main
from analysis.session.provers.asking.claim import Wanted
from analysis.session.provers.asking.claim_answers import Claims

OLD = "int main(void)\n{\n    int a[4] = {1, 2, 3, 4}, i = 3;\n    return a[i];\n}\n"
NEW = OLD.replace("i = 3", "i = 4")

pytestmark = pytest.mark.full_budget


@pytest.fixture(autouse=True)
def _versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.c").write_text(OLD)
    Path("b.c").write_text(NEW)


@pytest.mark.parametrize(
    ("words", "asks_for_functions"), [((), False), (("--engine", "summary"), True), (("--format", "sarif"), True)]
)
def test_functions_are_proved_only_where_that_is_told(
    words: tuple[str, ...], asks_for_functions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Wanted] = []

    def ask(_self: Claims, _program: object, _entries: object, wanted: Wanted, *_more: object, **_named: Any) -> None:
        asked.append(wanted)

    monkeypatch.setattr(Claims, "ask", ask)
    main(["diff", "a.c", "b.c", "--rule", "division-by-zero", "--rule", "array-bounds", *words])
    assert asked
    assert all(wanted.rules for wanted in asked)
    assert {bool(wanted.functions or wanted.conditions) for wanted in asked} == {asks_for_functions}


def test_what_only_runs_show_is_introduced(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "a.c", "b.c", "--rule", "array-bounds", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(one["rule"], one["status"]) for one in found["introduced"]] == [("array-bounds", "confirmed")]
