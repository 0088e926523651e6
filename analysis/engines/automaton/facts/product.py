"""The automata of all rules over one program, as `full.Delta`: transfer functions and call mappings, memoised per edge and
state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from weakref import ref

import msgspec

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.engines.automaton.facts.call_mapping import CallTransfer
from analysis.engines.automaton.facts.facts import NOTHING, Fact, FactTable
from analysis.engines.automaton.facts.relevance import Relevance
from analysis.engines.automaton.facts.stretches import Stretches
from analysis.engines.automaton.facts.transfer import Transfer
from analysis.engines.automaton.functions.beliefs import Beliefs
from analysis.engines.automaton.functions.cases import Cases, Surroundings
from analysis.engines.automaton.functions.constant_globals import constant_globals, initial_values, spoiled_by
from analysis.engines.automaton.functions.footprint import Footprints
from analysis.engines.automaton.functions.function_model import FunctionModel, fact_names
from analysis.engines.automaton.functions.matching import Matcher, PatternIndex
from analysis.engines.automaton.functions.owned_members import owned_members
from analysis.engines.automaton.solver.full import FACT_BITS, FACT_MASK, Entry
from analysis.model import ir
from analysis.rules.automaton import Rule

_CallPlan = tuple[Sequence[int], Sequence[Entry]]


class Memo:
    """The answers about one function that were given so far: its feasible edges by location, and what happens at edges, by edge
    and state."""

    def __init__(self, model: FunctionModel, outgoing: dict[int, tuple[tuple[Edge, bool], ...]]) -> None:
        self.model = model
        self.outgoing = outgoing
        self.stretches = Stretches(model, outgoing)
        self.steps: dict[int, Sequence[int]] = {}
        self.quiet: dict[frozenset[str], dict[int, tuple[int, ...] | None]] = {}
        self.calls: dict[int, _CallPlan] = {}
        self.leaves: dict[tuple[int, int, Entry, int], Sequence[int]] = {}

    def forget_beginnings(self) -> None:
        """Forgets where facts begin: what happens from NOTHING."""
        for table in (self.steps, self.calls):
            for key in [key for key in table if not key & FACT_MASK]:
                del table[key]
        for leave in [leave for leave in self.leaves if leave[1] == NOTHING]:
            del self.leaves[leave]


class _Seen(msgspec.Struct, frozen=True):
    """How many edges the functions have that see a global, by global, and what that was counted from."""

    edges: dict[str, int] = {}
    functions: Mapping[str, Cfa] = {}
    read: Mapping[str, frozenset[str]] = {}

    def revised(self, roots: frozenset[str], functions: Mapping[str, Cfa], read: Mapping[str, frozenset[str]]) -> _Seen:
        """The same for other functions."""
        before = self if self.edges.keys() == roots else _Seen(dict.fromkeys(roots, 0))
        edges = dict(before.edges)
        if not roots:
            return _Seen()
        seen, known = before.functions, before.read
        differ = [name for name, new in functions.items() if seen.get(name) is not new or known[name] is not read[name]]
        for name in (*differ, *(seen.keys() - functions.keys())):
            old, new = seen.get(name), functions.get(name)
            if old is not None:
                edges.update((root, edges[root] - len(old.edges)) for root in roots & before.read[name])
            if new is not None:
                edges.update((root, edges[root] + len(new.edges)) for root in roots & read[name])
        return _Seen(edges, functions, read)


def is_small(program: Program, edges: int) -> bool:
    """Whether the program is small enough for the expensive answers."""
    return program.edges <= edges


class ProgramDelta:
    """The product automaton of a program and the rules."""

    def __init__(self, program: Program, rules: tuple[Rule, ...], facts: FactTable, global_edges: int) -> None:
        self._global_edges = global_edges
        self.program = program
        self.rules = rules
        self.thorough = is_small(program, global_edges)
        self.facts = facts
        self.footprints = Footprints(program)
        self.matcher = Matcher(PatternIndex(rules), program)
        self.relevance = Relevance(program, rules, self.matcher)
        self.initial_values = initial_values(program)
        self.spoiled = {name: spoiled_by(cfa) for name, cfa in program.functions.items()}
        self.constants = constant_globals(program, self.footprints.returning, self.spoiled, self.initial_values)
        self.callers: dict[str, set[str]] | None = None  # of each function, once somebody has asked
        self.models: dict[str, FunctionModel] = {}
        self.memos: dict[str, Memo] = {}
        self._names: dict[int, frozenset[str] | None] = {}
        self._seen = _Seen()
        self._alike: dict[frozenset[str], frozenset[str]] = {}  # equal sets as one object, which dicts find faster
        self._answers: dict[tuple[int, ...], tuple[int, ...]] = {}  # equal answers as one object, of which there are few
        self.around = Surroundings(program, self.footprints, self.matcher, self._weak_cases())
        self.beliefs = Beliefs(self.program, self.weak_lookup())
        self.members = owned_members(rules, program, self.matcher, self.footprints.kept)
        self.connect(self.footprints.order)

    def surround(self) -> None:
        """Lets the models that were taken over from the revision before ask this one."""
        self.around.program, self.around.footprints = self.program, self.footprints
        self.around.matcher, self.around.cases = self.matcher, self._weak_cases()

    def connect(self, names: Iterable[str]) -> None:
        """Puts together what depends on the program as a whole, and asks models of the functions named, callees first."""
        rules = self.rules
        self.transfer = Transfer(rules, self.facts, self.program, self.relevance, self.members, self.thorough)
        self.calls = CallTransfer(self.transfer, self.footprints, self.matcher, self.beliefs)
        for name in names:
            _ = self.lookup(name).cases.known  # callees first: what a call does is asked of the callee, and recursion is not deep

    def model(self, function: str) -> FunctionModel:
        """The engine's view of a function."""
        return self.memo(function).model

    def memo(self, function: str) -> Memo:
        """What was answered about a function."""
        found = self.memos.get(function)
        if found is None:
            model = self.lookup(function)
            table: dict[int, tuple[tuple[Edge, bool], ...]] = {}
            for location, edges in model.cfa.outgoing.items():
                feasible = [edge for edge in edges if model.cases.feasible(edge)]
                table[location] = tuple(
                    (edge, isinstance(edge.effect, ir.Call) and self._has_body(edge.effect)) for edge in feasible
                )
            found = self.memos[function] = Memo(model, table)
        return found

    def lookup(self, function: str) -> FunctionModel:
        """The model of a function, for models of other functions."""
        found = self.models.get(function)
        if found is None:
            constants = self.initial_values if function == "main" else self.constants
            found = self.models[function] = FunctionModel(self.program.functions[function], self.around, constants)
        return found

    def weak_lookup(self) -> Callable[[str], FunctionModel]:
        """`lookup` for the objects that this object holds. It holds this object weakly, so that there is no
        cycle of references. Memory is free as soon as a revision is dropped, also a half-made one."""
        weak = ref(self)

        def look(function: str) -> FunctionModel:
            delta = weak()
            assert delta is not None  # the caller belongs to it
            return delta.lookup(function)

        return look

    def _weak_cases(self) -> Callable[[str], Cases]:
        look = self.weak_lookup()
        return lambda function: look(function).cases

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
        return self.memo(function).outgoing.get(location, ())

    def rejecting(self, state: int) -> bool:
        """Whether the state is an error."""
        return state in self.facts.errors

    def depends(self, state: int, names: frozenset[str]) -> bool:
        """Whether the fact has one of the names; what begins, and what is known by condition, can depend on anything."""
        mine = self.names_of(state)
        return mine is None or not mine.isdisjoint(names)

    def step(self, function: str, edge: Edge, state: int) -> Sequence[int]:
        """The states after an edge without a callee's body."""
        memo = self.memo(function)
        key = edge.id << FACT_BITS | state
        found = memo.steps.get(key)
        if found is None:
            found = memo.steps[key] = self._shared(self._step(memo.model, edge, state))
        return found

    def _shared(self, answer: Sequence[int]) -> tuple[int, ...]:
        """The answer as the one object for all that are equal to it."""
        found = tuple(answer)
        return self._answers.setdefault(found, found)

    def _step(self, model: FunctionModel, edge: Edge, state: int) -> Sequence[int]:
        if state == NOTHING:
            return (NOTHING, *self.transfer.start(model, edge))
        return tuple(self.transfer.step(model, edge, state))

    def quiet(self, function: str, edge: Edge, state: int) -> Sequence[int] | None:
        """Where something can happen to the fact next, None when something does on the edge itself (see full.Delta)."""
        names = self.names_of(state)
        if names is None:
            return None
        memo = self.memo(function)
        places = memo.quiet.get(names)
        if places is None:
            places = memo.quiet[names] = {}
        if edge.id not in places:
            places[edge.id] = self._next_places(memo, edge, names) if memo.model.still(edge, names) else None
        return places[edge.id]

    def _next_places(self, memo: Memo, edge: Edge, names: frozenset[str]) -> tuple[int, ...]:
        model = memo.model
        places: dict[int, None] = {}
        work = [edge]
        while work:
            current = work.pop()
            if not model.cases.passes(current):
                continue
            following = memo.outgoing.get(current.target, ())
            if model.single_entry(current.target) and model.all_still(following, names):
                work.extend([after for after, _ in following])
            else:
                places[current.target] = None
        return self._shared(tuple(places))

    def stretches(self, function: str, edge: Edge, state: int, place: int) -> list[tuple[Edge, ...]]:
        """The paths from the edge to the place to which its derivation leads, over edges on which nothing happens to the state,
        in the order of the text."""
        if edge.target == place:
            return [(edge,)]
        names = self.names_of(state)
        assert names is not None
        return self.memo(function).stretches.between(edge, place, names)

    def names_of(self, state: int) -> frozenset[str] | None:
        """The names on which a fact depends, equal ones as one object; None when something may happen to it at any edge."""
        if state not in self._names:
            fact = self.facts[state]
            names = fact_names(fact.paths)
            self._names[state] = None if state == NOTHING or fact.environment else self._alike.setdefault(names, names)
        return self._names[state]

    def call(self, function: str, edge: Edge, state: int) -> _CallPlan:
        """What a call does without summaries, and whom it enters in which states."""
        memo = self.memo(function)
        key = edge.id << FACT_BITS | state
        found = memo.calls.get(key)
        if found is None:
            found = memo.calls[key] = self._call(memo.model, edge, state)
        return found

    def _call(self, model: FunctionModel, edge: Edge, state: int) -> _CallPlan:
        call = edge.effect
        assert isinstance(call, ir.Call)
        targets = self.program.targets(call)
        bodies = [target for target in targets if target in self.program.functions]
        direct = list(self._step(model, edge, state)) if len(bodies) < len(targets) else []
        if state == NOTHING:
            direct.extend(n for n in self.transfer.start(model, edge) if n in self.facts.errors)
            return self._shared(tuple(dict.fromkeys(direct))), self._begun_entries(edge, bodies)
        fact = self.facts[state]
        fired = self.transfer.fire(model, edge, fact)
        direct.extend(state for state, _ in fired if isinstance(state, int))
        is_asked = fired == [(fact.state, None)]  # else the rule says what the function does: its body is not asked
        entries = self._entries(model, edge, fact, bodies) if is_asked else [(t, NOTHING) for t in bodies]
        if any(entry == NOTHING and self.model(t).cases.can_return for t, entry in entries):
            direct.extend(self.calls.passed_by(model, edge, fact))
        return self._shared(tuple(dict.fromkeys(direct))), [(t, entry) for t, entry in entries if entry != NOTHING]

    def _begun_entries(self, edge: Edge, bodies: Sequence[str]) -> list[Entry]:
        """NOTHING for each function that a call may lead to, and what begins with the arguments, if there is one only."""
        nothing = [(t, NOTHING) for t in bodies]
        if len(bodies) != 1:
            return nothing
        return nothing + [(bodies[0], entry) for entry in self.calls.entries(edge, self.model(bodies[0]))]

    def _entries(self, model: FunctionModel, edge: Edge, fact: Fact, bodies: Sequence[str]) -> list[Entry]:
        """The facts with which functions are entered that a call may lead to. Which of many functions a pointer calls is not
        known: that each can be called with a null or zero value is no evidence."""
        if len(bodies) > 1 and not self.transfer.rules[fact.rule].about_object:
            return [(t, NOTHING) for t in bodies]
        return [(t, self.calls.enter(model, edge, self.model(t), fact)) for t in bodies]

    def leave(self, function: str, edge: Edge, state: int, callee: Entry, exit_: int) -> Sequence[int]:
        """The states after a call for one summary of an entered callee."""
        memo = self.memo(function)
        key = (edge.id, state, callee, exit_)
        found = memo.leaves.get(key)
        if found is None:
            name, entry = callee
            answer = self.calls.leave(memo.model, edge, self.model(name), state, entry, exit_)
            found = memo.leaves[key] = self._shared(tuple(dict.fromkeys(answer)))
        return found

    def _small(self, roots: frozenset[str]) -> set[str]:
        """Those globals that are seen by few enough functions to be followed from the program's start."""
        self._seen = self._seen.revised(roots, self.program.functions, self.footprints.read)
        return {root for root, count in self._seen.edges.items() if count <= self._global_edges}

    def initial(self, entries: Iterable[str]) -> list[Entry]:
        """The entry states: NOTHING everywhere, and for `main` also what the rules track from the program's start on."""
        found: list[Entry] = []
        for name in entries:
            found.append((name, NOTHING))
            if name == "main":
                found.extend((name, self.facts.number(fact)) for fact in self._begun())
        return found

    def _begun(self) -> Iterator[Fact]:
        matches = [m for m in self.matcher.begin(self.program) if m.path and self.relevance.matters(m.rule, "main", m.path)]
        small = self._small(frozenset(m.path[0] for m in matches if m.path is not None))
        for match in matches:
            if match.path is not None and match.path[0] in small:
                yield Fact(match.rule, match.target, (match.path,))
