"""Answers within a bound in an editor: the hover says what an edit did to the summaries of a function's calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.options import Options
from analysis.model.places import whole_line
from analysis.model.report import FunctionReport, Repaired, RuleVerdict, SummaryRepair
from server.features.hover import describe


@pytest.mark.parametrize(
    ("repair", "line"),
    [
        (SummaryRepair("held", 5), "still holds; no call that leads to it was checked again"),
        (SummaryRepair("weakened", 5, 1), "was weakened; 1 call that leads to it was checked again"),
        (SummaryRepair("strengthened", 5, 2), "was strengthened; 2 calls that lead to it were checked again"),
        (SummaryRepair("kept", 5, 2), "did not have to be checked again"),
    ],
)
def test_a_hover_says_what_became_of_a_summary(repair: SummaryRepair, line: str) -> None:
    verdict = RuleVerdict("unknown", "no run violates it within bound 5", (), "summary", repair=repair)
    text = describe(FunctionReport("f", whole_line("/w/a.c", 1), {"assertion": verdict}), None, None)
    assert f"\n- Summary within bound 5 for `assertion`: {line}" in text


PROGRAM = """void reach_error(void); int nondet(void);
static int twice(int n) { return n + n; }
static int copy(int n) { return n; }
static int other(int n) { return n > 4; }
int main(void) {
    int a = nondet();
    if (a < 0 || a > 3) return 0;
    if (twice(copy(a)) > 6) reach_error();
    return other(a);
}
"""


@pytest.fixture
def editing(tmp_path: Path) -> Iterator[Checker]:
    """A checker as the background worker has it, where the setting `engine` is `summary`."""
    path = tmp_path / "p.c"
    path.write_text(PROGRAM)
    options = Options(engine="summary", rules=("assertion",), budget="background", proofs=True)
    checker = Checker(options)
    checker.open_workspace(str(path))
    checker.change(str(path), PROGRAM, 1)
    yield checker
    checker.close()


def repairs(checker: Checker, text: str) -> dict[str, Repaired | None]:
    """What the answer about a text says became of the summaries of each function."""
    (path,) = checker.files
    checker.change(path, text)
    checker.check()
    report = checker.prove(stays=True)
    found = {function.name: function.verdicts["assertion"] for function in report.functions}
    assert found["main"].within is not None
    assert found["main"].within.holds
    return {name: verdict.repair and verdict.repair.what for name, verdict in found.items()}


def test_edits_say_what_became_of_each_function(editing: Checker) -> None:
    assert repairs(editing, PROGRAM)["main"] == "made"
    same = repairs(editing, PROGRAM.replace("n > 4", "n > 5"))
    assert (same["other"], same["twice"], same["main"]) == ("held", "kept", "kept")
    larger = repairs(editing, PROGRAM.replace("{ return n; }", "{ return 3 - n; }"))
    assert larger["copy"] in ("weakened", "strengthened", "lost")
    assert (larger["main"], larger["other"]) == ("held", "held")  # `other` is as it was at first
