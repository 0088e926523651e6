"""Plots, as SVG: a percentile curve for each algorithm with scatter plots and regression lines, and lines over logarithmic axes.

The same values give the same bytes, and text stays text.
"""

from __future__ import annotations

import io
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import RcKeyType

_COLOURS = ("#b5651d", "#1f5fa8", "#5a8f3c", "#8a4f9e")
_WIDTH, _HEIGHT = 4.2, 3.0  # inches of one panel
_MARKERS = "osD^"
_STYLE: dict[RcKeyType, Any] = {"svg.hashsalt": "everproof", "svg.fonttype": "none", "font.size": 9, "axes.titlesize": 9}

Point = tuple[float, float]


@dataclass(frozen=True)
class Panel:
    """Points of something against the speed-up."""

    title: str
    points: list[Point]

    @property
    def r(self) -> str:
        """The correlation coefficient, a dash where there is none."""
        if not self._varies:
            return "-"
        return f"{statistics.correlation(*self._columns):.2f}"

    @property
    def line(self) -> tuple[Point, Point] | None:
        """The ends of the regression line."""
        if not self._varies:
            return None
        slope, intercept = statistics.linear_regression(*self._columns)
        low, high = min(self._columns[0]), max(self._columns[0])
        return (low, intercept + slope * low), (high, intercept + slope * high)

    @property
    def _columns(self) -> tuple[list[float], list[float]]:
        return [x for x, _ in self.points], [y for _, y in self.points]

    @property
    def _varies(self) -> bool:
        return len(self.points) > 1 and all(len(set(column)) > 1 for column in self._columns)


@dataclass(frozen=True)
class Growth:
    """Lines over logarithmic axes, by name. Points at which there is nothing to be drawn (0 or less) are left out."""

    title: str
    xlabel: str
    ylabel: str
    lines: Mapping[str, Sequence[Point]]


def plot(title: str, curves: Mapping[str, Sequence[float]], panels: Sequence[Panel]) -> str:
    """The picture: `curves` are speed-ups, best first, drawn over the percentage of the steps that have at least them."""
    rows = 1 + len(panels) // 3
    with rc_context(_STYLE):
        figure = Figure(figsize=(3 * _WIDTH, rows * _HEIGHT), layout="constrained")
        axes = figure.add_subplot(rows, 3, 1)
        axes.set_title(f"{title}: % of steps with at least the speed-up")
        for colour, (name, values) in zip(_COLOURS, curves.items(), strict=False):
            axes.plot([100 * (at + 1) / len(values) for at in range(len(values))], values, color=colour, label=name)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("speed-up")
        axes.legend()
        for number, panel in enumerate(panels, 2):
            _scatter(figure.add_subplot(rows, 3, number), panel)
        return _svg(figure)


def growth(panels: Sequence[Growth]) -> str:
    """The picture of some panels, side by side."""
    with rc_context(_STYLE):
        figure = Figure(figsize=(len(panels) * 1.3 * _WIDTH, 1.3 * _HEIGHT), layout="constrained")
        for number, panel in enumerate(panels, 1):
            axes = figure.add_subplot(1, len(panels), number)
            lines = {name: [(x, y) for x, y in points if x > 0 and y > 0] for name, points in panel.lines.items()}
            for colour, marker, (name, points) in zip(_COLOURS, _MARKERS, lines.items(), strict=False):
                axes.plot([x for x, _ in points], [y for _, y in points], color=colour, marker=marker, label=name)
            if any(lines.values()):
                axes.set(xscale="log", yscale="log")
            axes.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
            axes.grid(visible=True, which="major", alpha=0.3)
            axes.legend()
        return _svg(figure)


def _scatter(axes: Axes, panel: Panel) -> None:
    axes.set_title(f"{panel.title} (r = {panel.r})")
    axes.scatter([x for x, _ in panel.points], [y for _, y in panel.points], s=8, color=_COLOURS[1], alpha=0.5)
    if panel.line is not None:
        axes.plot([x for x, _ in panel.line], [y for _, y in panel.line], color="#b00")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("speed-up")


def _svg(figure: Figure) -> str:
    """Without the XML declaration, and without the date."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return "\n".join(line.rstrip() for line in text[text.index("<svg") :].splitlines()) + "\n"
