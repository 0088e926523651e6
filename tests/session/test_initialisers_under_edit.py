"""Edits of initialisers, which are no part of any body: findings are those of a check from scratch."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options

_LARGE = Options(limits=Limits(global_edges=0))  # a small program is checked from nothing when more than bodies differs
_PASSED = """\
int mode = VALUE;
static int run(int given) { int *found = 0; if (given == 5) return *found; return given; }
int main(int count, char **arguments) { return run(mode); }
"""
_READ_BELOW = """\
int mode = VALUE;
static int run(int given) { int *found = 0; if (mode == 5) return *found; return given; }
static int set(void) { mode = 7; return 0; }
int main(int count, char **arguments) { run(count); return set(); }
"""
_NAMED = """\
int one(int given) { int *found = 0; return *found; }
int other(int given) { return given; }
int (*table[])(int) = {VALUE};
int main(int count, char **arguments) { return 0; }
"""


def _rules(text: str, values: tuple[str, ...], path: Path) -> list[list[str]]:
    """The rules of the findings, from value to value."""
    path.write_text(text.replace("VALUE", values[0]))
    checker = Checker(_LARGE)
    checker.open([str(path)])
    found = []
    for value in values:
        checker.change(str(path), text.replace("VALUE", value))
        found.append([finding.rule for finding in checker.check().findings])
    assert checker.scratch is None
    return found


@pytest.mark.parametrize("text", [pytest.param(_PASSED, id="main passes it"), pytest.param(_READ_BELOW, id="a callee tests it")])
def test_paths_from_the_start_go_by_the_values_of_now(text: str, tmp_path: Path) -> None:
    assert _rules(text, ("0", "5", "0"), tmp_path / "a.c") == [[], ["null-dereference"], []]


def test_a_function_that_no_initialiser_names_any_more_is_an_entry(tmp_path: Path) -> None:
    assert _rules(_NAMED, ("one", "other", "one"), tmp_path / "a.c") == [["null-dereference"]] * 3
