"""What bounds the work of z3: its own count of it, its memory, and interrupts."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import z3  # type: ignore[import-untyped]  # it has no stubs
from z3 import z3core

from analysis.model import clock
from analysis.smt.solving.budget_watch import Watch
from analysis.smt.solving.solver import Budget

WATCH = Watch(z3core.Z3_get_estimated_alloc_size)
"""Ends the checks of this process that take too much memory, or too long."""
COUNTED = 2**32
"""Units of z3's work, of which a limit has to be less."""


def interrupt(ref: Any, solver: Any) -> None:
    """Interrupts what another thread has z3 do. The error that z3 may have by then is that thread's, which sees it, too."""
    with contextlib.suppress(z3.Z3Exception):
        z3core.Z3_solver_interrupt(ref, solver)


def work_in(budget: Budget) -> int | None:
    """How much z3 may do in its own units; None: as much as it likes."""
    wanted = math.inf if budget.milliseconds is None else budget.milliseconds * clock.SECOND // 1000
    most = min(wanted, clock.left())
    return None if most == math.inf else min(max(1, int(most // clock.SOLVING)), COUNTED - 1)


def work_of(context: Any, statistics: Any) -> int | None:
    """What a context has done so far, in z3's units; None if z3 does not say."""
    z3core.Z3_stats_inc_ref(context, statistics)
    try:
        last = z3core.Z3_stats_size(context, statistics) - 1
        named = (index for index in range(last, -1, -1) if z3core.Z3_stats_get_key(context, statistics, index) == "rlimit count")
        index = next(named, None)
        if index is None:
            return None
        if z3core.Z3_stats_is_uint(context, statistics, index):
            return int(z3core.Z3_stats_get_uint_value(context, statistics, index))
        return int(z3core.Z3_stats_get_double_value(context, statistics, index))  # what has no room in 32 bits
    finally:
        z3core.Z3_stats_dec_ref(context, statistics)
