"""Loops that a path passes without a turn: `p = NULL; for (i = 0; i < n; i++) p = next(p); use(p);`, where n is 0. Or, where a
block is lost, `for (i = first; i < end; i++) table[i] = block;`.

Whoever wrote that may know that there is a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set

from analysis.cfa.graph import Cfa, Edge
from analysis.engines.automaton.functions.access_paths import root_of
from analysis.model import ir


def is_left_unset(cfa: Cfa, path: Sequence[Edge]) -> bool:
    """Whether the last step of a path is the branch out of a loop that sets the variable which the first step sets, and the path
    was not in the loop."""
    variable = ir.target_of(path[0].effect)
    return variable is not None and _skips(cfa, path, lambda effect: _sets(effect, variable))


def is_left_unkept(cfa: Cfa, path: Sequence[Edge], variables: Set[str]) -> bool:
    """Whether the last step of a path is the branch out of a loop that stores one of the variables in memory, and the path was
    not in the loop."""
    return _skips(cfa, path, lambda effect: _keeps(effect, variables))


def _skips(cfa: Cfa, path: Sequence[Edge], does: Callable[[ir.Effect], bool]) -> bool:
    leaving = path[-1]
    if not isinstance(leaving.effect, ir.Assume):
        return False
    turns = [edge for edge in cfa.outgoing[leaving.source] if edge.id != leaving.id and isinstance(edge.effect, ir.Assume)]
    inside = set[int]().union(*(_between(cfa, turn.target, leaving.source) for turn in turns))
    if not inside or leaving.target in inside or any(edge.source in inside for edge in path[:-1]):
        return False
    return any(edge.source in inside and does(edge.effect) for edge in cfa.edges)


def _keeps(effect: ir.Effect, variables: Set[str]) -> bool:
    """Whether an effect stores one of the variables where a pointer leads."""
    if not isinstance(effect, ir.Assign) or isinstance(effect.target, ir.Var):
        return False
    value = ir.strip_casts(effect.value)
    return isinstance(value, ir.Var) and root_of(value) in variables


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
