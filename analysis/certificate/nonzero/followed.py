"""Follows functions after all that they call: their contracts, given what each needs of its callers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from analysis.certificate.kept_results import KeptResults
from analysis.certificate.nonzero.called_contexts import Given
from analysis.certificate.nonzero.callee_contracts import NOTHING_YET, Contract, Needs
from analysis.certificate.nonzero.concerned import Concerned
from analysis.certificate.nonzero.data_invariants import NONE, Invariants
from analysis.certificate.nonzero.function_edges import Edges
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.transfer import Missing
from analysis.certificate.nonzero.walk import Walked, walk
from analysis.cfa.callgraph import callees, callees_first, components, groups
from analysis.cfa.graph import Program
from analysis.model import ir

MOST_WALKS = 12  # of each function, on average, of a group of functions that call each other
_MOST_EDGES = 400  # of functions that are followed once more, for a single call
_DEEPEST = 3  # such functions that call each other

_Context = tuple[str, Given, int]
"""A function, what a call passes to it, and how many calls that is from the function that is followed."""


class Followed:
    """What was found of the functions of one program, for one rule. It goes on as long as `goes_on`. `relied`: invariants that
    hold meanwhile."""

    def __init__(
        self, program: Program, rule: Rule, goes_on: Callable[[], bool] = lambda: True, relied: Invariants = NONE
    ) -> None:
        self.program, self._rule, self.goes_on = program, rule, goes_on
        self._concerned = Concerned(program, relied)
        self.found: dict[str, Walked] = {}
        self._edges: dict[str, Edges] = {}
        self._in_contexts: dict[_Context, Contract | None] = {}
        self._kept = KeptResults[Contract | None, _Context, Walked]()

    def take_over(self, other: Followed, names: Collection[str]) -> None:
        """Takes over what was found of functions of another program, which is the same but for bodies of functions. Nothing that
        matters to these may differ."""
        if not self.found:  # else what was kept of it would be lost
            self._kept = other._kept
        self.found.update((name, other.found[name]) for name in names if name in other.found and name not in self.found)

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
        return self._walked(name, needs, {**self._known(name), **(contracts or {})}, (), 0)

    def _whole(self, name: str, needs: Needs, contracts: Mapping[str, Contract]) -> Walked:
        """What following a function shows, where it gets what it needs, with a contract for calls from which it does not."""
        found = self.walk(name, needs, contracts)
        if not needs or found.broken:
            return found
        unkept = self.walk(name, (), contracts)
        return found if unkept.broken else found._replace(contract=_with_needs(found.contract, needs, unkept.contract))

    def _walked(self, name: str, needs: Needs, contracts: Mapping[str, Contract], given: Given, deep: int) -> Walked:
        """What following a function shows, in a call that passes what is `given`, `deep` calls from where that was asked."""
        about = needs, given, deep
        kept = self._kept.find(self.program, name, contracts, about, self._in_context)
        if kept is not None:
            return kept
        asked: dict[_Context, Contract | None] = {}
        number = groups(self.program)

        def in_context(callee: str, passed: Given) -> Contract | None:
            if number[callee] == number[name]:
                return None  # what is known of it may follow from what is not shown yet
            context = callee, passed, deep + 1
            asked[context] = self._in_context(context)
            return asked[context]

        found = walk(self._edges_of(name), contracts, needs, self.goes_on, given, in_context)
        if self.goes_on():  # else it may have ended before it was through
            self._kept.keep(self.program, name, contracts, found, about, asked)
        return found

    def _edges_of(self, name: str) -> Edges:
        if name not in self._edges:
            relied = self._concerned.by(name)
            self._edges[name] = Edges(self.program, self.program.functions[name], self._rule, relied)
        return self._edges[name]

    def _known(self, name: str) -> dict[str, Contract]:
        """The contracts of what a function calls."""
        return {one: self.found[one].contract for one in callees(self.program)[name] if one in self.found}

    def _in_context(self, context: _Context) -> Contract | None:
        """The contract of a function that was followed before, where a call passes this; None if it may violate the rule then
        at a place where it does not whatever it is passed. What is shown of functions that it calls is final: it is asked for by
        others only, which are followed after all of its group."""
        name, given, deep = context
        called = callees(self.program)
        cfa = self.program.functions[name]
        if deep > _DEEPEST or len(cfa.edges) > _MOST_EDGES or not any(one is not None for one in given):
            return None
        if name not in self.found or not all(one in self.found for one in called[name] if one in self.program.functions):
            return None
        if self.found[name].broken:
            return None
        if context not in self._in_contexts:
            found = self._walked(name, (), self._known(name), given, deep)
            if not self.goes_on():
                return None  # it may have ended before it was through: nothing to keep
            anyway = set(map(_place, self.found[name].missing))
            is_kept = not found.broken and anyway.issuperset(map(_place, found.missing))
            self._in_contexts[context] = found.contract if is_kept else None
        return self._in_contexts[context]

    def follow(self, group: tuple[str, ...], needs: Callable[[str], Needs]) -> None:
        """Follows the functions of a group. What they assume of each other follows from itself (Hoare's rule of recursion): at
        first calls among them never return, then with what is shown of them, until that is all."""
        called, order = callees(self.program), callees_first(self.program, group)
        assumed = {name: _with_needs(NOTHING_YET, needs(name), NOTHING_YET) for name in group}
        waiting, left = dict.fromkeys(group), MOST_WALKS * len(group)
        while waiting:
            name = min(waiting, key=order.__getitem__)
            del waiting[name]
            self.found[name] = self._whole(name, needs(name), assumed)
            shown = weaker(assumed[name], self.found[name].contract)
            if shown != assumed[name]:
                assumed[name] = shown
                waiting.update((one, None) for one in group if name in called[one])
            left -= 1
            if left < 0:
                reason = "the recursion is not followed to the end"
                self.found.update((one, Walked(Contract(needs(one)), (), reason, 0)) for one in group)
                return


def _with_needs(contract: Contract, needs: Needs, unkept: Contract) -> Contract:
    """A contract of a function that needs this, if it needs anything, and what it does where it does not get it."""
    return contract._replace(needs=needs, unkept=unkept if needs else None)


def _place(missing: Missing) -> tuple[int, ir.Expr, str, str]:
    """Where something is missing, and what."""
    return missing.edge, missing.expr, missing.callee, missing.why


def weaker(one: Contract, other: Contract) -> Contract:
    """What both contracts say."""
    unless = other.unless if one.nonzero else one.unless if other.nonzero else one.unless & other.unless
    nonzero = one.nonzero and other.nonzero
    tells = other.tells if one.tells is None else one.tells if other.tells is None else one.tells & other.tells
    returns, writes, clears = one.returns or other.returns, one.writes | other.writes, one.clears | other.clears
    unkept = weaker(one.unkept, other.unkept) if one.unkept is not None and other.unkept is not None else None
    return Contract(one.needs, returns, nonzero, writes, unless, clears, tells, unkept)
