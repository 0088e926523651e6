"""Finds what functions need of their callers, so that they violate a rule nowhere: those called first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from analysis.certificate.nonzero.callee_contracts import Needs
from analysis.certificate.nonzero.claims import FunctionNeeds
from analysis.certificate.nonzero.data_invariants import NONE, Invariants
from analysis.certificate.nonzero.followed import Followed
from analysis.certificate.nonzero.needed_values import Rule
from analysis.certificate.nonzero.transfer import Missing
from analysis.certificate.nonzero.walk import Walked
from analysis.cfa.callgraph import callers
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.open_functions import is_main
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer

_MOST_CANDIDATES = 12
_MOST_ROUNDS = 4  # of functions that call each other
_DEEPEST = 2  # pointers that are followed from a parameter

_Open = tuple[int, ir.Expr, str]
"""An edge, what it needs, and the function that needs it, if it is not the edge itself."""


class RequirementSearch:
    """Follows the functions of one program, for one rule. It goes on as long as `goes_on`. `relied`: invariants that hold
    meanwhile."""

    def __init__(
        self, program: Program, rule: Rule, goes_on: Callable[[], bool] = lambda: True, relied: Invariants = NONE
    ) -> None:
        self.program, self.rule = program, rule
        self._followed = Followed(program, rule, goes_on, relied)
        self._needs: dict[str, Needs] = {}

    @property
    def found(self) -> Mapping[str, Walked]:
        """What is found of the functions that were followed."""
        return self._followed.found

    def while_(self, goes_on: Callable[[], bool]) -> None:
        """Goes on as long as `goes_on` from now."""
        self._followed.goes_on = goes_on

    def take_over(self, other: RequirementSearch, names: Collection[str]) -> None:
        """Takes over what another search found for the same rule. The two programs may differ in bodies of functions only, and in
        nothing that matters to the named functions."""
        new = [name for name in other.found if name in names and name not in self.found]
        self._followed.take_over(other._followed, new)
        self._needs.update((name, other._needs[name]) for name in new if name in other._needs)

    def follow(self, name: str) -> Walked | None:
        """What is found of a function, after all that it calls; None if the time is over."""
        if name not in self.found:
            for group in self._followed.groups_below((name,)):
                if group[0] not in self.found:
                    self._follow(group)
                if not self._followed.goes_on():
                    self._forget(group)
                    return None
        return self.found[name]

    def follow_callers(self, name: str) -> bool:
        """Follows all from which it is seen whether a function gets what it needs; whether there was the time."""
        calling, seen, waiting = callers(self.program), {name}, [name]
        while waiting:
            one = waiting.pop()
            if self.follow(one) is None:
                return False
            new = set(calling.get(one, ())) - seen if self._needed(one) else set[str]()
            seen |= new
            waiting += sorted(new)
        return True

    def needs(self) -> tuple[FunctionNeeds, ...]:
        """What the functions that were followed need."""
        return tuple(FunctionNeeds(name, needs) for name, needs in sorted(self._needs.items()) if needs)

    def _forget(self, group: tuple[str, ...]) -> None:
        for name in group:
            self._followed.found.pop(name, None)
            self._needs.pop(name, None)

    def _follow(self, group: tuple[str, ...]) -> None:
        """Finds what a group needs: all that helps, without what does not. What one needs, others that call it may need, too."""
        self._followed.follow(group, self._needed)
        for _ in range(_MOST_ROUNDS):
            before = {name: self._needed(name) for name in group}
            for name in group:
                self._improve(name)
            if before == {name: self._needed(name) for name in group}:
                return
            self._followed.follow(group, self._needed)

    def _needed(self, name: str) -> Needs:
        return self._needs.get(name, ())

    def _improve(self, name: str) -> None:
        """Adds to the needs of one function what helps, as little as will do."""
        missing = self.found[name].missing
        if not missing or is_main(name):
            return  # nobody that calls main could keep anything
        before = self._needed(name)
        found = candidates(self.program.functions[name], missing, self.rule)
        needs = tuple(dict.fromkeys((*before, *found)))[:_MOST_CANDIDATES]
        if len(needs) == len(before):
            return
        least = self._open(name, needs)
        if least == self._open(name, before):
            return  # nothing of it helps
        if any(callee == name for _, _, callee in least):
            needs = self._without_harmful(name, needs, len(before))
            least = self._open(name, needs)
        self._needs[name] = self._without_useless(name, needs, needs[len(before) :], least)

    def _without_useless(self, name: str, needs: Needs, new: Needs, least: frozenset[_Open]) -> Needs:
        """The needs without those `new` ones that do not help. Of these, not all can go, unless there is but one: first a half is
        tried at once, as most are of no use (Zeller and Hildebrandt's ddmin does so)."""
        middle = len(new) // 2
        for part in (new[middle:], new[:middle]):
            fewer = tuple(one for one in needs if one not in part)
            if part and self._open(name, fewer) == least:
                needs = fewer
            elif len(part) > 1:
                needs = self._without_useless(name, needs, part, least)
        return needs

    def _without_harmful(self, name: str, needs: Needs, kept: int) -> Needs:
        """What a function that calls itself needs, without that of which less is missing otherwise, as its own calls have to keep
        it."""
        least = self._open(name, needs)
        for need in needs[kept:]:
            fewer = tuple(one for one in needs if one != need)
            found = self._open(name, fewer)
            if found < least:
                needs, least = fewer, found
        return needs

    def _open(self, name: str, needs: Needs) -> frozenset[_Open]:
        """What is missing where these needs are kept. Other functions have the contracts that were found so far."""
        own = {name: self.found[name].contract._replace(needs=needs)}
        found = self._followed.walk(name, needs, own)
        return frozenset((one.edge, one.expr, one.callee) for one in found.missing)


def candidates(cfa: Cfa, missing: Iterable[Missing], rule: Rule) -> Iterator[ir.Expr]:
    """What of a function's parameters might have to be other than zero, for what is missing in it."""
    names = {one.name for one in cfa.parameters}
    for one in missing:
        for expr in (one.expr, *one.values):
            yield from _paths(expr, names)
    if rule == "null-dereference":
        yield from (one for one in cfa.parameters if isinstance(one.type, Pointer))


def _paths(expr: ir.Expr, names: set[str]) -> Iterator[ir.Expr]:
    """The lvalues among an expression, and what it is added to, that start at parameters; those that need others after these."""
    bare = _base(expr)
    found = [part for part in ir.walk(bare) if _is_path(part, names) and isinstance(part.type, Pointer)]
    if isinstance(bare.type, Integer) and _is_path(bare, names):
        found.append(bare)
    yield from dict.fromkeys(found)


def _base(expr: ir.Expr) -> ir.Expr:
    while isinstance(expr, ir.Cast) or (isinstance(expr, ir.Binary) and isinstance(expr.type, Pointer)):
        expr = expr.operand if isinstance(expr, ir.Cast) else expr.left
    return expr


def _is_path(expr: ir.Expr, names: set[str]) -> bool:
    depth = 0
    while not isinstance(expr, ir.Var):
        if isinstance(expr, ir.Deref):
            depth += 1
            expr = expr.pointer
        elif isinstance(expr, ir.Field):
            expr = expr.record
        else:
            return False
    return expr.name in names and depth <= _DEEPEST
