"""Random programs with automata, and random edits of them, for the theorems about IncrFwd and IncrBack.

A `Machine` is a recursive state machine and a nondeterministic automaton that also reacts to calls and returns. `MachineDelta`
answers for it as `full.Delta` asks, stretches of quiet edges and calls without summaries included. `changes_between` is the
strictest reading of the contract of `Changes`: it compares all answers on every edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec

from analysis.cfa.graph import Edge
from analysis.engines.automaton.solver.changes import Changes, EdgeChanges
from analysis.engines.automaton.solver.full import Entry
from analysis.model import ir

STATES = 4
ERROR_STATE = 3
LOCATIONS = 5
LETTERS = ("a", "b", "c", "never")  # no automaton follows an edge with the last
NAMES = ("main", "f", "g", "h", "k")

Table = dict[tuple[int, object], tuple[int, ...]]


class Body(msgspec.Struct, frozen=True):
    """A function: its entry and exit locations, and its edges, each with a letter or `f` or `f|g` as label."""

    entry: int
    exit: int
    edges: tuple[Edge, ...]


class Machine(msgspec.Struct, frozen=True):
    """`steps` is by state and letter, `direct` and `enters` by state (and 0), `leaves` by state and exit state; `stretches` says
    whether there are quiet edges, `initial` where the program begins."""

    functions: dict[str, Body]
    steps: Table
    direct: Table
    enters: Table
    leaves: Table
    stretches: bool
    initial: tuple[Entry, ...]


def label_of(edge: Edge) -> str:
    assert isinstance(edge.effect, ir.Unsupported)
    return edge.effect.reason


def edge_of(number: int, source: int, target: int, label: str) -> Edge:
    return Edge(number, source, target, ir.Unsupported(label))


class MachineDelta:
    """The answers of `full.Delta` for a machine; `asked` counts them by function."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.asked: dict[str, int] = {}
        self._targets: dict[str, tuple[str, ...]] = {}
        self._outgoing: dict[str, dict[int, list[tuple[Edge, bool]]]] = {}
        self._entries_of: dict[str, dict[int, int]] = {}
        for name, body in machine.functions.items():
            table = self._outgoing[name] = {}
            entries = self._entries_of[name] = {body.entry: 9, body.exit: 9}
            for edge in body.edges:
                label = label_of(edge)
                if label not in self._targets:
                    self._targets[label] = tuple(t for t in label.split("|") if t in machine.functions)
                entries[edge.target] = entries.get(edge.target, 0) + 1
                if label != "never":
                    table.setdefault(edge.source, []).append((edge, bool(self._targets[label])))

    def _ask(self, function: str) -> None:
        self.asked[function] = self.asked.get(function, 0) + 1

    def outgoing(self, function: str, location: int) -> Sequence[tuple[Edge, bool]]:
        return self._outgoing[function].get(location, ())

    def entry(self, function: str) -> int:
        return self.machine.functions[function].entry

    def exit(self, function: str) -> int:
        return self.machine.functions[function].exit

    def rejecting(self, state: int) -> bool:
        return state == ERROR_STATE

    def depends(self, state: int, names: frozenset[str]) -> bool:
        return str(state) in names

    def _still(self, edge: Edge, state: int) -> bool:
        label = label_of(edge)
        return not self._targets[label] and self.machine.steps.get((state, label)) == (state,)

    def quiet(self, function: str, edge: Edge, state: int) -> Sequence[int] | None:
        self._ask(function)
        if not self.machine.stretches or state == 0 or not self._still(edge, state):
            return None
        places: dict[int, None] = {}
        seen = {edge.id}
        work = [edge]
        while work:
            target = work.pop().target
            following = self._outgoing[function].get(target, ())
            if self._entries_of[function][target] == 1 and all(self._still(e, state) for e, _ in following):
                work.extend(e for e, _ in following if e.id not in seen)
                seen.update(e.id for e, _ in following)
            else:
                places[target] = None
        return tuple(places)

    def step(self, function: str, edge: Edge, state: int) -> Sequence[int]:
        self._ask(function)
        return self.machine.steps.get((state, label_of(edge)), (state,))  # a call of what has no body changes nothing

    def call(self, function: str, edge: Edge, state: int) -> tuple[Sequence[int], Sequence[Entry]]:
        """A callee with few edges may be passed without its summary: an answer that depends on the callee."""
        self._ask(function)
        callees = self._targets[label_of(edge)]
        passes = any(len(self.machine.functions[callee].edges) < 3 for callee in callees)
        direct = self.machine.direct.get((state, 0), ()) if passes else ()
        return direct, [(callee, r) for callee in callees for r in self.machine.enters.get((state, 0), (state,))]

    def leave(self, function: str, edge: Edge, state: int, callee: Entry, exit_: int) -> Sequence[int]:
        self._ask(function)
        return self.machine.leaves.get((state, exit_), (exit_,))


