"""Searches for paths to what findings are about, and whether paths that were found are still there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.feasibility.error_paths import ErrorPath, Feasibility
from analysis.engines.automaton.feasibility.parallel import search_all
from analysis.engines.automaton.report.beginnings import Beginning
from analysis.engines.automaton.report.raised_errors import Sought, must_be_sure
from analysis.engines.automaton.report.trace import Taken

ErrorPaths = Mapping[tuple[str, frozenset[int]], ErrorPath]
"""Paths by `Sought.at`."""


def search_path(feasibility: Feasibility, delta: ProgramDelta, one: Sought) -> ErrorPath:
    """A path to what is sought, from the entry of the function in which the value begins to be tracked; or from where it does, if
    the search from there gives up."""
    name, fact = one.error
    path = feasibility.error_path(name, one.configurations, must_be_sure(delta, one), over=one.over)
    if path.steps is not None or path.decided or not fact.paths:  # without paths, no value begins to be tracked
        return path
    return feasibility.late_path(name, one.configurations, path, one.over)


def still_holds(feasibility: Feasibility, delta: ProgramDelta, path: ErrorPath, one: Sought) -> bool:
    """Whether a path that was searched before is what a search would find."""
    return feasibility.still_holds(path, one.error[0], one.configurations, must_be_sure(delta, one), one.over)


def search_at_once(
    feasibility: Feasibility, delta: ProgramDelta, groups: Iterable[Sequence[Sought]], known: ErrorPaths, tries: int, jobs: int
) -> ErrorPaths:
    """Paths for groups of which one error each is reported: of each group without `known` paths, those up to one that is
    possible, or until the search has given up so often as there are `tries`. In several processes, if this one may start them;
    else none."""
    todo = [group for group in groups if all(one.at not in known for one in group)]

    def search(number: int) -> dict[tuple[str, frozenset[int]], ErrorPath]:
        found: dict[tuple[str, frozenset[int]], ErrorPath] = {}
        left = tries
        for one in todo[number]:
            path = found[one.at] = search_path(feasibility, delta, one)
            left -= path.steps is None and not path.decided
            if path.steps is not None or left <= 0:
                break
        return found

    found: dict[tuple[str, frozenset[int]], ErrorPath] = {}
    for some in search_all(search, len(todo), jobs) or ():
        found.update(some)
    return found


def is_there(path: ErrorPath, delta: ProgramDelta) -> bool:
    """Whether all edges of a path are still there."""
    return _are_there(path.steps or (), delta)


def leads_there(beginning: Beginning, delta: ProgramDelta) -> bool:
    """Whether all edges of a path, and of the calls that lead to it, are still there."""
    links = (_are_there((*call.link.steps, call.taken(0)), delta) for call in beginning.calls)
    return is_there(beginning.path, delta) and all(links)


def _are_there(steps: Iterable[Taken], delta: ProgramDelta) -> bool:
    functions = delta.program.functions
    return all(t.function in functions and (t.edge < 0 or t.edge in functions[t.function].by_id) for t in steps)
