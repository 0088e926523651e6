"""What a unit keeps over an edit: the ids of its functions' CFAs, and the last good CFA of functions that do not parse now.

A stale function takes part in the analysis with its last good CFA: its findings and verdicts move with the text until it
parses again (DESIGN.md, section 4, "Broken code").
"""

from __future__ import annotations

import msgspec

from analysis.cfa.match import match
from analysis.cfa.graph import Cfa, FunctionSource
from analysis.cfa.unit import LoweredFunction, Unit
from analysis.session.building import Built
from analysis.session.shift import Shift, shift_between


class Kept(msgspec.Struct, frozen=True):
    """A unit with old ids and stale functions. `retired`: the last CFAs of functions that are gone, should they come back."""

    unit: Unit
    stale: frozenset[str] = frozenset()
    retired: dict[str, Cfa] = {}


def keep(new: Built, before: Kept | None, old: Built | None) -> Kept:
    """The newly built unit with what it keeps of the revision before."""
    if before is None or old is None:
        return Kept(new.unit)
    if new.unit is old.unit:
        return before
    last = {function.cfa.name: function for function in before.unit.functions}
    functions = [_with_old_ids(f, last, before.retired) for f in new.unit.functions]
    names = {function.cfa.name for function in functions}
    shift = shift_between(old.preprocessed.text, new.preprocessed.text)
    stale = [
        LoweredFunction(function.cfa, shift.source(function.source))
        for name, function in last.items()
        if name not in names and _is_broken(function, new.unit, shift)
    ]
    stale_names = frozenset(function.cfa.name for function in stale)
    gone = {name: function.cfa for name, function in last.items() if name not in names and name not in stale_names}
    retired = {name: cfa for name, cfa in {**before.retired, **gone}.items() if name not in names}
    unit = msgspec.structs.replace(new.unit, functions=(*functions, *stale))
    return Kept(unit, stale_names, retired)


def _with_old_ids(new: LoweredFunction, last: dict[str, LoweredFunction], retired: dict[str, Cfa]) -> LoweredFunction:
    """The function with the ids of its last revision wherever they correspond."""
    name = new.cfa.name
    old = last[name].cfa if name in last else retired.get(name)
    if old is None or old is new.cfa:
        return new
    cfa = match(new.cfa, old)
    # `match` keeps the order of the edges, so the new edge of each old one is known.
    sites = {kept.id: new.source.sites[edge.id] for edge, kept in zip(new.cfa.edges, cfa.edges, strict=True)}
    source = new.source
    return LoweredFunction(cfa, FunctionSource(source.unit, source.start, sites, source.name_site, source.end_site))


def _is_broken(function: LoweredFunction, unit: Unit, shift: Shift) -> bool:
    """Whether a function that the new unit lacks is one that it could not make sense of, rather than one that was deleted."""
    moved = shift.source(function.source)
    begin, end = moved.start, moved.start + moved.end_site.end
    return any(
        broken.name == function.cfa.name or (broken.start < end and begin < max(broken.end, broken.start + 1))
        for broken in unit.broken
    )
