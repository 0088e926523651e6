"""What a unit keeps over an edit: the last good CFA of functions that do not parse now.

A stale function takes part in the analysis with its last good CFA: its findings and verdicts move with the text, token by token,
until it parses again.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from analysis.cfa.building.cfa_building import LoweredFunction
from analysis.cfa.building.token_shift import TokenShift, token_shift
from analysis.cfa.building.unit import Unit, assemble
from analysis.session.units.built import Built


class Kept(msgspec.Struct, frozen=True):
    """A unit as it takes part in the program: what parses, and the stale functions by linkage name, moved to the present text."""

    unit: Unit
    stale: dict[str, LoweredFunction] = {}


def keep(new: Built, before: Kept | None, old: Built | None) -> Kept:
    """The newly built unit with what it keeps of the revision before."""
    if before is None or old is None:
        return Kept(new.unit)
    if new.unit is old.unit:
        return before
    present = {function.cfa.name for function in new.unit.functions}
    missing = [function for function in before.unit.functions if function.cfa.name not in present]
    if not missing or not new.unit.broken:
        return Kept(new.unit)
    shift = token_shift(old.preprocessed.text, new.preprocessed.text)
    stale: dict[str, LoweredFunction] = {}
    for function in missing:
        if _is_broken(function, new.unit, shift):
            moved = msgspec.structs.replace(function, source=shift.source(function.source))
            stale[function.cfa.name] = moved
    return Kept(_with(new.unit, stale.values()), stale)


def _with(unit: Unit, stale: Collection[LoweredFunction]) -> Unit:
    """The unit with functions that it lacks: what they show of themselves to other units is there as well."""
    functions = tuple(sorted((*unit.functions, *stale), key=lambda function: function.source.start))
    return assemble(unit.path, unit.level, unit.level_digest, functions, unit.work.recomputed, unit.broken, unit, unit.model)


def _is_broken(function: LoweredFunction, unit: Unit, shift: TokenShift) -> bool:
    """Whether a function that the new unit lacks is one that it could not make sense of, rather than one that was deleted."""
    source = shift.source(function.source)
    begin, end = source.start, source.start + source.end_site.end
    return any(
        broken.name == function.cfa.name or (broken.start < end and begin < max(broken.end, broken.start + 1))
        for broken in unit.broken
    )
