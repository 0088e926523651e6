"""Terms as SMT-LIB 2.6 text: for people, for `dump formula`, and for certificates."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.smt.logic.terms import Term, name, symbols, write

__all__ = ["name", "script", "write"]


def script(formulas: Iterable[Term]) -> str:
    """The formulas as a script that declares their symbols, asserts them and checks."""
    asserted = tuple(formulas)
    lines = ["(set-logic ALL)"]
    lines += [f"(declare-const {name(symbol)} {symbol.sort})" for symbol in symbols(asserted)]
    lines += [f"(assert {write(formula)})" for formula in asserted]
    return "\n".join([*lines, "(check-sat)", ""])
