"""The rule automaton CPA: the automata of rules (`analysis.rules`), one state for each tracked value.

ORION's automata run on access paths; here another component of the composition has the values, so that what is tracked is the
value itself: an address, a number, or a symbolic value. Equal values are one entity however they are reached; what the automaton
engine must guess (aliases, whether a pointer is null) is evaluated.

- A transition fires where its pattern matches and the metavariable's value is the tracked one. A value that equals the tracked
  one only if symbolic values are equal makes two successors, one of them under that condition (`symbolic.Assuming`).
- A rule that is not about objects tracks what is null or zero: its error needs the value to be 0, which is decided, or assumed.
- `result`: the call's result is assumed to be, or not to be, what the transition asks for.
- `lost` fires where the last object that held the value is written or dies. Values in objects that code which is not known
  could reach, and values passed to such code, are somebody else's from then on, without an error.
- A value that is not known at all (None) makes the whole rule *vague* on this path: each of its errors is possible then.

The order is flat. `decided` transitions fire wherever they are reached: the other components decide that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
from immutables import Map

from analysis.c.calls import leaves_memory
from analysis.cfa.graph import Program
from analysis.cpa.domains.rule_events import Event, EventFinder
from analysis.cpa.framework.defaults import MergeSep, StopSep, TrivialAdjustment
from analysis.cpa.framework.interface import Cpa
from analysis.cpa.framework.steps import Step
from analysis.cpa.stores.scalar_values import Address, Value
from analysis.cpa.symbolic_values.symbolic import Assumed, Deciding, as_value, identifiers, lift, substitute
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.intervals import NONZERO, ZERO, Interval
from analysis.rules.automaton import ERROR, START, STOP, Rule

INT = Integer(32, True, "int")


class Violation(msgspec.Struct, frozen=True, cache_hash=True):
    """Transition `transition` of rule `rule`, both by number, led to the error state at an edge."""

    rule: int
    transition: int
    function: str
    edge: int


class Tracked(msgspec.Struct, frozen=True, cache_hash=True):
    """The automaton's state for a value, and the function in which the value came to it."""

    state: str
    function: str


Key = tuple[int, Any]
Facts = Map[Key, Tracked]


class RuleStates(msgspec.Struct, frozen=True, eq=False):
    """The states of the automata: by rule and value. `vague` are rules about which nothing is known. `assumed` is what the last
    step took for granted, which the states do not depend on."""

    facts: Facts = Map()
    vague: frozenset[int] = frozenset()
    violation: Violation | None = None
    assumed: Assumed | None = None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RuleStates)
            and self.violation == other.violation
            and self.vague == other.vague
            and self.facts == other.facts
        )

    def __hash__(self) -> int:
        return hash((self.facts, self.vague, self.violation))

    def at(self, rule: int, value: Value, tracked: Tracked | None) -> RuleStates:
        """With a value in a state, None: not tracked any more."""
        key = (rule, value)
        if tracked is None:
            return RuleStates(self.facts.delete(key), self.vague, None, self.assumed) if key in self.facts else self
        return RuleStates(self.facts.set(key, tracked), self.vague, None, self.assumed)

    def under(self, assumed: Assumed | None) -> RuleStates:
        """Where this is taken for granted."""
        return RuleStates(self.facts, self.vague, self.violation, assumed)


class Values(Protocol):
    """The transfer relation of the component that has the values."""

    def value_of(self, state: Any, function: str, expr: ir.Expr) -> Value:
        """The value of an expression, None if it is not known."""

    def holders(self, state: Any, value: Value) -> Sequence[str]:
        """The roots of the objects that hold the value."""

    def is_shared(self, root: str) -> bool:
        """Whether code that is not known can reach the object."""


class RuleDomain:
    """The flat order. Different states have no join: ValueError."""

    def less_or_equal(self, state: RuleStates, other: RuleStates) -> bool:
        """Whether they are equal."""
        return state == other

    def join(self, state: RuleStates, other: RuleStates) -> RuleStates:
        """The state, if both are equal."""
        if state != other:
            raise ValueError("different states of automata have no join")
        return state


