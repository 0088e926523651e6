"""Which edges of a function may read a variable of its own that has no value yet (C11 6.3.2.1p2).

A declaration without an initialiser gives the variable `ir.Undefined`. For scalar variables, it is followed where that may still
be there; of arrays and structures, any part may have none, once one of their declarations gives none. What pointers lead to is
not asked here: that a pointer is followed is a place where something undefined may happen in any case.
"""

from __future__ import annotations

from collections import deque

from analysis.cfa.graph import Cfa, Edge
from analysis.model import ir
from analysis.model.c_types import Array, Record


def unset_reads(cfa: Cfa) -> frozenset[int]:
    """The ids of the edges that may read what has no value."""
    whole = _unset_aggregates(cfa)
    unset = _unset_scalars(cfa)
    found = set[int]()
    for edge in cfa.edges:
        names = whole | unset.get(edge.source, frozenset())
        if names and not names.isdisjoint(_read(edge.effect)):
            found.add(edge.id)
    return frozenset(found)


def _read(effect: ir.Effect) -> set[str]:
    """The local variables that an effect reads, or reads a part of."""
    target = ir.target_of(effect)
    values = (*ir.values_of(effect), *(() if target is None else ir.place_values(target)))
    return {var.name for value in values for var in ir.variables(value) if var.scope == "local"}


def _declared(edge: Edge) -> ir.Var | None:
    """The variable that an edge leaves without a value."""
    effect = edge.effect
    if isinstance(effect, ir.Assign) and isinstance(effect.target, ir.Var) and isinstance(effect.value, ir.Undefined):
        return effect.target
    return None


def _unset_aggregates(cfa: Cfa) -> frozenset[str]:
    declared = (var for edge in cfa.edges if (var := _declared(edge)) is not None)
    return frozenset(var.name for var in declared if isinstance(var.type, Array | Record))


def _unset_scalars(cfa: Cfa) -> dict[int, frozenset[str]]:
    """The scalar variables that may have no value, by location."""
    if not any(_declared(edge) is not None for edge in cfa.edges):
        return {}
    found: dict[int, frozenset[str]] = {cfa.entry: frozenset()}
    waiting = deque([cfa.entry])
    while waiting:
        location = waiting.popleft()
        for edge in cfa.outgoing.get(location, ()):
            after = _after(edge, found[location])
            before = found.get(edge.target)
            if before is None or not after <= before:
                found[edge.target] = after | (before or frozenset())
                waiting.append(edge.target)
    return found


def _after(edge: Edge, unset: frozenset[str]) -> frozenset[str]:
    declared, target = _declared(edge), ir.target_of(edge.effect)
    if declared is not None:
        return unset if isinstance(declared.type, Array | Record) else unset | {declared.name}
    return unset - {target.name} if isinstance(target, ir.Var) else unset
