"""The clock of provers' budgets. It counts work, in seconds: what the work takes on average, on the machine where the costs
below were measured. So what a prover decides depends on the question alone, and neither on the machine nor on its load.

A prover that works calls `work`, at least once for each step of every loop that a budget ends. What it finds in a cache counts as
much as if it had been computed, because what is in a cache depends on the questions before.

Costs are in nanoseconds. The real clock is the last resort: see `analysis.model.budgets.ProverBudget.patience`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

STATE = 200_000
"""An abstract state, with what it takes to get there."""
TERM = 6_000
"""A term that the solver is told of."""
WRITE = 2_000
"""A write to memory that a formula looks back at, to say what is read."""
PLACE = 60_000
"""A place that an access may be at, in the formula of a path."""
LEAF = 1_000
"""A symbol, an address or an object that a pointer from outside may have to do with."""
COMPARISON = 3_000
"""Whether one abstract state covers another."""
STEP = 120_000
"""A step of a search through a function, or of a fixed point."""
RUN = 500_000
"""A run of the interpreter, besides its steps."""
RUN_STEP = 3_000
"""A step of such a run, or a value that it asks for."""
CHECK = 150_000
"""A question to the solver, besides what the solver counts."""
CLAUSES = 15_000_000
"""A question to Spacer, besides what the solver counts."""
SOLVING = 500
"""What z3 counts as one, in the units of its parameter `rlimit`."""

SECOND = 1_000_000_000

_until = math.inf  # nanoseconds of work
_end = math.inf  # the same
_spent = 0  # a whole number, so that no sum depends on what was counted before


def spent() -> float:
    """Seconds of work, all of this process."""
    return _spent / SECOND


def work(cost: int) -> None:
    """Counts work."""
    global _spent
    _spent += cost


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Lets the questions to the solver inside cost no more than this together: what is asked when it is used up has no answer."""
    global _until
    before, _until = _until, min(_until, _spent + seconds * SECOND)
    try:
        yield
    finally:
        _until = before


class OverError(ValueError):
    """What was begun would take more work than there is for it."""


@contextlib.contextmanager
def ending(until: float) -> Iterator[None]:
    """Lets what is done inside be given up when this many seconds of work are spent: at the next `demand`."""
    global _end
    before, _end = _end, until * SECOND
    try:
        yield
    finally:
        _end = before


def demand() -> None:
    """Raises OverError if the work that `ending` allows is used up. For what may take long where nobody else looks."""
    if _spent > _end:
        raise OverError("the formula would be too large for the budget")


def part(fraction: float) -> float:
    """Seconds: this fraction of the work that is left by `within`; infinite outside of it."""
    return fraction * left() / SECOND


def left() -> float:
    """The nanoseconds of work that are left by `within`; infinite outside of it."""
    return max(0, _until - _spent)
