"""Which local variables may have an indeterminate value (C11 6.7.9p10) where control is: reading one is undefined (6.3.2.1p2).

An assignment to the whole variable gives it a value. What is written through pointers, or to parts of it, is not counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.kept_with import kept_with

_NONE: frozenset[str] = frozenset()


def indeterminate(cfa: Cfa, location: int) -> frozenset[str]:
    """The names of the variables that may have no value at a location."""
    return _at_locations(cfa).get(location, _NONE)


@kept_with
def _at_locations(cfa: Cfa) -> Mapping[int, frozenset[str]]:
    """The variables at each location where there are any, followed as bits."""
    steps = {edge.id: (_written(edge.effect), _is_declaration(edge.effect)) for edge in cfa.edges}
    declared = {name for name, is_declared in steps.values() if is_declared and name is not None}
    bits = {name: 1 << number for number, name in enumerate(sorted(declared))}
    found: dict[int, int] = {}
    order = cfa.reverse_postorder
    waiting = [(order[source], source) for source in {edge.source for edge in cfa.edges if steps[edge.id][1]}]
    heapify(waiting)
    while waiting:
        _, location = heappop(waiting)
        held = found.get(location, 0)
        for edge in cfa.outgoing.get(location, ()):
            name, is_declared = steps[edge.id]
            own = 0 if name is None else bits.get(name, 0)
            at_end, before = held | own if is_declared else held & ~own, found.get(edge.target, 0)
            if at_end | before != before:
                found[edge.target] = before | at_end
                heappush(waiting, (order[edge.target], edge.target))
    names_of = {held: frozenset(_names(held, list(bits))) for held in set(found.values())}
    return {location: names_of[held] for location, held in found.items()}


def _names(held: int, names: Sequence[str]) -> Iterator[str]:
    while held:
        yield names[held.bit_length() - 1]
        held ^= 1 << (held.bit_length() - 1)


def _is_declaration(effect: ir.Effect) -> bool:
    return _written(effect) is not None and isinstance(effect, ir.Assign) and isinstance(effect.value, ir.Undefined)


def _written(effect: ir.Effect) -> str | None:
    """The local variable that an effect assigns to as a whole."""
    target = ir.target_of(effect)
    return target.name if isinstance(target, ir.Var) and target.scope == "local" else None
