"""From edges to places in the user's file, through a real compiler's preprocessor."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.cfa.building.unit import Unit, build_unit
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


_Version = Sequence[tuple[str, bool, int]]  # functions: their names, whether one statement is another, blank lines before


def _text(version: _Version) -> bytes:
    """Functions that end alike, and may begin alike."""
    texts = (
        "\n" * blank + f"int {name}(int x) {{\n" + ("    x++;\n" if other else "    x--;\n") + "out:\n    return x;\n}\n"
        for name, other, blank in {name: (name, other, blank) for name, other, blank in version}.values()
    )
    return "".join(texts).encode()


def _built(path: str, text: bytes, previous: Unit | None) -> tuple[Unit, FileMap]:
    preprocessed = preprocess(path, text, UnitFlags(), Options())
    unit = build_unit(path, parse(preprocessed.text), LP64, previous)
    return unit, FileMap(preprocessed)


def _all_places(unit: Unit, map_: FileMap, before: ProgramPlaces | None) -> tuple[ProgramPlaces, dict[object, object]]:
    linked = link([unit])
    places = ProgramPlaces(linked.sources, {unit.path: map_}, before)
    found: dict[object, object] = {}
    for name, cfa in linked.program.functions.items():
        found |= {(name, edge.id): (places.place(name, edge.id), places.written(name, edge.id)) for edge in cfa.edges}
        found |= {(name, "name"): places.name_place(name), (name, "end"): places.end_place(name)}
    return places, found


_VERSIONS = st.lists(st.tuples(st.sampled_from("fgh"), st.booleans(), st.integers(0, 2)), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(st.lists(_VERSIONS, min_size=2, max_size=3))
def test_places_that_are_kept_are_those_that_are_found_anew(versions: list[_Version]) -> None:
    """A function that is put behind one that ends alike does not draw the places of its end to itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "t.c")
        unit, before = None, None
        for version in versions:
            unit, map_ = _built(path, _text(version), unit)
            before, kept = _all_places(unit, map_, before)
            assert kept == _all_places(unit, map_, None)[1]


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
