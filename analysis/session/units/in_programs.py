"""The units of files that belong to different programs, under the names by which they are linked (`cfa.linking.programs`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from analysis.cfa.building.unit import Unit
from analysis.cfa.linking.programs import Meant, Names, Several, describe, meanings, mentioned_in, names_of, several
from analysis.cfa.linking.renamed_unit import renamed_unit
from analysis.model.report import Message
from analysis.session.units.kept_functions import Kept
from analysis.session.units.unit_view import UnitView


class _Named(NamedTuple):
    unit: Unit
    names: Names


class _Made(NamedTuple):
    given: UnitView
    meant: Meant
    view: UnitView


class _Layout(NamedTuple):
    """All that meanings depend on, where a name has several definitions."""

    paths: list[str]
    names: list[tuple[frozenset[str], frozenset[str], frozenset[str]]]
    mentioned: list[frozenset[str]]
    several: Several


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
        """The units as they are linked: the same objects where files mean by names what they say."""
        self._named = {unit.path: self._names(unit) for unit in units}
        names = [one.names for one in self._named.values()]
        found = several(names)
        if not found.owners:
            self._mentioned, self._made, self._meant = {}, {}, None
            return list(units)
        self._mentioned = {unit.path: self._mentions(unit) for unit in units}
        mentioned = [of for _, of in self._mentioned.values()]
        said = [(frozenset(one.defined), one.tentative, one.yielding) for one in names]
        layout = _Layout(list(self._named), said, mentioned, found)
        if self._meant is None or self._meant[0] != layout:
            self._meant = layout, meanings(layout.paths, names, mentioned, found)
        self._made = {unit.path: self._view(unit, meant) for unit, meant in zip(units, self._meant[1], strict=True)}
        return [made.view for made in self._made.values()]

    def _names(self, view: UnitView) -> _Named:
        known, unit = self._named.get(view.path), view.kept.unit
        return known if known is not None and known.unit is unit else _Named(unit, names_of(unit))

    def _mentions(self, view: UnitView) -> tuple[Unit, frozenset[str]]:
        known, unit = self._mentioned.get(view.path), view.kept.unit
        return known if known is not None and known[0] is unit else (unit, mentioned_in(unit))

    def _view(self, view: UnitView, meant: Meant) -> _Made:
        known = self._made.get(view.path)
        if known is not None and known.given is view and known.meant == meant:
            return known
        if not meant.names and not meant.doubtful:
            return _Made(view, meant, view)
        kept = Kept(renamed_unit(view.kept.unit, meant), {meant.names.get(n, n): one for n, one in view.kept.stale.items()})
        notes = tuple(Message("warning", view.path, sentence) for sentence in describe(meant))
        return _Made(view, meant, msgspec.structs.replace(view, kept=kept, notes=notes))