def _answers(delta: MachineDelta, name: str, edge: Edge) -> tuple[object, dict[int, object]]:
    """The edge and how it is followed; and what is answered there, by state."""
    follows = [is_call for followed, is_call in delta.outgoing(name, edge.source) if followed.id == edge.id]
    by_state: dict[int, object] = {}
    for state in range(ERROR_STATE if follows else 0):
        places = delta.quiet(name, edge, state)
        if places is not None:
            by_state[state] = places
        elif not follows[0]:
            by_state[state] = (None, delta.step(name, edge, state))
        else:
            direct, entered = delta.call(name, edge, state)
            left = [delta.leave(name, edge, state, callee, exit_) for callee in entered for exit_ in range(ERROR_STATE)]
            by_state[state] = (direct, entered, left)
    return (edge, follows), by_state


def changes_between(old: MachineDelta, new: MachineDelta, random: Random | None = None) -> Changes:
    """All changes; with `random`, now and then an edge is named as modified that is not, and scopes for some."""
    before, after = old.machine.functions, new.machine.functions
    moved = {n for n in before if n in after and (before[n].entry, before[n].exit) != (after[n].entry, after[n].exit)}
    functions = {}
    for name in after:
        if name not in before or name in moved:
            continue
        was, now = ({edge.id: edge for edge in bodies[name].edges} for bodies in (before, after))
        moves = {i for i in was if i in now and was[i].source != now[i].source}
        modified: set[int] = set()
        scopes: dict[int, frozenset[str]] = {}
        for i in was.keys() & now.keys() - moves:
            (edge_before, old_answers), (edge_after, new_answers) = _answers(old, name, was[i]), _answers(new, name, now[i])
            others = frozenset(str(q) for q in range(ERROR_STATE) if old_answers.get(q) != new_answers.get(q))
            if edge_before != edge_after or others or (random is not None and random.randrange(20) == 0):
                modified.add(i)
                if random is not None and edge_before == edge_after and random.randrange(2):
                    scopes[i] = others
        deleted, added = {i for i in was if i not in now} | moves, {i for i in now if i not in was} | moves
        if deleted or added or modified:
            functions[name] = EdgeChanges(frozenset(deleted), frozenset(added), frozenset(modified), scopes)
    initial = new.machine.initial if new.machine.initial != old.machine.initial else None
    removed, added_ = (n for n in before if n not in after), (n for n in after if n not in before)
    return Changes(functions, frozenset({*removed, *moved}), frozenset({*added_, *moved}), initial)


def _label(random: Random) -> str:
    kind = random.randrange(12)
    if kind < 7:
        return LETTERS[random.randrange(3)]
    if kind == 7:
        return "never" if random.randrange(4) == 0 else "a"
    callee = NAMES[random.randrange(len(NAMES))]
    if kind == 8:
        other = NAMES[random.randrange(len(NAMES))]
        return callee if other == callee else f"{callee}|{other}"
    return callee


def _location(random: Random) -> int:
    return random.randrange(LOCATIONS)


def _body(random: Random) -> Body:
    edges = [edge_of(i, *ends, _label(random)) for i, ends in enumerate(((0, 2), (2, 3), (3, 1)))]
    for number in range(random.randrange(5)):
        edges.append(edge_of(3 + number, (0, 2, 3, 4)[random.randrange(4)], _location(random), _label(random)))
    return Body(0, 1, tuple(edges))


