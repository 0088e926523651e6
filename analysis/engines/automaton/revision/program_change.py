"""From one revision of a program to the next: the new Delta, and what differs, as IncrFwd and IncrBack take it.

Most edits change bodies of functions and little that the program has as a whole (`world`). Everything known of the other
functions is taken over, and `Changes` names

- in a changed function, edges deleted and added by id, and as modified those where its model answers otherwise: what is known at
  an edge can differ, though its effect does not (`alike`);
- the latter also in a function whose model is made anew, because a callee looks different (whether it returns, its results), or
  what it writes now concerns something that the model knows, or a global keeps another value (`constant_globals`), or it calls
  something that has a body now, or none, or is declared otherwise (`world`);
- calls of functions that write or read other cells, in the scope of these cells (`FunctionModel.rewrite`);
- in a function where values begin or cease to be tracked, because they can reach an error only now or only could before
  (`relevance`), or where it is believed otherwise that they can be null (`beliefs`) or owned (`owned_members`), the edges where
  facts can begin, in an empty scope: all of this is asked only there.

A modified edge with the old answers needs no repair ([ORION] section 3), so naming too much costs only time. Functions whose
parameters are others are removed and added. A small program in which more than bodies differ is checked from nothing (`revise`
gives None): it takes no time, and its paths are followed through everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from copy import copy

import msgspec

from analysis.cfa.callgraph import called
from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.facts.product import Memo, ProgramDelta, is_small
from analysis.engines.automaton.facts.relevance import node_of
from analysis.engines.automaton.facts.value_flows import BEHIND, Node
from analysis.engines.automaton.functions.access_paths import path_of
from analysis.engines.automaton.functions.constant_globals import constant_globals, initial_values, spoiled_by
from analysis.engines.automaton.functions.footprint import Moved
from analysis.engines.automaton.functions.function_model import Rewritten
from analysis.engines.automaton.functions.world import WorldChange, compare
from analysis.engines.automaton.revision.alike import (
    NO_NAMES,
    Differences,
    add_differences,
    add_stretches,
    calls_any,
    merge,
)
from analysis.engines.automaton.revision.callers import Callers
from analysis.engines.automaton.revision.search_differences import seen_otherwise, written_otherwise
from analysis.engines.automaton.solver.changes import Changes, EdgeChanges, Scope
from analysis.engines.automaton.solver.full import DerivationGraph, Entry
from analysis.model import ir
from analysis.model.intervals import Interval
from analysis.rules.automaton import START


class Revised(msgspec.Struct, frozen=True):
    """The Delta of the new revision, and what differs. `remodelled` functions have models that say something else (`main` is one
    of them where the program starts with other values); of `partly` ones, searches for paths see that at these edges only
    (`kept_searches.Edges`); the edges of `rewritten` ones write these other cells; for `touched` ones, all these among them,
    Delta may answer otherwise; `gone` ones are not there any more."""

    delta: ProgramDelta
    changes: Changes
    remodelled: frozenset[str]
    partly: dict[str, int]
    rewritten: dict[str, dict[int, Scope]]
    touched: frozenset[str]
    gone: frozenset[str]


def revise(
    before: ProgramDelta, program: Program, graph: DerivationGraph, entries: Iterable[str], global_edges: int
) -> Revised | None:
    """The step to the next revision of a program, None if it is to be checked from nothing. `before` must not be used any more
    afterwards."""
    old = before.program
    world = compare(old, program)
    if _is_anew(before, program, world, global_edges):
        return None
    changed = {name for name, cfa in program.functions.items() if cfa is not old.functions.get(name)}.union(world.calls)
    callers = Callers(program, old, changed, before.callers, is_alike=_call_alike(old, program, world))
    relevant = before.relevance.nodes
    delta, moved = _without_models(before, program, world, changed, callers)
    nodes = _that_differ(relevant, delta.relevance.nodes)
    models = before.models
    wanted = changed.union(moved.callers, _otherwise_constant(delta, before))
    wanted.update(_calling_otherwise(delta, before, changed, callers))
    calls = _rewrite(delta, before, moved, wanted, callers)
    wanted.update(name for name, known in calls.items() if known is None)
    remodelled, unlike = _remodel(delta, before, wanted, callers)
    gone = [models[name] for name in (remodelled | world.gone) & models.keys()]
    delta.beliefs, doubted = before.beliefs.revised(program, delta.weak_lookup(), gone, map(delta.lookup, remodelled))
    delta.connect(sorted(remodelled, key=delta.footprints.place.__getitem__))
    if delta.transfer.lenient != before.transfer.lenient:
        return None
    doubting = set[str]().union(*map(callers.of, doubted))  # results of functions are tested more or less often than before
    ending = _ending_otherwise(delta, before)
    starting, calling = _otherwise_relevant(delta, nodes, graph)
    otherwise = doubting | starting | calling | ending
    asked = doubted | _functions_of(nodes)
    touched = remodelled | otherwise
    rewritten = _kept_models(calls)
    delta.memos = _memos(delta, before, remodelled | rewritten.keys(), otherwise, nodes, callers)
    entered_otherwise = _entered_otherwise(delta, before, remodelled)
    functions = {}
    anew = frozenset(name for name in changed if name in graph.functions and _is_another(old, program, world, name))
    partly: dict[str, int] = {}
    written = {name: known.written for name, known in rewritten.items()}
    entered = unlike | entered_otherwise
    alone = frozenset[str]() if world or before.thorough else remodelled - anew - moved.called_otherwise
    for name in (touched | rewritten.keys()) & graph.functions.keys() & old.functions.keys():
        found: Differences = dict(rewritten[name].calls) if name in rewritten else {}
        if name in remodelled:
            add_differences(
                found, models[name], delta.models[name], program, entered_otherwise, world.calls.get(name, frozenset())
            )
            seen = seen_otherwise(models[name], delta.models[name], program, entered) if name in alone else None
            if seen is not None:
                partly[name], written[name] = seen, written_otherwise(models[name], delta.models[name])
        else:
            add_stretches(found, (models[name],))
        if name in otherwise:
            beginning = _beginning(delta, name, asked, starts=name in starting, anywhere=name in ending)
            merge(found, dict.fromkeys(beginning, NO_NAMES))
        functions[name] = _edges(old.functions[name], program.functions[name], found)
    changes = _changes(graph, world, functions, anew, tuple(delta.initial(entries)))
    delta.callers = callers.settled()
    differ = (remodelled - partly.keys()) | _starting_otherwise(delta, before, changed)
    return Revised(delta, changes, frozenset(differ), partly, written, frozenset(touched), world.gone)


def _kept_models(calls: Mapping[str, Rewritten | None]) -> dict[str, Rewritten]:
    return {name: known for name, known in calls.items() if known is not None}


def _call_alike(old: Program, program: Program, world: WorldChange) -> bool:
    """Whether calls in functions that are the same reach what they did."""
    return not world and program.called is old.called


def _is_anew(before: ProgramDelta, program: Program, world: WorldChange, global_edges: int) -> bool:
    """Whether a program is checked from nothing: it is small and more than bodies differ, or it became or ceased to be small."""
    return is_small(program, global_edges) != before.thorough or (bool(world) and before.thorough)


def _without_models(
    before: ProgramDelta, program: Program, world: WorldChange, changed: Set[str], callers: Callers
) -> tuple[ProgramDelta, Moved]:
    """The next Delta before its functions have models, and what moved in their footprints."""
    delta = copy(before)
    delta.program = program
    if world:
        delta.matcher = before.matcher.revised(program, world.calls)
        delta.initial_values = initial_values(program)
    delta.footprints, moved = before.footprints.revised(program, changed, callers.of)
    delta.spoiled = {**before.spoiled, **{name: spoiled_by(program.functions[name]) for name in changed}}
    for name in world.gone:
        del delta.spoiled[name]
    if world or not _spoil_alike(before, delta, changed):
        delta.constants = constant_globals(program, delta.footprints.returning, delta.spoiled, delta.initial_values)
    delta.relevance.revise(program, delta.matcher, changed)
    delta.members = tuple(one.revised(program, delta.matcher, delta.footprints.kept, changed) for one in before.members)
    return delta, moved


def _spoil_alike(before: ProgramDelta, delta: ProgramDelta, changed: Set[str]) -> bool:
    """Whether changed functions do to globals what they did, and call what they called, so that the same globals are constant."""
    if before.footprints.returning != delta.footprints.returning or before.program.called is not delta.program.called:
        return False
    return all(
        before.spoiled[name] == delta.spoiled[name]
        and called(before.program.functions[name]) == called(delta.program.functions[name])
        for name in changed
    )


def _changes(
    graph: DerivationGraph,
    world: WorldChange,
    functions: Mapping[str, EdgeChanges],
    anew: frozenset[str],
    initial: tuple[Entry, ...],
) -> Changes:
    """What differs for a derivation graph: the edges of functions, and functions that are there for the first time, not any
    more, or `anew`."""
    same = {(name, state) for name, states in graph.initial.items() for state in states} == set(initial)
    return Changes(
        functions={name: edges for name, edges in functions.items() if name not in anew},
        removed=anew | world.gone,
        added=anew | world.appeared,
        initial=None if same else initial,
    )


def _rewrite(
    delta: ProgramDelta, before: ProgramDelta, moved: Moved, wanted: Set[str], callers: Callers
) -> dict[str, Rewritten | None]:
    """Updates the models of callers with what their callees now write and read. None for a model that needs
    more than that, and has to be made anew."""
    concerned = {caller for name in moved.written.keys() | moved.read.keys() for caller in callers.of(name)}
    models = before.models
    return {name: models[name].rewrite(delta.footprints, moved) for name in (concerned - wanted) & models.keys()}


def _remodel(delta: ProgramDelta, before: ProgramDelta, wanted: set[str], callers: Callers) -> tuple[set[str], set[str]]:
    """Makes new models of the wanted functions, and of those whose callees look different to them as a
    result. Keeps the other models. Returns the functions with new models, and those of them that look
    different to callers."""
    delta.models = dict(before.models)
    behind = copy(delta.around)
    for name in wanted.union(before.models.keys() - delta.program.functions.keys()):
        known = delta.models.pop(name, None)
        if known is not None:
            known.stay_behind(behind)
    delta.surround()
    done: set[str] = set()
    unlike: set[str] = set()
    open_ = set(wanted)
    while open_:
        name = min(open_, key=delta.footprints.place.__getitem__)
        open_.discard(name)
        done.add(name)
        delta.models.pop(name, None)
        known = before.models.get(name)
        if known is None or not delta.lookup(name).cases.looks_like(known.cases):
            unlike.add(name)
            open_ |= callers.of(name) - done  # in a recursion, what was modelled before asked for nothing that can differ
    return done, unlike


def _that_differ(old: Mapping[int, frozenset[Node]], new: Mapping[int, frozenset[Node]]) -> frozenset[Node]:
    """The nodes that matter to a rule now and did not before, or the other way round."""
    return frozenset[Node]().union(*(new[rule] ^ old[rule] for rule in new if new[rule] is not old[rule]))


def _memos(
    delta: ProgramDelta, before: ProgramDelta, others: Set[str], otherwise: Set[str], nodes: Set[Node], callers: Callers
) -> dict[str, Memo]:
    """The answers that still hold. Where facts begin can differ for any state, in the graph or not, where a value can begin to
    be tracked at one of the nodes: in the function of a variable, and in its callers, which pass and get values; anywhere, if
    many functions share the node."""
    kept = dict(before.memos)
    for name in others | (kept.keys() - delta.program.functions.keys()):
        kept.pop(name, None)
    owners = {function for function, _ in nodes}
    forgetful = kept.keys() if "" in owners else set(otherwise).union(owners, *map(callers.of, owners)) & kept.keys()
    for name in forgetful:
        kept[name].forget_beginnings()
    return kept


def _entered_otherwise(delta: ProgramDelta, before: ProgramDelta, remodelled: Iterable[str]) -> set[str]:
    """The functions that are entered or left in another way than before, beside what they write and read."""
    found = set()
    for name in remodelled:
        old, new = before.models.get(name), delta.lookup(name)
        if (
            old is None
            or (old.cfa.parameters, old.cfa.type, old.cases.can_return)
            != (new.cfa.parameters, new.cfa.type, new.cases.can_return)
            or (name in before.footprints.returning) != (name in delta.footprints.returning)
        ):
            found.add(name)
    return found


def _otherwise_constant(delta: ProgramDelta, before: ProgramDelta) -> set[str]:
    """The functions that ask for a global which keeps another value now, or none, or did not keep one before."""
    differ = _other_values(before.constants, delta.constants)
    at_start = _other_values(before.initial_values, delta.initial_values)
    if not differ and not at_start:
        return set()
    asking = {name for name, model in before.models.items() if model.cases.asks_for(at_start if name == "main" else differ)}
    return asking & delta.program.functions.keys()


def _calling_otherwise(delta: ProgramDelta, before: ProgramDelta, changed: Set[str], callers: Callers) -> set[str]:
    """The callers of functions that match other patterns than before of those which transitions want in a function
    (`FunctionModel.function_has`)."""
    found, old = set[str](), before.program.functions
    for name in changed & old.keys():
        for asked in delta.matcher.asking:
            now = set(delta.matcher.having(delta.program.functions[name], delta.program, *asked))
            if now != set(delta.matcher.having(old[name], before.program, *asked)):
                found |= callers.of(name)
    return found & delta.program.functions.keys()


def _starting_otherwise(delta: ProgramDelta, before: ProgramDelta, changed: Set[str]) -> set[str]:
    """`main`, where a global starts with another value, or with one that is not known any more, which a function with the text of
    before mentions. Paths from the program's start go by that, whatever `main` itself asks for."""
    at_start = _other_values(before.initial_values, delta.initial_values)
    same = (known.mentions for name, known in delta.spoiled.items() if name not in changed)
    return {"main"} if at_start and not all(map(at_start.isdisjoint, same)) else set()


