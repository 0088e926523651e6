"""What is said of the programs of fixtures/traps/zero: function `f` has the defect, and is never proved for its rule, neither in
any state nor in runs from main, where callers keep what it needs.

The class: what was known of a value is out of date where it is used (another name of the object, a callee, a jump, a conversion),
or a call does not keep what the called function needs."""

from __future__ import annotations

import pytest

from analysis.api import Checker
from analysis.certificate.nonzero.claims import Requirements
from analysis.certificate.nonzero.needed_values import RULES, Rule
from analysis.certificate.nonzero.requirement_checker import check_requirements
from analysis.certificate.nonzero.requirement_search import RequirementSearch
from analysis.certificate.refusal import RefusedError
from analysis.model.options import Options
from benchmarks.traps.programs import Trap, traps

_TRAPS = [trap for trap in traps() if trap.name.startswith("zero/")]
_RULES: dict[str, Rule] = {"null-dereference": "null-dereference", "division-by-zero": "division-by-zero"}


def _why(trap: Trap) -> str:
    """Why the rule of a trap is not proved of its function; empty if it is, in any state or in runs from main."""
    checker = Checker(Options())
    checker.open([str(file) for file in trap.files])
    program = checker.inspect().program
    search = RequirementSearch(program, _RULES[trap.rule])
    (name,) = (name for name in program.functions if name.rpartition("::")[2] == "f")
    assert search.follow(name) is not None
    assert search.follow_callers(name)
    said = ""
    for runs_from in ((), ("main",)):
        try:
            assert check_requirements(program, Requirements(name, trap.rule, search.needs(), runs_from)).steps
        except RefusedError as refused:
            said = str(refused)
        else:
            return ""
    return said


@pytest.mark.parametrize("trap", [trap for trap in _TRAPS if trap.is_defect], ids=lambda trap: trap.name)
def test_a_function_with_a_defect_is_not_proved(trap: Trap) -> None:
    assert _why(trap)


def test_most_twins_are_proved() -> None:
    proved = [trap.name for trap in _TRAPS if not trap.is_defect and not _why(trap)]
    assert len(proved) >= 30, proved
    assert len(_TRAPS) >= 60
    assert {trap.rule for trap in _TRAPS} == RULES
