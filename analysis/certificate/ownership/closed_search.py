"""Finds closed sets of memory states: from the state at the entry, whatever follows, until nothing new does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from analysis.certificate.kept_results import KeptResults
from analysis.certificate.ownership.closed_sets import FunctionStates
from analysis.certificate.ownership.contracts import Contract, contract_of
from analysis.certificate.ownership.function_transfer import FunctionTransfer
from analysis.certificate.ownership.kept_by_callers import needed_callers
from analysis.certificate.ownership.memory_state import MemoryState
from analysis.certificate.ownership.obligations import Obligations
from analysis.certificate.ownership.whole_conditions import asked_below
from analysis.cfa.callgraph import callees, callees_first, components, groups, recursive
from analysis.cfa.graph import Program
from analysis.model.spelling import display_name

_MOST_STATES = 400  # of a function, at one location
_MOST_OF_FUNCTION = 20_000
_LOOKS = 100  # states between two looks at the time


class Followed(NamedTuple):
    """The states of a function, and what they show. `contract`: None where callers cannot rely on anything."""

    states: FunctionStates
    found: Obligations
    contract: Contract | None


class ClosedSearch:
    """Looks for the closed sets of the functions of one program. It goes on as long as `goes_on`."""

    def __init__(self, program: Program, goes_on: Callable[[], bool] = lambda: True) -> None:
        self.program, self.goes_on = program, goes_on
        self._called = callees(program)
        self._groups = components(program)
        self._number = groups(program)
        self._known: dict[str, Followed] = {}
        self._kept = KeptResults[Contract, None, Followed]()

    def take_over(self, other: ClosedSearch, names: Collection[str]) -> None:
        """Takes over what another search found. The two programs may differ in bodies of functions only, and in nothing that
        matters to the named functions."""
        if not self._known:  # else what was kept of it would be lost
            self._kept = other._kept
        self._known.update((name, one) for name, one in other._known.items() if name in names and name not in self._known)

    def follow(self, entry: str) -> Followed | None:
        """What is found of a function, after all that it calls; None if the time is over."""
        if entry in self._known:
            return self._known[entry]
        for number in self._needed(entry):
            group = self._groups[number]
            if group[0] not in self._known and not self._follow(group):
                return None
        return self._known[entry]

    def sets(self, *followed: str) -> tuple[FunctionStates, ...]:
        """The closed sets that a proof rests on which speaks of these functions, which were followed before."""
        names = [name for number in self._needed(*followed) for name in self._groups[number]]
        return tuple(self._known[name].states for name in names if name in followed or self._known[name].contract)

    def found(self, names: Iterable[str]) -> dict[str, Obligations]:
        """What is found of functions that were followed before."""
        return {name: self._known[name].found for name in names}

    def found_below(self, names: Iterable[str], entry: str, rule: str) -> dict[str, Obligations]:
        """The same, and what is found of the functions that conditions of a rule in a function are about, which it calls."""
        known = {name: one.found for name, one in self._known.items()}
        asked = (name for one in {entry, *names} for name in asked_below(self.program, known, one, rule))
        return self.found((*names, *(name for name in asked if name in known)))

    def follow_callers(self, entry: str, rule: str) -> tuple[str, ...] | None:
        """Follows the functions from which it is seen whether a function, which was followed before, gets what the rule requires.
        The names of all, its own among them; None if the time is over."""
        names = {entry: self._known[entry].found}
        while more := tuple(needed_callers(self.program, names, entry, rule)):
            for name in more:
                followed = self.follow(name)
                if followed is None:
                    return None
                names[name] = followed.found
        return tuple(names)

    def _needed(self, *entries: str) -> list[int]:
        """The groups of functions whose contracts may matter for functions, callees first, and their own."""
        reached = {self._number[entry] for entry in entries}
        waiting = list(reached)
        while waiting:
            called = {one for name in self._groups[waiting.pop()] for one in self._called[name]}
            new = {self._number[one] for one in called if one in self._number} - reached
            reached |= new
            waiting += new
        return sorted(reached)

    def _follow(self, group: tuple[str, ...]) -> bool:
        """Follows the functions of a group: first as if calls among them never returned, then with what is known of them, until
        that is all. Whether there was the time."""
        assumed: dict[str, Contract | None] = {
            name: contract_of(self.program.functions[name], (), Obligations()) for name in group
        }
        waiting, order = dict.fromkeys(group), callees_first(self.program, group)
        while waiting:
            name = min(waiting, key=order.__getitem__)
            del waiting[name]
            found = self._followed(name, assumed) if self.goes_on() else None
            if found is None:
                for one in group:
                    self._known.pop(one, None)  # what is known so far is not all that can happen
                return False
            self._known[name] = found
            before = assumed[name]
            if before is not None and not before.says_the_same(found.contract):
                assumed[name] = found.contract
                waiting.update((one, None) for one in group if name in self._called[one])
        if any(assumed[name] is None and self._known[name].contract is not None for name in group):
            self._known.update((name, _not_followed(name)) for name in group)  # what was found does not follow from itself
        return True

    def _followed(self, name: str, assumed: Mapping[str, Contract | None]) -> Followed | None:
        """What is found of one function; None if the time is over."""
        cfa = self.program.functions[name]
        called = {one: self._known[one].contract for one in self._called[name] if one in self._known}
        called.update((one, None if contract is None else contract.in_group()) for one, contract in assumed.items())
        contracts = {one: contract for one, contract in called.items() if contract is not None}
        is_recursive = name in recursive(self.program)
        kept = self._kept.find(self.program, name, contracts, is_recursive)
        if kept is not None:
            return kept
        transfer = FunctionTransfer(self.program, cfa, contracts)
        found = self._closed(transfer, name) if not transfer.found.broken else {}
        if found is None:
            return None
        rows = tuple((location, tuple(sorted(some, key=_key))) for location, some in sorted(found.items()))
        contract = contract_of(cfa, found.get(cfa.exit, ()), transfer.found, is_recursive=is_recursive)
        followed = Followed(FunctionStates(name, rows), transfer.found, contract)
        self._kept.keep(self.program, name, contracts, followed, is_recursive)
        return followed

    def _closed(self, transfer: FunctionTransfer, name: str) -> Mapping[int, set[MemoryState]] | None:
        cfa = self.program.functions[name]
        first = transfer.initial()
        found: dict[int, set[MemoryState]] = {cfa.entry: {first}}
        waiting = [(cfa.entry, first)]
        count, taken = 1, 0
        while waiting:
            location, state = waiting.pop()
            taken += 1
            if taken % _LOOKS == 0 and not self.goes_on():
                return None
            for edge in cfa.outgoing.get(location, ()):
                there = found.setdefault(edge.target, set())
                for after in transfer.successors(state, edge):
                    if after not in there:
                        there.add(after)
                        waiting.append((edge.target, after))
                        count += 1
                if len(there) > _MOST_STATES or count > _MOST_OF_FUNCTION:
                    transfer.found.broken = f"there are too many states of pointers in {display_name(name)}() to follow"
                    return {}
        return found


def _not_followed(name: str) -> Followed:
    found = Obligations()
    found.broken = f"what calls {display_name(name)}() among those that it calls is not followed to the end"
    return Followed(FunctionStates(name, ()), found, None)


def _key(state: MemoryState) -> tuple[object, ...]:
    return state.holds, state.blocks
