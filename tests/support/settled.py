"""Sessions whose provers have answered all that they are asked."""

from __future__ import annotations

from analysis.api import Checker
from analysis.model.report import RuleVerdict


def answered(checker: Checker) -> None:
    """Asks until nothing is left to ask, after a check."""
    while checker.unasked or checker.proving:
        if checker.proving:
            checker.wait(None)
            checker.take_answers()
        else:
            checker.ask(lambda: False)


def settled_verdicts(checker: Checker) -> dict[tuple[str, str], RuleVerdict]:
    """Checks, and asks until nothing is left to ask: the verdicts, by function and rule."""
    checker.check()
    answered(checker)
    assert checker.report is not None
    return {(one.name, rule): verdict for one in checker.report.functions for rule, verdict in one.verdicts.items()}