def _other_values(old: Mapping[str, Interval], new: Mapping[str, Interval]) -> set[str]:
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def _functions_of(nodes: Set[Node]) -> set[str]:
    """The functions that values are in; globals are in none."""
    return {function for function, _ in nodes if function}


def _otherwise_relevant(delta: ProgramDelta, nodes: Set[Node], graph: DerivationGraph) -> tuple[set[str], set[str]]:
    """The functions in which a value is tracked now that could not reach an error before, or is not tracked any more because it
    cannot reach one now. (The latter make no finding; but what is said of a function would depend on what it was before.) And
    those that may pass such a value to them."""
    if not nodes:
        return set(), set()
    found, calling = _functions_of(nodes), set[str]()
    for name in found:
        part = graph.functions.get(name)  # constants that callers pass
        calling.update(part.callers if part is not None else ())
    shared = frozenset(node for node in nodes if not node[0])
    if shared:
        for name, model in delta.models.items():
            if name not in found and _begins_at(delta, name, model.cfa, shared):
                found.add(name)
        for name, part in graph.functions.items():
            if any(_leaves_with(delta, name, exit_, shared) for exits in part.summaries.values() for exit_ in exits):
                found.update(part.callers)
    return found & delta.program.functions.keys(), calling & delta.program.functions.keys()


