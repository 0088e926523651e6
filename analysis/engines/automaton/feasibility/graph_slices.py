"""The part of a derivation graph that leads to given error configurations: where `error_paths` searches.

A path to an error begins in a function entered from NOTHING (or at the program's start), goes through callees that it comes
back from, opened where the tracked value went through them, and descends into calls that it does not come back from. Going
backwards from the errors over derivations gives, per function and entry state, the configurations on such paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.facts import NOTHING
from analysis.engines.automaton.feasibility.text_order import TextOrder
from analysis.engines.automaton.solver.full import DIRECT, DerivationGraph, Entry, FunctionGraph, Via, unpack

Live = Callable[[str, int], bool]
Sites = Mapping[str, frozenset[tuple[str, int]]]
"""The call sites that paths may lead over, as (function, configuration), by called function; any, of others."""
Steps = tuple[int, int]
"""A configuration, and a number of steps to it or from it."""
Part = tuple[bytes, int]
"""What searches see of a function on the way to some configurations: a digest of it, and the edges, as `kept_searches.bits`."""
_CALLERS_LIMIT = 60


class GraphSteps:
    """The steps that single functions have in a derivation graph, made on demand. They are kept from revision to revision, until
    the graph or the Delta differs in the function."""

    def __init__(self, graph: DerivationGraph) -> None:
        self.graph = graph
        self._parents: dict[str, dict[int, list[int]]] = {}
        self._onward: dict[str, dict[int, dict[int, int]]] = {}
        self._before: dict[str, dict[int, tuple[Steps, ...]]] = {}
        self._parts: dict[str, dict[frozenset[int], Part]] = {}

    def forget(self, functions: Iterable[str]) -> None:
        """The graph or the Delta differs in these functions."""
        for name in functions:
            self._parents.pop(name, None)
            self._onward.pop(name, None)
            self._before.pop(name, None)
            self._parts.pop(name, None)

    def parents(self, function: str) -> dict[int, list[int]]:
        """For each configuration of the function those it was derived from."""
        found = self._parents.get(function)
        if found is None:
            found = self._parents[function] = {}
            graph = self.graph.functions[function]
            for configuration in graph.derived:
                for _, derived in graph.derivations(configuration):
                    found.setdefault(derived, []).append(configuration)
        return found

    def closure(self, function: str, ends: Iterable[int]) -> set[int]:
        """The configurations of the function from which one of `ends` is derived."""
        parents = self.parents(function)
        found = set(ends)
        work = list(found)
        while work:
            for before in parents.get(work.pop(), ()):
                if before not in found:
                    found.add(before)
                    work.append(before)
        return found

    def part(self, function: str, ends: frozenset[int], look: Callable[[], Part]) -> Part:
        """What searches see on the way to `ends`, as `look` says: this has to follow from graph and Delta of the function."""
        known = self._parts.setdefault(function, {})
        found = known.get(ends)
        if found is None:
            found = known[ends] = look()
        return found

    def before(self, function: str, configuration: int, onward: Callable[[int], Iterable[Steps]]) -> tuple[Steps, ...]:
        """What a configuration of the function was derived from, and the least numbers of steps from there. `onward` says what
        was derived from a configuration, and in how many steps: this has to follow from graph and Delta of the function."""
        known = self._before.setdefault(function, {})
        found = known.get(configuration)
        if found is None:
            parents = dict.fromkeys(self.parents(function).get(configuration, ()))
            found = known[configuration] = tuple((one, self._least(function, one, onward)[configuration]) for one in parents)
        return found

    def _least(self, function: str, configuration: int, onward: Callable[[int], Iterable[Steps]]) -> dict[int, int]:
        """What was derived from a configuration, and the least number of steps to it."""
        known = self._onward.setdefault(function, {})
        found = known.get(configuration)
        if found is None:
            found = known[configuration] = {}
            for derived, steps in onward(configuration):
                found[derived] = min(steps, found.get(derived, steps))
        return found


class Slice:
    """The paths to some error configurations of one function.

    `from_start`: they begin at the program's start; else as many calls `above` the function in which the value begins to be
    tracked. They lead over the call sites `over`. `live` says which entry states an execution leads to (`retrace`).

    `starts` are the functions where paths begin, with their entry states; `ends[f, r]` are the errors and calls to which paths
    lead that do not return from f; `descents[f, c]` the calls at configuration c that the path does not come back
    from. `complete` is False when there were too many callers to follow. `called` are the functions on whose callers the slice
    depends. `dead` says whether callers were left out because no execution leads to them.
    """

    def __init__(
        self,
        steps: GraphSteps,
        order: TextOrder,
        function: str,
        errors: Iterable[int],
        from_start: bool,
        live: Live,
        above: int = 0,
        over: Sites | None = None,
    ) -> None:
        graph = steps.graph
        self._steps = steps
        self._open: dict[Entry, set[int]] = {}
        self.starts: list[Entry] = []
        self.ends: dict[Entry, frozenset[int]] = {}
        self.descents: dict[tuple[str, int], list[tuple[Edge, Entry]]] = {}
        self.complete = True
        self.called: set[str] = set()
        self.dead = False
        ends: dict[Entry, set[int]] = {}
        for error in errors:
            ends.setdefault((function, unpack(error)[1]), set()).add(error)
        work = list(ends)
        levels = dict.fromkeys(ends, 0)  # how many calls above the one in which the value begins to be tracked
        for here in work:  # grows while it is read
            name, entry = here
            initial = entry in graph.initial.get(name, ())
            begins = entry == NOTHING and not from_start and levels[here] >= above
            if initial or begins:
                self.starts.append(here)
            if begins:
                continue
            self.called.add(name)
            level = levels[here] + (entry == NOTHING)
            allowed = None if over is None else over.get(name)
            for caller, site, edge in order.sites(here):
                above_here = (caller, unpack(site)[1])
                if allowed is not None and (caller, site) not in allowed:
                    continue
                if not live(*above_here):
                    self.dead = True
                    continue
                if above_here not in ends:
                    work.append(above_here)
                    levels[above_here] = level
                ends.setdefault(above_here, set()).add(site)
                descents = self.descents.setdefault((caller, site), [])
                if (edge, here) not in descents:
                    descents.append((edge, here))
            if len(work) > _CALLERS_LIMIT:
                self.complete = False
                break
        self.ends = {here: frozenset(found) for here, found in ends.items()}

    def open(self, here: Entry) -> set[int]:
        """The configurations of a function entered in a state from which the error can be reached without returning from it."""
        found = self._open.get(here)
        if found is None:
            found = self._open[here] = self._steps.closure(here[0], self.ends[here])
        return found


def opened(graph: FunctionGraph, configuration: int, edge: int, derived: int) -> tuple[tuple[Via, ...], bool]:
    """For a derivation: the summaries by which the tracked value came through a callee, and whether it also came without them."""
    through: list[Via] = []
    via = graph.via.get((configuration, edge, derived))
    if via is None:
        return (), True
    passed = False
    for support in via:
        if support == DIRECT or support[2] == NOTHING:
            passed = True
        elif support not in through:
            through.append(support)
    return tuple(through), passed
