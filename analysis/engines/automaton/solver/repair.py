"""What IncrFwd and IncrBack share ([ORION] section 3): modifications and deletions, and additions to a repaired graph.

Modifications and deletions take from the graph what no longer holds, and note which functions are to be checked (`_dirty`).
For each configuration at a modified edge, Delta's answers are compared with the recorded derivations. Only derivations that
differ are removed. (The figure's text takes all derivations over the edge or
none; but most statements that are modified treat most states as before.) Nothing is added yet, to avoid work that a deletion
takes back: what must be followed again is noted (`_again`), and added after the check, where the configuration is still there.

A graph is repaired in place. When an exception leaves a repair, the graph is of no further use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from analysis.cfa.graph import Edge
from analysis.engines.automaton.solver.changes import Changes, EdgeChanges, Repaired, Scope
from analysis.engines.automaton.solver.full import (
    DIRECT,
    FACT_MASK,
    LOCATION_BITS,
    LOCATION_MASK,
    Delta,
    DerivationGraph,
    Entry,
    Explorer,
    FunctionGraph,
    Via,
    pack,
    unpack,
)
from analysis.engines.automaton.solver.marking import Check, forget_callers
from analysis.model.report import RecheckReason

_DIRECTLY = [DIRECT]
_Again = tuple[int, Edge, bool]


class Repair(Explorer):
    """One repair of a graph after `changes`, by the Delta of the new revision; a subclass says in which order.

    `repaired` counts the work. `limit` bounds the configurations, as in Full; when it is reached, the graph is not `complete`.
    """

    def __init__(self, delta: Delta, graph: DerivationGraph, changes: Changes, limit: int) -> None:
        if not graph.complete:
            raise ValueError("a derivation graph that the limit cut off cannot be repaired")
        self._before = graph.sizes
        super().__init__(delta, graph, limit)
        self.repaired = Repaired()
        self._changes = changes
        self._dirty: dict[str, None] = {}
        self._again: dict[str, list[_Again]] = {}
        self._left: dict[Entry, set[tuple[int, int]]] = {}
        self._derived = 0  # derivations added

    def _begin(self) -> None:
        """Modifications, then deletions."""
        graph, changes = self.graph, self._changes
        for name, edges in changes.functions.items():
            part = graph.functions.get(name)
            if part is not None and name not in changes.removed:
                gone = edges.deleted | self._modify(name, part, edges) if edges.modified else edges.deleted
                if gone:
                    self._delete(name, part, gone)
                self._forget_sites(name)
        removed = [name for name in graph.functions if name in changes.removed]
        for name in removed:
            self._clear(name, graph.functions[name])
        for name in removed:
            if name not in changes.added:
                self._dirty.pop(name, None)
                del graph.functions[name]

    def _end(self) -> None:
        """Computes the counts of the work from the sizes of the graph before and now."""
        repaired, (configurations, derivations) = self.repaired, self._before
        repaired.configurations_added = self._count - configurations + repaired.configurations_removed
        repaired.derivations_added = self._derived
        self.graph.sizes = self._count, derivations + self._derived - repaired.derivations_removed
        repaired.configurations_reused = self._count - repaired.configurations_added
        repaired.derivations_reused = self.graph.derivations - repaired.derivations_added

    def _modify(self, name: str, part: FunctionGraph, changed: EdgeChanges) -> frozenset[int]:
        """Compares modified edges with what was derived over them; those that are not followed any more are to be deleted."""
        modified, scopes = changed.modified, changed.scopes
        at = self._outgoing_of(name, part, modified)
        edges = {edge.id: edge for some in at.values() for edge, _ in some}
        there = [configuration for configuration in part.derived if configuration & LOCATION_MASK in at]
        states = self._concerned(there, [scopes.get(edge) for edge in edges])
        concerned: dict[tuple[Scope, int], bool] = {}
        errors = set(part.errors)
        again: list[_Again] = []
        for configuration in there:
            state = configuration >> LOCATION_BITS & FACT_MASK
            if state not in states or configuration in errors:
                continue
            for edge, is_call in at[configuration & LOCATION_MASK]:
                scope = scopes.get(edge.id)
                if scope is not None:
                    depends = concerned.get((scope, state))
                    if depends is None:
                        depends = concerned[scope, state] = self._delta.depends(state, scope)
                    if not depends:
                        continue
                if not self._compare(name, part, configuration, edge, is_call):
                    again.append((configuration, edge, is_call))
        if again:
            self._again[name] = again
        self._restate_calls(name, part, edges)
        return modified.difference(edges)

    def _outgoing_of(self, name: str, part: FunctionGraph, edges: Set[int]) -> dict[int, list[tuple[Edge, bool]]]:
        """Those of the edges that leave a location to which the graph leads, by location, each with whether it is a call."""
        exit_, found = self._delta.exit(name), dict[int, list[tuple[Edge, bool]]]()
        for location in {configuration & LOCATION_MASK for configuration in part.derived}:
            outgoing = self._delta.outgoing(name, location) if location != exit_ else ()
            here = [(edge, is_call) for edge, is_call in outgoing if edge.id in edges]
            if here:
                found[location] = here
        return found

    def _concerned(self, configurations: Iterable[int], scopes: Iterable[Scope | None]) -> set[int]:
        """The states of configurations that depend on any of the scopes (None: all states do)."""
        states, different = {one >> LOCATION_BITS & FACT_MASK for one in configurations}, set(scopes)
        if None in different:
            return states
        names = frozenset[str]().union(*(scope for scope in different if scope is not None))
        return {state for state in states if different and self._delta.depends(state, names)}

    def _compare(self, name: str, part: FunctionGraph, configuration: int, edge: Edge, is_call: bool) -> bool:
        """Whether the recorded derivations over an edge are what Delta answers; those that do not hold any more are dropped."""
        self.repaired.compared += 1
        calls = [(callee, entry) for e, callee, entry in part.calls.get(configuration, ()) if e.id == edge.id]
        answers, entered = self._answers(name, configuration, edge, is_call, calls)
        recorded = {
            derived: part.via.get((configuration, edge.id, derived), _DIRECTLY)
            for edge_id, derived in part.derivations(configuration)
            if edge_id == edge.id
        }
        alike = set(entered) == set(calls) and answers.keys() == recorded.keys()
        if alike and all(set(answers[derived]) == set(supports) for derived, supports in recorded.items()):
            return True
        self._drop(name, part, configuration, [(edge.id, derived) for derived in recorded if derived not in answers])
        self.repaired.changed.add(name)
        for derived, supports in recorded.items():
            hold = answers.get(derived)
            if hold is not None and not set(supports) <= set(hold):
                self._dirty[name] = None  # the check puts the supports in order
                if hold == _DIRECTLY:
                    del part.via[configuration, edge.id, derived]
                else:
                    part.via[configuration, edge.id, derived] = hold
        self._leave(name, part, configuration, [(edge.id, *call) for call in calls if call not in entered])
        return False

    def _answers(
        self, name: str, configuration: int, edge: Edge, is_call: bool, calls: Sequence[Entry]
    ) -> tuple[dict[int, list[Via]], Sequence[Entry]]:
        """What Delta answers at a configuration, with the supports that rest on recorded sites and summaries, and the callees
        entered."""
        _, entry, state = unpack(configuration)
        places = self._delta.quiet(name, edge, state)
        if places is not None:
            return {pack(place, entry, state): [DIRECT] for place in places}, ()
        if not is_call:
            return {pack(edge.target, entry, after): [DIRECT] for after in self._delta.step(name, edge, state)}, ()
        direct, entered = self._delta.call(name, edge, state)
        answers: dict[int, list[Via]] = {pack(edge.target, entry, after): [DIRECT] for after in direct}
        for callee in entered:
            if callee in calls:
                for exit_ in self.graph.functions[callee[0]].summaries[callee[1]]:
                    for after in self._delta.leave(name, edge, state, callee, exit_):
                        answers.setdefault(pack(edge.target, entry, after), []).append((*callee, exit_))
        return answers, entered

    def _delete(self, name: str, part: FunctionGraph, gone: Set[int]) -> None:
        """Takes away what was derived and called over deleted edges."""
        for configuration, flat in part.derived.items():
            if not gone.isdisjoint(flat[2::2]):
                over = [(edge, derived) for edge, derived in part.derivations(configuration) if edge in gone]
                self._drop(name, part, configuration, over)
        for configuration, calls in tuple(part.calls.items()):
            if any(edge.id in gone for edge, _, _ in calls):
                left = [(edge.id, callee, entry) for edge, callee, entry in calls if edge.id in gone]
                self._leave(name, part, configuration, left)

    def _drop(self, name: str, part: FunctionGraph, configuration: int, derivations: Sequence[tuple[int, int]]) -> None:
        if derivations:
            flat = part.derived[configuration]
            kept = [pair for pair in part.derivations(configuration) if pair not in derivations]
            flat[2:] = [number for pair in kept for number in pair]
            for edge, derived in derivations:
                part.via.pop((configuration, edge, derived), None)
            part.size -= len(derivations)
            self.repaired.derivations_removed += len(derivations)
            self.repaired.changed.add(name)
            self._dirty[name] = None

    def _leave(self, name: str, part: FunctionGraph, configuration: int, calls: Sequence[tuple[int, str, int]]) -> None:
        if calls:
            kept = [call for call in part.calls[configuration] if (call[0].id, call[1], call[2]) not in calls]
            if kept:
                part.calls[configuration] = kept
            else:
                del part.calls[configuration]
            for edge, callee, entry in calls:
                self._left.setdefault((callee, entry), set()).add((configuration, edge))
            self.repaired.changed.add(name)
            self._dirty[name] = None

    def _forget_sites(self, name: str) -> None:
        """Takes the calls that `_leave` noted from the sites of their callees; a list of sites is read once."""
        self.repaired.fewer_sites.update(self._left)
        for (callee, entry), left in self._left.items():
            part = self.graph.functions[callee]
            sites = [s for s in part.sites[entry] if s[0] != name or (s[1], s[2].id) not in left]
            forget_callers(part, name, len(part.sites[entry]) - len(sites))
            part.sites[entry] = sites
        self._left.clear()

    def _restate_calls(self, name: str, part: FunctionGraph, edges: Mapping[int, Edge]) -> None:
        """Calls that stay, over edges that were modified, are recorded with the edge as it is now."""
        restated: dict[Entry, None] = {}
        for calls in part.calls.values():
            for i, (edge, callee, entry) in enumerate(calls):
                now = edges.get(edge.id, edge)
                if now is not edge and now != edge:
                    calls[i] = (now, callee, entry)
                    restated[callee, entry] = None
        for callee, entry in restated:
            sites = self.graph.functions[callee].sites[entry]
            sites[:] = [(f, c, edges.get(e.id, e)) if f == name else (f, c, e) for f, c, e in sites]

    def _clear(self, name: str, part: FunctionGraph) -> None:
        """Removes what is inside a function that is removed or begins anew; then its entries are explored after the check."""
        for configuration, calls in tuple(part.calls.items()):
            self._leave(name, part, configuration, [(edge.id, callee, entry) for edge, callee, entry in calls])
        self._forget_sites(name)
        self.repaired.configurations_removed += len(part.derived)
        self.repaired.derivations_removed += part.size
        self._count -= len(part.derived)
        part.derived, part.via, part.errors, part.size = {}, {}, [], 0
        self.repaired.changed.add(name)
        self._dirty[name] = None

    def _check(self, functions: Iterable[str], lost: Set[Via]) -> Check:
        """CHECK-DERIVATIONS; what must be explored anew is put on the work list."""
        removed = self.repaired.configurations_removed
        check = Check(self.graph, self._delta, functions, lost, self.repaired)
        check.run()
        self._count += len(check.fresh) - (self.repaired.configurations_removed - removed)
        self._work.extend(check.fresh)
        self.repaired.fewer_sites |= check.left
        return check

    def _to_follow(self, name: str) -> list[_Again]:
        """The configurations of a function that must be followed again over one edge, which was modified or
        added. Each configuration counts as followed already, so call this before anything is added to the
        function."""
        part = self.graph.functions.get(name)
        if part is None:
            return []
        again = [(c, edge, is_call) for c, edge, is_call in self._again.get(name, ()) if c in part.derived]
        added = self._changes.functions.get(name, EdgeChanges()).added
        if added and name not in self._changes.removed:
            exit_ = self._delta.exit(name)
            errors = set(part.errors)
            at: dict[int, Sequence[tuple[Edge, bool]]] = {}
            for configuration in part.derived:
                location = configuration & LOCATION_MASK
                if location not in at:
                    outgoing = self._delta.outgoing(name, location) if location != exit_ else ()
                    at[location] = [(edge, is_call) for edge, is_call in outgoing if edge.id in added]
                if at[location] and configuration not in errors:
                    again.extend((configuration, edge, is_call) for edge, is_call in at[location])
        return again

    def _derive(self, function: str, graph: FunctionGraph, configuration: int, edge: Edge, derived: int) -> None:
        self.repaired.changed.add(function)
        self._derived += 1
        super()._derive(function, graph, configuration, edge, derived)

    def _return_to(self, function: str, graph: FunctionGraph, configuration: int, edge: Edge, callee: Entry, exit_: int) -> None:
        self.repaired.changed.add(function)  # a derivation that was there can rest on one more summary
        super()._return_to(function, graph, configuration, edge, callee, exit_)

    def _follow_again(self, name: str, configuration: int, edge: Edge, is_call: bool) -> None:
        """FOLLOW-EDGE where some of what follows may be recorded: adds the rest."""
        part = self.graph.functions[name]
        _, entry, state = unpack(configuration)
        entered: Sequence[Entry] = ()
        places = self._delta.quiet(name, edge, state)
        if places is not None:
            directly = [pack(place, entry, state) for place in places]
        elif is_call:
            after_call, entered = self._delta.call(name, edge, state)
            directly = [pack(edge.target, entry, after) for after in after_call]
        else:
            directly = [pack(edge.target, entry, after) for after in self._delta.step(name, edge, state)]
        for derived in directly:
            if (edge.id, derived) not in part.derivations(configuration):
                self._derive(name, part, configuration, edge, derived)
            elif DIRECT not in part.via.get((configuration, edge.id, derived), _DIRECTLY):
                part.via[configuration, edge.id, derived].insert(0, DIRECT)
        for callee in entered:
            if (edge, *callee) not in part.calls.get(configuration, ()):
                self._add_site(name, part, configuration, edge, callee)
            else:
                for exit_ in tuple(self.graph.functions[callee[0]].summaries[callee[1]]):
                    self._return_to(name, part, configuration, edge, callee, exit_)

    def _restart(self) -> bool:
        """Notes the entry states of the program; whether one is there no more."""
        if self._changes.initial is None:
            return False
        before = self.graph.initial
        now: dict[str, list[int]] = {}
        for function, state in self._changes.initial:
            now.setdefault(function, []).append(state)
        self.graph.initial = now
        self.repaired.recalled.update(name for name in (*before, *now) if before.get(name) != now.get(name))
        return any(state not in now.get(function, ()) for function, states in before.items() for state in states)

    def _enter_starts(self) -> None:
        for function, state in self._changes.initial or ():
            self._note_entered(function, state, ("start", ""))
            self._enter(function, state)

    def _add_site(self, function: str, graph: FunctionGraph, configuration: int, edge: Edge, entered: Entry) -> None:
        """As in Full; a callee that had no such entry state is concerned."""
        self._note_entered(*entered, ("argument", function))
        self.repaired.recalled.add(entered[0])
        super()._add_site(function, graph, configuration, edge, entered)

    def _note_entered(self, function: str, state: int, reason: tuple[RecheckReason, str]) -> None:
        part = self.graph.functions.get(function)
        if part is None or state not in part.summaries:
            self.repaired.reasons.setdefault(function, reason)

    def _summarise(self, graph: FunctionGraph, function: str, entry: int, state: int) -> None:
        """As in Full, and notes that the new summary affects the callers."""
        if state not in graph.summaries[entry]:
            for caller, _, _ in graph.sites[entry]:
                self.repaired.reasons.setdefault(caller, ("summary", function))
        super()._summarise(graph, function, entry, state)
