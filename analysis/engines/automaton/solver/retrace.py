"""RETRACE of [ORION] Fig. 5: whether an execution of the program leads to an entry state of a function.

IncrBack does not look below the functions that it repairs. So a function can keep entry states that no call
leads to any more, or only calls in functions that are not reached themselves. What was derived from such an
entry state is right, but no execution gets there; its errors are not reported. (Fig. 5 removes them from the
graph. Here they stay: when a later change leads to the entry state again, it is in the graph already and is
not explored, and its errors count again.)

The search goes backwards from entry states to those that their call sites follow from. An answer holds for
all later questions, so that each list of sites is read at most once, also with recursion: entry states that
wait for one on a cycle become reached when that one does.

After a repair, only those answers are doubted that what the repair took away can have to do with. Each entry state
that is reached knows the one above that it was first reached from. Where no site leads from there any more, the
entry state is searched for anew, and so is all that was first reached from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analysis.engines.automaton.solver.call_depths import CallDepths
from analysis.engines.automaton.solver.changes import Repaired
from analysis.engines.automaton.solver.full import DerivationGraph, Entry, unpack

Entered = Mapping[str, list[int]]
"""The entry states of each function in the graph that an execution leads to."""
_START: Entry = ("", -1)  # stands above the entry states that the program starts in


class Retrace:
    """Answers about one graph, from repair to repair. `depths` are the numbers of calls to what is reached."""

    def __init__(self, graph: DerivationGraph) -> None:
        self._graph = graph
        self.depths = CallDepths(graph)
        self._above: dict[str, dict[int, Entry]] = {}  # of each reached entry state, what it was first reached from
        self._below: dict[Entry, list[Entry]] = {}  # the same, seen from there; some of these may be reached from elsewhere now
        self._unreached: set[Entry] = set()  # it was searched for a way to these, and there was none yet
        self._waiting: dict[Entry, list[Entry]] = {}
        self._entered: dict[str, list[int]] = {}
        self._erring: set[str] | None = None  # the functions with errors, reached or not, once somebody has asked
        self._outdated: set[str] | None = None  # those of which `_entered` is to be asked again; None: all
        self._otherwise: set[str] = set()  # those of which it says something else since somebody took this
        self._was_stale = False

    def live(self, function: str, entry: int) -> bool:
        """Whether some execution enters the function in this state."""
        wanted = (function, entry)
        if not self._is_reached(wanted) and wanted not in self._unreached:
            self._search(wanted)
        return self._is_reached(wanted)

    def still(self, function: str, entry: int) -> bool:
        """The same as `live`, of an entry state that the graph may not have any more."""
        return self._is_there((function, entry)) and self.live(function, entry)

    def _is_reached(self, entry: Entry) -> bool:
        return entry[1] in self._above.get(entry[0], ())

    def errors(self) -> dict[str, list[int]]:
        """The error configurations that some execution leads to, by function."""
        found, functions = {}, self._graph.functions
        if self._erring is None:
            self._erring = {name for name, part in functions.items() if part.errors}
        for name in [name for name in functions if name in self._erring]:
            reached = [error for error in functions[name].errors if self.live(name, unpack(error)[1])]
            if reached:
                found[name] = reached
        return found

    def entered(self) -> Entered:
        """The entry states that an execution leads to, for as long as nothing is repaired. A list stays the same object while it
        says the same."""
        stale, functions = self._graph.stale, self._graph.functions
        if stale != self._was_stale:
            self._was_stale = stale
            self._outdated = None
        for name in self._outdated if self._outdated is not None else {*functions, *self._entered}:
            part, known = functions.get(name), self._entered.get(name)
            found = None if part is None else [state for state in part.summaries if not stale or self.live(name, state)]
            if found is None:
                self._entered.pop(name, None)
            elif known != found:
                self._entered[name] = found
            if known != found:
                self._otherwise.add(name)
        self._outdated = set()
        return self._entered

    def take_otherwise(self) -> set[str]:
        """The functions of which `entered` says something else since this was last asked."""
        found, self._otherwise = self._otherwise, set()
        return found

    # -- after a repair -------------------------------------------------------------------------------------------------------

    def revise(self, repaired: Repaired) -> set[str]:
        """Takes in that the graph was repaired. Returns the functions that executions do not lead to any more in all states in
        which they were found to."""
        self.depths.revise(repaired)
        concerned = {*repaired.changed, *repaired.checked, *repaired.recalled, *(name for name, _ in repaired.fewer_sites)}
        concerned.update(name for name in self._above if name not in self._graph.functions)
        if self._outdated is not None:
            self._outdated.update(concerned, (name for name, _ in self._unreached))
        if self._erring is not None:
            there = (name for name in concerned if name in self._graph.functions)
            self._erring = (self._erring - concerned).union(name for name in there if self._graph.functions[name].errors)
        self._unreached.clear()
        self._waiting.clear()
        doubted = self._doubted((name, state) for name in sorted(concerned) for state in self._above.get(name, ()))
        if not self._graph.stale:
            return set()
        return {name for name, state in doubted if not self.still(name, state)}

    def _doubted(self, entries: Iterator[Entry]) -> list[Entry]:
        """Forgets that those of these are reached which no site leads to from where they were first reached, and all that was
        first reached from them; returns them."""
        work = [entry for entry in entries if not self._holds(entry)]
        doubted = dict.fromkeys(work)
        while work:
            above = work.pop()
            for entry in self._below.pop(above, ()):
                if entry not in doubted and self._above.get(entry[0], {}).get(entry[1]) == above:
                    doubted[entry] = None
                    work.append(entry)
        for name, state in doubted:
            del self._above[name][state]
            if not self._above[name]:
                del self._above[name]
        if self._outdated is not None:
            self._outdated.update(name for name, _ in doubted)
        return [*doubted]

    def _is_there(self, entry: Entry) -> bool:
        part = self._graph.functions.get(entry[0])
        return part is not None and entry[1] in part.summaries

    def _holds(self, entry: Entry) -> bool:
        """Whether a reached entry state follows from what it was first reached from."""
        above = self._above[entry[0]][entry[1]]
        if not self._is_there(entry):
            return False
        if above == _START:
            return entry[1] in self._graph.initial.get(entry[0], ())
        sites = self._graph.functions[entry[0]].sites[entry[1]]
        return any(caller == above[0] and unpack(at)[1] == above[1] for caller, at, _ in sites)

    # -- the search -----------------------------------------------------------------------------------------------------------

    def _search(self, wanted: Entry) -> None:
        stack: list[tuple[Entry, Iterator[Entry]]] = []
        self._visit(wanted, stack)
        while stack:
            here, sites = stack[-1]
            above = None if self._is_reached(here) else next(sites, None)
            if above is None:
                stack.pop()
                continue
            if self._is_reached(above):
                self._reach(here, above)
                continue
            self._waiting.setdefault(above, []).append(here)
            if above not in self._unreached:
                self._visit(above, stack)

    def _visit(self, entry: Entry, stack: list[tuple[Entry, Iterator[Entry]]]) -> None:
        self._unreached.add(entry)
        if entry[1] in self._graph.initial.get(entry[0], ()):
            self._reach(entry, _START)
        else:
            sites = self._graph.functions[entry[0]].sites[entry[1]]
            stack.append((entry, iter(dict.fromkeys((caller, unpack(site)[1]) for caller, site, _ in sites))))

    def _reach(self, entry: Entry, above: Entry) -> None:
        """An entry state is reached, from a site that follows from `above`; so is all that waits for it."""
        work = [(entry, above)]
        while work:
            entry, above = work.pop()
            if not self._is_reached(entry):
                self._unreached.discard(entry)
                self._above.setdefault(entry[0], {})[entry[1]] = above
                self._below.setdefault(above, []).append(entry)
                work.extend((one, entry) for one in self._waiting.pop(entry, ()))
