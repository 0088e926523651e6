"""Sequence interpolants: what must be known between the parts of a contradictory sequence of formulas.

For formulas A1, ..., An whose conjunction is unsatisfiable: I1, ..., I(n-1) such that A1 implies I1, Ik and A(k+1) imply I(k+1),
and I(n-1) and An contradict each other; Ik mentions only symbols that occur both up to k and after k. Where they come from does
not matter: `interpolants` gives only what `are_interpolants` has checked.

In this order: weakest preconditions over the parts that an unsat core needs [NEWTON], which exist where the
later parts have no symbols of their own, and which speak more generally of loops; then Spacer, on the
sequence as Horn clauses (`horn`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.term_building import FALSE, TRUE, and_, not_, or_
from analysis.smt.logic.terms import Term, symbols
from analysis.smt.solving.bitwuzla_interpolation import sequence_interpolants
from analysis.smt.solving.horn import Applied, Clause, solve
from analysis.smt.solving.solver import Budget, Solver, is_unsat

Method = Literal["spacer", "core", "bitwuzla"]
_MOST_DROPPED = 16  # parts of a core that are tried to do without
METHODS: tuple[Method, ...] = ("core", "spacer")


def shared(formulas: Sequence[Term]) -> list[tuple[Term, ...]]:
    """For each place between two formulas, the symbols that occur on both sides of it."""
    each = [symbols((formula,)) for formula in formulas]
    after: list[set[Term]] = [set() for _ in formulas]
    for position in range(len(formulas) - 2, -1, -1):
        after[position] = after[position + 1] | set(each[position + 1])
    before: dict[Term, None] = {}
    found = []
    for position in range(len(formulas) - 1):
        before.update(dict.fromkeys(each[position]))
        found.append(tuple(symbol for symbol in before if symbol in after[position]))
    return found


def are_interpolants(solver: Solver, formulas: Sequence[Term], found: Sequence[Term], budget: Budget) -> bool:
    """Whether the solver confirms that the terms are sequence interpolants of the formulas."""
    if len(found) != len(formulas) - 1:
        return False
    if any(set(symbols((term,))) - set(allowed) for term, allowed in zip(found, shared(formulas), strict=True)):
        return False
    before = [TRUE, *found]
    after = [*found, FALSE]
    return all(
        is_unsat(solver, (one, formula, not_(other)), budget) for one, formula, other in zip(before, formulas, after, strict=True)
    )


def interpolants(
    solver: Solver, formulas: Sequence[Term], budget: Budget, methods: Sequence[Method] = METHODS
) -> tuple[tuple[Term, ...], Method] | None:
    """Checked sequence interpolants of at least two formulas, and where they are from; None if no method finds any."""
    for method in methods:
        found = _MAKERS[method](solver, formulas, budget)
        if found is not None and are_interpolants(solver, formulas, found, budget):
            return tuple(found), method
    return None


def _by_spacer(_: Solver, formulas: Sequence[Term], budget: Budget) -> list[Term] | None:
    places = shared(formulas)
    clauses = []
    for position, formula in enumerate(formulas):
        before = (Applied(position - 1, places[position - 1]),) if position else ()
        after = Applied(position, places[position]) if position < len(places) else None
        clauses.append(Clause(before, formula, after))
    found = solve(clauses, dict(enumerate(places)), budget, qel=False)
    return None if found is None else [found[position] for position in range(len(places))]


def _by_bitwuzla(_: Solver, formulas: Sequence[Term], budget: Budget) -> list[Term] | None:
    return sequence_interpolants(formulas, budget)


def _by_core(solver: Solver, formulas: Sequence[Term], budget: Budget) -> list[Term] | None:
    """Ik: not all that an unsat core needs of the formulas after k holds; or, where that has symbols of its own, all that it
    needs of those up to k. Parts of a formula are its conjuncts."""
    places = shared(formulas)
    outside = set().union(*map(set, places))
    parts = [(position, part) for position, formula in enumerate(formulas) for part in _conjuncts(formula)]
    core = _core(solver, [part for _, part in parts], outside, budget)
    if core is None:
        return None
    found = []
    for position, allowed in enumerate(places):
        after = _solved([part for at, part in parts if at > position and part in core], set(allowed))
        if after is not None:
            found.append(or_(*(not_(part) for part in after)))
            continue
        before = _solved([part for at, part in parts if at <= position and part in core], set(allowed))
        if before is None:
            return None
        found.append(and_(*before))
    return found


def _core(solver: Solver, parts: Sequence[Term], outside: set[Term], budget: Budget) -> set[Term] | None:
    """Parts that contradict each other, few of them with symbols that only one formula has. None if that is not found."""
    needed = _contradictory(solver, list(dict.fromkeys(parts)), budget)
    if needed is None:
        return None
    own = [part for part in needed if any(s not in outside for s in symbols((part,))) and not _defines(part)]
    for part in own[:_MOST_DROPPED]:
        if part in needed:
            fewer = _contradictory(solver, [other for other in needed if other is not part], budget)
            needed = needed if fewer is None else fewer
    return set(needed)


def _contradictory(solver: Solver, parts: list[Term], budget: Budget) -> list[Term] | None:
    answer = solver.check(*parts, budget=budget)
    if answer.status != "unsat":
        return None
    core = set(solver.core())
    return [part for part in parts if part in core]


def _defines(part: Term) -> bool:
    return part.op == "=" and any(a.op == "symbol" for a in part.args)


def _conjuncts(formula: Term) -> tuple[Term, ...]:
    return formula.args if formula.op == "and" else (formula,)


def _solved(parts: list[Term], allowed: set[Term]) -> list[Term] | None:
    """The parts without symbols that are not allowed: equations say what these are. None if others are left."""
    left = list(dict.fromkeys(parts))
    while True:
        used = [symbol for symbol in symbols(left) if symbol not in allowed]
        if not used:
            return left
        for symbol in used:
            definition = next((d for part in left if (d := _definition(part, symbol)) is not None), None)
            if definition is not None:
                equation, term = definition
                put = Substitution({symbol: term})
                left = [new for part in left if part is not equation and (new := put(part)) is not TRUE]
                break
        else:
            return None


def _definition(part: Term, symbol: Term) -> tuple[Term, Term] | None:
    """The equation, and what it says that the symbol is."""
    if part.op != "=" or symbol.sort.kind == "Bool":
        return None
    one, other = part.args
    if one is symbol and symbol not in symbols((other,)):
        return part, other
    if other is symbol and symbol not in symbols((one,)):
        return part, one
    return None


_MAKERS: dict[Method, Callable[[Solver, Sequence[Term], Budget], list[Term] | None]] = {
    "spacer": _by_spacer,
    "core": _by_core,
    "bitwuzla": _by_bitwuzla,
}