def _some(random: Random, default: int | None = None) -> tuple[int, ...]:
    kind = random.randrange(16)
    if default is not None and kind < 8:
        return (default,)
    if kind == 15:
        return ()
    states = STATES if kind < 11 else ERROR_STATE  # errors end the path; not too many of them
    return tuple(sorted({random.randrange(states) for _ in range(1 + random.randrange(3))}))


def _row(random: Random, table: str, state: int) -> tuple[tuple[int, object], tuple[int, ...]]:
    if table == "steps":
        return (state, LETTERS[random.randrange(3)]), _some(random, state)
    if table == "leaves":
        exit_ = random.randrange(ERROR_STATE)
        return (state, exit_), _some(random, exit_)
    if table == "direct":
        return (state, 0), _some(random) if random.randrange(2) else ()
    return (state, 0), tuple(q for q in _some(random, state) if q != ERROR_STATE)


TABLES = ("steps", "direct", "enters", "leaves")


def random_machine(random: Random, stretches: bool = True) -> Machine:
    """A program of three or four functions that begins in `main`."""
    functions = {name: _body(random) for name in NAMES[: 3 + random.randrange(2)]}
    steps: Table = {(state, letter): _some(random, state) for state in range(ERROR_STATE) for letter in LETTERS[:3]}
    direct, enters, leaves = (dict(_row(random, name, random.randrange(ERROR_STATE)) for _ in range(2)) for name in TABLES[1:])
    return Machine(functions, steps, direct, enters, leaves, stretches, (("main", 0),))


def edited(random: Random, machine: Machine) -> Machine:
    """The machine after one to three random edits."""
    for _ in range((1, 1, 1, 2, 3)[random.randrange(5)]):
        machine = _edited(random, machine)
    return machine


def _edited(random: Random, machine: Machine) -> Machine:
    replace = msgspec.structs.replace
    kind = random.randrange(20)
    if kind < 14:
        name = list(machine.functions)[random.randrange(len(machine.functions))]
        return replace(machine, functions={**machine.functions, name: _edited_body(random, machine.functions[name], kind)})
    if kind < 16:  # a rule changes
        table = TABLES[random.randrange(len(TABLES))]
        key, row = _row(random, table, random.randrange(ERROR_STATE))
        return replace(machine, **{table: {**getattr(machine, table), key: row}})
    if kind == 16:
        starts = [(name, random.randrange(ERROR_STATE)) for name in machine.functions if random.randrange(3) == 0]
        return replace(machine, initial=tuple(dict.fromkeys([("main", 0), *starts][random.randrange(2) * bool(starts) :])))
    return _with_other_functions(random, machine, kind)


def _with_other_functions(random: Random, machine: Machine, kind: int) -> Machine:
    others = [name for name in machine.functions if name != "main"]
    free = [name for name in NAMES if name not in machine.functions]
    functions = dict(machine.functions)
    if kind == 17 and free:
        functions[free[random.randrange(len(free))]] = _body(random)
    elif kind == 18 and others:
        del functions[others[random.randrange(len(others))]]
    elif others and free:
        functions[free[0]] = functions.pop(others[random.randrange(len(others))])
    initial = tuple(entry for entry in machine.initial if entry[0] in functions) or (("main", 0),)
    return msgspec.structs.replace(machine, functions=functions, initial=initial)


def _edited_body(random: Random, body: Body, kind: int) -> Body:
    edges = list(body.edges)
    if kind == 0:  # the entry or the exit is elsewhere
        places = random.sample(range(LOCATIONS), 2) if random.randrange(2) else [0, 1]
        return Body(places[0], places[1], body.edges)
    if kind < 5 or not edges:
        unused = max((edge.id for edge in edges), default=-1) + 1
        edges.append(edge_of(unused, _location(random), _location(random), _label(random)))
        return Body(body.entry, body.exit, tuple(edges[-8:]))
    i = random.randrange(len(edges))
    edge = edges[i]
    if kind < 7:
        del edges[i]
    elif kind < 9:
        edges[i] = edge_of(edge.id, edge.source, _location(random), label_of(edge))
    elif kind == 9:
        edges[i] = edge_of(edge.id, _location(random), edge.target, label_of(edge))
    else:
        edges[i] = edge_of(edge.id, edge.source, edge.target, _label(random))
    return Body(body.entry, body.exit, tuple(edges))
