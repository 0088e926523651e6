"""Pairs of programs, fixtures/confirmed/RULE, for rules that only provers look for: a violation of the bad one is seen in a run,
where its comment says; of the good one it is shown that there is none, or at least none is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.cfa.graph import Places
from analysis.engines.symbolic import Confirmed, Decision, Effort, ProgramTask, Refuted, decide_program
from analysis.model.options import Options
from analysis.rules.load import shipped_rules
from tests.support.markers import read_markers

_PROGRAMS = Path(__file__).parents[3] / "fixtures" / "confirmed"
_FILES = sorted(_PROGRAMS.glob("*/*.c"))
_OPEN = {"lock-at-exit"}  # locks are not followed along paths: runs find violations, and nothing excludes them


def decided(file: Path) -> tuple[Decision, Places]:
    checker = Checker(Options())
    checker.open([str(file)])
    inspection = checker.inspect()
    assert not inspection.unparsed
    task = ProgramTask(inspection.program, frozenset({file.parent.name}), Effort(seconds=20))
    return decide_program(task), inspection.places


def test_each_program_has_its_twin_and_each_rule_its_programs() -> None:
    names = {file.relative_to(_PROGRAMS).as_posix() for file in _FILES}
    assert {name.replace("-good.c", "-bad.c") for name in names} == {name for name in names if name.endswith("-bad.c")}
    assert {name.replace("-bad.c", "-good.c") for name in names} == {name for name in names if name.endswith("-good.c")}
    elsewhere = {folder.name for folder in (_PROGRAMS.parent / "proofs").iterdir()}
    assert {file.parent.name for file in _FILES} == {rule.name for rule in shipped_rules() if rule.provers_only} - elsewhere


@pytest.mark.parametrize("file", [f for f in _FILES if f.stem.endswith("-bad")], ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_a_violation_is_seen_where_it_is(file: Path) -> None:
    found, places = decided(file)
    assert isinstance(found, Confirmed), found
    assert found.observation.kind == file.parent.name
    last = found.steps[-1]
    line = places.place(last.function, last.edge).range.start.line
    assert read_markers(file).findings == {(line, file.parent.name): 1}


@pytest.mark.parametrize("file", [f for f in _FILES if f.stem.endswith("-good")], ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_what_is_right_is_not_called_wrong(file: Path) -> None:
    found, _ = decided(file)
    assert read_markers(file).findings == {}
    if file.parent.name in _OPEN:
        assert not isinstance(found, Confirmed)
    else:
        assert isinstance(found, Refuted), found
