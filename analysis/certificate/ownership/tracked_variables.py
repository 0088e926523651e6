"""The variables whose pointers are followed, and where they are read later."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.kept_with import kept_with

_SCOPES = ("local", "parameter", "temporary")


@kept_with
def tracked(cfa: Cfa) -> frozenset[str]:
    """The names of the function's own pointer variables whose address is never taken: only its own edges change them."""
    taken = taken_by(cfa).own
    found = {part.name for parts in cfa.parts.values() for part in parts if isinstance(part, ir.Var) and _is_followed(part)}
    return frozenset(found.union(one.name for one in cfa.parameters if _is_followed(one)) - taken)


def _is_followed(variable: ir.Var) -> bool:
    return variable.scope in _SCOPES and isinstance(variable.type, Pointer)


@kept_with
def read_later(cfa: Cfa) -> Mapping[int, frozenset[str]]:
    """The tracked variables that may be read, before they are assigned, on a path from each location (live variables)."""
    names = tracked(cfa)
    live: dict[int, frozenset[str]] = dict.fromkeys(cfa.locations, frozenset())
    waiting = list(cfa.locations)
    while waiting:
        here = waiting.pop()
        for edge in cfa.incoming.get(here, ()):
            before = (live[here] - _assigned(edge.effect)) | _read(edge.effect, names)
            if not before <= live[edge.source]:
                live[edge.source] |= before
                waiting.append(edge.source)
    return live


def _assigned(effect: ir.Effect) -> frozenset[str]:
    target = ir.target_of(effect)
    return frozenset((target.name,)) if isinstance(target, ir.Var) else frozenset()


def _read(effect: ir.Effect, names: frozenset[str]) -> frozenset[str]:
    found = (variable.name for expr in ir.expressions_read(effect) for variable in ir.variables(expr))
    return names.intersection(found)
