"""States of the search: conditions that must hold at a location, in the innermost of some open calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from analysis.engines.symbolic.backward.rewriting import is_known, leaves
from analysis.model import ir

Conditions = frozenset[ir.Expr]
TRUE: Conditions = frozenset()


class Open(NamedTuple):
    """A call that the search went into from its end: the function that calls, and the call's edge there."""

    function: str
    edge: int


class PathSuffix(NamedTuple):
    """The edges from a state to the violation: the first one, with its function, and the rest."""

    function: str
    edge: int
    rest: PathSuffix | None


class State(NamedTuple):
    """`stack` are the calls that are open, the outermost first; the search goes back to them at the function's entry. Without
    any, it goes on to all callers; `up` says how often it did. `suffix`: the edges that the search went back over."""

    stack: tuple[Open, ...]
    function: str
    location: int
    conditions: Conditions
    up: int
    suffix: PathSuffix | None = None

    @property
    def place(self) -> tuple[tuple[Open, ...], str, int]:
        """Where it is."""
        return self.stack, self.function, self.location

    @property
    def depth(self) -> int:
        """How many calls are open."""
        return len(self.stack)

    def at(self, location: int, conditions: Conditions) -> State:
        """Another state of the same activation."""
        return self._replace(location=location, conditions=conditions)


def steps(suffix: PathSuffix | None) -> tuple[tuple[str, int], ...]:
    """The edges of a path, in the order of a run."""
    found = []
    while suffix is not None:
        found.append((suffix.function, suffix.edge))
        suffix = suffix.rest
    return tuple(found)


def touches(condition: ir.Expr, conditions: Iterable[ir.Expr]) -> bool:
    """Whether a condition speaks of something that others speak of."""
    mine = {name for name in leaves(condition) if is_known(name)}
    return any(not mine.isdisjoint(leaves(other)) for other in conditions)


def essential(conditions: Conditions) -> Conditions:
    """Without the conditions that speak of no variable of the program, directly or through others with the same symbols: once
    they can hold, they always can."""
    kept = [c for c in conditions if any(is_known(name) for name in leaves(c))]
    if len(kept) == len(conditions):
        return conditions
    left = [c for c in conditions if c not in set(kept)]
    reached = set[str]().union(*(leaves(c) for c in kept))
    changed = True
    while changed and left:
        near = [c for c in left if not leaves(c).isdisjoint(reached)]
        changed = bool(near)
        for c in near:
            left.remove(c)
            kept.append(c)
            reached |= leaves(c)
    return frozenset(kept)
