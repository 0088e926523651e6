"""Constrained Horn clauses with z3's Spacer."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import z3  # type: ignore[import-untyped]  # it has no stubs
from z3 import z3core

from analysis.model import clock
from analysis.smt.solving.budget_watch import last_resort
from analysis.smt.solving.solver import Budget, Reason
from analysis.smt.solving.z3_work import WATCH, interrupt, work_in, work_of

_SPACER_PATIENCE = 10  # times the seconds of the processor, since its own clock is on the wall


@contextlib.contextmanager
def _without_errors() -> Iterator[None]:
    """Without what z3 itself writes to standard error: with guidance, it tells there of a defect of its own (in
    spacer_global_generalizer.cpp), and goes on with an exception. Nobody else has anything to say meanwhile."""
    sys.stderr.flush()
    kept = os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


class Z3Horn:
    """Constrained Horn clauses, solved by Spacer. Clauses and solutions are SMT-LIB text.

    With `guidance`, Spacer looks at its lemmas together: it conjectures what several of them are instances of, and gives up what
    it tries to block with ever more of them [GLOBAL-GUIDANCE].

    With `qel`, it projects by equalities first, which solves more. But on arrays that need not end, and no interrupt ends it."""

    def __init__(self, *, guidance: bool = False, qel: bool = True) -> None:
        self._guidance = guidance
        self._qel = qel
        self._context = z3.Context()
        self._ref = self._context.ref()
        self._solver: Any = None

    def solve(self, script: str, budget: Budget) -> str | None:
        """Solves the clauses that a script asserts (logic HORN, without `check-sat`). Returns definitions of its
        predicates, or None if there is no solution or none was found within the budget."""
        z3.set_param("smt.qsat_use_qel", self._qel)  # there is no such setting of one solver
        logic = z3core.Z3_mk_string_symbol(self._ref, "HORN")
        self._solver = z3core.Z3_mk_solver_for_logic(self._ref, logic)
        z3core.Z3_solver_inc_ref(self._ref, self._solver)
        self._set_up(budget)
        WATCH.begin(self, budget)
        try:
            z3core.Z3_solver_from_string(self._ref, self._solver, script)
            with _without_errors() if self._guidance else contextlib.nullcontext():
                is_solved = z3core.Z3_solver_check(self._ref, self._solver) == 1
            if not is_solved:
                return None
            return str(z3core.Z3_model_to_string(self._ref, z3core.Z3_solver_get_model(self._ref, self._solver)))
        except z3.Z3Exception:
            return None
        finally:
            WATCH.end(self)
            clock.work(clock.CLAUSES)
            with contextlib.suppress(z3.Z3Exception):
                done = work_of(self._ref, z3core.Z3_solver_get_statistics(self._ref, self._solver))
                clock.work(clock.SOLVING * (done or 0))
            z3core.Z3_solver_dec_ref(self._ref, self._solver)

    def _set_up(self, budget: Budget) -> None:
        """Has no predicate put in the place of others: solutions would get quantifiers. In some of its phases Spacer looks at its
        own clock only, which is the last resort."""
        parameters = z3core.Z3_mk_params(self._ref)
        z3core.Z3_params_inc_ref(self._ref, parameters)
        for name in ("xform.inline_eager", "xform.inline_linear"):
            z3core.Z3_params_set_bool(self._ref, parameters, z3core.Z3_mk_string_symbol(self._ref, f"fp.{name}"), False)
        for name, value in (("global", self._guidance), ("gg.concretize", False)):  # which does not pay
            z3core.Z3_params_set_bool(self._ref, parameters, z3core.Z3_mk_string_symbol(self._ref, f"fp.spacer.{name}"), value)
        if budget.milliseconds is not None:
            for name, most in (
                ("rlimit", work_in(budget) or 0),
                ("timeout", round(_SPACER_PATIENCE * 1000 * last_resort(budget))),
            ):
                z3core.Z3_params_set_uint(self._ref, parameters, z3core.Z3_mk_string_symbol(self._ref, name), most)
        z3core.Z3_solver_set_params(self._ref, self._solver, parameters)
        z3core.Z3_params_dec_ref(self._ref, parameters)

    def run_out(self, reason: Reason) -> None:
        """See `budget_watch`."""
        interrupt(self._ref, self._solver)
