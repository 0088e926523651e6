"""The plots: what they show can be read in them, and the same values give the same bytes."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from benchmarks.curves import Growth, Panel, growth, plot

CURVES = {"IncrFwd": [4.0, 2.0, 1.0], "IncrBack": [9.0, 3.0, 1.5]}
PANELS = [Panel("log of edges", [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]), Panel("call depth", [(1.0, 1.0), (1.0, 3.0)])]


def texts(svg: str) -> set[str]:
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    return {"".join(element.itertext()).strip() for element in root.iter() if element.tag.endswith("}text")}


def test_a_plot_names_its_curves_and_the_correlation_of_each_panel() -> None:
    shown = texts(plot("spin", CURVES, PANELS))
    assert {"IncrFwd", "IncrBack", "log of edges (r = 1.00)", "call depth (r = -)"} <= shown
    assert "spin: % of steps with at least the speed-up" in shown


def test_the_same_values_give_the_same_bytes() -> None:
    assert plot("spin", CURVES, PANELS) == plot("spin", CURVES, PANELS)


def test_a_growth_plot_has_a_line_for_each_name_and_leaves_out_what_was_not_measured() -> None:
    lines = {"Full": [(10_000.0, 1.0), (100_000.0, 12.0)], "one edit": [(10_000.0, 0.01), (100_000.0, 0.0)]}
    svg = growth([Growth("time", "lines", "s", lines), Growth("memory", "lines", "MB", {"Full": []})])
    assert {"time", "memory", "lines", "s", "MB", "Full", "one edit"} <= texts(svg)


@pytest.mark.parametrize("points", [[], [(1.0, 2.0)]])
def test_a_panel_without_a_correlation_is_drawn_all_the_same(points: list[tuple[float, float]]) -> None:
    assert "few (r = -)" in texts(plot("t", {"IncrBack": [1.0]}, [Panel("few", points)]))
