"""Loops that a path passes without a turn: `p = NULL; for (i = 0; i < n; i++) p = next(p); use(p);`, where n is 0.

Whoever wrote that may know that there is a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from analysis.cfa.graph import Cfa, Edge
from analysis.model import ir


def is_skipped(cfa: Cfa, path: Sequence[Edge]) -> bool:
    """Whether the last step of a path is the branch out of a loop that sets the variable which the first step sets, and the path
    was not in the loop."""
    leaving, variable = path[-1], ir.target_of(path[0].effect)
    if variable is None or not isinstance(leaving.effect, ir.Assume):
        return False
    turns = [edge for edge in cfa.outgoing[leaving.source] if edge.id != leaving.id and isinstance(edge.effect, ir.Assume)]
    inside = set[int]().union(*(_between(cfa, turn.target, leaving.source) for turn in turns))
    if not inside or leaving.target in inside or any(edge.source in inside for edge in path[:-1]):
        return False
    return any(edge.source in inside and _sets(edge.effect, variable) for edge in cfa.edges)


def _sets(effect: ir.Effect, variable: ir.Expr) -> bool:
    """Whether an effect assigns to a variable, or calls a function that is passed its address."""
    if ir.target_of(effect) == variable:
        return True
    arguments = map(ir.strip_casts, effect.arguments if isinstance(effect, ir.Call) else ())
    return any(isinstance(one, ir.AddressOf) and one.lvalue == variable for one in arguments)


def _between(cfa: Cfa, first: int, last: int) -> set[int]:
    """The places on ways from one place to another one, the last one not among them."""
    after = _closure({first}, lambda place: [edge.target for edge in cfa.outgoing.get(place, ()) if edge.target != last])
    before = _closure({last}, lambda place: [edge.source for edge in cfa.incoming.get(place, ()) if edge.source != last])
    return (after & before) - {last}


def _closure(places: set[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    found, work = set(places), list(places)
    while work:
        for place in following(work.pop()):
            if place not in found:
                found.add(place)
                work.append(place)
    return found