class RuleTransfer:
    """Runs the automata along. `values` is the transfer relation of the component with the values, `at` its index; `constraints`
    is the index of the component that finds identifiers with one possible value only, if there is one. Not `aliases`: symbolic
    values that are written differently are taken to be different (no caller passes one object twice)."""

    def __init__(
        self,
        rules: Sequence[Rule],
        program: Program,
        values: Values,
        at: int,
        constraints: int | None = None,
        *,
        aliases: bool = True,
    ) -> None:
        self.rules = tuple(rules)
        self._program = program
        self._events = EventFinder(self.rules, program)
        self._values = values
        self._at = at
        self._constraints = constraints
        self._aliased = aliases

    def initial(self, values: Any) -> RuleStates:
        """The state at the entry, for the initial state of the values."""
        state = RuleStates()
        for event in self._events.at_start():
            value = None if event.entity is None else self._values.value_of(values, "", event.entity)
            if value is not None and event.transition.target not in (ERROR, STOP):
                state = state.at(event.rule, value, Tracked(event.transition.target, ""))
        return state

    def successors(self, state: RuleStates, step: Step, precision: None) -> Sequence[RuleStates]:
        """The state as it is: the automata step when the values are known."""
        return (state if state.assumed is None else state.under(None),)

    def strengthen(
        self, state: RuleStates, others: Sequence[Any], step: Step, precision: None, before: Sequence[Any]
    ) -> Sequence[RuleStates]:
        """The states after the step: more than one where values or results decide."""
        events = self._events.at(step)
        if self._constraints is not None:
            state = _replaced(state, before[self._constraints])
        found: list[RuleStates] = [state]
        old, new = before[self._at], others[self._at]
        for event in events.before:
            found = [after for current in found for after in self._fire(current, event, state.facts, old, new, step)]
        for event in events.after:
            found = [after for current in found for after in self._fire(current, event, state.facts, new, new, step)]
        if step.kind == "leave" or (step.kind == "edge" and isinstance(step.edge.effect, ir.Return) and before[0].stack is None):
            left = step.callee if step.kind == "leave" else step.function
            found = [self._left(current, left, step) for current in found]
        return [self._lose(current, old, new, step) for current in found]

    # -- transitions --------------------------------------------------------------------------------------------

    def _fire(self, state: RuleStates, event: Event, entry: Facts, values: Any, after: Any, step: Step) -> list[RuleStates]:
        """The states after an event at values; `entry` are the facts before the step, `after` the values after it, which have
        its result."""
        if state.violation is not None:
            return [state]
        if event.transition.if_function_has and not self._events.function_has(event, step.function):
            return [state]
        if self.rules[event.rule].tracks is None:
            return [self._violated(state, event, step)] if event.transition.target == ERROR else [state]
        if event.entity is None:
            return [self._dropped(state, event, step)]
        value = self._values.value_of(values, step.function, event.entity)
        if value is None:
            return self._fire_at_any(state, event, step)
        if event.transition.source == START:
            return self._begin(state, event, value, after, step)
        if state.facts.get((event.rule, value)) is not entry.get((event.rule, value)):
            return [state]  # the value took a transition at this step
        return self._move(state, event, value, event.entity, after, step)

    def _dropped(self, state: RuleStates, event: Event, step: Step) -> RuleStates:
        """After a call whose result nobody takes."""
        call, rule = step.edge.effect, self.rules[event.rule]
        if not rule.ownership or not isinstance(call, ir.Call) or call.result is not None or event.transition.source != START:
            return state
        tracked = Tracked(event.transition.target, step.function)
        return self._lost(RuleStates(state.facts, state.vague, None, state.assumed), event.rule, tracked, None, step)

    def _fire_at_any(self, state: RuleStates, event: Event, step: Step) -> list[RuleStates]:
        """An event at a value that is not known."""
        transition = event.transition
        if transition.target == ERROR:
            tracked = any(rule == event.rule and t.state == transition.source for (rule, _), t in state.facts.items())
            possible = transition.source == START or tracked or event.rule in state.vague
            return [self._violated(state, event, step), state] if possible else [state]
        if transition.source == START and transition.target != STOP:
            return [RuleStates(state.facts, state.vague | {event.rule}, None, state.assumed)]
        return [state]

    def _begin(self, state: RuleStates, event: Event, value: Value, after: Any, step: Step) -> list[RuleStates]:
        rule, transition = self.rules[event.rule], event.transition
        if transition.target == ERROR:
            return [self._violated(state, event, step)]
        if transition.target == STOP or (event.rule, value) in state.facts:
            return [state]
        if value == 0 and (rule.ownership or rule.about_object):
            return [state]  # null leads to no object
        return self._split(state, state.at(event.rule, value, Tracked(transition.target, step.function)), event, after, step)

    def _move(self, state: RuleStates, event: Event, value: Value, entity: ir.Expr, after: Any, step: Step) -> list[RuleStates]:
        transition = event.transition
        tracked = state.facts.get((event.rule, value))
        if tracked is not None and tracked.state == transition.source:
            if transition.target == ERROR:
                return self._error(state, event, value, entity, step)
            to = None if transition.target == STOP else Tracked(transition.target, step.function)
            return self._split(state, state.at(event.rule, value, to), event, after, step)
        found = [state]
        if transition.target == ERROR:
            if event.rule in state.vague:
                found.append(self._violated(state, event, step))
            found.extend(self._violated(state, event, step).under(same) for same in self._aliases(state, event, value, entity))
        return found

    def _aliases(self, state: RuleStates, event: Event, value: Value, entity: ir.Expr) -> list[Assumed]:
        """What would have to hold for the value to be another one that is in the transition's state."""
        found: list[Assumed] = []
        rule = self.rules[event.rule]
        if not self._aliased or (event.rule, value) in state.facts or not isinstance(entity.type, Pointer):
            return found
        if not (rule.about_object or rule.ownership):
            return found
        for (number, other), tracked in state.facts.items():
            if number != event.rule or tracked.state != event.transition.source or other == value:
                continue
            if value is not None and (isinstance(value, ir.Expr) or isinstance(other, ir.Expr)):
                found.append((ir.Binary("==", lift(value, entity.type), lift(other, entity.type), INT), True))
        return sorted(found, key=lambda assumed: repr(assumed[0]))

    def _error(self, state: RuleStates, event: Event, value: Value, entity: ir.Expr, step: Step) -> list[RuleStates]:
        """The error transition at a tracked value."""
        rule = self.rules[event.rule]
        violated = self._violated(state, event, step)
        if rule.about_object or rule.ownership:
            return [violated]
        if isinstance(value, int):
            return [violated] if value == 0 else [state.at(event.rule, value, None)]
        if isinstance(value, Address):
            return [state.at(event.rule, value, None)]
        if value is None:
            return [violated, state]
        return [violated.under((value, False)), state.at(event.rule, value, None).under((value, True))]

    def _violated(self, state: RuleStates, event: Event, step: Step) -> RuleStates:
        violation = Violation(event.rule, event.index, step.function, step.edge.id)
        return RuleStates(state.facts, state.vague, violation, state.assumed)

    def _split(self, state: RuleStates, moved: RuleStates, event: Event, after: Any, step: Step) -> list[RuleStates]:
        """The transition's state where the call's result is what it asks for, the old state where it is not."""
        wanted, call = event.transition.result, step.edge.effect
        if wanted is None:
            return [moved]
        if not isinstance(call, ir.Call) or call.result is None or step.kind == "enter":
            return [moved, state]
        result = self._values.value_of(after, step.function, call.result)
        if isinstance(result, int | Address):
            known = result if isinstance(result, int) else 1
            return [moved] if _is_in(known, wanted) else [state]
        if result is None:
            return [moved, state]
        condition = _condition(result, wanted)
        if condition is None:
            return [moved, state]
        return [moved.under((condition, True)), state.under((condition, False))]

    # -- values that go away ------------------------------------------------------------------------------------

    def _left(self, state: RuleStates, function: str, step: Step) -> RuleStates:
        """After a function was left: `leave` events of the values that came to their states in it."""
        if state.violation is not None:
            return state
        for (rule, _), tracked in sorted(state.facts.items(), key=repr):
            if tracked.function != function:
                continue
            for index, transition in enumerate(self.rules[rule].transitions):
                if transition.source == tracked.state and transition.trigger.kind == "leave":
                    event = Event(rule, index, transition, None)
                    if not transition.if_function_has or self._events.function_has(event, function):
                        return self._violated(state, event, step)
        return state

    def _lose(self, state: RuleStates, old: Any, new: Any, step: Step) -> RuleStates:
        """The state without values that nothing holds any more; with the rule's error, if it has one for that."""
        for (rule, value), tracked in sorted(state.facts.items(), key=repr):
            if state.violation is not None:
                continue
            if not self.rules[rule].ownership:
                if self.rules[rule].is_lost_in(step.callee, tracked.state) and self._is_given_away(rule, value, old, step):
                    state = state.at(rule, value, None)
                continue
            if self._is_given_away(rule, value, old, step):
                state = state.at(rule, value, None)
            elif not self._values.holders(new, value):
                held = self._values.holders(old, value)
                if any(self._values.is_shared(root) for root in held):
                    state = state.at(rule, value, None)
                else:
                    state = self._lost(state, rule, tracked, value, step)
        return state

    def _lost(self, state: RuleStates, rule: int, tracked: Tracked, value: Value, step: Step) -> RuleStates:
        for index, transition in enumerate(self.rules[rule].transitions):
            if transition.source == tracked.state and transition.trigger.kind == "lost":
                return self._violated(state, Event(rule, index, transition, None), step)
        return state.at(rule, value, None)

    def _is_given_away(self, rule: int, value: Value, values: Any, step: Step) -> bool:
        """Whether the step passes the value to an external function that may keep it."""
        call = step.edge.effect
        if step.kind != "external" or not isinstance(call, ir.Call):
            return False
        known = self._program.externals.get(step.callee)
        if leaves_memory(step.callee, call) or (known is not None and known.system and step.callee not in self.rules[rule].keeps):
            return False
        return any(self._is_same(self._values.value_of(values, step.function, a), value) for a in call.arguments)

    @staticmethod
    def _is_same(one: Value, other: Value) -> bool:
        if isinstance(one, Address) and isinstance(other, Address):
            return one.root == other.root
        return one == other


