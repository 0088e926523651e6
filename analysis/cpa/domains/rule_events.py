"""Where the patterns of rules match a step: what can happen to a rule's automaton there, with the expressions that are tracked.

The automaton engine's `matching` asks the same of edges, for access paths; here the tracked expression itself is kept, so that
whoever has values can say which value it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analysis.cfa.graph import Program
from analysis.cpa.framework.steps import Step
from analysis.model import ir
from analysis.model.c_types import Floating, Pointer
from analysis.model.intervals import NONZERO, ZERO, Interval, interval_of, within
from analysis.rules.automaton import START, Rule, Transition
from analysis.rules.patterns import Metavariable, Name, Operation, Pattern, match_call, match_term

_OPPOSITE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


class Event(msgspec.Struct, frozen=True):
    """Transition number `index` of rule number `rule` can fire for the value of `entity` (None: the rule tracks nothing, or the
    value is dropped)."""

    rule: int
    index: int
    transition: Transition
    entity: ir.Expr | None


class Events(msgspec.Struct, frozen=True):
    """Events that speak of values before the step, and of what it stores."""

    before: tuple[Event, ...]
    after: tuple[Event, ...]


NO_EVENTS = Events((), ())
_Entry = tuple[int, int, Transition, Pattern]


class EventFinder:
    """The events of rules at the steps of one program; each step is matched once."""

    def __init__(self, rules: Sequence[Rule], program: Program) -> None:
        self.rules = rules
        self._program = program
        self._found: dict[Step, Events] = {}
        self._has: dict[tuple[int, int, str], bool] = {}
        self._patterns: dict[str, list[_Entry]] = {}
        self._begin: list[_Entry] = []
        self._nonnull: list[tuple[int, int, Transition]] = []
        for number, rule in enumerate(rules):
            for index, transition in enumerate(rule.transitions):
                self._index(number, index, transition)

    def _index(self, number: int, index: int, transition: Transition) -> None:
        trigger = transition.trigger
        if trigger.kind == "nonnull":
            self._nonnull.append((number, index, transition))
        elif trigger.pattern is not None:
            entry = (number, index, transition, trigger.pattern)
            (self._begin if trigger.kind == "begin" else self._patterns.setdefault(trigger.pattern.kind, [])).append(entry)

    def at(self, step: Step) -> Events:
        """The events at the step. A call of a function with a body has those of its arguments where it is entered, those of its
        result where it is left."""
        found = self._found.get(step)
        if found is None:
            found = self._found[step] = self._match(step)
        return found

    def _match(self, step: Step) -> Events:
        if step.kind == "cut":
            return NO_EVENTS
        effect = step.edge.effect
        before: list[Event] = [] if step.kind == "leave" else list(self._uses(effect))
        after: list[Event] = []
        match effect:
            case ir.Assign(target, value):
                self._assigned(target, value, before)
            case ir.Return(value) if value is not None:
                self._returned(value, before)
            case ir.Assume():
                before.extend(self._branch(effect))
            case ir.Call():
                self._called(step, effect, before, after)
        if step.kind == "enter":
            after.clear()
        elif step.kind == "leave":
            before.clear()
        return Events(_in_order(before), _in_order(after)) if before or after else NO_EVENTS

    def _event(self, entry: _Entry, bound: Mapping[str, ir.Expr]) -> Event:
        number, index, transition, _ = entry
        return Event(number, index, transition, bound.get(self.rules[number].tracks or ""))

    # -- expressions --------------------------------------------------------------------------------------------

    def _uses(self, effect: ir.Effect) -> Iterator[Event]:
        for expr in ir.expressions(effect):
            yield from self._uses_in(expr, True)
        if isinstance(effect, ir.Call) and ir.direct_callee(effect) is None:
            yield from self._access(effect.callee.pointer if isinstance(effect.callee, ir.Deref) else effect.callee)

    def _uses_in(self, expr: ir.Expr, value: bool) -> Iterator[Event]:
        """Accesses and operations, operands first; not `value`: only the lvalue's address is computed."""
        if isinstance(expr, ir.AddressOf):
            yield from self._uses_in(expr.lvalue, False)
            return
        for part in ir.operands(expr):
            keeps = isinstance(expr, ir.Field) or (isinstance(expr, ir.Index) and part is expr.array)
            yield from self._uses_in(part, value if keeps else True)
        if isinstance(expr, ir.Deref) and value:
            yield from self._access(expr.pointer)
        if isinstance(expr, ir.Binary):
            yield from self._instances("expression", expr)

    def _access(self, pointer: ir.Expr) -> Iterator[Event]:
        base = ir.strip_casts(pointer)
        while isinstance(base, ir.Binary) and isinstance(base.left.type, Pointer):
            base = ir.strip_casts(base.left)
        if not isinstance(base, ir.AddressOf | ir.StringConst):
            yield from self._instances("access", base)

    def _instances(self, kind: str, expr: ir.Expr) -> Iterator[Event]:
        for entry in self._patterns.get(kind, ()):
            bound: dict[str, ir.Expr] = {}
            if match_term(entry[3].operands[0], expr, bound, self.rules[entry[0]].names):
                yield self._event(entry, bound)

    # -- statements ---------------------------------------------------------------------------------------------

    def _assigned(self, target: ir.Expr, value: ir.Expr, found: list[Event]) -> None:
        """The value that is stored is tracked as what it is before the step: the target may not be live after it."""
        for entry in self._patterns.get("assign", ()):
            bound: dict[str, ir.Expr] = {}
            names = self.rules[entry[0]].names
            left, right = entry[3].operands
            if match_term(right, value, bound, names) and match_term(left, target, bound, names):
                if isinstance(left, Metavariable) and left.name == self.rules[entry[0]].tracks:
                    bound[left.name] = value
                found.append(self._event(entry, bound))

    def _returned(self, value: ir.Expr, before: list[Event]) -> None:
        for entry in self._patterns.get("return", ()):
            bound: dict[str, ir.Expr] = {}
            if entry[3].operands and match_term(entry[3].operands[0], value, bound, self.rules[entry[0]].names):
                before.append(self._event(entry, bound))
        for entry in self._patterns.get("assign", ()):  # a result that is returned is assigned, too
            bound = {}
            left, right = entry[3].operands
            if isinstance(left, Metavariable) and match_term(right, value, bound, self.rules[entry[0]].names):
                before.append(self._event(entry, {left.name: value}))

    def _branch(self, assume: ir.Assume) -> Iterator[Event]:
        condition = _tested(assume)
        if condition is None:
            return
        expr, interval = condition
        for entry in self._patterns.get("branch", ()):
            pattern, bound = entry[3], dict[str, ir.Expr]()
            if pattern.interval is None or not within(interval, pattern.interval):
                continue
            if pattern.null == isinstance(expr.type, Pointer) and match_term(
                pattern.operands[0], expr, bound, self.rules[entry[0]].names
            ):
                yield self._event(entry, bound)

    def _bound(self, step: Step, call: ir.Call, before: list[Event]) -> None:
        """Arguments are assigned to parameters."""
        parameters = self._program.functions[step.callee].parameters
        for parameter, argument in zip(parameters, call.arguments, strict=False):
            self._assigned(parameter, argument, before)

    def _called(self, step: Step, call: ir.Call, before: list[Event], after: list[Event]) -> None:
        if step.kind == "enter":
            self._bound(step, call, before)
        external = self._program.externals.get(step.callee)
        for position in external.nonnull if external is not None else ():
            if position < len(call.arguments):
                before.extend(Event(n, i, t, call.arguments[position]) for n, i, t in self._nonnull)
        for entry in self._patterns.get("call", ()):
            rule, pattern = self.rules[entry[0]], entry[3]
            bound = match_call(pattern, call, step.callee, rule.names) if self._may_be(pattern, rule, step.callee) else None
            if bound is None:
                continue
            tracked = Metavariable(rule.tracks or "")
            fills = Operation("address", (tracked,)) in pattern.operands and entry[2].source == START
            (after if pattern.result == tracked or fills else before).append(self._event(entry, bound))

    @staticmethod
    def _may_be(pattern: Pattern, rule: Rule, callee: str) -> bool:
        """Whether the function's name is one that the pattern wants: a quick answer for most calls."""
        name = callee.rsplit("::", 1)[-1]
        match pattern.callee:
            case Name(wanted):
                return wanted == name
            case Metavariable(variable) if variable in rule.names:
                return name in rule.names[variable]
        return True

    def function_has(self, event: Event, function: str) -> bool:
        """Whether one of the transition's `if-function-has` patterns matches a call of the function."""
        key = (event.rule, event.index, function)
        if key not in self._has:
            rule = self.rules[event.rule]
            self._has[key] = any(
                match_call(pattern, edge.effect, callee, rule.names) is not None
                for edge in self._program.functions[function].calls
                if isinstance(edge.effect, ir.Call)
                for callee in self._program.targets(edge.effect)
                for pattern in event.transition.if_function_has
            )
        return self._has[key]

    def at_start(self) -> Iterator[Event]:
        """The events when the program starts, for globals: initial values that are assigned, and `begin` patterns that match
        anywhere."""
        for name in sorted(self._program.globals):
            variable = self._program.globals[name]
            stored: list[Event] = []
            self._assigned(variable.var, variable.initial, stored)
            yield from (event for event in stored if event.transition.source == START)
        seen: set[tuple[int, int, ir.Expr | None]] = set()
        for name in sorted(self._program.functions):
            for edge in self._program.functions[name].calls:
                if not isinstance(edge.effect, ir.Call):
                    continue
                for callee in self._program.targets(edge.effect):
                    for entry in self._begin:
                        bound = match_call(entry[3], edge.effect, callee, self.rules[entry[0]].names)
                        event = None if bound is None else self._event(entry, bound)
                        if event is not None and _is_global(event.entity) and (event.rule, event.index, event.entity) not in seen:
                            seen.add((event.rule, event.index, event.entity))
                            yield event


def _in_order(events: list[Event]) -> tuple[Event, ...]:
    """Transitions from `start` last: tracking begins anew where it stops."""
    return tuple(sorted(events, key=lambda event: event.transition.source == START))


def _is_global(expr: ir.Expr | None) -> bool:
    return expr is not None and all(var.scope == "global" for var in ir.variables(expr))


def _tested(assume: ir.Assume) -> tuple[ir.Expr, Interval] | None:
    """The expression that a branch tests, and the values it has there."""
    expr, truth = ir.strip_casts(assume.condition), assume.truth
    if isinstance(expr, ir.Binary) and expr.operator in _OPPOSITE and not isinstance(expr.left.type, Floating):
        operator: str = expr.operator
        left, right = ir.strip_casts(expr.left), ir.strip_casts(expr.right)
        if isinstance(left, ir.IntConst):
            operator, left, right = _TURNED[operator], right, left
        if isinstance(right, ir.IntConst):
            interval = interval_of(operator if truth else _OPPOSITE[operator], right.value)
            return None if interval is None else (left, interval)
        return None
    return expr, NONZERO if truth else ZERO
