"""Plots as SVG, without a library: a percentile curve for each algorithm, and scatter plots with regression lines."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _MARGIN = 300, 220, 50
_COLOURS = ("#b5651d", "#1f5fa8")

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


class _Axes:
    """From values to places in one panel of the picture, and what is drawn there."""

    def __init__(self, left: int, top: int, xs: Sequence[float], ys: Sequence[float], title: str, ylabel: str) -> None:
        self._left, self._top = left + _MARGIN, top + 25
        self._w, self._h = _WIDTH - _MARGIN - 15, _HEIGHT - 60
        self._x0, self._x1 = min(xs), max(max(xs), min(xs) + 1e-9)
        self._y1 = max(*ys, 1e-9)
        x, y = self._left, self._top
        self.parts = [f'<rect x="{x}" y="{y}" width="{self._w}" height="{self._h}" fill="none" stroke="#888"/>']
        self._text(x + self._w / 2, y - 8, title, "middle")
        self._text(x, y + self._h + 14, f"{self._x0:.3g}", "start")
        self._text(x + self._w, y + self._h + 14, f"{self._x1:.3g}", "end")
        self._text(x - 4, y + 8, f"{self._y1:.3g}", "end")
        self._text(x - 4, y + self._h, "0", "end")
        self._text(x - 4, y + self._h / 2, ylabel, "end")

    def _text(self, x: float, y: float, text: str, anchor: str, colour: str = "#333") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>')

    def _at(self, point: Point) -> Point:
        x = self._left + (point[0] - self._x0) / (self._x1 - self._x0) * self._w
        y = self._top + self._h - min(max(point[1] / self._y1, 0.0), 1.0) * self._h
        return x, y

    def way(self, points: Sequence[Point], colour: str) -> None:
        """A line through the points."""
        shown = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self._at, points))
        self.parts.append(f'<polyline points="{shown}" fill="none" stroke="{colour}" stroke-width="1.5"/>')

    def dots(self, points: Sequence[Point], colour: str) -> None:
        """The points."""
        self.parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.6" fill="{colour}" fill-opacity="0.5"/>' for x, y in map(self._at, points)
        ]

    def legend(self, number: int, text: str, colour: str) -> None:
        """A line of the legend, in the upper right corner."""
        self._text(self._left + self._w - 6, self._top + 16 + 14 * number, text, "end", colour)


def plot(title: str, curves: Mapping[str, Sequence[float]], panels: Sequence[Panel]) -> str:
    """The picture: `curves` are speed-ups, best first, drawn over the percentage of the steps that have at least them."""
    everything = [value for values in curves.values() for value in values]
    axes = _Axes(0, 0, (0, 100), everything, f"{title}: % of steps with at least the speed-up", "speed-up")
    for number, (name, values) in enumerate(curves.items()):
        axes.way([(100 * (at + 1) / len(values), value) for at, value in enumerate(values)], _COLOURS[number])
        axes.legend(number, name, _COLOURS[number])
    parts = axes.parts
    for number, panel in enumerate(panels, 1):
        xs, ys = zip(*panel.points, strict=True)
        axes = _Axes(_WIDTH * (number % 3), _HEIGHT * (number // 3), xs, ys, f"{panel.title} (r = {panel.r})", "speed-up")
        axes.dots(panel.points, _COLOURS[1])
        if panel.line is not None:
            axes.way(panel.line, "#b00")
        parts += axes.parts
    size = f'width="{_WIDTH * 3}" height="{_HEIGHT * (1 + len(panels) // 3)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="10">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]) + "\n"
