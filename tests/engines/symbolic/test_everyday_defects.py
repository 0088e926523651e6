"""Defects as people make them, in programs that read input: a run on inputs at random shows each of fixtures/everyday, and shows
nothing in its twin. Functions of fixtures/functions are run by themselves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.c.undefined import SHOWN_ALONE
from analysis.cfa.graph import Places, Program
from analysis.engines.symbolic import Confirmed, Effort, ProgramTask, decide_program
from analysis.engines.symbolic.function_runs import violations
from analysis.model.c_types import LP64
from analysis.model.options import Options
from tests.support.markers import read_markers

_FIXTURES = Path(__file__).parents[3] / "fixtures"
_BAD = sorted((_FIXTURES / "everyday").glob("*-bad.c"))
_ASKED = frozenset(("array-bounds", "null-dereference", "uninitialized-read", "division-by-zero", "use-after-free"))
_LITTLE = Effort(seconds=0.5)  # of work: a run that shows something comes early


def program_of(file: Path) -> tuple[Program, Places]:
    checker = Checker(Options())
    checker.open([str(file)])
    inspection = checker.inspect()
    assert not inspection.unparsed
    return inspection.program, inspection.places


def test_there_are_pairs() -> None:
    good = [file.with_name(file.name.replace("-bad", "-good")) for file in _BAD]
    assert len(_BAD) >= 14
    assert all(file.is_file() for file in good)


@pytest.mark.parametrize("file", _BAD, ids=lambda file: file.stem)
def test_a_run_shows_it(file: Path) -> None:
    program, places = program_of(file)
    found = decide_program(ProgramTask(program, _ASKED, _LITTLE))
    assert isinstance(found, Confirmed), found
    line = places.place(found.steps[-1].function, found.steps[-1].edge).range.start.line
    assert read_markers(file).findings == {(line, found.observation.kind): 1}


@pytest.mark.parametrize("file", _BAD, ids=lambda file: file.stem)
def test_no_run_shows_anything_in_its_twin(file: Path) -> None:
    program, _ = program_of(file.with_name(file.name.replace("-bad", "-good")))
    assert not isinstance(decide_program(ProgramTask(program, _ASKED, _LITTLE)), Confirmed)


@pytest.mark.parametrize("file", sorted((_FIXTURES / "functions").glob("*.c")), ids=lambda file: file.stem)
def test_functions_by_themselves(file: Path) -> None:
    program, places = program_of(file)
    found = Counter(
        (places.place(one.steps[-1].function, one.steps[-1].edge).range.start.line, one.observation.kind)
        for function in program.functions
        for one in violations(program, function, LP64, SHOWN_ALONE)
    )
    assert found == read_markers(file).findings
