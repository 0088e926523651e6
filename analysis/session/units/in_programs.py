"""The units of files that belong to different programs, under the names by which they are linked (`cfa.linking.programs`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from analysis.cfa.building.unit import Unit
from analysis.cfa.linking.programs import Meant, Names, Several, apart_by_type, meanings, mentioned_in, names_of, several
from analysis.cfa.linking.renamed_unit import renamed_unit
from analysis.model.report import Message
from analysis.session.units.kept_functions import Kept
from analysis.session.units.program_notes import program_notes
from analysis.session.units.unit_view import UnitView


class _Named(NamedTuple):
    unit: Unit
    names: Names


class _Made(NamedTuple):
    given: UnitView
    meant: Meant
    notes: tuple[Message, ...]
    view: UnitView


class _Layout(NamedTuple):
    """All that meanings depend on, where a name has several definitions."""

    paths: list[str]
    names: list[tuple[frozenset[str], frozenset[str], frozenset[str]]]
    mentioned: list[frozenset[str]]
    several: Several


_PLAIN = Meant()


class InPrograms:
    """Names the units of one session. What was made of a unit is kept until it, or what it means by its names, is another."""

    def __init__(self) -> None:
        self._named: dict[str, _Named] = {}
        self._mentioned: dict[str, tuple[Unit, frozenset[str]]] = {}
        self._meant: tuple[_Layout, list[Meant]] | None = None
        self._made: dict[str, _Made] = {}

    def forget(self) -> None:
        """Drops what is known."""
        self._named, self._mentioned, self._made, self._meant = {}, {}, {}, None

    def of(self, units: Sequence[UnitView]) -> list[UnitView]:
        """The units as they are linked: the same objects where files mean by names what they say, and there is nothing to say."""
        meant_by = self._meanings(units)
        notes = program_notes(units, meant_by)
        known, self._made = self._made, {}
        found: list[UnitView] = []
        for given, meant in zip(units, meant_by, strict=True):
            said = notes.get(given.path, ())
            if meant == _PLAIN and not said:
                found.append(given)
                continue
            made = known.get(given.path)
            if made is None or made.given is not given or (made.meant, made.notes) != (meant, said):
                made = _Made(given, meant, said, _view(given, meant, said))
            self._made[given.path] = made
            found.append(made.view)
        return found

    def _meanings(self, units: Sequence[UnitView]) -> Sequence[Meant]:
        """What each of the files means by its names."""
        self._named = {unit.path: self._names(unit) for unit in units}
        names = apart_by_type([one.names for one in self._named.values()])
        found = several(names)
        if not found.owners:
            self._mentioned, self._meant = {}, None
            return [_PLAIN] * len(units)
        self._mentioned = {unit.path: self._mentions(unit) for unit in units}
        mentioned = [of for _, of in self._mentioned.values()]
        said = [(frozenset(one.defined), one.tentative, frozenset(one.yielding)) for one in names]
        layout = _Layout(list(self._named), said, mentioned, found)
        if self._meant is None or self._meant[0] != layout:
            self._meant = layout, meanings(layout.paths, names, mentioned, found)
        return self._meant[1]

    def _names(self, view: UnitView) -> _Named:
        known, unit = self._named.get(view.path), view.kept.unit
        return known if known is not None and known.unit is unit else _Named(unit, names_of(unit))

    def _mentions(self, view: UnitView) -> tuple[Unit, frozenset[str]]:
        known, unit = self._mentioned.get(view.path), view.kept.unit
        return known if known is not None and known[0] is unit else (unit, mentioned_in(unit))


def _view(view: UnitView, meant: Meant, notes: tuple[Message, ...]) -> UnitView:
    """A unit under the names by which it is linked, with what there is to say."""
    if not meant.names and not meant.doubtful:
        return msgspec.structs.replace(view, notes=notes)
    kept = Kept(renamed_unit(view.kept.unit, meant), {meant.names.get(n, n): one for n, one in view.kept.stale.items()})
    return msgspec.structs.replace(view, kept=kept, notes=notes)
