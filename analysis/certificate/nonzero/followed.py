"""Follows functions after all that they call: their contracts, given what each needs of its callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from analysis.certificate.nonzero.callee_contracts import NOTHING_YET, Contract, Needs
from analysis.certificate.nonzero.function_edges import Edges
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.walk import Walked, walk
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Program

MOST_WALKS = 12  # of each function, on average, of a group of functions that call each other


class Followed:
    """What was found of the functions of one program, for one rule. It goes on as long as `goes_on`."""

    def __init__(self, program: Program, rule: Rule, goes_on: Callable[[], bool] = lambda: True) -> None:
        self.program, self._rule, self.goes_on = program, rule, goes_on
        self.found: dict[str, Walked] = {}
        self._edges: dict[str, Edges] = {}

    def groups_below(self, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """The groups of functions that call each other, of those that the named ones may call, and of these; callees first."""
        called, waiting = callees(self.program), [name for name in names if name in self.program.functions]
        reached = set(waiting)
        while waiting:
            new = {name for name in called[waiting.pop()] if name in self.program.functions} - reached
            reached |= new
            waiting += new
        return (group for group in components(self.program) if not reached.isdisjoint(group))

    def walk(self, name: str, needs: Needs, contracts: Mapping[str, Contract] | None = None) -> Walked:
        """Follows one function, with these contracts of functions that it calls, and what was found of the others."""
        if name not in self._edges:
            self._edges[name] = Edges(self.program, self.program.functions[name], self._rule)
        known = {one: self.found[one].contract for one in callees(self.program)[name] if one in self.found}
        return walk(self._edges[name], {**known, **(contracts or {})}, needs, self.goes_on)

    def follow(self, group: tuple[str, ...], needs: Callable[[str], Needs]) -> None:
        """Follows the functions of a group. What they assume of each other follows from itself (Hoare's rule of recursion): at
        first calls among them never return, then with what is shown of them, until that is all."""
        called = callees(self.program)
        assumed = {name: NOTHING_YET._replace(needs=needs(name)) for name in group}
        waiting, left = dict.fromkeys(group), MOST_WALKS * len(group)
        while waiting:
            name = next(iter(waiting))
            del waiting[name]
            self.found[name] = self.walk(name, needs(name), assumed)
            shown = weaker(assumed[name], self.found[name].contract)
            if shown != assumed[name]:
                assumed[name] = shown
                waiting.update((one, None) for one in group if name in called[one])
            left -= 1
            if left < 0:
                reason = "the recursion is not followed to the end"
                self.found.update((one, Walked(Contract(needs(one)), (), reason, 0)) for one in group)
                return


def weaker(one: Contract, other: Contract) -> Contract:
    """What both contracts say."""
    unless = other.unless if one.nonzero else one.unless if other.nonzero else one.unless & other.unless
    return Contract(one.needs, one.returns or other.returns, one.nonzero and other.nonzero, one.writes | other.writes, unless)
