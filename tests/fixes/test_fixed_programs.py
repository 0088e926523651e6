"""Each program of `fixtures/fixes` has one finding; the first fix makes of it the text beside it, and nothing is found there."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fixes import confirmed, fixed

from analysis.api import Checker
from analysis.model.options import Options

FOLDER = Path(__file__).parents[2] / "fixtures" / "fixes"
PROGRAMS = sorted(path for path in FOLDER.glob("*.c") if not path.name.endswith(".fixed.c"))
PROVED = frozenset(("initialise.c",))  # only provers find it, which takes them some seconds
CASES = [pytest.param(path, marks=pytest.mark.nightly if path.name in PROVED else ()) for path in PROGRAMS]


@pytest.mark.parametrize("program", CASES, ids=lambda path: path.stem)
def test_the_first_fix_is_the_text_that_is_expected(program: Path) -> None:
    text = program.read_text()
    found = confirmed(program, text, engine="auto" if program.name in PROVED else "automaton")
    assert found, "no fix was confirmed"
    expected = program.with_suffix(".fixed.c").read_text()
    assert fixed(text, found[0]) == expected
    checker = Checker(Options(engine="automaton"))
    checker.open([str(program.with_suffix(".fixed.c"))])
    assert checker.check().findings == ()
