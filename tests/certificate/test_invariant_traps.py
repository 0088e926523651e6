"""What is said of the programs of fixtures/traps/invariants: function `f` follows a pointer that is null in the program with the
defect, and is never proved there; nor does the checker accept what holds of the twin.

The class: an object is made, or written to, where that is not seen: through another type or name, by a library, before or after
others can reach it."""

from __future__ import annotations

from functools import cache

import pytest

from analysis.api import Checker
from analysis.certificate.nonzero.data_invariants import Invariants
from analysis.certificate.nonzero.kept_invariants import Walks, are_kept, find
from analysis.cfa.graph import Program
from analysis.cpa.framework.algorithm import Cancellation
from analysis.model.options import Options
from analysis.session.portfolio import contract_proofs
from analysis.session.portfolio.request import Proved, Request
from analysis.session.portfolio.request_terms import About
from benchmarks.traps.programs import Trap, traps

_TRAPS = [trap for trap in traps() if trap.name.startswith("invariants/")]
_MAIN = ("main",)


@cache
def _program(trap: Trap) -> Program:
    checker = Checker(Options())
    checker.open([str(file) for file in trap.files])
    return checker.inspect().program


def _is_proved(trap: Trap) -> bool:
    request = Request(_program(trap), _MAIN, About("contracts", (trap.rule,)))
    answers = contract_proofs.prove(request, 1000.0, Cancellation())
    return any(one.function.rpartition("::")[2] == "f" and isinstance(one.answer, Proved) for one in answers)


def _found(trap: Trap) -> Invariants:
    found = find(_program(trap), _MAIN, Walks())
    assert found is not None
    return found


def _as_of_twin(trap: Trap) -> Invariants:
    """What the twin of a defect keeps, by the names that files and functions have in the program with the defect."""
    good = _TRAPS[_TRAPS.index(trap) + 1]
    found = _found(good)
    assert are_kept(_program(good), _MAIN, found, Walks())
    return frozenset(one._replace(name=one.name.replace("-good", "-bad"), of=one.of.replace("-good", "-bad")) for one in found)


@pytest.mark.parametrize("trap", [trap for trap in _TRAPS if trap.is_defect], ids=lambda trap: trap.name)
def test_a_function_with_a_defect_is_not_proved(trap: Trap) -> None:
    assert not _is_proved(trap)


@pytest.mark.parametrize("trap", [trap for trap in _TRAPS if trap.is_defect], ids=lambda trap: trap.name)
def test_the_checker_accepts_what_is_kept_and_nothing_more(trap: Trap) -> None:
    claimed, kept = _as_of_twin(trap), _found(trap)
    assert are_kept(_program(trap), _MAIN, kept, Walks())
    assert are_kept(_program(trap), _MAIN, claimed, Walks()) == (claimed <= kept)


def test_most_defects_break_what_their_twins_keep() -> None:
    assert sum(not _as_of_twin(trap) <= _found(trap) for trap in _TRAPS if trap.is_defect) >= 25


def test_most_twins_are_proved() -> None:
    proved = [trap.name for trap in _TRAPS if not trap.is_defect and _is_proved(trap)]
    assert len(proved) >= 28, proved
    assert len(_TRAPS) >= 100


def test_nothing_is_said_of_a_program_whose_runs_begin_elsewhere() -> None:
    good = next(trap for trap in _TRAPS if trap.name == "invariants/cleared-again-good")
    assert _found(good)
    assert find(_program(good), ("f",), Walks()) == frozenset()
    assert not are_kept(_program(good), ("f",), _found(good), Walks())
