"""What the engine says of each function beside findings: verdicts with reasons and assumptions, and summaries in words.

Most functions are as they were in the revision before; what is said of them is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from analysis.c.functions import Function
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.obstacle_words import described, is_open_order
from analysis.engines.automaton.facts.facts import NOTHING, FactTable
from analysis.engines.automaton.facts.spelled import summary_line
from analysis.engines.automaton.solver.full import DerivationGraph, FunctionGraph
from analysis.engines.automaton.solver.retrace import Entered
from analysis.model import ir
from analysis.model.report import RuleVerdict
from analysis.model.spelling import display_name
from analysis.rules.automaton import Rule

ENGINE = "automaton"
UNDECIDED = "a violation may be possible here, but the search for a path to it reached its limit"
NOT_REACHED = "it is not reached from the program's entries"
_NOT_PROVED = "no violation was found, and nothing was proved"
_NOT_LOOKED_FOR = "only provers look for it, and they were not asked about it"
UNASKED = frozenset((_NOT_PROVED, _NOT_LOOKED_FOR))
"""The reasons of verdicts that are unknown only because no prover was asked."""


class _Wrong(NamedTuple):
    """The verdicts on a function in which something is wrong, and what they were made of: those without that, the rules that are
    violated and the undecided ones."""

    plain: dict[str, RuleVerdict]
    violated: set[int]
    undecided: set[int]
    verdicts: dict[str, RuleVerdict]


class _Plain(NamedTuple):
    """What is said of a function in which nothing is wrong, and what it was made of."""

    assumptions: tuple[str, ...]
    verdicts: dict[str, RuleVerdict]


_NO_ENTRIES: list[int] = []


class Answers:
    """Speaks about the functions of one program, revision by revision: of the rules `asked`, which facts know by their numbers in
    `rules`."""

    def __init__(self, rules: tuple[Rule, ...], facts: FactTable, asked: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._asked = asked
        self._facts = facts
        self._assumed: dict[str, tuple[Cfa, tuple[Function, ...], tuple[str, ...]]] = {}
        self._changed: set[str] = set()
        self._functions: Mapping[str, Cfa] = {}  # what was spoken about last
        self._contracts: tuple[Function, ...] = ()
        self._verdicts: dict[str, dict[str, RuleVerdict]] = {}
        self._summaries: dict[str, tuple[str, ...]] = {}
        self._unsummarised: set[str] = set()
        self._plain: dict[str, _Plain] = {}
        self._alike: dict[tuple[str, tuple[str, ...]], dict[str, RuleVerdict]] = {}
        self._wrong: dict[str, _Wrong] = {}
        self._obstacles: dict[str, tuple[Cfa, list[int], str]] = {}

    def changed(self, functions: Iterable[str]) -> None:
        """These functions are others, or what they call is, or the graph of them, or the states in which executions enter
        them."""
        for name in functions:
            self._assumed.pop(name, None)
            self._plain.pop(name, None)
            self._obstacles.pop(name, None)
            self._changed.add(name)
            self._unsummarised.add(name)

    def verdicts(
        self,
        program: Program,
        graph: DerivationGraph,
        entered: Entered,
        violated: Mapping[str, set[int]],
        undecided: Mapping[str, set[int]],
        ms: float,
    ) -> dict[str, dict[str, RuleVerdict]]:
        """What is known of each function for each rule; `violated` and `undecided` are rules by function."""
        before, self._wrong = self._wrong, {}
        functions, share = program.functions, ms / max(len(program.functions), 1)
        if program.contracts != self._contracts:
            self._plain, self._contracts = {}, program.contracts
        last, self._functions = self._functions, functions
        others = [name for name, cfa in functions.items() if cfa is not last.get(name)]
        for name in (*others, *self._changed):
            self._plain.pop(name, None)
        verdicts = dict(self._verdicts)
        for name in last.keys() - functions.keys():
            self._plain.pop(name, None)
            del verdicts[name]
        again = {*others, *self._changed, *violated, *undecided, *before, *(functions.keys() - self._plain.keys())}
        self._changed = set()
        for name in again & functions.keys():
            plain = self._plain.get(name)
            if plain is None:
                plain = self._said_plainly(name, functions[name], program, graph, entered.get(name, _NO_ENTRIES), share)
                self._plain[name] = plain
            said = plain.verdicts
            if name in violated or name in undecided:
                wrong, open_ = violated.get(name, set()), undecided.get(name, set())
                known = before.get(name)
                if known is None or known[:3] != (said, wrong, open_):
                    known = _Wrong(said, wrong, open_, {**said, **self._with_wrong(wrong, open_, plain.assumptions, share)})
                self._wrong[name] = known
                said = known.verdicts
            verdicts[name] = said
        self._verdicts = verdicts
        return verdicts

    def _said_plainly(
        self, name: str, cfa: Cfa, program: Program, graph: DerivationGraph, entries: list[int], share: float
    ) -> _Plain:
        """The verdicts on a function in which nothing is wrong; the same object as of others of which the same is said."""
        key = self._doubt(name, cfa, graph, entries), self._assumptions(name, cfa, program)
        found = self._alike.get(key)
        if found is None:
            said = RuleVerdict("unknown", key[0], key[1], ENGINE, ms=share)
            unsaid = RuleVerdict("unknown", _NOT_LOOKED_FOR, key[1], ENGINE)
            found = self._alike[key] = {rule.name: unsaid if rule.provers_only else said for rule in self._asked}
        return _Plain(key[1], found)

    def _doubt(self, name: str, cfa: Cfa, graph: DerivationGraph, entries: list[int]) -> str:
        """Why nothing is shown of the function where nothing is wrong."""
        if not graph.complete:
            return "the check of the program stopped at the limit `configurations`"
        part = graph.functions.get(name)
        if part is None or not entries:
            return NOT_REACHED
        if cfa.unsupported:
            known = self._obstacles.get(name)
            if known is None or known[0] is not cfa or known[1] != entries:
                known = self._obstacles[name] = cfa, entries, _met(cfa, part, set(entries))
            if known[2]:
                return f"it {described(known[2])}"
        return _NOT_PROVED

    def _with_wrong(
        self, wrong: Iterable[int], undecided: Iterable[int], assumptions: tuple[str, ...], share: float
    ) -> dict[str, RuleVerdict]:
        found = {
            self._rules[number].name: RuleVerdict("unknown", UNDECIDED, assumptions, ENGINE, ms=share) for number in undecided
        }
        broken = RuleVerdict("violated", None, assumptions, ENGINE, ms=share)
        return found | {self._rules[number].name: broken for number in wrong}

    def _assumptions(self, name: str, cfa: Cfa, program: Program) -> tuple[str, ...]:
        known = self._assumed.get(name)
        if known is None or known[0] is not cfa or known[1] != program.contracts:
            bodiless: set[str] = set()
            for edge in cfa.calls:
                assert isinstance(edge.effect, ir.Call)
                bodiless.update(display_name(t) for t in program.targets(edge.effect) if t not in program.functions)
            described = {one.name: one.described for one in program.contracts}
            said = tuple(_assumed(name, described.get(name, "")) for name in sorted(bodiless))
            known = self._assumed[name] = (cfa, program.contracts, said)
        return known[2]

    def summaries(self, graph: DerivationGraph, entered: Entered) -> dict[str, tuple[str, ...]]:
        """For each reached function, its entry/exit pairs in words."""
        found = dict(self._summaries)
        for name in self._unsummarised | (entered.keys() - found.keys()):
            entries = entered.get(name, _NO_ENTRIES)
            if entries:
                summaries = graph.functions[name].summaries
                found[name] = self._spelled({entry: summaries[entry] for entry in entries})
            else:
                found.pop(name, None)
        self._unsummarised = set()
        self._summaries = found
        return found

    def _spelled(self, pairs: Mapping[int, Sequence[int]]) -> tuple[str, ...]:
        lines: dict[str, None] = {}
        for entry, exits in sorted(pairs.items()):
            for exit_ in sorted(exits):
                line = summary_line(self._facts[entry], self._facts[exit_], self._rules, entry == NOTHING, exit_ == NOTHING)
                if line:
                    lines[line] = None
        if not pairs.get(NOTHING):
            lines["never returns"] = None
        return tuple(sorted(lines))


def _met(cfa: Cfa, part: FunctionGraph, entries: set[int]) -> str:
    """What is not understood of a function, of that to which these entry states lead; nothing if all is."""
    known = (cfa.unobstructed or cfa).by_id  # in the graph there is no obstacle at the entry
    sources = {edge.id: known.get(edge.id, edge).source for edge in cfa.unsupported}
    reached = part.reached(set(sources.values()), entries)
    met = [e.effect.reason for e in cfa.unsupported if sources[e.id] in reached and isinstance(e.effect, ir.Unsupported)]
    return min(met, key=is_open_order, default="")


def _assumed(name: str, described: str) -> str:
    """What is assumed of a function without a body. `described`: the file of the project that says what it does, or nothing."""
    does = f"does what {described} says of it" if described else "changes only what its arguments point to"
    return f"{name}() has no body; it {does}"
