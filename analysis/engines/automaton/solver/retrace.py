"""RETRACE of [ORION] Fig. 5: whether an execution of the program leads to an entry state of a function.

IncrBack does not look below the functions that it repairs. So a function can keep entry states that no call
leads to any more, or only calls in functions that are not reached themselves. What was derived from such an
entry state is right, but no execution gets there; its errors are not reported. (Fig. 5 removes them from the
graph. Here they stay: when a later change leads to the entry state again, it is in the graph already and is
not explored, and its errors count again.)

The search goes backwards from entry states to those that their call sites follow from. An answer holds for
all later questions, so that each list of sites is read at most once, also with recursion: entry states that
wait for one on a cycle become reached when that one does.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.engines.automaton.solver.full import DerivationGraph, Entry, unpack


class Retrace:
    """Answers about one graph, while it stays as it is.

    For an entry state that is reached, its first site is made one in a function entered in a state that was found to be reached
    before it, so that going from first site to first site ends at an entry of the program (see `trace`).
    """

    def __init__(self, graph: DerivationGraph) -> None:
        self._graph = graph
        self._live: set[Entry] = set()
        self._seen: set[Entry] = set()
        self._waiting: dict[Entry, list[tuple[Entry, int]]] = {}

    def live(self, function: str, entry: int) -> bool:
        """Whether some execution enters the function in this state."""
        wanted = (function, entry)
        if wanted not in self._seen:
            self._search(wanted)
        return wanted in self._live

    @property
    def reached(self) -> frozenset[Entry]:
        """The entry states of which it was found so far that executions lead there."""
        return frozenset(self._live)

    def still(self, function: str, entry: int) -> bool:
        """The same as `live`, of an entry state that the graph may not have any more."""
        part = self._graph.functions.get(function)
        return part is not None and entry in part.summaries and self.live(function, entry)

    def errors(self) -> dict[str, list[int]]:
        """The error configurations that some execution leads to, by function."""
        found = {}
        for name, part in self._graph.functions.items():
            reached = [error for error in part.errors if self.live(name, unpack(error)[1])]
            if reached:
                found[name] = reached
        return found

    def _search(self, wanted: Entry) -> None:
        stack: list[tuple[Entry, Iterator[tuple[int, Entry]]]] = []
        self._visit(wanted, stack)
        while stack:
            here, sites = stack[-1]
            step = next(sites, None) if here not in self._live else None
            if step is None:
                stack.pop()
                continue
            index, above = step
            if above in self._live:
                self._reach(here, index)
                continue
            self._waiting.setdefault(above, []).append((here, index))
            if above not in self._seen:
                self._visit(above, stack)

    def _visit(self, entry: Entry, stack: list[tuple[Entry, Iterator[tuple[int, Entry]]]]) -> None:
        self._seen.add(entry)
        if entry[1] in self._graph.initial.get(entry[0], ()):
            self._reach(entry, 0)
        else:
            stack.append((entry, self._above(entry)))

    def _above(self, entry: Entry) -> Iterator[tuple[int, Entry]]:
        """The entry states that the sites of one follow from, each once, with the position of the site."""
        seen: set[Entry] = set()
        for index, (caller, site, _) in enumerate(self._graph.functions[entry[0]].sites[entry[1]]):
            above = (caller, unpack(site)[1])
            if above not in seen:
                seen.add(above)
                yield index, above

    def _reach(self, entry: Entry, index: int) -> None:
        """An entry state is reached, from the site at a position; so is all that waits for it."""
        work = [(entry, index)]
        while work:
            entry, index = work.pop()
            if entry not in self._live:
                self._live.add(entry)
                if index:
                    sites = self._graph.functions[entry[0]].sites[entry[1]]
                    sites.insert(0, sites.pop(index))
                work.extend(self._waiting.pop(entry, ()))
