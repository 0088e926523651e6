"""Constrained Horn clauses over predicates of the logic: clauses, and their solutions by Spacer [SPACER]."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from analysis.model import clock
from analysis.smt.logic import smtlib
from analysis.smt.logic.smtlib_reading import definitions
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.solver import Budget
from analysis.smt.solving.z3_horn import Z3Horn

_OF_TERM = 20  # characters, about, that a term takes in a script


class Applied(msgspec.Struct, frozen=True):
    """A predicate, by number, of terms."""

    predicate: int
    arguments: tuple[Term, ...]


class Clause(msgspec.Struct, frozen=True):
    """If `premises` and `condition` hold, so does `conclusion`; None: that cannot be. All symbols are any values."""

    premises: tuple[Applied, ...]
    condition: Term
    conclusion: Applied | None


def solve(
    clauses: Sequence[Clause],
    parameters: Mapping[int, tuple[Term, ...]],
    budget: Budget,
    *,
    guidance: bool = False,
    qel: bool = True,
) -> dict[int, Term] | None:
    """A formula for each predicate over its parameters (symbols), which make all clauses true if z3 is right; None if none was
    found, or the clauses take more than the budget to write. Sound uses check them. `guidance` and `qel`: see `Z3Horn`."""
    text = script(clauses, parameters, clock.spent() + budget.seconds)
    answer = None if text is None else Z3Horn(guidance=guidance, qel=qel).solve(text, budget)
    if answer is None:
        return None
    try:
        found = definitions(answer)
    except (ValueError, RecursionError):
        return None  # a solution with quantifiers
    solution: dict[int, Term] = {}
    for number, own in parameters.items():
        definition = found.get(f"P{number}")
        if definition is None:
            solution[number] = FALSE
        else:
            solution[number] = Substitution(dict(zip(definition.parameters, own, strict=True)))(definition.body)
    return solution


def script(clauses: Sequence[Clause], parameters: Mapping[int, tuple[Term, ...]], until: float = math.inf) -> str | None:
    """The clauses as SMT-LIB text; None if they are not written by then (of the clock)."""
    lines = ["(set-logic HORN)"]
    for number, own in parameters.items():
        lines.append(f"(declare-fun P{number} ({' '.join(str(p.sort) for p in own)}) Bool)")
    for clause in clauses:
        lines.append(f"(assert {_clause(clause)})")
        clock.work(clock.TERM * (len(lines[-1]) // _OF_TERM))
        if clock.spent() > until:
            return None
    return "\n".join([*lines, ""])


def _clause(clause: Clause) -> str:
    used = symbols(
        (
            clause.condition,
            *(a for premise in clause.premises for a in premise.arguments),
            *(() if clause.conclusion is None else clause.conclusion.arguments),
        )
    )
    above = [_application(premise) for premise in clause.premises]
    above += [smtlib.write(part) for part in _parts(clause.condition)]
    below = "false" if clause.conclusion is None else _application(clause.conclusion)
    body = f"(=> (and true {' '.join(above)}) {below})"
    bound = " ".join(f"({smtlib.name(symbol)} {symbol.sort})" for symbol in used)
    return f"(forall ({bound}) {body})" if used else body


def _parts(condition: Term) -> tuple[Term, ...]:
    return condition.args if condition.op == "and" else (condition,)


def _application(applied: Applied) -> str:
    if not applied.arguments:
        return f"P{applied.predicate}"
    return f"(P{applied.predicate} {' '.join(smtlib.write(a) for a in applied.arguments)})"
