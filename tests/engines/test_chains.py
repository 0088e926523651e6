"""Chains of calls are kept over edits: the traces are those that are read off the graph anew."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.program_edits import LARGE, Edited

from analysis.api import Checker
from analysis.engines.automaton import Analysis
from analysis.engines.automaton.report.findings import Findings
from analysis.engines.automaton.solver.retrace import Retrace
from analysis.model.report import Finding
from analysis.session.entries import choose_entries

_STEPS = 12


def _traces(found: tuple[Finding, ...]) -> list[object]:
    return [(finding.fingerprint, finding.trace, finding.evidence) for finding in found]


@pytest.mark.parametrize("seed", [3, 9, 11])
def test_traces_after_edits_are_those_made_anew(seed: int, tmp_path: Path) -> None:
    program = Edited(Random(seed), 250)
    checker = Checker(LARGE)
    checker.open(program.write(tmp_path))
    seen = checker.inspect()
    analysis = Analysis(seen.program, checker.rules, LARGE.limits)
    analysis.run(choose_entries(seen.program, ())[0])
    longest = 0
    for _ in range(_STEPS):
        done = program.edit()
        for name in program.changed:
            (tmp_path / name).write_text(program.text(name), encoding="utf-8")
        checker.refresh()
        seen = checker.inspect()
        assert analysis.revise(seen.program, choose_entries(seen.program, ())[0], "incr-back"), done
        kept = analysis.findings(seen.places)
        anew = Findings(analysis.rules, LARGE.limits.trace_steps, 1)
        assert _traces(kept) == _traces(anew.find(analysis.graph, analysis.delta, Retrace(analysis.graph), seen.places)), done
        longest = max([longest, *(len(finding.trace) for finding in kept)])
    assert longest > 3


def test_a_trace_outside_an_edited_file_is_not_made_again(tmp_path: Path) -> None:
    first, second = tmp_path / "a.c", tmp_path / "b.c"
    first.write_text(
        "int other(void); static void wrong(void) { int *p = 0; *p = 1; } int main(void) { wrong(); return other(); }",
        encoding="utf-8",
    )
    second.write_text("int other(void) { return 1; }", encoding="utf-8")
    checker = Checker(LARGE)
    checker.open([str(first), str(second)])
    before = checker.check()
    second.write_text("int other(void) { int n; n = 2; return 1; }", encoding="utf-8")
    after = checker.check()
    assert [len(finding.trace) for finding in before.findings] == [4]
    assert [id(step) for step in after.findings[0].trace] == [id(step) for step in before.findings[0].trace]
