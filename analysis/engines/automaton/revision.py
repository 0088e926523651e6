"""From one revision of a program to the next: the new Delta, and what differs, as IncrFwd and IncrBack take it.

Most edits change bodies of functions and nothing that the program has as a whole. Then everything known of the other functions
is taken over, and `Changes` names

- in a changed function, edges deleted and added by id, and as modified those where its model answers otherwise: what is known at
  an edge can differ, though its effect does not (`alike`);
- the latter also in a function whose model is made anew, because a callee looks different (its footprint, whether it returns, its
  results), or a global keeps another value (`constants`);
- in a function where values begin or cease to be tracked, because they can reach an error only now or only could before
  (`relevance`), all edges as modified.

A modified edge with the old answers needs no repair (ORION section 3), so naming too much costs only time. When names,
types, globals or declarations differ, `revise` gives None: the program is checked from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

import msgspec

from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.alike import unchanged_edges
from analysis.engines.automaton.changes import Changes, EdgeChanges
from analysis.engines.automaton.constants import constant_globals, spoiled_by
from analysis.engines.automaton.delta import ProgramDelta, is_small
from analysis.engines.automaton.full import DerivationGraph
from analysis.engines.automaton.relevance import BEHIND, Node, node_of
from analysis.model import ir
from analysis.rules.automaton import START


class Revised(msgspec.Struct, frozen=True):
    """The Delta of the new revision, what differs, and the functions for which it may answer otherwise than before."""

    delta: ProgramDelta
    changes: Changes
    touched: frozenset[str]


def revise(
    before: ProgramDelta, program: Program, graph: DerivationGraph, entries: Iterable[str], global_edges: int
) -> Revised | None:
    """The step to a program in which only bodies differ, None if more does. `before` must not be used any more afterwards."""
    old = before.program
    if not same_world(old, program):
        return None
    changed = [name for name, cfa in program.functions.items() if cfa is not old.functions[name]]
    if is_small(program, global_edges) != before.thorough or any(
        not _same_interface(old.functions[name], program.functions[name]) for name in changed
    ):
        return None
    callers = _Callers(program, old)
    delta = copy(before)
    delta.program = program
    delta.footprints, moved = before.footprints.revised(program, changed, callers.of)
    delta.spoiled = before.spoiled | {name: spoiled_by(program.functions[name]) for name in changed}
    delta.constants = constant_globals(program, delta.footprints.returning, delta.spoiled)
    moved |= _otherwise_constant(delta, before)
    delta.relevance = before.relevance.revised(program, changed)
    models = before.models
    remodelled = _remodel(delta, before, changed, moved, callers)
    delta.connect()
    otherwise = _doubting(delta, before, callers) | _otherwise_relevant(delta, before, graph)
    touched = remodelled | otherwise
    delta.memos = {name: memo for name, memo in before.memos.items() if name not in touched}
    functions = {}
    for name in touched & graph.functions.keys():
        one, other = old.functions[name], program.functions[name]
        alike = frozenset[int]()
        if name not in otherwise:
            alike = unchanged_edges(models[name], delta.models[name], program, touched)
        functions[name] = _edges(one, other, alike)
    moved_ends = frozenset(name for name in changed if name in graph.functions and _ends_moved(old, program, name))
    initial = tuple(delta.initial(entries))
    same = {(name, state) for name, states in graph.initial.items() for state in states} == set(initial)
    changes = Changes(
        functions={name: edges for name, edges in functions.items() if name not in moved_ends},
        removed=moved_ends,
        added=moved_ends,
        initial=None if same else initial,
    )
    before.models, before.memos = {}, {}  # models refer to their Delta: together they would stay in memory
    return Revised(delta, changes, frozenset(touched))


def same_world(old: Program, new: Program) -> bool:
    """Whether two programs have the same functions by name, and agree on all but their bodies."""
    return (
        old.functions.keys() == new.functions.keys()
        and (old.globals is new.globals or old.globals == new.globals)
        and (old.externals is new.externals or old.externals == new.externals)
        and (old.records is new.records or old.records == new.records)
        and old.address_taken == new.address_taken
    )


def _same_interface(old: Cfa, new: Cfa) -> bool:
    return old.type == new.type and old.parameters == new.parameters


class _Callers:
    """Who calls a function, in one revision or the other; found out when it is first asked."""

    def __init__(self, program: Program, old: Program) -> None:
        self._program = program
        self._old = old
        self._found: dict[str, set[str]] | None = None

    def of(self, name: str) -> set[str]:
        """The callers of a function."""
        if self._found is None:
            self._found = self._find()
        return self._found.get(name, set())

    def _find(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for name, cfa in self._program.functions.items():
            old = self._old.functions[name]
            for version in (cfa,) if old is cfa else (cfa, old):
                for edge in version.calls:
                    if isinstance(edge.effect, ir.Call):
                        for target in self._program.targets(edge.effect):
                            found.setdefault(target, set()).add(name)
        return found


def _remodel(
    delta: ProgramDelta, before: ProgramDelta, changed: Iterable[str], moved: frozenset[str], callers: _Callers
) -> set[str]:
    """Models anew the changed functions and those whose callees look different to them; takes over the others."""
    delta.models = {}
    done: set[str] = set()
    wanted = set(moved).union(changed)
    for name, model in before.models.items():
        if name not in wanted:
            model.rebase(delta.lookup, delta.footprints)
            delta.models[name] = model
    place = {name: index for index, name in enumerate(delta.footprints.order)}
    while open_ := wanted - done:
        name = min(open_, key=place.__getitem__)
        done.add(name)
        delta.models.pop(name, None)
        if not delta.lookup(name).looks_like(before.models[name]):
            wanted |= callers.of(name)  # in a recursion, what was modelled before asked for nothing that can differ
    return done


def _otherwise_constant(delta: ProgramDelta, before: ProgramDelta) -> set[str]:
    """The functions that ask for a global which keeps another value now, or none, or did not keep one before."""
    old, new = before.constants, delta.constants
    differ = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    if not differ:
        return set()
    return {name for name, model in before.models.items() if name != "main" and model.asks_for(differ)}


def _doubting(delta: ProgramDelta, before: ProgramDelta, callers: _Callers) -> set[str]:
    """The callers of functions whose results are tested more or less often than before."""
    old, new = before.beliefs.counts, delta.beliefs.counts
    differ = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    return set().union(*(callers.of(name) for name in differ))


def _otherwise_relevant(delta: ProgramDelta, before: ProgramDelta, graph: DerivationGraph) -> set[str]:
    """The functions in which a value is tracked now that could not reach an error before, or is not tracked any more because it
    cannot reach one now. (The latter make no finding; but what is said of a function would depend on what it was before.)"""
    old, new = before.relevance.nodes, delta.relevance.nodes
    everything = frozenset[Node]().union(*(new[rule] ^ old[rule] for rule in new))
    if not everything:
        return set()
    found = {function for function, _ in everything if function}
    for name in [name for name, _ in everything if name]:
        part = graph.functions.get(name)  # constants that callers pass
        found.update(part.callers if part is not None else ())
    shared = frozenset(node for node in everything if not node[0])
    if shared:
        for name, model in delta.models.items():
            if name not in found and _begins_at(delta, name, model.cfa, shared):
                found.add(name)
        for name, part in graph.functions.items():
            if any(_leaves_with(delta, name, exit_, shared) for exits in part.summaries.values() for exit_ in exits):
                found.update(part.callers)
    return found & delta.program.functions.keys()


def _begins_at(delta: ProgramDelta, name: str, cfa: Cfa, nodes: frozenset[Node]) -> bool:
    for edge in cfa.edges:
        matches = delta.matcher.edge(edge)
        for match in (*matches.before, *matches.after):
            if match.source == START and match.path is not None and node_of(name, match.path) in nodes:
                return True
    return False


def _leaves_with(delta: ProgramDelta, name: str, exit_: int, nodes: frozenset[Node]) -> bool:
    return any(node_of(name, path) in nodes or node_of(name, path) == BEHIND for path in delta.facts[exit_].paths)


def _ends_moved(old: Program, new: Program, name: str) -> bool:
    one, other = old.functions[name], new.functions[name]
    return (one.entry, one.exit) != (other.entry, other.exit)


def _edges(old: Cfa, new: Cfa, same: frozenset[int]) -> EdgeChanges:
    shared = {id_ for id_ in old.by_id.keys() & new.by_id.keys() if old.by_id[id_].source == new.by_id[id_].source}
    return EdgeChanges(
        deleted=frozenset(old.by_id.keys() - shared),
        added=frozenset(new.by_id.keys() - shared),
        modified=frozenset(shared - same),
    )
