"""A program function by function: each is followed on its own, and a call is what its callee's summary says of it (Hoare's rule
for recursive procedures; [UPPROVER] section 3 has summaries of this kind).

Points are the entry and the exit of each function, the heads of its loops, and both ends of its calls. A stretch leads from a
point to the next ones, without calls of defined functions. In a function, the variable `old:v` stands for what `v` was when the
function was entered. A summary is a pair of formulas: over the state at the entry, and over that at the exit with its `old:`
variables.

There is one context for each function, so that all its activations share the addresses of its objects: functions that can be
active twice must have no objects in memory of their own (`TooLargeError`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from analysis.cfa.callgraph import callees, components
from analysis.cfa.marks import marked
from analysis.cpa.domains.location import Location
from analysis.cpa.framework.steps import Step, StepTable
from analysis.cpa.predicates.adjustable_blocks import loop_heads
from analysis.cpa.predicates.step_formulas import departures, obstacle
from analysis.cpa.predicates.violations import Violation, condition
from analysis.model import clock
from analysis.model.spelling import display_name
from analysis.smt.logic.substitution import Substitution
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.object_cells import RESULT
from analysis.smt.transitions.system import System, definedness_flag
from analysis.smt.transitions.transition_state import START, State, StateVariable
from analysis.smt.transitions.vocabulary import TooLargeError

OLD = "old:"
Place = tuple[str, int]
"""A function and a location of it."""


class Arrival(NamedTuple):
    """A stretch from `source` to `target`, or, where that is None, to what must not happen, which `flaw` names."""

    source: Place
    state: State
    target: Place | None
    flaw: str = ""


class Called(NamedTuple):
    """A call at `source`, after which `target` follows. `entered` is the state in which the callee begins."""

    source: Place
    target: Place
    step: Step
    entered: State


class Procedures:
    """All stretches and calls of what can be reached from an entry. Raises TooLargeError.

    `arrivals` and `calls` are complete once `explore` is done; `changed` are the shared variables that a function, and all that
    it calls, can change."""

    def __init__(
        self, system: System, violations: Iterable[Violation], entry: str, watched: Container[Place] = frozenset()
    ) -> None:
        self.system = system
        self.entry = entry
        self._program = system.program
        self._watched = watched
        self._violations = {(v.function, v.edge): v for v in violations}
        self._steps = StepTable(system.program)
        names = sorted(system.program.functions)
        self._number = {name: 0 if name == entry else position + 1 for position, name in enumerate(names)}
        self._inner = len(names) + 1  # of the contexts in which arguments wait until the callee takes over
        self._shared = tuple(system.shared())
        self._recursive = _recursive(system)
        self._points: dict[str, frozenset[int]] = {}
        self.arrivals: list[Arrival] = []
        self.calls: list[Called] = []
        self.met: list[tuple[Place, Place, State]] = []
        self.changed: dict[str, set[StateVariable]] = {}

    # -- exploration --------------------------------------------------------------------------------------------

    def explore(self) -> None:
        """Follows every function that can be called, from each of its points that can be reached."""
        functions, met = [self.entry], {self.entry}
        for name in functions:
            if name in self._recursive and self.system.vocabulary.objects.in_memory(name):
                raise TooLargeError(
                    f"{display_name(name)}() calls itself, and has arrays, structures or variables whose address is used"
                )
            self._explore_function(name)
            for call in self.calls:
                if call.step.callee not in met:
                    met.add(call.step.callee)
                    functions.append(call.step.callee)
        self._close_changes(functions)

    def points(self, function: str) -> frozenset[int]:
        """Returns the locations of a function at which assertions stand."""
        known = self._points.get(function)
        if known is None:
            cfa = self._program.functions[function]
            found = {cfa.entry, cfa.exit} | loop_heads(cfa)
            for location in cfa.locations:
                for step in self._steps.leaving(function, location):
                    if step.kind == "enter":
                        found |= {location, step.edge.target}
            known = self._points[function] = frozenset(found)
        return known

    def begins(self, function: str) -> State:
        """The state in which a function is entered: every `old:v` is `v`."""
        vocabulary = self.system.vocabulary
        values = {self.old(variable): vocabulary[variable] for variable in (*self._shared, *self._parameters(function))}
        return State((), values)

    def old(self, variable: StateVariable) -> StateVariable:
        """What a variable was at the entry of the function."""
        return self.system.vocabulary.variable(OLD + variable.name, variable.type, is_array=variable.is_array)

    def _parameters(self, function: str) -> list[StateVariable]:
        prefix, vocabulary = f"{self._number[function]}:", self.system.vocabulary
        found = []
        for parameter in self._program.functions[function].parameters:
            if vocabulary.objects.kind(function, parameter) == "cells":
                for name, type_ in vocabulary.objects.cells(prefix + parameter.name, parameter.type):
                    found.append(vocabulary.variable(name, type_))
        return found

    def _explore_function(self, name: str) -> None:
        cfa = self._program.functions[name]
        waiting, seen = [cfa.entry], {cfa.entry}
        while waiting:
            point = waiting.pop()
            before = len(self.arrivals), len(self.calls)
            self._follow((name, point), self.begins(name) if point == cfa.entry else START)
            targets = [arrival.target for arrival in self.arrivals[before[0] :]] + [c.target for c in self.calls[before[1] :]]
            for target in targets:
                if target is not None and target[1] not in seen:
                    seen.add(target[1])
                    waiting.append(target[1])

    def _follow(self, source: Place, state: State) -> None:
        function, first = source
        points = self.points(function)
        arrived = {first: state}
        for location in self._order(function, first):
            here = arrived.pop(location, None)
            if here is None:
                continue
            if (function, location) in self._watched:
                self.met.append((source, (function, location), here))
            for step in self._steps.leaving(function, location):
                clock.work(clock.STATE)
                following = self._take(source, here, step, location)
                if following is None:
                    continue
                after = step.edge.target
                if after in points:
                    self.arrivals.append(Arrival(source, following, (function, after)))
                else:
                    arrived[after] = self.system.merged(arrived[after], following) if after in arrived else following

    def _take(self, source: Place, state: State, step: Step, location: int) -> State | None:
        function, context = step.function, self._number[step.function]
        violation = self._violations.get((function, step.edge.id))
        if violation is not None:
            failing = condition(self.system, state, step, context, violation)
            if failing is not None:
                flaw = f"nothing rules out {violation.property} at {marked(self._program, function, violation.edge)}"
                self.arrivals.append(Arrival(source, failing, None, flaw))
        reason = obstacle(self._program, step, Location(function, step.edge.target))
        if reason is not None:
            self.arrivals.append(Arrival(source, state, None, reason))
            return None
        is_about_bounds = violation is not None and violation.property == "array-bounds"
        for departing, said in departures(self.system, state, step, context, bounds=not is_about_bounds):
            self.arrivals.append(Arrival(source, departing, None, said))
        if step.kind == "enter":
            assert source == (function, location)  # calls begin at points
            inner = self._inner_of(step.callee)
            entered = self.system.enter(state, step.edge, function, context, step.callee, inner)
            if entered is not None:
                self.calls.append(Called(source, (function, step.edge.target), step, entered))
            return None
        if step.kind == "external":
            return self.system.external(state, step.edge, function, context, step.callee)
        return self.system.take(state, step.edge, function, context)

    def _inner_of(self, callee: str) -> int:
        """The context in which a callee finds its arguments: its own, unless it may be active already."""
        number = self._number[callee]
        return number + self._inner if callee in self._recursive else number

    def _order(self, function: str, source: int) -> list[int]:
        points = self.points(function)
        done: list[int] = []
        seen = {source}
        stack = [(source, iter(self._steps.leaving(function, source)))]
        while stack:
            location, rest = stack[-1]
            step = next((s for s in rest if s.edge.target not in seen and s.edge.target not in points), None)
            if step is None:
                done.append(location)
                stack.pop()
            else:
                seen.add(step.edge.target)
                stack.append((step.edge.target, iter(self._steps.leaving(function, step.edge.target))))
        done.reverse()
        return done

    def _close_changes(self, functions: list[str]) -> None:
        """The least solution: what a function changes itself, in calls' arguments and results too, and what its callees do."""
        vocabulary = self.system.vocabulary
        self._shared = tuple(variable for variable in list(vocabulary) if variable.is_shared)
        self.changed = {name: set() for name in functions}
        states = [(a.source[0], a.state) for a in self.arrivals]
        for call in self.calls:
            after = self.returned(call)[0]
            states += [(call.source[0], state) for state in (call.entered, after) if state is not None]
        for name, state in states:
            for variable, value in state.values.items():
                if variable.is_shared and value is not vocabulary[variable]:
                    self.changed[name].add(variable)
        is_open = True
        while is_open:
            is_open = False
            for call in self.calls:
                own, called = self.changed[call.source[0]], self.changed[call.step.callee]
                if not called <= own:
                    own |= called
                    is_open = True

    def parameters(self, place: Place, relevant: Container[StateVariable]) -> tuple[StateVariable, ...]:
        """The variables that a predicate about a point can speak of, of those that are relevant."""
        function, location = place
        cfa, prefix = self._program.functions[function], f"{self._number[function]}:"
        inputs = set(self._parameters(function))
        found: list[StateVariable] = []
        for variable in list(self.system.vocabulary):
            is_own = variable.name.startswith(prefix)
            if variable not in relevant or not (is_own or variable.is_shared):
                continue
            is_result = variable.name.startswith(prefix + RESULT)
            if not is_own or (is_result if location == cfa.exit else variable in inputs if location == cfa.entry else True):
                found.append(variable)
            is_kept = variable in inputs or variable in self.changed[function]
            if is_kept and location != cfa.entry and function != self.entry:
                found.append(self.old(variable))
        if location == cfa.exit and function != self.entry:
            found += [self.old(variable) for variable in inputs if variable in relevant]
        return tuple(dict.fromkeys(found))

    # -- calls --------------------------------------------------------------------------------------------------

    def entering(self, call: Called) -> Mapping[Term, Term]:
        """What the symbols of the assertion at the callee's entry stand for when it is called."""
        prefix, vocabulary = f"{self._number[call.step.callee]}:", self.system.vocabulary
        found = self._shared_values(call.entered)
        for variable in list(vocabulary):
            if variable.name.startswith(prefix):
                value = call.entered.values.get(self._waiting(variable, call.step.callee))
                if value is not None:
                    found[vocabulary[variable]] = value
        return found

    def returned(self, call: Called) -> tuple[State | None, Mapping[Term, Term]]:
        """The state after a call, but for what the callee's summary says; and what the symbols of the assertion at the callee's
        exit stand for then: shared variables and the result, and what there was at the entry."""
        system, vocabulary = self.system, self.system.vocabulary
        callee, inner = call.step.callee, self._inner_of(call.step.callee)
        values = dict(call.entered.values)
        for variable in self.changed[callee]:
            values[variable] = vocabulary.any_array(variable) if variable.is_array else vocabulary.input(variable.type)
        symbols: dict[Term, Term] = {}
        for name, type_ in vocabulary.objects.cells(RESULT, self._program.functions[callee].type.result):
            given = values[vocabulary.variable(f"{inner}:{name}", type_)] = vocabulary.input(type_)
            symbols[vocabulary[vocabulary.variable(f"{self._number[callee]}:{name}", type_)]] = given
        for flag, given in self._flags_of_result(callee):  # whether the result is a value
            values[vocabulary.variable(f"{inner}:{flag.name.partition(':')[2]}", flag.type)] = symbols[vocabulary[flag]] = given
        ended = State(call.entered.guard, values)
        symbols |= self._shared_values(ended)
        for variable in (*self._shared, *self._parameters(callee)):
            before = call.entered.values.get(self._waiting(variable, callee))
            symbols[vocabulary[self.old(variable)]] = vocabulary[variable] if before is None else before
        function, context = call.source[0], self._number[call.source[0]]
        after = system.leave(ended, call.step.edge, function, context, callee, inner)
        return None if after is None else State(after.guard, self._without(after.values, callee)), symbols

    def _flags_of_result(self, callee: str) -> list[tuple[StateVariable, Term]]:
        """The flags that belong to the result of a function, each with any value."""
        vocabulary, flag = self.system.vocabulary, definedness_flag(self.system.vocabulary, f"{self._number[callee]}:{RESULT}")
        return [(flag, vocabulary.input(flag.type))] if flag in set(vocabulary) else []

    def _shared_values(self, state: State) -> dict[Term, Term]:
        vocabulary = self.system.vocabulary
        return {vocabulary[variable]: state.values.get(variable, vocabulary[variable]) for variable in self._shared}

    def _without(self, values: Mapping[StateVariable, Term], callee: str) -> dict[StateVariable, Term]:
        """What is left when the callee is done: its variables hold nothing any more."""
        prefix = f"{self._inner_of(callee)}:"
        return {variable: value for variable, value in values.items() if not variable.name.startswith(prefix)}

    def _waiting(self, variable: StateVariable, callee: str) -> StateVariable:
        """The variable in which the value of a callee's variable is when it is called."""
        prefix = f"{self._number[callee]}:"
        if not variable.name.startswith(prefix):
            return variable
        name = f"{self._inner_of(callee)}:{variable.name.removeprefix(prefix)}"
        return self.system.vocabulary.variable(name, variable.type, is_array=variable.is_array)


class UnknownSymbolError(Exception):
    """An assertion of a summary speaks of something that is not there when the function is entered or left."""


def instance(term: Term, symbols: Mapping[Term, Term]) -> Term:
    """An assertion of a callee in the caller's terms. Raises UnknownSymbolError."""

    def replaced(symbol: Term) -> Term:
        found = symbols.get(symbol)
        if found is None:
            raise UnknownSymbolError(str(symbol.data))
        return found

    return Substitution(replaced)(term)


def _recursive(system: System) -> frozenset[str]:
    called = callees(system.program)
    found = {name for group in components(system.program) if len(group) > 1 for name in group}
    return frozenset(found | {name for name, targets in called.items() if name in targets})