def _replaced(state: RuleStates, deciding: Deciding) -> RuleStates:
    """The state with the identifiers replaced that turned out to have one value only."""
    if not deciding.decided or not state.facts:
        return state
    values = {var: ir.IntConst(number, var.type) for var, number in deciding.decided.items()}
    facts = state.facts
    for (rule, value), tracked in sorted(state.facts.items(), key=repr):
        if isinstance(value, ir.Expr) and identifiers(value) & values.keys():
            facts = facts.delete((rule, value)).set((rule, as_value(substitute(value, values))), tracked)
    return RuleStates(facts, state.vague, state.violation, state.assumed)


def _is_in(value: int, interval: Interval) -> bool:
    if interval.nonzero and value == 0:
        return False
    return (interval.low is None or value >= interval.low) and (interval.high is None or value <= interval.high)


def _condition(result: ir.Expr, interval: Interval) -> ir.Expr | None:
    """The condition that a result is in the interval; None if that is no single comparison."""
    zero = ir.IntConst(0, result.type)
    if interval in (ZERO, NONZERO):
        return ir.Binary("==" if interval == ZERO else "!=", result, zero, INT)
    low, high = interval.low, interval.high
    if low is not None and low == high:
        return ir.Binary("==", result, ir.IntConst(low, result.type), INT)
    if high is None and low is not None:
        return ir.Binary(">=", result, ir.IntConst(low, result.type), INT)
    if low is None and high is not None:
        return ir.Binary("<=", result, ir.IntConst(high, result.type), INT)
    return None


def rule_automaton_cpa(transfer: RuleTransfer) -> Cpa[RuleStates, None]:
    """The component; its targets are violations."""
    domain = RuleDomain()
    return Cpa(
        name="rule automaton",
        domain=domain,
        transfer=transfer,
        merge=MergeSep(),
        stop=StopSep(domain),
        adjustment=TrivialAdjustment(),
        precision=None,
        flat=True,
        is_target=lambda state: state.violation is not None,
    )
