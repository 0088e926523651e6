"""Sequence interpolants of formulas over bit-vectors and arrays of them, by Bitwuzla: the only module that imports it.

Bitwuzla computes them from the proof of its SAT solver, bit by bit, and lifts them to words where it can. It is an optional
dependency (`bitvectors` in pyproject.toml): without it there are none. Formulas go to it, and interpolants come back, as text
(SMT-LIB).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import Any

from analysis.smt.logic import smtlib
from analysis.smt.logic.smtlib_reading import read
from analysis.smt.logic.terms import Sort, Term, subterms, symbols
from analysis.smt.solving.solver import Budget


@cache
def _module() -> ModuleType | None:
    with contextlib.suppress(ImportError):
        import bitwuzla  # type: ignore[import-not-found,import-untyped,unused-ignore]  # it is optional, and has no stubs

        found: ModuleType = bitwuzla
        return found
    return None


def is_available() -> bool:
    """Whether Bitwuzla is installed."""
    return _module() is not None


def sequence_interpolants(formulas: Sequence[Term], budget: Budget) -> list[Term] | None:
    """What Bitwuzla says, unchecked; None if the formulas are about numbers, can be true together, or it does not end."""
    bitwuzla = _module()
    if bitwuzla is None or not all(_is_of_bits(term.sort) for term in subterms(formulas)):
        return None
    manager, options = bitwuzla.TermManager(), bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_INTERPOLANTS, True)
    options.set(bitwuzla.Option.INTERPOLANTS_LIFT, True)
    if budget.milliseconds is not None:
        options.set(bitwuzla.Option.TIME_LIMIT_PER, budget.milliseconds)
    known = symbols(formulas)
    try:
        parser = bitwuzla.Parser(manager, options)
        parser.parse("".join(f"(declare-const {smtlib.name(symbol)} {symbol.sort})" for symbol in known), True, False)
        asserted = [parser.parse_term(smtlib.write(formula)) for formula in formulas]
        found = _interpolants(bitwuzla, manager, options, asserted)
        scope = {str(symbol.data): symbol for symbol in known}
        return None if found is None else [read(str(term), scope) for term in found]
    except (bitwuzla.BitwuzlaException, ValueError, RecursionError):  # an operator that one of the two does not have
        return None


def _interpolants(bitwuzla: ModuleType, manager: Any, options: Any, asserted: list[Any]) -> list[Any] | None:
    solver = bitwuzla.Bitwuzla(manager, options)
    for term in asserted:
        solver.assert_formula(term)
    if solver.check_sat() != bitwuzla.Result.UNSAT:
        return None
    found: list[Any] = solver.get_interpolants([[term] for term in asserted[:-1]])
    return found


def _is_of_bits(sort: Sort) -> bool:
    if sort.kind == "Array":
        return sort.index is not None and sort.element is not None and _is_of_bits(sort.index) and _is_of_bits(sort.element)
    return sort.kind in ("Bool", "BitVec")
