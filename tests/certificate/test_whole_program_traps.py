"""What is said of the programs of fixtures/traps/whole_program: function `f` uses what ended, or loses the last pointer to a
block, in the program with the defect, and is never proved there.

The class: a pointer gets from where a block is made to where it is ended, or lost, in ways that types and names do not show."""

from __future__ import annotations

import pytest

from analysis.api import Checker
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model.options import Options
from analysis.session.portfolio import contract_proofs
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About
from benchmarks.traps.programs import Trap, traps

_TRAPS = [trap for trap in traps() if trap.name.startswith("whole_program/")]


def _is_proved(trap: Trap) -> bool:
    checker = Checker(Options())
    checker.open([str(file) for file in trap.files])
    request = Request(checker.inspect().program, ("main",), About("contracts", (trap.rule,)))
    answers = contract_proofs.prove(request, 1000.0, Cancellation())
    found = [one.answer for one in answers if one.function.rpartition("::")[2] == "f"]
    assert found, "it was not asked about"
    return any(isinstance(one, Proved) for one in found)


@pytest.mark.parametrize("trap", [trap for trap in _TRAPS if trap.is_defect], ids=lambda trap: trap.name)
def test_a_function_with_a_defect_is_not_proved(trap: Trap) -> None:
    assert not _is_proved(trap)


def test_most_twins_are_proved() -> None:
    proved = [trap.name for trap in _TRAPS if not trap.is_defect and _is_proved(trap)]
    assert len(proved) > len(_TRAPS) // 4, proved
