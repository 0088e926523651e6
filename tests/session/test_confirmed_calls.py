"""A finding about a call is confirmed only by a run that makes this call.

The class: two calls lead to one place that violates a rule, and a run that was found makes only one of them."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.options import Options

_FIXTURE = Path(__file__).parents[2] / "fixtures" / "programs" / "double-free" / "23-freed-by-the-same-function-bad.c"


def test_a_run_by_another_call_confirms_nothing() -> None:
    checker = Checker(Options(proofs=True, rules=("double-free",)), jobs=1)
    checker.open([str(_FIXTURE)])
    checker.check()
    report = checker.prove()
    checker.close()
    assert len(report.findings) == 2
    assert any(finding.status == "confirmed" for finding in report.findings)
    for finding in report.findings:
        lines = {step.place.range.start.line for step in finding.trace}
        assert finding.place.range.start.line in lines, (finding.status, lines)
