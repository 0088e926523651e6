"""The automata of all rules over one program, as `full.Delta`: transfer functions and call mappings, memoised per edge and
state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.calls import CallTransfer
from analysis.engines.automaton.facts import NOTHING, Fact, FactTable
from analysis.engines.automaton.footprint import Footprints
from analysis.engines.automaton.full import Entry
from analysis.engines.automaton.function_model import FunctionModel, fact_names
from analysis.engines.automaton.matching import Matcher, PatternIndex
from analysis.engines.automaton.transfer import Transfer
from analysis.model import ir
from analysis.rules.automaton import Rule

_CallPlan = tuple[Sequence[int], Sequence[Entry]]


class ProgramDelta:
    """The product automaton of a program and the rules."""

    def __init__(self, program: Program, rules: tuple[Rule, ...], facts: FactTable) -> None:
        self.program = program
        self.facts = facts
        self.footprints = Footprints(program)
        self.matcher = Matcher(PatternIndex(rules), program)
        self.transfer = Transfer(rules, facts, program)
        self.calls = CallTransfer(self.transfer, self.footprints, self.matcher)
        self._models: dict[str, FunctionModel] = {}
        self._outgoing: dict[str, dict[int, tuple[tuple[Edge, bool], ...]]] = {}
        self._steps: dict[str, dict[tuple[int, int], Sequence[int]]] = {}
        self._call_plans: dict[tuple[str, int, int], _CallPlan] = {}
        self._leaves: dict[tuple[str, int, int, Entry, int], Sequence[int]] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._environment_keys: dict[int, frozenset[int]] = {}

    def model(self, function: str) -> FunctionModel:
        """The engine's view of a function."""
        found = self._models.get(function)
        if found is None:
            cfa = self.program.functions[function]
            found = self._models[function] = FunctionModel(cfa, self.program, self.footprints, self.matcher)
            table: dict[int, tuple[tuple[Edge, bool], ...]] = {}
            for location, edges in cfa.outgoing.items():
                feasible = [edge for edge in edges if found.feasible(edge)]
                table[location] = tuple(
                    (edge, isinstance(edge.effect, ir.Call) and self._has_body(edge.effect)) for edge in feasible
                )
            self._outgoing[function] = table
            self._steps[function] = {}
        return found

    def _has_body(self, call: ir.Call) -> bool:
        return any(target in self.program.functions for target in self.program.targets(call))

    def entry(self, function: str) -> int:
        """The entry location of a function."""
        return self.program.functions[function].entry

    def exit(self, function: str) -> int:
        """The exit location of a function."""
        return self.program.functions[function].exit

    def outgoing(self, function: str, location: int) -> Sequence[tuple[Edge, bool]]:
        """The feasible edges that leave a location, each with whether it calls a function with a body."""
        if function not in self._outgoing:
            self.model(function)
        return self._outgoing[function].get(location, ())

    def rejecting(self, state: int) -> bool:
        """Whether the state is an error."""
        return state in self.facts.errors

    def step(self, function: str, edge: Edge, state: int) -> Sequence[int]:
        """The states after an edge without a callee's body."""
        memo = self._steps[function]
        key = (edge.id, state)
        found = memo.get(key)
        if found is None:
            found = memo[key] = self._step(self._models[function], edge, state)
        return found

    def _step(self, model: FunctionModel, edge: Edge, state: int) -> Sequence[int]:
        if state == NOTHING:
            return (NOTHING, *self.transfer.start(model, edge))
        if self._unmoved(model, edge, state):
            return (state,)
        return tuple(self.transfer.step(model, edge, state))

    def _unmoved(self, model: FunctionModel, edge: Edge, state: int) -> bool:
        """Whether the edge surely does nothing to the fact: it touches no name of its paths, and nothing of its environment."""
        if isinstance(edge.effect, ir.Return):
            return False
        names = self._names.get(state)
        if names is None:
            fact = self.facts[state]
            names = self._names[state] = fact_names(fact.paths)
            self._environment_keys[state] = frozenset(number for number, _ in fact.environment)
        if not names.isdisjoint(model.touched(edge)):
            return False
        if isinstance(edge.effect, ir.Assume | ir.Assign):
            live = model.known.live[edge.target]
            test = model.conditions.of_edge.get(edge.id)
            if test is not None and (test[0] in live or test[0] in self._environment_keys[state]):
                return False
            if isinstance(edge.effect, ir.Assign) and model.conditions.numbers.get(edge.effect.target, -1) in live:
                return False
        keys = self._environment_keys[state]
        return not keys or (keys <= model.known.live[edge.target] and keys.isdisjoint(model.known.killed(edge)))

    def call(self, function: str, edge: Edge, state: int) -> _CallPlan:
        """What a call does without summaries, and whom it enters in which states."""
        key = (function, edge.id, state)
        found = self._call_plans.get(key)
        if found is None:
            found = self._call_plans[key] = self._call(self._models[function], edge, state)
        return found

    def _call(self, model: FunctionModel, edge: Edge, state: int) -> _CallPlan:
        call = edge.effect
        assert isinstance(call, ir.Call)
        targets = self.program.targets(call)
        bodies = [target for target in targets if target in self.program.functions]
        direct: list[int] = []
        if len(bodies) < len(targets):
            direct.extend(self._step(model, edge, state))
        if state == NOTHING:
            direct.extend(n for n in self.transfer.start(model, edge) if n in self.facts.errors)
            entered = [(t, e) for t in bodies for e in (NOTHING, *self.calls.entries(edge, self.model(t)))]
            return tuple(dict.fromkeys(direct)), entered
        fact = self.facts[state]
        fired = self.transfer.fire(model, edge, fact)
        if not isinstance(fired, Fact):
            return tuple(dict.fromkeys((*direct, *fired))), ()
        if fired != fact:  # the rule says what the function does: its body is not asked
            return tuple(direct), [(t, NOTHING) for t in bodies]
        return tuple(direct), [(t, self.calls.enter(model, edge, self.model(t), fact)) for t in bodies]

    def leave(self, function: str, edge: Edge, state: int, callee: Entry, exit_: int) -> Sequence[int]:
        """The states after a call for one summary of an entered callee."""
        key = (function, edge.id, state, callee, exit_)
        found = self._leaves.get(key)
        if found is None:
            name, entry = callee
            answer = self.calls.leave(self._models[function], edge, self.model(name), state, entry, exit_)
            found = self._leaves[key] = tuple(dict.fromkeys(answer))
        return found

    def initial(self, entries: Iterable[str]) -> list[Entry]:
        """The entry states: NOTHING everywhere, and for `main` also what the rules track from the program's start on."""
        found: list[Entry] = []
        for name in entries:
            found.append((name, NOTHING))
            if name == "main":
                begun = (Fact(m.rule, m.target, (m.path,)) for m in self.matcher.begin() if m.path is not None)
                found.extend((name, self.facts.number(fact)) for fact in begun)
        return found
