"""What Theorems 2 and 3 say of a repaired derivation graph, as assertions; and chains of edits that check them at every step."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from analysis.engines.automaton.solver.changes import Changes, Repaired
from analysis.engines.automaton.solver.full import DIRECT, DerivationGraph, Entry, Full, pack, unpack
from analysis.engines.automaton.solver.incr_back import incr_back
from analysis.engines.automaton.solver.incr_fwd import incr_fwd
from analysis.engines.automaton.solver.retrace import Retrace
from tests.support.machines import MachineDelta, changes_between, edited, random_machine

LIMIT = 100_000
_EVENTS = 400
Node = tuple[str, int]
Event = tuple[str, int, str, int]  # what, over which edge, and in which function and configuration after it


def as_sets(graph: DerivationGraph) -> dict[str, dict[str, object]]:
    """A graph without the orders of discovery. Nothing may be there twice, and the redundant parts must agree."""
    found: dict[str, dict[str, object]] = {}
    sites_by_caller: dict[str, dict[int, set[object]]] = {}
    parts = graph.functions.values()
    assert graph.sizes == (sum(len(part.derived) for part in parts), sum(part.size for part in parts))
    for name, part in graph.functions.items():
        assert part.size == sum(len(flat) // 2 - 1 for flat in part.derived.values())
        assert all(len(flat) == 2 + 2 * len(set(zip(flat[2::2], flat[3::2], strict=True))) for flat in part.derived.values())
        assert part.sites.keys() == part.summaries.keys()
        lists: list[Iterable[object]] = [part.errors, *part.via.values(), *part.summaries.values(), *part.sites.values()]
        assert all(len(set(entries)) == len(list(entries)) for entries in [*lists, *part.calls.values()])
        callers: dict[str, int] = {}
        for entry, sites in part.sites.items():
            for caller, configuration, edge in sites:
                callers[caller] = callers.get(caller, 0) + 1
                sites_by_caller.setdefault(caller, {}).setdefault(configuration, set()).add((edge, name, entry))
        assert part.callers == callers
        found[name] = {
            "derived": {c: set(part.derivations(c)) for c in part.derived},
            "via": {key: set(supports) for key, supports in part.via.items()},
            "summaries": {entry: set(exits) for entry, exits in part.summaries.items()},
            "sites": {entry: set(sites) for entry, sites in part.sites.items()},
            "errors": set(part.errors),
        }
    for name, part in graph.functions.items():
        assert {c: set(calls) for c, calls in part.calls.items()} == sites_by_caller.pop(name, {})
    assert not sites_by_caller
    return found


def starts(graph: DerivationGraph) -> set[Entry]:
    return {(name, state) for name, states in graph.initial.items() for state in states}


def assert_well_founded(graph: DerivationGraph, delta: MachineDelta) -> None:
    """Inside functions, from every configuration the way to what it was first derived from ends, through callees' summaries
    too."""
    done: set[Node] = set()
    for root in [(name, c) for name, part in graph.functions.items() for c in part.derived]:
        stack: list[tuple[Node, list[Node]]] = [] if root in done else [(root, _rests_on(graph, delta, root))]
        under: set[Node] = {root}
        while stack:
            node, rest = stack[-1]
            if rest:
                following = rest.pop()
                assert following not in under, "a derivation rests on itself"
                if following not in done:
                    under.add(following)
                    stack.append((following, _rests_on(graph, delta, following)))
            else:
                stack.pop()
                under.discard(node)
                done.add(node)


def call_depths(graph: DerivationGraph) -> dict[Entry, int]:
    """The least number of calls to each entry state that an execution leads to, level by level."""
    found = dict.fromkeys(starts(graph), 0)
    level = 0
    while level in found.values():
        for entry in set(entries(graph)) - found.keys():
            above = {(caller, unpack(site)[1]) for caller, site, _ in graph.functions[entry[0]].sites[entry[1]]}
            if any(found.get(one) == level for one in above):
                found[entry] = level + 1
        level += 1
    return found


def _rests_on(graph: DerivationGraph, delta: MachineDelta, node: Node) -> list[Node]:
    name, configuration = node
    part = graph.functions[name]
    parent = part.parent(configuration)
    _, entry, _ = unpack(configuration)
    if parent is None:
        assert configuration == pack(delta.entry(name), entry, entry)
        return []
    edge, before = parent
    assert (edge, configuration) in part.derivations(before)
    via = part.via.get((before, edge, configuration), [DIRECT])[0]
    if via == DIRECT:
        return [(name, before)]
    assert (name, before) in {site[:2] for site in graph.functions[via[0]].sites[via[1]]}
    return [(name, before), (via[0], pack(delta.exit(via[0]), via[1], via[2]))]


def assert_real_run(graph: DerivationGraph, delta: MachineDelta, function: str, configuration: int) -> None:
    """The run to a configuration, read off the graph as a trace is, is one of the program: each step is what Delta answers."""
    events: list[Event] = []
    chain = [(function, configuration)]
    depths = call_depths(graph)
    begins = {(name, pack(delta.entry(name), state, state)) for name, state in starts(graph)}
    while chain[-1] not in begins:
        if len(events) > _EVENTS:
            return  # ends too (`assert_well_founded`), but with callees opened in callees it is very long
        chain.append(_before(graph, delta, depths, *chain[-1], events))
    events.reverse()
    name, entry = chain[-1][0], unpack(chain[-1][1])[1]
    stack: list[tuple[str, int, int, int]] = []
    location, state = delta.entry(name), entry
    for kind, edge_id, name_after, after in events:
        if kind == "return":
            called, exit_ = (name, entry), state
            assert location == delta.exit(name)
            name, location, state, entry = stack.pop()
        edge, is_call = next((e, is_call) for e, is_call in delta.outgoing(name, location) if e.id == edge_id)
        if kind == "call":
            entered = (name_after, unpack(after)[1])
            assert entered in delta.call(name, edge, state)[1]
            stack.append((name, location, state, entry))
            name, state, entry = name_after, entered[1], entered[1]
            location = delta.entry(name)
            continue
        now = unpack(after)[2]
        places = delta.quiet(name, edge, state) if kind == "edge" else None
        if kind == "return":
            assert now in delta.leave(name, edge, state, called, exit_)
        elif places is None:
            assert now in (delta.call(name, edge, state)[0] if is_call else delta.step(name, edge, state))
        else:
            assert now == state
        location, state = unpack(after)[0], now
        assert location in ([edge.target] if places is None else places)
    assert (name, location, state) == (function, *unpack(configuration)[::2])


def _before(
    graph: DerivationGraph, delta: MachineDelta, depths: dict[Entry, int], name: str, configuration: int, events: list[Event]
) -> Node:
    """The configuration before one, going back, with the events from there, last first, callees opened."""
    part = graph.functions[name]
    parent = part.parent(configuration)
    if parent is None:
        sites = part.sites[unpack(configuration)[1]]
        caller, site, edge = min(sites, key=lambda one: depths.get((one[0], unpack(one[1])[1]), len(depths)))
        events.append(("call", edge.id, name, configuration))
        return caller, site
    edge_id, before = parent
    via = part.via.get((before, edge_id, configuration), [DIRECT])[0]
    if via == DIRECT:
        events.append(("edge", edge_id, name, configuration))
        return name, before
    events.append(("return", edge_id, name, configuration))
    callee, entry, exit_ = via
    inside = pack(delta.exit(callee), entry, exit_)
    while graph.functions[callee].parent(inside) is not None and len(events) <= _EVENTS:
        _, inside = _before(graph, delta, depths, callee, inside, events)
    events.append(("call", edge_id, callee, inside))
    return name, before


class Chain:
    """A program that is edited again and again, with one graph that IncrFwd repairs, one for IncrBack, and one for both by
    turns."""

    def __init__(self, random: Random, stretches: bool = True) -> None:
        self._random = random
        self.delta = MachineDelta(random_machine(random, stretches))
        self.forward, self.backward, self.mixed = (self._full(self.delta.machine.initial) for _ in range(3))
        self._retraces = {id(graph): Retrace(graph) for graph in (self.forward, self.backward, self.mixed)}

    def _full(self, initial: Iterable[Entry]) -> DerivationGraph:
        return Full(self.delta, LIMIT).analyse(initial)

    def step(self) -> None:
        """Edits, repairs, and compares with Full."""
        random = self._random
        before = self.delta
        self.delta = MachineDelta(edited(random, before.machine))
        changes = changes_between(before, self.delta, random)
        full = self._full(self.delta.machine.initial)
        wanted = as_sets(full)
        done = incr_fwd(self.delta, self.forward, changes, LIMIT)
        self._assert_theorem_2(self.forward, full, wanted, done)
        given = list(self._calls(changes)) if random.randrange(2) else []
        done = incr_back(self.delta, self.backward, changes, LIMIT, given)
        self._assert_theorem_3(self.backward, full, wanted, done)
        if random.randrange(3):
            self._assert_theorem_3(self.mixed, full, wanted, incr_back(self.delta, self.mixed, changes, LIMIT))
        else:
            self._assert_theorem_2(self.mixed, full, wanted, incr_fwd(self.delta, self.mixed, changes, LIMIT))

    def _retraced(self, graph: DerivationGraph, done: Repaired) -> Retrace:
        """What a repair leaves of the answers before is what a search from nothing finds."""
        retrace, anew = self._retraces[id(graph)], Retrace(graph)
        before = {(name, state) for name, states in retrace._above.items() for state in states}
        left = retrace.revise(done)
        reached = {entry for entry in entries(graph) if anew.live(*entry)}
        assert left == ({name for name, _ in before - reached} if graph.stale else set())
        assert {(name, state) for name, states in retrace._above.items() for state in states} <= reached
        assert {entry for entry in entries(graph) if retrace.live(*entry)} == reached
        assert list(retrace.errors().items()) == list(anew.errors().items())
        depths = call_depths(graph)
        assert depths.keys() == reached
        assert [retrace.depths.of(entry) for entry in entries(graph)] == [depths.get(entry) for entry in entries(graph)]
        told = retrace.entered()
        assert told.keys() == graph.functions.keys()
        assert {(name, state) for name, states in told.items() for state in states} == reached
        return retrace

    def _forget(self, graph: DerivationGraph) -> None:
        """At times, only the errors are asked about until the next repair."""
        if not self._random.randrange(3):
            self._retraces[id(graph)] = Retrace(graph)
            self._retraces[id(graph)].errors()

    def _calls(self, changes: Changes) -> Iterable[tuple[str, str]]:
        for name in changes.functions:
            for location in range(9):
                for edge, is_call in self.delta.outgoing(name, location):
                    for state in range(3 if is_call else 0):
                        yield from ((name, callee) for callee, _ in self.delta.call(name, edge, state)[1])

    def _assert_theorem_2(self, graph: DerivationGraph, full: DerivationGraph, wanted: object, done: Repaired) -> None:
        self._retraced(graph, done)
        assert starts(graph) == starts(full)
        assert as_sets(graph) == wanted
        assert_well_founded(graph, self.delta)
        assert_counted(graph, done)
        for name, part in graph.functions.items():
            for error in part.errors:
                assert_real_run(graph, self.delta, name, error)
        self._forget(graph)

    def _assert_theorem_3(
        self, graph: DerivationGraph, full: DerivationGraph, wanted: dict[str, dict[str, object]], done: Repaired
    ) -> None:
        retrace = self._retraced(graph, done)
        assert starts(graph) == starts(full)
        # the induction hypothesis of the proof: what Full finds from the old entry states
        assert as_sets(graph) == as_sets(self._full(entries(graph)))
        for name, part in full.functions.items():
            assert part.derived.keys() <= graph.functions[name].derived.keys()
        errors = retrace.errors()
        assert {name: set(found) for name, found in errors.items()} == {
            name: part["errors"] for name, part in wanted.items() if part["errors"]
        }
        reached = [entry for entry in entries(graph) if retrace.live(*entry)]
        assert set(reached) == set(entries(full))
        if not graph.stale:
            assert as_sets(graph) == wanted
        assert_well_founded(graph, self.delta)
        assert_counted(graph, done)
        for name, found in errors.items():
            for error in found:
                assert_real_run(graph, self.delta, name, error)
        self._forget(graph)


def entries(graph: DerivationGraph) -> list[Entry]:
    return [(name, entry) for name, part in graph.functions.items() for entry in part.summaries]


def assert_counted(graph: DerivationGraph, done: Repaired) -> None:
    """What a repair says it added and reused is the graph."""
    assert done.configurations_added + done.configurations_reused == graph.configurations
    assert done.derivations_added + done.derivations_reused == graph.derivations
    assert min(done.configurations_added, done.configurations_reused, done.derivations_added, done.derivations_reused) >= 0
