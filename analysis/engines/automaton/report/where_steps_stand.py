"""What evidence asks of where the steps of a path stand: which of them stand in one line, and in which macro.

That is all that it asks of places. So it stays the same where an edit only moves the text of a function.
"""

from __future__ import annotations

from analysis.cfa.graph import Places
from analysis.engines.automaton.report.trace import Taken


class Stood:
    """Answers about the steps of one path, each kept as it was given."""

    def __init__(self) -> None:
        self._together: dict[tuple[Taken, Taken], bool] = {}
        self._macros: dict[Taken, str | None] = {}

    def in_one_line(self, places: Places, one: Taken, other: Taken) -> bool:
        """Whether two steps stand in one line."""
        found = self._together[one, other] = _in_one_line(places, one, other)
        return found

    def macro(self, places: Places, taken: Taken) -> str | None:
        """The macro in which a step stands, None if in none."""
        found = self._macros[taken] = _macro(places, taken)
        return found

    def holds(self, places: Places) -> bool:
        """Whether all answers are the same now."""
        together = (_in_one_line(places, *two) == said for two, said in self._together.items())
        return all(together) and all(_macro(places, one) == said for one, said in self._macros.items())


def _in_one_line(places: Places, one: Taken, other: Taken) -> bool:
    first, second = places.place(one.function, one.edge), places.place(other.function, other.edge)
    return (first.path, first.range.start.line) == (second.path, second.range.start.line)


def _macro(places: Places, taken: Taken) -> str | None:
    return places.place(taken.function, taken.edge).macro
