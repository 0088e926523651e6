"""Findings that too much of the program can matter to are left as they are, with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Options

_PROGRAM = "int main(int count, char **words)\n{\n    int *p = 0;\n    if (count > 2)\n        *p = 1;\n    return 0;\n}\n"


@pytest.mark.parametrize(("edges", "status"), [(10_000, "confirmed"), (3, "possible")])
def test_large_parts_of_a_program_are_not_taken_up(edges: int, status: str, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(_PROGRAM)
    checker = Checker(Options(limits=Limits(task_edges=edges)))
    checker.open([str(path)])
    checker.check()
    report = checker.prove()
    checker.close()
    (finding,) = report.findings
    assert finding.status == status
    assert (report.times.prover == 0) == (status == "possible")  # no prover was asked
