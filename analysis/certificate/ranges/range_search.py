"""Finds bounds of the integers of functions: those called first. What is found counts only if the checker accepts it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import heappop, heappush

from analysis.certificate.kept_results import KeptResults
from analysis.certificate.ranges.bounded_values import Range, Ranges, joined
from analysis.certificate.ranges.function_ranges import ANYTHING, Contract, FunctionRanges
from analysis.certificate.ranges.range_checker import check_ranges
from analysis.certificate.ranges.range_transfer import NotFollowedError, RangeTransfer
from analysis.certificate.refusal import RefusedError
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Cfa, Program
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.ranges import bounds
from analysis.model.spelling import display_name

_MOST_STEPS = 20_000  # edges that are taken, of one function
_MOST_JOINED = 3  # before bounds that still grow are widened
_MOST_ROUNDS = 3  # of functions that call each other, before bounds of results that still grow are those of the type
_MOST_CONSTANTS = 60
_NARROWED = 2  # times


class RangeSearch:
    """Follows the functions of one program. It goes on as long as `goes_on`. `defined`: as in `bounded_values.Known`."""

    def __init__(self, program: Program, goes_on: Callable[[], bool] = lambda: True, *, defined: bool = False) -> None:
        self.program, self.goes_on, self._defined = program, goes_on, defined
        self.claims: dict[str, FunctionRanges] = {}
        self.broken: dict[str, str] = {}  # why a function is not followed
        self._kept = KeptResults[Contract, None, FunctionRanges | str]()

    def take_over(self, other: RangeSearch, names: Collection[str]) -> None:
        """Takes over what another search found. The two programs may differ in bodies of functions only, and in nothing that
        matters to the named functions."""
        if not (self.claims or self.broken):  # else what was kept of it would be lost
            self._kept = other._kept
        self.claims.update((name, one) for name, one in other.claims.items() if name in names)
        self.broken.update((name, why) for name, why in other.broken.items() if name in names)

    def follow(self, name: str) -> bool:
        """Follows a function, after all that it calls; whether there was the time."""
        if name in self.claims or name in self.broken:
            return True
        called, waiting, reached = callees(self.program), [name], {name}
        while waiting:
            new = {one for one in called[waiting.pop()] if one in self.program.functions} - reached
            reached |= new
            waiting += new
        for group in components(self.program):
            if not reached.isdisjoint(group) and group[0] not in self.claims and group[0] not in self.broken:
                if not self.goes_on():
                    return False
                self._follow(group)
        return True

    def contract(self, name: str) -> Contract:
        """What calls of a function may rely on, as far as it was found."""
        claim = self.claims.get(name)
        return ANYTHING if claim is None else Contract(claim.returns, claim.result)

    def _follow(self, group: Sequence[str]) -> None:
        called = callees(self.program)
        is_recursive = len(group) > 1 or group[0] in called[group[0]]
        assumed = dict.fromkeys(group, Contract(returns=False)) if is_recursive else {}
        for round_ in range(2 * len(group) + 2 * _MOST_ROUNDS):
            for name in group:
                self._one(name, assumed)
            found = {name: _weaker(assumed[name], self.contract(name)) for name in assumed}
            if found == assumed:
                break
            if round_ >= _MOST_ROUNDS:
                found = {name: _grown(assumed[name], one, self.program.functions[name]) for name, one in found.items()}
            assumed = found
        else:
            for name in group:
                self.claims.pop(name, None)
                self.broken[name] = f"the recursion of {display_name(name)}() is not followed to the end"
        self.claims.update((name, _with_contract(self.claims[name], one)) for name, one in assumed.items() if name in self.claims)
        self._accept(group)

    def _accept(self, group: Sequence[str]) -> None:
        """Keeps what was found of a group if the checker accepts it."""
        members = [self.claims[name] for name in group if name in self.claims]
        try:
            check_ranges(self.program, members, self.contract, defined=self._defined)
        except RefusedError as refused:
            for name in group:
                self.claims.pop(name, None)
                self.broken[name] = str(refused)

    def _one(self, name: str, assumed: Mapping[str, Contract]) -> None:
        functions = self.program.functions
        called = [one for one in callees(self.program)[name] if one in functions]
        contracts = {one: assumed[one] if one in assumed else self.contract(one) for one in called}
        found = self._kept.find(self.program, name, contracts)
        if found is None:
            found = self._followed(functions[name], contracts)
            self._kept.keep(self.program, name, contracts, found)
        self.claims.pop(name, None)
        self.broken.pop(name, None)
        if isinstance(found, str):
            self.broken[name] = found
        else:
            self.claims[name] = found

    def _followed(self, cfa: Cfa, contracts: Mapping[str, Contract]) -> FunctionRanges | str:
        """What is found of a function, or why it is not followed."""
        transfer = RangeTransfer(self.program, cfa, contracts.__getitem__, defined=self._defined)
        try:
            return _Analysis(cfa, transfer).done()
        except NotFollowedError as error:
            return str(error)


def _with_contract(claim: FunctionRanges, contract: Contract) -> FunctionRanges:
    """The claim with a weaker contract."""
    return FunctionRanges(claim.function, claim.bounds, contract.result, contract.returns)


def _grown(old: Contract, new: Contract, cfa: Cfa) -> Contract:
    """The contract, where bounds that grow are those of the type."""
    type_ = cfa.type.result
    if old.result is None or new.result is None or not isinstance(type_, Integer):
        return new
    low, high = bounds(type_)
    least = low if new.result[0] < old.result[0] else new.result[0]
    most = high if new.result[1] > old.result[1] else new.result[1]
    return Contract(result=(least, most))


def _weaker(one: Contract, other: Contract) -> Contract:
    if not one.returns:
        return other
    if not other.returns:
        return one
    if one.result is None or other.result is None:
        return ANYTHING
    return Contract(result=joined(one.result, other.result))


class _Analysis:
    """Interval analysis of one function."""

    def __init__(self, cfa: Cfa, transfer: RangeTransfer) -> None:
        self._cfa, self._transfer = cfa, transfer
        self._order = cfa.reverse_postorder
        self._heads = {e.target for e in cfa.edges if self._order.get(e.target, 0) <= self._order.get(e.source, -1)}
        self._states: dict[int, Ranges] = {cfa.entry: transfer.at_entry()}
        self._joins: dict[int, int] = {}
        self._constants = _constants(cfa)
        self._steps = 0

    def done(self) -> FunctionRanges:
        """The claim. Raises NotFollowedError."""
        waiting, queued = [(0, self._cfa.entry)], {self._cfa.entry}
        while waiting:
            _, location = heappop(waiting)
            queued.discard(location)
            for edge in self._cfa.outgoing.get(location, ()):
                self._step()
                after = self._transfer.after(self._states[location], edge)
                if after is not None and self._add(edge.target, after) and edge.target not in queued:
                    queued.add(edge.target)
                    heappush(waiting, (self._order[edge.target], edge.target))
        for _ in range(_NARROWED):
            self._narrow()
        return self._claim()

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise NotFollowedError(f"{display_name(self._cfa.name)}() is too large to follow")

    def _add(self, location: int, known: Ranges) -> bool:
        """Adds bounds to those at a location; whether these grow."""
        there = self._states.get(location)
        if there is None:
            self._states[location] = known
            return True
        both = {name: joined(one, known[name]) for name, one in there.items()}
        if both == there:
            return False
        if location in self._heads:
            self._joins[location] = self._joins.get(location, 0) + 1
            if self._joins[location] > _MOST_JOINED:
                both = {name: self._widened(there[name], one, name) for name, one in both.items()}
        self._states[location] = both
        return True

    def _widened(self, old: Range, new: Range, name: str) -> Range:
        """Bounds that grow go to the next constant of the function, or to those of the type."""
        low, high = self._transfer.type_bounds(name)
        least = new[0] if new[0] == old[0] else max((one for one in self._constants if low <= one <= new[0]), default=low)
        most = new[1] if new[1] == old[1] else min((one for one in self._constants if new[1] <= one <= high), default=high)
        return least, most

    def _narrow(self) -> None:
        """Takes each edge once more: what is claimed still holds, and bounds that were widened too far come back."""
        found: dict[int, Ranges] = {self._cfa.entry: self._transfer.at_entry()}
        for location in sorted(self._states, key=self._order.__getitem__):
            for edge in self._cfa.outgoing.get(location, ()):
                self._step()
                after = self._transfer.after(self._states[location], edge)
                if after is not None:
                    there = found.get(edge.target)
                    found[edge.target] = (
                        after if there is None else {name: joined(one, after[name]) for name, one in there.items()}
                    )
        self._states = found

    def _claim(self) -> FunctionRanges:
        result: Range | None = None
        returns = self._cfa.exit in self._states
        for edge in self._cfa.incoming.get(self._cfa.exit, ()):
            if edge.source in self._states and self._transfer.after(self._states[edge.source], edge) is not None:
                found = self._transfer.result(self._states[edge.source], edge)
                result = found if result is None or found is None else joined(result, found)
        rows = (
            (at, tuple((name, low, high) for name, (low, high) in sorted(known.items())))
            for at, known in sorted(self._states.items())
        )
        return FunctionRanges(self._cfa.name, tuple(rows), result, returns)


def _constants(cfa: Cfa) -> tuple[int, ...]:
    """What bounds are widened to: the constants of a function, and those beside them."""
    found = {part.value for parts in cfa.parts.values() for part in parts if isinstance(part, ir.IntConst)}
    few = sorted(found, key=lambda one: (abs(one), one))[:_MOST_CONSTANTS]
    return tuple(sorted({near for one in (0, *few) for near in (one - 1, one, one + 1)}))