def _ending_otherwise(delta: ProgramDelta, before: ProgramDelta) -> set[str]:
    """The functions that end objects whose members own something now, and did not before, or the other way round."""
    pairs = zip(before.members, delta.members, strict=True)
    return set[str]().union(*(old.differ(new) for old, new in pairs)) & delta.program.functions.keys()


def _begins_at(delta: ProgramDelta, name: str, cfa: Cfa, nodes: frozenset[Node]) -> bool:
    """Whether a value begins to be tracked at one of these nodes: by what the function does, or as the result of a call."""
    for edge in cfa.edges:
        result = path_of(edge.effect.result) if isinstance(edge.effect, ir.Call) and edge.effect.result is not None else None
        if result is not None and node_of(name, result) in nodes:
            return True
        matches = delta.matcher.edge(edge)
        for match in (*matches.before, *matches.after):
            if match.source == START and match.path is not None and node_of(name, match.path) in nodes:
                return True
    return False


def _beginning(delta: ProgramDelta, name: str, called: Set[str], *, starts: bool, anywhere: bool) -> Iterator[int]:
    """The edges of a function at which facts can begin: all of them if they begin `anywhere`, as those of members do
    (`owned_members`); only calls of those `called` unless something `starts` in the function itself."""
    model = delta.lookup(name)
    if anywhere:
        yield from model.cfa.by_id
        return
    if not starts:
        yield from (edge.id for edge in model.cfa.calls if calls_any(edge, delta.program, called))
        return
    for edge in model.cfa.edges:
        matches = model.matches(edge)
        if isinstance(edge.effect, ir.Call) or any(match.source == START for match in (*matches.before, *matches.after)):
            yield edge.id


def _leaves_with(delta: ProgramDelta, name: str, exit_: int, nodes: frozenset[Node]) -> bool:
    return any(node_of(name, path) in nodes or node_of(name, path) == BEHIND for path in delta.facts[exit_].paths)


def _is_another(old: Program, new: Program, world: WorldChange, name: str) -> bool:
    """Whether nothing of the inside of a function in the graph can be kept."""
    if name in world.reshaped or name not in old.functions:
        return True
    one, other = old.functions[name], new.functions[name]
    return (one.entry, one.exit) != (other.entry, other.exit)


def _edges(old: Cfa, new: Cfa, found: Differences) -> EdgeChanges:
    shared = {id_ for id_ in old.by_id.keys() & new.by_id.keys() if old.by_id[id_].source == new.by_id[id_].source}
    modified = shared & found.keys()
    return EdgeChanges(
        deleted=frozenset(old.by_id.keys() - shared),
        added=frozenset(new.by_id.keys() - shared),
        modified=frozenset(modified),
        scopes={id_: scope for id_ in modified if (scope := found[id_]) is not None},
    )
