"""The part of a path on which a value is tracked: where it begins, and whose it is."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from analysis.cfa.graph import Edge, Places, Program
from analysis.engines.automaton.facts.facts import NOTHING, Fact
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import path_of, root_of
from analysis.engines.automaton.report.agreeing_targets import gives
from analysis.engines.automaton.report.handed_out import is_handed_out_freed
from analysis.engines.automaton.report.local_objects import holding
from analysis.engines.automaton.report.sibling_calls import Asked, Calls, constants_of
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.report.unavoidable import always_begins, effect_of, meeting
from analysis.engines.automaton.report.where_steps_stand import Stood
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.evidence import Beginning
from analysis.rules.automaton import Rule


class TrackedPath:
    """The part of a path, from an entry function to an error, on which the value is tracked. `is_late`: it is not known whether
    the rest of the path is possible. `wraps`: it needs that a sum wraps to 0. `looked`: functions that what is said of it depends
    on; the path may not lead through them. `stood`: what was asked of where the steps stand."""

    def __init__(
        self,
        delta: ProgramDelta,
        places: Places,
        rule: Rule,
        fact: Fact,
        steps: Sequence[Taken],
        *,
        is_late: bool,
        wraps: bool = False,
    ) -> None:
        self.looked: set[str] = set()
        self.stood = Stood()
        self._others: Calls | None = None
        self._is_late = is_late
        self._wraps = wraps
        self._delta = delta
        self._places = places
        self._rule = rule
        self._fact = fact
        steps = without_untracked(delta, fact, steps)
        self._first = beginning(delta, fact, steps)
        self._steps = steps[self._first :]
        self._last = steps[-1]
        self._path = steps
        is_value = not rule.ownership and rule.tracks is not None
        self._home = meeting(delta.program.functions, self._steps) if is_value else self._last
        if rule.ownership:
            self._home = holding(delta, self._steps, self.looked)
        if is_value and rule.about_object:
            self._home = self._handed_on(self._home)

    def _handed_on(self, home: Taken) -> Taken:
        """A step of the activation that released an object itself, and then passes it on by name: `free(p); show(p);`. That is
        wrong there, whatever the called function does; else `home`."""
        first = self._steps[0]
        if first.event != "edge" or first.depth >= home.depth:
            return home
        below = (taken for taken in reversed(self._steps) if taken.depth == first.depth and taken.event in ("call", "descent"))
        call = next(below, first)
        effect = effect_of(self._program, call)
        if not isinstance(effect, ir.Call) or call.function != first.function or call is first:
            return home
        named = {path for path in self._delta.facts[call.before].paths if len(path) == 1 and path[0][0] not in "@$<"}
        return call if any(path_of(argument) in named for argument in effect.arguments) else home

    @property
    def source(self) -> tuple[str, Edge] | None:
        """The function of these steps that is nearest to the program's entry, and the call there whose result the value is."""
        least = min(taken.depth for taken in self._steps)
        calls = [taken for taken in self._steps if taken.depth == least and taken.event == "return"] or self._steps[:1]
        function, edge = calls[-1].function, None if calls[-1].event == "entry" else self._edge(calls[-1])
        return None if edge is None or not isinstance(edge.effect, ir.Call) else (function, edge)

    @property
    def callee(self) -> Asked | None:
        """The function whose result the value is, if the call names it, and it matters who tests that. Constants say what a
        function of the program is asked for; to one of the library, they are mostly sizes."""
        source = None if self._rule.ownership or self._rule.about_object or self._rule.tracks is None else self.source
        call = None if source is None else source[1].effect
        # zero is a number like others: tests of it at other calls say nothing about this one
        is_pointer = isinstance(call, ir.Call) and call.result is not None and isinstance(call.result.type, Pointer)
        name = ir.direct_callee(call) if isinstance(call, ir.Call) and is_pointer else None
        if name is None or not isinstance(call, ir.Call):
            return None
        return name, (constants_of(call) if name in self._program.functions else ())

    @property
    def _program(self) -> Program:
        return self._delta.program

    def _edge(self, taken: Taken) -> Edge:
        return self._program.functions[taken.function].by_id[taken.edge]

    def _is_own(self, taken: Taken) -> bool:
        """Whether a step is one of the activation in which the value and its use meet."""
        return (taken.function, taken.depth) == (self._home.function, self._home.depth)

    def _of_beginning(self) -> Beginning:
        first = self._steps[0]
        if is_about_member(self._rule, self._fact):
            return "owned-member"
        if any(taken.depth < self._home.depth for taken in self._steps):
            return "passed-failure" if self._is_failure() else "argument"
        result: Beginning = "allocated-elsewhere" if self._rule.ownership else "function-result"
        released = self._of_release() if self._rule.about_object and not self._rule.ownership else None
        if released is not None:
            return released
        if self._is_own(first) and first.event in ("call", "descent"):
            return "null-constant"  # as an argument
        if not self._is_own(first) or first.event != "edge":
            return "library-result" if self._is_given() else result
        effect = self._edge(first).effect
        origin = self._origin(first) if isinstance(effect, ir.Assume) else None
        if origin is not None:
            return origin
        if not isinstance(effect, ir.Call) and self._is_of_macro(first):
            return "macro"
        match effect:
            case ir.Assume():
                return "own-test"
            case ir.Call() as call:
                return self._of_call(first, call, result)
        return "null-constant"

    def _of_release(self) -> Beginning | None:
        """How an object was released, where each run of what the function calls releases it."""
        if always_begins(self._program, self._path[: self._first + 1], self._home, self.looked):
            return "released-here"
        return "handed-out" if is_handed_out_freed(self._delta, self._steps, self._home) else None

    def _of_call(self, first: Taken, call: ir.Call, result: Beginning) -> Beginning:
        if not self._is_of_library(call):
            is_made = self._rule.ownership and gives(self._program, call, call, self.looked)
            return "library-result" if is_made else result
        is_result = call.result is not None or self._rule.ownership  # a result that is dropped is lost at once
        return self._of_library_result(first) if is_result else "released-here"

    def _is_given(self) -> bool:
        """Whether the value is what a library function makes, which a function that is called here only passes on."""
        back = next((taken for taken in self._steps if taken.event == "return" and self._is_own(taken)), None)
        call = effect_of(self._program, back) if back is not None and self._rule.ownership else None
        begin = effect_of(self._program, self._steps[0])
        return isinstance(call, ir.Call) and gives(self._program, call, begin, self.looked)

    def _of_library_result(self, first: Taken) -> Beginning:
        """Of a library function that may fail in any run; or that finds nothing for some arguments, if the rule knows both."""
        failed = self._rule.failure_states
        return "library-search" if failed and self._delta.facts[first.after].state not in failed else "library-result"

    def _origin(self, test: Taken) -> Beginning | None:
        """Where a value comes from that a test finds to be null, if the function itself calls one of the library for it."""
        tested = {path[0] for path in self._delta.facts[test.after].paths if len(path) == 1}
        for taken in reversed(self._path[: self._first]):
            if taken.event != "edge" or (taken.function, taken.depth) != (test.function, test.depth):
                continue
            edge = self._edge(taken)
            target = edge.effect.target if isinstance(edge.effect, ir.Assign) else getattr(edge.effect, "result", None)
            if not isinstance(target, ir.Var) or root_of(target) not in tested:
                continue
            matches = self._delta.model(taken.function).matches(edge).after if isinstance(edge.effect, ir.Call) else ()
            states = {match.target for match in matches if self._delta.rules[match.rule] is self._rule}
            if not states:
                return None
            return "library-search" if states.isdisjoint(self._rule.failure_states) else "library-result"
        return None

    def _is_of_macro(self, first: Taken) -> bool:
        """Whether a test or a null is in the text of a macro, which decides whether it is null. The null of `p = M(x)` is, if M
        branches to it. One that sets its argument to null, as it does behind `free`, decides nothing."""
        number = self._first
        before = self._path[number - 1] if number else first
        is_branch = self._is_branch(before) and self.stood.in_one_line(self._places, before, first)
        effect = self._edge(first).effect
        if isinstance(effect, ir.Assign) and not (is_branch and effect.target not in self._tested_by(before)):
            return False
        return any(self.stood.macro(self._places, taken) not in (None, "NULL") for taken in (first, *[before] * is_branch))

    def _tested_by(self, branch: Taken) -> frozenset[ir.Expr]:
        """The parts of the condition of a branch."""
        return frozenset(part for expr in ir.values_of(self._edge(branch).effect) for part in ir.walk(expr))

    def _is_failure(self) -> bool:
        """Whether the value begins with a failure that any run may have, as of `malloc`."""
        return any(self._delta.facts[taken.after].state in self._rule.failure_states for taken in self._steps[:1])

    def _is_of_library(self, call: ir.Call) -> bool:
        callee = self._program.only_target(call)
        return callee is not None and callee not in self._program.functions

    def _is_condition(self, taken: Taken) -> bool:
        return self._is_own(taken) and self._is_branch(taken)

    def _is_branch(self, taken: Taken) -> bool:
        effect = self._edge(taken).effect if taken.event == "edge" else None
        return isinstance(effect, ir.Assume) and not isinstance(effect.condition, ir.IntConst)


