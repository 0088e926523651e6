"""Follows one function from its entry: what is known at each location, in a few states, until nothing new comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import NamedTuple

from analysis.certificate.nonzero import called_contexts
from analysis.certificate.nonzero.called_contexts import Given, InContext, never
from analysis.certificate.nonzero.callee_contracts import Contract, Needs
from analysis.certificate.nonzero.data_invariants import NONE, Invariant, Invariants
from analysis.certificate.nonzero.function_edges import Edges
from analysis.certificate.nonzero.main_arguments import at_start
from analysis.certificate.nonzero.transfer import Missing, Transfer
from analysis.certificate.nonzero.values import Known
from analysis.cfa.graph import Cfa, Edge
from analysis.cfa.live_variables import live
from analysis.cfa.open_functions import only_started
from analysis.model import ir
from analysis.model.spelling import display_name

_MOST_STATES = 6  # at one location; more are merged into one, which knows what all of them do
_MOST_STEPS = 40_000  # of one function


class Walked(NamedTuple):
    """What following a function shows. `missing`: what it needs and may not have. `broken`: why it is not followed; else empty.
    `steps`: how many edges were taken. `relies`: the invariants that it rests on, without those of what it calls. `failed`: those
    that edges may break, as far as they were followed, with an edge; `left`: the edges that were not."""

    contract: Contract
    missing: tuple[Missing, ...]
    broken: str
    steps: int
    relies: Invariants = NONE
    failed: tuple[tuple[Invariant, int], ...] = ()
    left: frozenset[int] = frozenset()


class _Taken(NamedTuple):
    """What comes of an edge in a state, which is kept here so that its identity is not used again."""

    before: Known
    after: Known | None
    missing: tuple[Missing, ...]
    failed: tuple[Invariant, ...]


def walk(
    edges: Edges,
    contracts: Mapping[str, Contract],
    needs: Needs,
    goes_on: Callable[[], bool],
    given: Given = (),
    in_context: InContext = never,
) -> Walked:
    """Follows a function, called where what it `needs` is not zero, and with what is `given`."""
    return _Walk(edges, contracts, needs, given, in_context).done(goes_on)


class _Walk:
    def __init__(
        self, edges: Edges, contracts: Mapping[str, Contract], needs: Needs, given: Given, in_context: InContext
    ) -> None:
        cfa = edges.cfa
        self._cfa, self._needs, self._live, self._edges = cfa, needs, live(cfa), edges
        self._transfer = Transfer(edges, contracts, in_context)
        first = called_contexts.at_entry(at_entry(edges, needs), cfa, given)
        self._states: dict[int, list[Known]] = {cfa.entry: [first]}
        self._merged: set[int] = set()
        self._order = cfa.reverse_postorder
        self._steps = 0
        self._taken: dict[tuple[int, int], _Taken] = {}

    def done(self, goes_on: Callable[[], bool]) -> Walked:
        """Everything that follows."""
        waiting, queued = [(0, self._cfa.entry)], {self._cfa.entry}
        while waiting and (self._edges.checks or not self._transfer.broken):
            _, location = heappop(waiting)
            queued.discard(location)
            for target in self._leave(location):
                if target not in queued:
                    queued.add(target)
                    heappush(waiting, (self._order[target], target))
            if self._steps > _MOST_STEPS or not goes_on():
                return self._broken(f"{display_name(self._cfa.name)}() is too large to follow")
        if self._transfer.broken and not self._edges.checks:
            return self._broken(self._transfer.broken)
        return self._seen_again()

    def _broken(self, reason: str) -> Walked:
        """The function is not followed."""
        return Walked(Contract(self._needs), (), reason, self._steps, left=frozenset(self._cfa.by_id))

    def _leave(self, location: int) -> Iterable[int]:
        """Takes all edges from a location; where something new came."""
        for edge in self._cfa.outgoing.get(location, ()):
            is_new = False
            for known in tuple(self._states[location]):
                self._steps += 1
                if (edge.id, id(known)) in self._taken:
                    continue  # what came of it is at the target, or something that covers it
                after = self._take(known, edge).after
                if after is not None:
                    is_new = self._add(edge.target, after) or is_new
            if is_new:
                yield edge.target

    def _take(self, known: Known, edge: Edge) -> _Taken:
        """What comes of an edge in a state, worked out once. What is missing there, and what fails, is noted each time."""
        kept, transfer = self._taken.get((edge.id, id(known))), self._transfer
        if kept is None:
            missing, failed = transfer.missing, transfer.failed
            transfer.missing, transfer.failed = {}, {}
            after = transfer.after(known, edge)
            after = None if after is None else self._relevant(after, edge.target)
            kept = self._taken[edge.id, id(known)] = _Taken(known, after, tuple(transfer.missing), tuple(transfer.failed))
            transfer.missing, transfer.failed = missing, failed
        for one in kept.missing:
            transfer.missing.setdefault(one)
        for invariant in kept.failed:
            transfer.failed.setdefault(invariant, edge.id)
        return kept

    def _relevant(self, known: Known, location: int) -> Known:
        """What may still matter."""
        names = self._live[location]
        if self._edges.construction is not None:
            known = self._edges.construction.kept(known, names)
        dead = {expr for expr in set(known.expressions()) if not self._edges.locals_of(expr) <= names}
        if not dead:
            return known
        equal = frozenset(pair for pair in known.equal if dead.isdisjoint(pair))
        told = frozenset(
            one for one in known.told if one.variable not in dead and (one.expr not in dead or self._tells(one.expr))
        )
        zero, nonzero = (frozenset(filter(self._tells, one & dead)) for one in (known.zero, known.nonzero))
        return known._replace(nonzero=(known.nonzero - dead) | nonzero, zero=(known.zero - dead) | zero, equal=equal, told=told)

    def _tells(self, expr: ir.Expr) -> bool:
        """Whether callers may be told of it: what was passed, and where that leads."""
        return isinstance(bare := expr.pointer if isinstance(expr, ir.Deref) else expr, ir.Var) and bare.name in self._edges.fixed

    def _add(self, location: int, known: Known) -> bool:
        """Adds a state to a location; whether it says anything new."""
        there = self._states.setdefault(location, [])
        if any(one.covers(known) for one in there):
            return False
        if location in self._merged or len(there) >= _MOST_STATES:
            self._merged.add(location)
            for one in there:
                known = known.merged(one)
            there.clear()
        there[:] = [one for one in there if not known.covers(one)]
        there.append(known)
        return True

    @property
    def _relied(self) -> Invariants:
        """The invariants that were relied on; those of parameters are, where the function begins."""
        return self._transfer.used | frozenset(
            one for one in self._edges.invariants if (one.kind, one.of) == ("parameter", self._cfa.name)
        )

    def _seen_again(self) -> Walked:
        """What the final states show: what was missing in states that were merged later may be more."""
        last = self._transfer
        last.missing.clear()
        last.failed.clear()
        for location, states in sorted(self._states.items()):
            for edge in self._cfa.outgoing.get(location, ()):
                for known in states:
                    after = self._take(known, edge).after
                    there = self._states.get(edge.target, [])
                    if after is not None and not any(one.covers(after) for one in there):
                        return self._broken("a state is left out")
        returns = self._cfa.exit in self._states
        falls = any(not isinstance(edge.effect, ir.Return) for edge in self._cfa.incoming.get(self._cfa.exit, ()))
        left = behind(self._cfa, last.stopped)
        if last.broken:
            return Walked(Contract(self._needs), (), last.broken, self._steps, self._relied, tuple(last.failed.items()), left)
        contract = Contract(
            self._needs,
            returns,
            last.is_nonzero and not falls,
            last.written,
            frozenset() if falls else last.unless,
            last.cleared,
            frozenset() if falls else last.tells,
        )
        return Walked(contract, tuple(last.missing), "", self._steps, self._relied, tuple(last.failed.items()))


def at_entry(edges: Edges, needs: Needs) -> Known:
    """What is known where a function is called with what it needs."""
    found = (one for one in edges.cfa.parameters if Invariant("parameter", one.name, edges.cfa.name) in edges.invariants)
    known = Known(nonzero=frozenset((*needs, *found, *_given_to_main(edges))))
    return known if edges.construction is None else edges.construction.at_entry(known)


def _given_to_main(edges: Edges) -> Iterator[ir.Expr]:
    """What is not null where a program starts, unless the program calls `main` by itself."""
    if edges.cfa.name in only_started(edges.program):
        yield from at_start(edges.cfa.parameters)


def behind(cfa: Cfa, stopped: Iterable[int]) -> frozenset[int]:
    """Some edges, and all those that may be taken after them."""
    found, waiting = set(stopped), [cfa.by_id[number].target for number in stopped]
    seen = set(waiting)
    while waiting:
        for edge in cfa.outgoing.get(waiting.pop(), ()):
            found.add(edge.id)
            if edge.target not in seen:
                seen.add(edge.target)
                waiting.append(edge.target)
    return frozenset(found)
