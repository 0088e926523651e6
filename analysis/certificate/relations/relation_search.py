"""Finds how what functions return and write relates to what was there at their entry: of those called first. What is found counts
only if the checker accepts it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import heappop, heappush

from analysis.certificate.kept_results import KeptResults
from analysis.certificate.refusal import RefusedError
from analysis.certificate.relations.joined_states import implies, joined
from analysis.certificate.relations.relation_checker import FunctionRelations, check_relations
from analysis.certificate.relations.relation_contract import ANYTHING, NEVER, RelationContract, contract_of, weaker
from analysis.certificate.relations.relation_state import RelationState
from analysis.certificate.relations.relation_transfer import NotFollowedError, RelationTransfer, candidates
from analysis.cfa.callgraph import callees, components
from analysis.cfa.graph import Cfa, Program
from analysis.cpa.obstacles.completeness import not_supported
from analysis.model import ir
from analysis.model.spelling import display_name

_MOST_STEPS = 2_000  # edges that are taken, of one function
_MOST_ROUNDS = 12  # of functions that call each other


class _Found:
    """What was found of a function, or why it is not followed. `is_accepted`: the checker has accepted that, with the contracts
    of what it calls that it follows from."""

    def __init__(self, claim: FunctionRelations | str) -> None:
        self.claim = claim
        self.is_accepted = False


class RelationSearch:
    """Follows the functions of one program. It goes on as long as `goes_on`."""

    def __init__(self, program: Program, goes_on: Callable[[], bool] = lambda: True) -> None:
        self.program, self.goes_on = program, goes_on
        self.claims: dict[str, FunctionRelations] = {}
        self.broken: dict[str, str] = {}  # why a function is not followed
        self._found: dict[str, _Found] = {}
        self._kept = KeptResults[RelationContract, None, _Found]()

    def take_over(self, other: RelationSearch, names: Collection[str]) -> None:
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

    def contract(self, name: str) -> RelationContract:
        """What calls of a function may rely on, as far as it was found."""
        claim = self.claims.get(name)
        return ANYTHING if claim is None else claim.contract

    def _follow(self, group: Sequence[str]) -> None:
        is_recursive = len(group) > 1 or group[0] in callees(self.program)[group[0]]
        assumed: dict[str, RelationContract] = dict.fromkeys(group, NEVER) if is_recursive else {}
        for _ in range(_MOST_ROUNDS):
            for name in group:
                self._one(name, assumed)
            found = {name: weaker(one, self.contract(name)) for name, one in assumed.items()}
            if found == assumed:
                break
            assumed = found
        else:
            for name in group:
                self.claims.pop(name, None)
                self.broken[name] = f"the recursion of {display_name(name)}() is not followed to the end"
        for name, contract in assumed.items():
            if name in self.claims:
                self.claims[name] = self.claims[name]._replace(contract=contract)
        if is_recursive or not self._found[group[0]].is_accepted:
            self._accept(group)
            self._found[group[0]].is_accepted = not is_recursive and group[0] in self.claims

    def _accept(self, group: Sequence[str]) -> None:
        """Keeps what was found of a group if the checker accepts it."""
        members = [self.claims[name] for name in group if name in self.claims]
        try:
            check_relations(self.program, members, self.contract)
        except RefusedError as refused:
            for name in group:
                self.claims.pop(name, None)
                self.broken[name] = str(refused)

    def _one(self, name: str, assumed: Mapping[str, RelationContract]) -> None:
        functions = self.program.functions
        called = [one for one in callees(self.program)[name] if one in functions]
        contracts = {one: assumed[one] if one in assumed else self.contract(one) for one in called}
        found = self._kept.find(self.program, name, contracts)
        if found is None:
            found = _Found(self._followed(functions[name], contracts))
            self._kept.keep(self.program, name, contracts, found)
        self._found[name] = found
        self.claims.pop(name, None)
        self.broken.pop(name, None)
        if isinstance(found.claim, str):
            self.broken[name] = found.claim
        else:
            self.claims[name] = found.claim

    def _followed(self, cfa: Cfa, contracts: Mapping[str, RelationContract]) -> FunctionRelations | str:
        """What is found of a function, or why it is not followed."""
        for edge in cfa.unsupported:
            if isinstance(edge.effect, ir.Unsupported):
                return not_supported(cfa.name, edge.effect.reason)
        transfer = RelationTransfer(self.program, cfa, contracts.__getitem__)
        try:
            states = _states(transfer)
        except NotFollowedError as error:
            return str(error)
        return FunctionRelations(cfa.name, states, contract_of(cfa, states.get(cfa.exit), candidates(cfa)))


def _states(transfer: RelationTransfer) -> dict[int, RelationState]:
    """What holds at each location that control can come to. Raises NotFollowedError."""
    cfa, order = transfer.cfa, transfer.cfa.reverse_postorder
    states = {cfa.entry: transfer.at_entry()}
    waiting, queued, steps = [(0, cfa.entry)], {cfa.entry}, 0
    while waiting:
        _, location = heappop(waiting)
        queued.discard(location)
        for edge in cfa.outgoing.get(location, ()):
            steps += 1
            if steps > _MOST_STEPS:
                raise NotFollowedError(f"{display_name(cfa.name)}() is too large to follow")
            after = transfer.after(states[location], edge)
            if after is None:
                continue
            there = states.get(edge.target)
            if there is not None and implies(transfer, after, there):
                continue
            states[edge.target] = after if there is None else joined(transfer, there, after)
            if edge.target not in queued:
                queued.add(edge.target)
                heappush(waiting, (order[edge.target], edge.target))
    return states
