"""From edges to places in the user's file, through a real compiler's preprocessor."""

from __future__ import annotations

from pathlib import Path

from analysis.cfa.building.unit import build_unit
from analysis.cfa.edge_places import ProgramPlaces
from analysis.cfa.linking.link import link
from analysis.frontend.syntax.parser import parse
from analysis.frontend.text.preprocess import preprocess
from analysis.frontend.text.source_columns import FileMap
from analysis.model.c_types import LP64
from analysis.model.options import Options
from analysis.model.unit_flags import UnitFlags

TEXT = """\
#include <stddef.h>
#define DEREF(p) (*(p))
int f(int *p) {
    if (p == NULL)
        return 1;
    return  DEREF(p);
}
"""


def test_places_of_edges(tmp_path: Path) -> None:
    path = tmp_path / "t.c"
    path.write_text(TEXT)
    text = preprocess(str(path), None, UnitFlags(), Options())
    linked = link([build_unit(str(path), parse(text.text), LP64, in_system_header=text.line_map.in_system_header)])
    places = ProgramPlaces(linked.sources, {str(path): FileMap(text)})
    found = [
        (p.range.start.line, p.range.start.column) for p in (places.place("f", e.id) for e in linked.program.functions["f"].edges)
    ]
    assert found == [(4, 9), (4, 9), (5, 9), (6, 5)]
    assert (places.name_place("f").range.start.line, places.name_place("f").range.start.column) == (3, 5)
    assert (places.end_place("f").range.start.line, places.end_place("f").range.start.column) == (7, 1)
    assert places.name_place("f").path == str(path)
