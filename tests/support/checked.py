"""A program as a user has it checked: everything is asked, within so many seconds each."""

from __future__ import annotations

from pathlib import Path

from analysis.api import Checker
from analysis.model.limits import Limits
from analysis.model.options import Engine, Options
from analysis.model.report import Report


def checked(file: Path, rule: str, seconds: float, engine: Engine = "auto") -> Report:
    """The report of `everproof check --rule RULE --engine ENGINE`."""
    limits = Limits(task_seconds=seconds, proof_seconds=seconds, program_seconds=seconds, total_seconds=10 * seconds)
    checker = Checker(Options(rules=(rule,), engine=engine, proofs=True, everywhere=True, limits=limits), jobs=2)
    checker.open([str(file)])
    checker.check()
    report = checker.prove()
    checker.close()
    return report
