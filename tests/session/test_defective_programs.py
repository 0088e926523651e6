"""After an edit, programs with many errors have the findings and traces that they have from scratch (invariant I11)."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.defective_programs import Edited


@pytest.mark.parametrize(("seed", "edits"), [(29, 4), (44, 6), (400005, 18)])
def test_findings_after_edits_are_those_from_scratch(seed: int, edits: int, tmp_path: Path) -> None:
    edited = Edited(seed, tmp_path)
    compared = [edited.step() for _ in range(edits)]
    assert sum(one.findings for one in compared) > edits  # most programs go wrong in several ways
    assert [(one.done, one.differences) for one in compared if one.differences] == []
