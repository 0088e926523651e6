"""What the engines know of a solver. `analysis.smt.solving.z3_backend` is one.

A check has three answers, and being interrupted or running out of a budget is an answer, never an exception:
`Answer("unknown", "interrupted")`. Times are in milliseconds, memory in megabytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import Literal, Protocol

import msgspec

from analysis.smt.logic.terms import Term

Status = Literal["sat", "unsat", "unknown"]
Reason = Literal["", "interrupted", "time", "memory", "incomplete"]
Value = bool | int | Fraction
UNDECIDED: dict[Reason, str] = {
    "": "",
    "interrupted": " before it was ended",
    "time": " within the budget",
    "memory": " in the memory that it may take",
    "incomplete": ", since no solver decides all such formulas",
}
"""Why something was not decided, behind a sentence that says so."""


class Answer(msgspec.Struct, frozen=True):
    """The answer of a check. `reason` says why it is unknown: it was interrupted, it ran out of its budget of time or memory,
    or the solver is incomplete for the formula; empty otherwise."""

    status: Status
    reason: Reason = ""

    @property
    def is_settled(self) -> bool:
        """Whether the answer is final: asking again would give the same one. Only final answers may be kept."""
        return self.status != "unknown"


SAT = Answer("sat")
UNSAT = Answer("unsat")
INTERRUPTED = Answer("unknown", "interrupted")


class Budget(msgspec.Struct, frozen=True):
    """What one check may take: None is no bound. Memory is what the whole process has for formulas."""

    milliseconds: int | None = 10_000
    megabytes: int | None = None

    @property
    def seconds(self) -> float:
        """The time in seconds."""
        return inf if self.milliseconds is None else self.milliseconds / 1000


class Model(Protocol):
    """An assignment that satisfies what was checked."""

    def value(self, term: Term) -> Value:
        """The value of a term of sort Bool, Int, Real or BitVec (as an unsigned number); symbols that do not matter are given
        a value, the same one each time. An irrational number is rounded.

        Raises ValueError for a term of an array sort.
        """

    def values(self, terms: tuple[Term, ...]) -> Mapping[Term, Value]:
        """The values of several terms."""


class Solver(Protocol):
    """An incremental solver. One thread uses it; `interrupt` alone may be called from any other."""

    def push(self) -> None:
        """Opens a scope."""

    def pop(self, levels: int = 1) -> None:
        """Closes scopes: what was added in them is forgotten. ValueError if there are not so many."""

    def add(self, *formulas: Term) -> None:
        """Asserts formulas (terms of sort Bool) in the innermost scope."""

    def check(self, *assumptions: Term, budget: Budget | None = None) -> Answer:
        """Whether all that is asserted and the assumptions (terms of sort Bool) can be true together."""

    def model(self) -> Model:
        """A model for the last check, which must have answered sat, with nothing added since. ValueError otherwise."""

    def core(self) -> tuple[Term, ...]:
        """Assumptions of the last check that suffice for its unsat answer. ValueError if it was another answer."""

    def interrupt(self) -> None:
        """Ends the check that is running, and every later one before it starts, with `INTERRUPTED`; until `resume`."""

    def resume(self) -> None:
        """Lets checks run again after `interrupt`."""


def is_unsat(solver: Solver, formulas: Sequence[Term], budget: Budget | None = None) -> bool:
    """Whether the solver says that the formulas contradict each other and what it holds; it holds the same afterwards. No if it
    cannot tell."""
    solver.push()
    try:
        solver.add(*formulas)
        return solver.check(budget=budget).status == "unsat"
    finally:
        solver.pop()
