"""Functions that are declared `pure` or `const`, and may not keep what that promises (GCC manual, "Common Function Attributes").

Compilers leave out a call of such a function whose result is not used, and take the result of one call for that of another. A
program does the same without that where the function has no effect and comes back; one that is `const` has to read nothing that
may change between two calls, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.c.control import UNREACHABLE
from analysis.cfa.addresses_taken import taken_by, taken_in
from analysis.cfa.building.unit import Unit
from analysis.cfa.graph import Cfa
from analysis.model import ir


def broken(units: Sequence[Unit], cfas: Mapping[str, Cfa]) -> Iterator[tuple[str, str]]:
    """The functions that may not keep their promise, with the reason."""
    for unit in units:
        for name in (name for name in unit.level.linkage.pure if name in cfas):
            if not _only_computes(cfas[name]):
                yield name, "the attribute pure or const, though it does more than to compute a value"
            elif _may_loop(cfas[name]):
                yield name, "the attribute pure or const, though it may not return"
        for name in (name for name in unit.level.linkage.const if name in cfas):
            read = frozenset(_read(cfas[name]))
            if None in read or not all(_never_changes(one, units, cfas) for one in read if one is not None):
                yield name, "the attribute const, though it reads what may change"


def _only_computes(cfa: Cfa) -> bool:
    """Whether a function plainly changes nothing but its own variables, and calls no other."""
    for edge in cfa.edges:
        if isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) == UNREACHABLE:
            continue
        if isinstance(edge.effect, ir.Call | ir.Unsupported):
            return False
        target = ir.root(edge.effect.target) if isinstance(edge.effect, ir.Assign) else None
        if target is not None and not (isinstance(target, ir.Var) and target.scope != "global"):
            return False
    return True


def _may_loop(cfa: Cfa) -> bool:
    """Whether there is a loop in a function."""
    left = {edge.source: 0 for edge in cfa.edges}
    for edge in cfa.edges:
        left[edge.target] = left.get(edge.target, 0) + 1
    free = [location for location, count in left.items() if count == 0]
    while free:
        location = free.pop()
        del left[location]
        for edge in cfa.outgoing.get(location, ()):
            left[edge.target] -= 1
            if left[edge.target] == 0:
                free.append(edge.target)
    return bool(left)


def _read(cfa: Cfa) -> Iterator[str | None]:
    """The variables at file level that a function mentions; None if it reads through a pointer."""
    for edge in cfa.edges:
        for expr in ir.expressions(edge.effect):
            for part in ir.walk(expr):
                if isinstance(part, ir.Deref):
                    yield None
                elif isinstance(part, ir.Var) and part.scope == "global":
                    yield part.name


def _never_changes(name: str, units: Sequence[Unit], cfas: Mapping[str, Cfa]) -> bool:
    """Whether a variable is of one file, and nothing there writes it or takes its address."""
    if "::" not in name or any(_is_reached(name, cfa) for cfa in cfas.values()):
        return False
    values = (part for unit in units for one in unit.variables for part in (one.initial, *(each.value for each in one.parts)))
    statics = (
        part
        for unit in units
        for one in unit.functions
        for static in one.statics
        for part in (static.initial, *(each.value for each in static.parts))
    )
    return all(var.name != name for var in taken_in(value for value in (*values, *statics) if value is not None))


def _is_reached(name: str, cfa: Cfa) -> bool:
    """Whether a function may write a variable, or take its address."""
    for edge in cfa.edges:
        effect = edge.effect
        written = ir.target_of(effect)
        if written is not None and isinstance(root := ir.root(written), ir.Var) and root.name == name:
            return True
    return name in taken_by(cfa).static
