"""From edges to places in the user's files, for one revision: the sites of functions, through the maps of the front end."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.cfa.graph import FunctionSource
from analysis.frontend.columns import FileMap
from analysis.model.places import Place, Site


class ProgramPlaces:
    """Implements `graph.Places`. `maps` are the file maps of the translation units, by the units' paths."""

    def __init__(self, sources: Mapping[str, FunctionSource], maps: Mapping[str, FileMap]) -> None:
        self._sources = sources
        self._maps = maps

    def place(self, function: str, edge_id: int) -> Place:
        """The place of an edge; KeyError if the function has no such edge in this revision."""
        source = self._sources[function]
        return self._place(source, source.sites[edge_id])

    def name_place(self, function: str) -> Place:
        """The place of the function's name in its definition."""
        source = self._sources[function]
        return self._place(source, source.name_site)

    def end_place(self, function: str) -> Place:
        """The place of the function's closing brace."""
        source = self._sources[function]
        return self._place(source, source.end_site)

    def _place(self, source: FunctionSource, site: Site) -> Place:
        return self._maps[source.unit].place(source.start + site.start, source.start + site.end)
