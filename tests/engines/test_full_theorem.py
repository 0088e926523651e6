"""[ORION] Theorem 1 as a property: Full reports an error configuration if and only if some execution of the program, which
is a recursive state machine, has a run of the automaton that leads there.

Both directions are checked on random programs and random nondeterministic automata. If: every error that brute-force
enumeration of executions (bounded in length and stack) meets is reported. Only if: every reported error is turned into an
execution, which is then replayed step by step with the definitions of [ORION] section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from analysis.cfa.graph import Edge
from analysis.engines.automaton.solver.full import DerivationGraph, Entry, Full, pack, unpack
from analysis.model import c_types, ir

ENTRY, EXIT = 0, 1
STATES = 3
ERROR_STATE = 2
FUNCTIONS = ("main", "f", "g")
LETTERS = ("a", "b")


class Machine(msgspec.Struct, frozen=True):
    """A program as edges by function, and an automaton as successors by (state, letter)."""

    edges: dict[str, tuple[Edge, ...]]
    automaton: dict[tuple[int, str], tuple[int, ...]]

    def outgoing(self, function: str, location: int) -> Sequence[tuple[Edge, bool]]:
        edges = self.edges[function] if location != EXIT else ()
        return [(e, isinstance(e.effect, ir.Call)) for e in edges if e.source == location]

    def entry(self, function: str) -> int:
        return ENTRY

    def exit(self, function: str) -> int:
        return EXIT

    def quiet(self, function: str, edge: Edge, state: int) -> Sequence[int] | None:
        return None

    def step(self, function: str, edge: Edge, state: int) -> Sequence[int]:
        assert isinstance(edge.effect, ir.Unsupported)
        return self.automaton.get((state, edge.effect.reason), ())

    def call(self, function: str, edge: Edge, state: int) -> tuple[Sequence[int], Sequence[Entry]]:
        assert isinstance(edge.effect, ir.Call)
        callee = ir.direct_callee(edge.effect)
        assert callee is not None
        return (), [(callee, state)]

    def leave(self, function: str, edge: Edge, state: int, callee: Entry, exit_: int) -> Sequence[int]:
        return (exit_,)

    def rejecting(self, state: int) -> bool:
        return state == ERROR_STATE

    def depends(self, state: int, names: frozenset[str]) -> bool:
        raise AssertionError("nothing is edited here")


def effect_of(label: str) -> ir.Effect:
    if label in FUNCTIONS:
        return ir.Call(ir.Var(label, "function", c_types.VOID), (), None)
    return ir.Unsupported(label)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    edges = {}
    for function in FUNCTIONS:
        triples = draw(
            st.lists(
                st.tuples(st.sampled_from((0, 2, 3)), st.sampled_from((*LETTERS, *FUNCTIONS)), st.integers(0, 3)), max_size=6
            )
        )
        edges[function] = tuple(Edge(i, s, t, effect_of(label)) for i, (s, label, t) in enumerate(triples))
    automaton = {}
    for state in range(STATES):
        for letter in LETTERS:
            automaton[state, letter] = tuple(sorted(draw(st.sets(st.integers(0, STATES - 1), max_size=2))))
    return Machine(edges, automaton)


Position = tuple[str, int]


def successors(machine: Machine, stack: tuple[Position, ...], state: int) -> list[tuple[tuple[Position, ...], int]]:
    """One step of a run: the three rules of [ORION] section 2 together with the automaton."""
    (function, location), below = stack[-1], stack[:-1]
    found = []
    for edge, is_call in machine.outgoing(function, location):
        if is_call:
            callee = ir.direct_callee(edge.effect)  # type: ignore[arg-type]
            found.append(((*below, (function, edge.target), (callee, ENTRY)), state))
        else:
            found.extend(((*below, (function, edge.target)), q) for q in machine.step(function, edge, state))
    if location == EXIT and below:
        found.append((below, state))
    return found  # type: ignore[return-value]


def enumerate_errors(machine: Machine, length: int, depth: int) -> set[tuple[str, int, int]]:
    """The positions and states at which some run, bounded in length and stack, first rejects."""
    errors = set()
    seen = frontier = {((("main", ENTRY),), 0)}
    for _ in range(length):
        following = set()
        for stack, state in frontier:
            if state == ERROR_STATE:
                errors.add((*stack[-1], state))
                continue
            following.update(s for s in successors(machine, stack, state) if len(s[0]) <= depth)
        frontier = following - seen
        seen = seen | following
        if not frontier or len(seen) > 20_000:
            break
    return errors


def run_to(graph: DerivationGraph, function: str, configuration: int) -> list[tuple[tuple[Position, ...], int]]:
    """The run that the derivation graph gives for a configuration, as stacks and states from the start."""
    _, entry, _ = unpack(configuration)
    if entry in graph.initial.get(function, ()):
        before: list[tuple[tuple[Position, ...], int]] = [(((function, ENTRY),), entry)]
    else:
        caller, site, edge = graph.functions[function].sites[entry][0]
        before = run_to(graph, caller, site)
        stack, state = before[-1]
        before.append(((*stack[:-1], (caller, edge.target), (function, ENTRY)), state))
    stack = before[-1][0][:-1]
    return before + [((*stack, *inner), state) for inner, state in inside(graph, function, configuration)]


def inside(graph: DerivationGraph, function: str, configuration: int) -> list[tuple[tuple[Position, ...], int]]:
    """The part of a run from the function's entry (left out) to a configuration, with stacks relative to the function's."""
    part = graph.functions[function]
    parent = part.parent(configuration)
    if parent is None:
        return []
    edge, before = parent
    steps = inside(graph, function, before)
    location, _, state = unpack(configuration)
    if (before, edge, configuration) in part.via:
        callee, entry, exit_ = part.via[before, edge, configuration][0]
        back = (function, location)
        steps.append(((back, (callee, ENTRY)), entry))
        steps.extend(((back, *inner), q) for inner, q in inside(graph, callee, pack(EXIT, entry, exit_)))
    return [*steps, (((function, location),), state)]


@settings(max_examples=400, deadline=None)
@given(machines())
@example(
    Machine(
        {"main": (Edge(0, 0, 2, effect_of("f")), Edge(1, 2, 1, effect_of("b"))), "f": (Edge(0, 0, 1, effect_of("a")),), "g": ()},
        {(0, "a"): (1,), (1, "b"): (2,)},
    )
)
@example(  # f's shortest path to its exit is a call of itself, which is no reason for it
    Machine(
        {
            "main": (Edge(0, 0, 2, effect_of("f")), Edge(1, 2, 1, effect_of("b"))),
            "f": (Edge(0, 0, 1, effect_of("f")), Edge(1, 0, 2, effect_of("a")), Edge(2, 2, 1, effect_of("a"))),
            "g": (),
        },
        {(0, "a"): (0,), (0, "b"): (2,)},
    )
)
def test_full_reports_exactly_the_errors_that_executions_reach(machine: Machine) -> None:
    graph = Full(machine, 100_000).analyse([("main", 0)])
    assert graph.complete
    reported = {}
    for name, part in graph.functions.items():
        for configuration in part.errors:
            location, _, state = unpack(configuration)
            reported[name, location, state] = configuration
    assert enumerate_errors(machine, 14, 6) <= set(reported)
    for (name, location, state), configuration in reported.items():
        run = run_to(graph, name, configuration)
        assert run[0] == ((("main", ENTRY),), 0)
        assert (run[-1][0][-1], run[-1][1]) == ((name, location), state)
        for before, after in pairwise(run):
            assert after in successors(machine, *before)


@settings(max_examples=200, deadline=None)
@given(machines())
def test_the_derivation_graph_records_every_derivation_and_its_reason(machine: Machine) -> None:
    graph = Full(machine, 100_000).analyse([("main", 0)])
    for name, part in graph.functions.items():
        derived = {target for configuration in part.derived for _, target in part.derivations(configuration)}
        for configuration in part.derived:
            location, entry, state = unpack(configuration)
            assert configuration in derived or (location == ENTRY and state == entry)
            if location == EXIT and state != ERROR_STATE:
                assert state in part.summaries[entry]
        for entry, sites in part.sites.items():
            for caller, site, edge in sites:
                assert unpack(site)[2] == entry
                assert ir.direct_callee(edge.effect) == name  # type: ignore[arg-type]
                assert site in graph.functions[caller].derived
