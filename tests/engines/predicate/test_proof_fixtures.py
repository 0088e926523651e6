"""Pairs of programs, fixtures/proofs/RULE: the good one is proved, its certificate accepted; of its bad twin, which violates the
rule in some run, nothing is proved at the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cpa.predicates.violations import PROPERTIES
from tests.support.checked import checked

_PROGRAMS = Path(__file__).parents[3] / "fixtures" / "proofs"
_FILES = sorted(_PROGRAMS.glob("*/*.c"))
_SECONDS, _FEW_SECONDS = 60.0, 0.6  # what cannot be proved is not, however long one looks


def test_each_program_has_its_twin() -> None:
    names = {file.relative_to(_PROGRAMS).as_posix() for file in _FILES}
    assert names == {name.replace(one, other) for name in names for one, other in (("-good", "-bad"), ("-bad", "-good"))
                     if one in name}  # fmt: skip
    assert {file.parent.name for file in _FILES} == PROPERTIES - {"assertion"}


@pytest.mark.parametrize("file", [f for f in _FILES if f.stem.endswith("-good")], ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_what_holds_is_proved(file: Path) -> None:
    report = checked(file, file.parent.name, _SECONDS, "predicate")
    assert report.verdict == "safe"
    assert all(verdict.certified for function in report.functions for verdict in function.verdicts.values())


@pytest.mark.parametrize("file", [f for f in _FILES if f.stem.endswith("-bad")], ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_what_can_be_violated_is_not_proved(file: Path) -> None:
    assert checked(file, file.parent.name, _FEW_SECONDS, "predicate").verdict != "safe"
