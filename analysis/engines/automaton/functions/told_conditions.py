"""What the result of a function tells about its arguments: `if (!is_open(file)) return;`, and behind it `file->flags & OPEN`.

For each of zero and not zero, these are the conditions on parameters, and on what they lead to, that hold at every return with
such a result. A caller that tests the result knows them, as long as nothing is done in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.functions.access_paths import root_of
from analysis.engines.automaton.functions.known_conditions import Condition, Conditions, Known, KnownConditions, condition_of
from analysis.engines.automaton.functions.variable_sources import Assignments
from analysis.model import ir
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, join, meet

_MOST = 6  # conditions; more say little more

Told = tuple[tuple[Condition, ...], tuple[Condition, ...]]
"""What a result of zero tells, and one that is not zero."""
NOTHING_TOLD: Told = ((), ())


def told(cfa: Cfa, conditions: Conditions, assignments: Assignments, known: KnownConditions) -> Told:
    """What the results of a function tell of its arguments."""
    returns = [(edge, at) for edge in cfa.incoming.get(cfa.exit, ()) if (at := known.at[edge.source]) is not None]
    if len(returns) < 2 and not any(_tested(edge) for edge, _ in returns):
        return NOTHING_TOLD
    visible = {number: key for number, key in enumerate(conditions.keys) if _is_callers(key, assignments)}
    zero, other = (tuple(_holding(returns, conditions, visible, value)) for value in (ZERO, NONZERO))
    return zero, other


def _tested(edge: Edge) -> Condition | None:
    """The condition that a returned value is."""
    effect = edge.effect
    value = effect.value if isinstance(effect, ir.Return) else None
    return None if value is None else condition_of(ir.Assume(value, True))


def _holding(
    returns: Iterable[tuple[Edge, Known]], conditions: Conditions, visible: dict[int, ir.Expr], wanted: Interval
) -> Iterator[Condition]:
    """The conditions that hold at every return with a result among the wanted ones."""
    found: Known | None = None
    for edge, at in returns:
        value = edge.effect.value if isinstance(edge.effect, ir.Return) else None
        if value is None:
            return
        if meet(conditions.evaluate(value, at), wanted) is None:
            continue
        here = {number: interval for number, interval in at.items() if number in visible}
        condition = condition_of(ir.Assume(value, wanted == NONZERO))
        number = None if condition is None else conditions.numbers.get(condition[0])
        if condition is not None and number in visible:
            here[number] = meet(here.get(number, ANY), condition[1]) or condition[1]
        found = here if found is None else {n: join(found[n], here[n]) for n in found.keys() & here.keys()}
    some = sorted(number for number, interval in (found or {}).items() if interval != ANY)
    yield from ((visible[number], (found or {})[number]) for number in some[:_MOST])


def _is_callers(key: ir.Expr, assignments: Assignments) -> bool:
    """Whether a condition is one on what the caller passed, and on what that leads to."""
    variables = list(ir.variables(key))
    parameters = [variable for variable in variables if variable.scope == "parameter"]
    if not parameters or any(variable.scope not in ("parameter", "global") for variable in variables):
        return False
    return assignments.reassigned.isdisjoint(map(root_of, parameters))
