"""How many steps there are at least from where a search stands to an error, whatever the values are.

They come from the derivation graph alone, backward from the errors. As they never exceed what is left of a path, the search that
looks first where the path so far and the rest are shortest finds a shortest path (A*; Hart, Nilsson, Raphael 1968), and it does
not look at the many states near its start from which the error is far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from analysis.engines.automaton.feasibility.graph_slices import Slice
from analysis.engines.automaton.feasibility.walk import Walk
from analysis.engines.automaton.solver.full import pack, unpack

_Place = tuple[str, int]  # a function, and a configuration of it


class RemainingSteps:
    """The least numbers of steps from the configurations of a slice to the `errors`, which are in `function`."""

    def __init__(self, walk: Walk, part: Slice, function: str, errors: Iterable[int]) -> None:
        before: dict[_Place, list[tuple[int, _Place]]] = {}
        for here, after, steps in _steps(walk, part):
            before.setdefault(after, []).append((steps, here))
        self._least: dict[_Place, int] = {}
        queue = [(0, (function, error)) for error in sorted(errors)]
        while queue:
            steps, place = heappop(queue)
            if place in self._least:
                continue
            self._least[place] = steps
            for more, earlier in before.get(place, ()):
                if earlier not in self._least:
                    heappush(queue, (steps + more, earlier))

    def after(self, function: str, configuration: int) -> int | None:
        """The least number of steps from a configuration, with no call open; None if no path leads from it to an error."""
        return self._least.get((function, configuration))


def _steps(walk: Walk, part: Slice) -> Iterator[tuple[_Place, _Place, int]]:
    """From where to where the slice leads, and in how many steps at least."""
    for (function, entry), allowed in part.open.items():
        for configuration in sorted(allowed):
            if unpack(configuration)[1] != entry:
                continue
            here = function, configuration
            for derived, steps in walk.onward(function, configuration):
                if derived in allowed:
                    yield here, (function, derived), steps
            for _, (callee, state) in part.descents.get(here, ()):
                yield here, (callee, pack(walk.delta.entry(callee), state, state)), 1
