"""How many steps there are at least from where a search stands to an error, whatever the values are.

They come from the derivation graph alone, backward from the errors. As they never exceed what is left of a path, the search that
looks first where the path so far and the rest are shortest finds a shortest path (A*; Hart, Nilsson, Raphael 1968), and it does
not look at the many states near its start from which the error is far.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.engines.automaton.feasibility.graph_slices import Slice
from analysis.engines.automaton.feasibility.graph_view import GraphView
from analysis.engines.automaton.solver.full import pack

_Place = tuple[str, int]  # a function, and a configuration of it


class RemainingSteps:
    """The least numbers of steps from the configurations of a slice to the `errors`, which are in `function`."""

    def __init__(self, view: GraphView, part: Slice, function: str, errors: Iterable[int]) -> None:
        callers = _callers(view, part)
        self._least: dict[str, dict[int, int]] = {}
        waiting: list[list[_Place]] = [[(function, error) for error in errors]]  # by the number of steps (Dial 1969)
        for steps, places in enumerate(waiting):  # grows while it is read
            for name, configuration in places:
                known = self._least.setdefault(name, {})
                if configuration in known:
                    continue
                known[configuration] = steps
                for before, more in view.before(name, configuration):
                    if before not in known:
                        _put(waiting, steps + more, (name, before))
                for place in callers.get((name, configuration), ()):
                    _put(waiting, steps + 1, place)

    def after(self, function: str, configuration: int) -> int | None:
        """The least number of steps from a configuration, with no call open; None if no path leads from it to an error."""
        return self._least.get(function, {}).get(configuration)


def _callers(view: GraphView, part: Slice) -> dict[_Place, list[_Place]]:
    """The calls that a path through the slice does not come back from, by where they lead."""
    found: dict[_Place, list[_Place]] = {}
    for site, descents in part.descents.items():
        for _, (callee, state) in descents:
            found.setdefault((callee, pack(view.delta.entry(callee), state, state)), []).append(site)
    return found


def _put(waiting: list[list[_Place]], steps: int, place: _Place) -> None:
    while len(waiting) <= steps:
        waiting.append([])
    waiting[steps].append(place)
