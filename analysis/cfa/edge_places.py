"""From edges to places in the user's files, for one revision: the sites of functions, through the maps of the front end.

To find a place means to align a line with what the preprocessor made of it, and a finding's trace has hundreds. So places, and
what stands there, are kept from revision to revision: those in files that did not change, and those in an edited file that lie in
lines before the edit or behind it, moved by the lines that it added, of functions whose preprocessed text is the same and moved
by as many lines. (What two texts have in common at their ends need not be of one function: where a function is added behind
another one that ends alike, the text between the ends begins inside the one and ends inside the other.)
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from analysis.cfa.graph import FunctionSource
from analysis.frontend.text.difference import difference
from analysis.frontend.text.source_columns import FileMap
from analysis.model.places import GONE, Place, Position, Range, Site

_NAME, _END = -1, -2  # in the place of an edge's id
_Key = tuple[str, int]


class ProgramPlaces:
    """Implements `graph.Places`. `maps` are the file maps of the translation units, by the units' paths; `before` are the places
    of a revision before."""

    def __init__(
        self, sources: Mapping[str, FunctionSource], maps: Mapping[str, FileMap], before: ProgramPlaces | None = None
    ) -> None:
        self._sources = sources
        self._maps = maps
        self._found: dict[str, dict[_Key, Place]] = {unit: {} for unit in maps}
        self._written: dict[str, dict[_Key, str | None]] = {unit: {} for unit in maps}
        for unit, map_ in maps.items():
            old = None if before is None else before._maps.get(unit)
            if before is None or old is None:
                continue
            if old is map_:
                self._found[unit], self._written[unit] = before._found[unit], before._written[unit]
            else:
                carried = self._found[unit] = self._carried(unit, before, old)
                self._written[unit] = {key: text for key, text in before._written[unit].items() if key in carried}

    def place(self, function: str, edge_id: int) -> Place:
        """The place of an edge; KeyError if the function has no such edge in this revision."""
        return self._place(function, edge_id)

    def name_place(self, function: str) -> Place:
        """The place of the function's name in its definition."""
        return self._place(function, _NAME)

    def end_place(self, function: str) -> Place:
        """The place of the function's closing brace."""
        return self._place(function, _END)

    def source(self, function: str) -> tuple[bytes, FunctionSource]:
        """The preprocessed text of the file with the function's definition, and where that is in it."""
        source = self._sources[function]
        return self._maps[source.unit].preprocessed.text, source

    def written(self, function: str, edge_id: int) -> str | None:
        """What stands at the place of an edge, in one line, with `case` before a label; None in the expansion of a macro, or
        where it is not in one piece."""
        unit = self._sources[function].unit
        known, key = self._written[unit], (function, edge_id)
        if key not in known:
            known[key] = self._maps[unit].written(self.place(function, edge_id))
        return known[key]

    def unit_of(self, function: str) -> str:
        """The path of the unit whose definition of the function counts."""
        return self._sources[function].unit

    def version(self, function: str) -> object:
        """The map of the file that the function is in, which is made anew when the file changes."""
        return self._maps[self._sources[function].unit]

    def _place(self, function: str, key: int) -> Place:
        source = self._sources[function]
        found = self._found[source.unit]
        place = found.get((function, key))
        if place is None:
            site, map_ = _site(source, key), self._maps[source.unit]
            if site == GONE:
                place = msgspec.structs.replace(map_.place(source.start, source.start), gone=True)
            else:
                place = map_.place(source.start + site.start, source.start + site.end)
            found[function, key] = place
        return place

    def _carried(self, unit: str, before: ProgramPlaces, old: FileMap) -> dict[_Key, Place]:
        """The known places of a unit that was built anew which are not in lines that were edited, nor in headers."""
        new = self._maps[unit]
        if old.preprocessed.raw != new.preprocessed.raw:
            return {}
        own, source = new.display(new.line_map.main), old.preprocessed.source
        edit = difference(source, new.preprocessed.source)
        first, last = source.count(b"\n", 0, edit.start) + 1, source.count(b"\n", 0, edit.old_end) + 1
        by = new.preprocessed.source.count(b"\n", 0, edit.new_end) + 1 - last
        moved = {name: self._moved_by(name, unit, before, old) for name in {name for name, _ in before._found[unit]}}
        carried = {}
        for key, place in before._found[unit].items():
            lines = moved[key[0]]
            if lines is None or place.path != own or not _same_text(self._sources[key[0]], before._sources[key[0]], key[1]):
                continue
            if place.range.end.line < first and lines == 0:
                carried[key] = place
            elif place.range.start.line > last and lines == by:
                carried[key] = place if by == 0 else _lower(place, by)
        return carried

    def _moved_by(self, function: str, unit: str, before: ProgramPlaces, old: FileMap) -> int | None:
        """By how many lines a function of a unit moved as a whole; None if it is not there any more, or if its first and its last
        line did not move by as many."""
        source = self._sources.get(function)
        if source is None or source.unit != unit:
            return None
        now, then = _lines(source, self._maps[unit]), _lines(before._sources[function], old)
        by = now[0] - then[0]
        return by if now[1] - then[1] == by else None


def _site(source: FunctionSource, key: int) -> Site:
    return source.name_site if key == _NAME else source.end_site if key == _END else source.sites[key]


def _lines(source: FunctionSource, map_: FileMap) -> tuple[int, int]:
    """The numbers of the lines in which a function begins and ends."""
    end = source.start if source.end_site == GONE else source.start + source.end_site.end - 1
    return map_.line_map.line_at(source.start).number, map_.line_map.line_at(end).number


def _same_text(one: FunctionSource, other: FunctionSource, key: int) -> bool:
    """Whether an edge comes from the same text in two revisions of its function."""
    return one.sites is other.sites if key >= 0 else one.sites is other.sites and _site(one, key) == _site(other, key)


def _lower(place: Place, by: int) -> Place:
    start, end = place.range.start, place.range.end
    range_ = Range(Position(start.line + by, start.column), Position(end.line + by, end.column))
    return msgspec.structs.replace(place, range=range_)
