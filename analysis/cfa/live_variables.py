"""Which variables of a function may be read later (live variables)."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.kept_with import kept_with


@kept_with
def live(cfa: Cfa) -> Mapping[int, frozenset[str]]:
    """The function's own variables that may be read, before they are assigned, on a path from each location; and all those whose
    address is taken, which may be read through pointers."""
    taken = taken_by(cfa).own
    found: dict[int, frozenset[str]] = dict.fromkeys(cfa.locations, taken)
    reads = {edge.id: _read(edge.effect) for edge in cfa.edges}
    waiting = list(cfa.locations)
    while waiting:
        here = waiting.pop()
        for edge in cfa.incoming.get(here, ()):
            before = (found[here] - _assigned(edge.effect)) | reads[edge.id] | taken
            if not before <= found[edge.source]:
                found[edge.source] |= before
                waiting.append(edge.source)
    return found


def _assigned(effect: ir.Effect) -> frozenset[str]:
    target = ir.target_of(effect)
    return frozenset((target.name,)) if isinstance(target, ir.Var) else frozenset()


def _read(effect: ir.Effect) -> frozenset[str]:
    found = (variable for expr in ir.expressions_read(effect) for variable in ir.variables(expr))
    return frozenset(one.name for one in found if one.scope not in ("global", "function"))
