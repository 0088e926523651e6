"""Which local variables may have an indeterminate value (C11 6.7.9p10) where control is: reading one is undefined (6.3.2.1p2).

An assignment to the whole variable gives it a value. What is written through pointers, or to parts of it, is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.kept_with import kept_with

_NONE: frozenset[str] = frozenset()


def indeterminate(cfa: Cfa, location: int) -> frozenset[str]:
    """The names of the variables that may have no value at a location."""
    return _at_locations(cfa).get(location, _NONE)


@kept_with
def _at_locations(cfa: Cfa) -> Mapping[int, frozenset[str]]:
    found: dict[int, frozenset[str]] = {}
    waiting = [edge for edge in cfa.edges if _declared(edge.effect)]
    while waiting:
        edge = waiting.pop()
        effect = edge.effect
        at_end = (found.get(edge.source, _NONE) - _written(effect)) | _declared(effect)
        before = found.get(edge.target, _NONE)
        if not at_end <= before:
            found[edge.target] = before | at_end
            waiting.extend(cfa.outgoing.get(edge.target, ()))
    return found


def _declared(effect: ir.Effect) -> frozenset[str]:
    is_declaration = isinstance(effect, ir.Assign) and isinstance(effect.value, ir.Undefined)
    return _written(effect) if is_declaration else _NONE


def _written(effect: ir.Effect) -> frozenset[str]:
    target = ir.target_of(effect)
    return frozenset((target.name,)) if isinstance(target, ir.Var) and target.scope == "local" else _NONE
