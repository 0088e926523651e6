"""Horn clauses: those that take longer to write than there is for their solution are given up."""

from __future__ import annotations

from analysis.model import clock
from analysis.smt.logic.term_building import TRUE, symbol
from analysis.smt.logic.terms import INT, Term
from analysis.smt.solving.horn import Applied, Clause, script, solve
from analysis.smt.solving.solver import Budget

X = symbol("x", INT)
CLAUSE = Clause((), TRUE, Applied(0, (X,)))
PARAMETERS: dict[int, tuple[Term, ...]] = {0: (X,)}


def test_clauses_are_written_until_the_work_is_spent() -> None:
    text = script([CLAUSE] * 3, PARAMETERS)
    assert text is not None
    assert text.count("(assert ") == 3
    assert script([CLAUSE] * 3, PARAMETERS, clock.spent()) is None


def test_what_takes_too_long_to_write_has_no_solution() -> None:
    assert solve([CLAUSE], PARAMETERS, Budget(10_000)) is not None
    before = clock.spent()
    assert solve([CLAUSE] * 100_000, PARAMETERS, Budget(1)) is None
    assert clock.spent() - before < 0.1