def is_about_member(rule: Rule, fact: Fact) -> bool:
    """Whether what is lost is owned by an object, by what the whole program does."""
    return fact.transition >= 0 and rule.transitions[fact.transition].source in rule.member_states


def beginning(delta: ProgramDelta, fact: Fact, steps: Sequence[Taken]) -> int:
    """The number of the step that made the value suspicious; of steps `without_untracked` calls."""
    number = len(steps) - 1
    while number > 0 and _is_tracked(delta, fact, steps[number].before):
        number -= 1
    return number


def without_untracked(delta: ProgramDelta, fact: Fact, steps: Sequence[Taken]) -> tuple[Taken, ...]:
    """The steps, with one step for a call in which the value is not tracked: the search opens such calls for what they decide."""
    found: list[Taken] = []
    opened: list[int] = []
    for taken in steps:
        number = opened.pop() if taken.event == "return" and opened else len(found)
        call = found[number] if number < len(found) else None
        if call is not None and taken.before == NOTHING and _is_tracked(delta, fact, call.before) and taken.after != NOTHING:
            found[number:] = [msgspec.structs.replace(call, event="edge", after=taken.after)]
            continue
        if taken.event == "call":
            opened.append(len(found))
        found.append(taken)
    return tuple(found)


def _is_tracked(delta: ProgramDelta, fact: Fact, state: int) -> bool:
    return state != NOTHING and delta.facts[state].rule == fact.rule
