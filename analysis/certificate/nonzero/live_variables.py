"""Which variables of a function may be read later: what is known of others does not matter."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.kept_with import kept_with


@kept_with
def live(cfa: Cfa) -> Mapping[int, frozenset[str]]:
    """The variables of the function that may be read, before they are assigned, on a path from each location; and all whose
    address is taken."""
    taken = taken_by(cfa).own
    reads = {edge.id: _read(cfa, edge.id, edge.effect) for edge in cfa.edges}
    found: dict[int, frozenset[str]] = dict.fromkeys(cfa.locations, taken)
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


def _read(cfa: Cfa, edge: int, effect: ir.Effect) -> frozenset[str]:
    """The variables of the function that an effect reads."""
    target = ir.target_of(effect)
    names = {part.name for part in cfa.parts[edge] if isinstance(part, ir.Var) and part.scope not in ("global", "function")}
    if isinstance(target, ir.Var):
        read = {variable.name for expr in ir.values_of(effect) for variable in ir.variables(expr)}
        names = (names - {target.name}) | (names & read)
    return frozenset(names)
