"""What closed sets say of the programs of fixtures/traps/blocks: function `f` has the defect, and is never proved for its rule.

The class: the last pointer to a block, or a second one, is where the pointers of the function do not show it (bytes, unions,
numbers, buffers, lists of arguments, results and parameters of functions that are called)."""

from __future__ import annotations

import pytest

from analysis.api import Checker
from analysis.certificate.ownership.closed_checker import check_closed_sets, obstacle, refusal
from analysis.certificate.ownership.closed_search import ClosedSearch
from analysis.certificate.ownership.closed_sets import ClosedSets
from analysis.model.options import Options
from benchmarks.traps.programs import Trap, traps

_TRAPS = [trap for trap in traps() if trap.name.startswith("blocks/")]


def _why(trap: Trap) -> str:
    """Why the rule of a trap is not proved of its function; empty if it is."""
    checker = Checker(Options())
    checker.open([str(file) for file in trap.files])
    program = checker.inspect().program
    search = ClosedSearch(program)
    (name,) = (name for name in program.functions if name.rpartition("::")[2] == "f")
    followed = search.follow(name)
    assert followed is not None
    reason = obstacle(program, trap.rule) or refusal(program, followed.found, name, trap.rule)
    if not reason:
        assert check_closed_sets(program, ClosedSets(name, trap.rule, search.sets(name))).states
    return reason


@pytest.mark.parametrize("trap", [trap for trap in _TRAPS if trap.is_defect], ids=lambda trap: trap.name)
def test_a_function_with_a_defect_is_not_proved(trap: Trap) -> None:
    assert _why(trap)


def test_most_twins_are_proved() -> None:
    twins = [trap for trap in _TRAPS if not trap.is_defect][::2]
    assert sum(not _why(trap) for trap in twins) > len(twins) // 2
    assert len(_TRAPS) >= 60
