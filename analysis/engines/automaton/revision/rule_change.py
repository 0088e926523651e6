"""Computes what differs between two sets of rules over the same program, in the form that IncrFwd and IncrBack repair. To them, a
change of the automaton is like a change of the program ([ORION] section 3).

A rule keeps its number in all facts, so rules have *slots*: one that is gone leaves an empty slot behind, and new ones take the
empty slots or come after all others. Of a rule whose automaton is another, no fact may stay. Its answers can differ

- where its patterns match, or matched: values begin to be tracked there, and quiet stretches end there, for all rules;
- where an argument begins to be tracked as it is bound to its parameter;
- where one of its facts is, and in the callers of functions that are left with one.

In the functions concerned all edges count as modified, which is found out to be wrong for most (`Repair`); where that is the
whole program it takes half of Full's time. A rule of which only the words are others changes nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy

import msgspec

from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.facts.facts import FactTable
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.beliefs import Beliefs
from analysis.engines.automaton.functions.matching import Matcher, PatternIndex
from analysis.engines.automaton.functions.owned_members import owned_members
from analysis.engines.automaton.solver.changes import Changes, EdgeChanges
from analysis.engines.automaton.solver.full import FACT_BITS, FACT_MASK, LOCATION_BITS, DerivationGraph
from analysis.model import ir
from analysis.rules.automaton import START, Documentation, Rule

EMPTY = Rule(
    name="",
    summary="",
    severity="note",
    cwe=None,
    help=Documentation("", "", "", ""),
    tracks=None,
    ownership=False,
    about_object=False,
    local_states=frozenset(),
    names={},
    keeps=frozenset(),
    transitions=(),
)


class RulesRevised(msgspec.Struct, frozen=True):
    """The Delta with other rules, what differs, and in which functions; `slots` are those of rules whose automata differ."""

    delta: ProgramDelta
    changes: Changes
    touched: frozenset[str]
    slots: frozenset[int]


def slots_for(before: Sequence[Rule], rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """The rules in the slots that they have, by name; those that had none in empty ones, else at the end."""
    wanted = {rule.name: rule for rule in rules}
    slots = [wanted.pop(rule.name, EMPTY) for rule in before]
    for rule in wanted.values():
        free = slots.index(EMPTY) if EMPTY in slots else len(slots)
        slots[free : free + 1] = [rule]
    return tuple(slots)


def revise_rules(
    before: ProgramDelta, slots: tuple[Rule, ...], graph: DerivationGraph, entries: Iterable[str]
) -> RulesRevised | None:
    """The step to other rules, after which `before` must not be used any more. None for small programs, which are checked from
    nothing: it takes no time, and their paths go through everything."""
    if before.thorough:
        return None
    old = (*before.rules, *[EMPTY] * (len(slots) - len(before.rules)))
    differing = frozenset(slot for slot, rule in enumerate(slots) if _automaton(rule) != _automaton(old[slot]))
    matched = set(_matched(before.program, _only(differing, old), _only(differing, slots)))
    touched = (matched | set(_holding(graph, before.facts, differing))) & before.program.functions.keys()
    delta = copy(before)
    delta.rules = slots
    delta.matcher = Matcher(PatternIndex(slots), before.program)
    delta.relevance = before.relevance.under(slots, delta.matcher, matched)
    delta.models, delta.memos = before.models, {}
    for model in delta.models.values():
        model.forget_rules()
    delta.surround()
    delta.beliefs = Beliefs(delta.program, delta.weak_lookup())
    delta.members = owned_members(slots, delta.program, delta.matcher, delta.footprints.kept)
    delta.connect(())
    initial = tuple(delta.initial(entries))
    same = {(name, state) for name, states in graph.initial.items() for state in states} == set(initial)
    changes = Changes(
        functions={
            name: EdgeChanges(modified=frozenset(delta.program.functions[name].by_id))
            for name in touched & graph.functions.keys()
        },
        initial=None if same else initial,
    )
    before.models, before.memos = {}, {}
    return RulesRevised(delta, changes, frozenset(touched), differing)


def _automaton(rule: Rule) -> tuple[object, ...]:
    """What a rule does, without its words."""
    transitions = tuple(msgspec.structs.replace(transition, message="") for transition in rule.transitions)
    states = rule.local_states, rule.failure_states, rule.member_states
    functions = rule.names, rule.kinds, rule.keeps, rule.shipped  # which functions it is about
    return transitions, rule.tracks, rule.ownership, rule.about_object, states, functions


def _only(slots: frozenset[int], rules: Sequence[Rule]) -> tuple[Rule, ...]:
    return tuple(rule if slot in slots else EMPTY for slot, rule in enumerate(rules))


def _matched(program: Program, *versions: Sequence[Rule]) -> Iterator[str]:
    """The functions with an edge at which a pattern of these rules matches, or an argument that they begin to track."""
    matchers = [Matcher(PatternIndex(rules), program) for rules in versions]
    for name, cfa in program.functions.items():
        if any(_matches(matcher, program, cfa) for matcher in matchers):
            yield name


def _matches(matcher: Matcher, program: Program, cfa: Cfa) -> bool:
    for edge in cfa.edges:
        found = matcher.edge(edge)
        if found.before or found.after:
            return True
    return any(
        match.source == START
        for edge in cfa.calls
        if isinstance(edge.effect, ir.Call)
        for target in program.targets(edge.effect)
        if target in program.functions
        for parameter, argument in zip(program.functions[target].parameters, edge.effect.arguments, strict=False)
        for match in matcher.assigned(parameter, argument)
    )


def _holding(graph: DerivationGraph, facts: FactTable, slots: frozenset[int]) -> Iterator[str]:
    """The functions in which there are facts of these rules, and the callers of those that are left with one."""
    states = {number for number in range(len(facts)) if facts[number].rule in slots}
    if not states:
        return
    for name, part in graph.functions.items():
        if any(_has_one(configuration, states) for configuration in part.derived):
            yield name
        if any(exit_ in states for exits in part.summaries.values() for exit_ in exits):
            yield from part.callers


def _has_one(configuration: int, states: set[int]) -> bool:
    both = configuration >> LOCATION_BITS
    return both & FACT_MASK in states or both >> FACT_BITS in states
