"""What speaks for a finding, and what it needs, read off the path that is claimed for it (`model.evidence`).

Only the part of the path counts on which the value is tracked: from its beginning, the edge at which it became suspicious, to
the error. What leads there says nothing.

A beginning in the function of the error, in the same activation, is what a reader of that function sees. A beginning that is
carried through calls rests on the summaries of these. But where a function uses what it is passed in each of its runs, the error
is that of the call: what counts is what a reader of the caller sees. And a function that frees what it is passed in each of its
runs is as good as `free` (`report.unavoidable`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from analysis.cfa.graph import Edge, Places, Program
from analysis.engines.automaton.facts.facts import NOTHING, Fact
from analysis.engines.automaton.facts.product import ProgramDelta
from analysis.engines.automaton.functions.access_paths import Path, path_of, root_of
from analysis.engines.automaton.report.agreeing_targets import gives
from analysis.engines.automaton.report.places_in_memory import is_in_memory, is_memory, is_reachable, is_untouched
from analysis.engines.automaton.report.questions import is_asked_about, is_asked_before, only_computes
from analysis.engines.automaton.report.retested import is_retested
from analysis.engines.automaton.report.searches import is_split, was_found_before
from analysis.engines.automaton.report.sibling_calls import Asked, Calls, constants_of, tests
from analysis.engines.automaton.report.skipped_loops import is_skipped
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.report.unavoidable import always_begins, effect_of, leads_elsewhere, meeting
from analysis.engines.automaton.report.unkept import is_unkept
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.evidence import Beginning, Evidence
from analysis.model.spelling import display_name
from analysis.rules.automaton import Rule

_MANY = 6  # branches between the beginning and the error, in the function of the error


class Tracked:
    """The part of a path, from an entry function to an error, on which the value is tracked. `is_late`: it is not known whether
    the rest of the path is possible. `looked`: functions that the evidence depends on; the path may not lead through them."""

    def __init__(
        self, delta: ProgramDelta, places: Places, rule: Rule, fact: Fact, steps: Sequence[Taken], *, is_late: bool
    ) -> None:
        self.looked: set[str] = set()
        self._others: Calls | None = None
        self._is_late = is_late
        self._delta = delta
        self._places = places
        self._rule = rule
        self._fact = fact
        self._first = beginning(delta, fact, steps)
        self._steps = steps[self._first :]
        self._last = steps[-1]
        self._path = steps
        is_value = not rule.ownership and rule.tracks is not None
        self._home = meeting(delta.program.functions, self._steps) if is_value else self._last

    def evidence(self, others: Calls | None) -> tuple[Evidence, ...]:
        """All that is seen, each once, in a fixed order. `others` are all calls of `callee`."""
        self._others = others
        if not self._rule.shipped:
            return ()  # who writes a rule wants to see what it finds
        if self._rule.tracks is None:
            return tuple(self._of_assertion()) if "fails-assertion" in self._rule.kinds.values() else ()
        return self._of_beginning(), *self._supporting(), *self._known_better(), *self._needed()

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
        if any(taken.depth < self._home.depth for taken in self._steps):
            return "passed-failure" if self._is_failure() else "argument"
        result: Beginning = "allocated-elsewhere" if self._rule.ownership else "function-result"
        is_release = self._rule.about_object and not self._rule.ownership
        if is_release and always_begins(self._program, self._path[: self._first + 1], self._home, self.looked):
            return "released-here"
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
        is_branch = self._is_branch(before) and self._line(before) == self._line(first)
        effect = self._edge(first).effect
        if isinstance(effect, ir.Assign) and not (is_branch and effect.target not in self._tested_by(before)):
            return False
        places = [self._places.place(taken.function, taken.edge) for taken in (first, *[before] * is_branch)]
        return any(place.macro not in (None, "NULL") for place in places)

    def _tested_by(self, branch: Taken) -> frozenset[ir.Expr]:
        """The parts of the condition of a branch."""
        return frozenset(part for expr in ir.values_of(self._edge(branch).effect) for part in ir.walk(expr))

    def _supporting(self) -> Iterator[Evidence]:
        source = self.source
        if self._others is not None and source is not None:
            own = tests(self._delta.lookup(source[0]), source[1])
            used, tested = self._others.used - (own is not None), self._others.tested - bool(own)
            if 2 * tested > used:
                if tested > 1 or self._is_library_call(source[1]):  # a single test of what the program decides says little
                    yield "others-test"
            elif used > 1:
                yield "others-do-not"
        if not self._rule.ownership and self._is_decided_outside() and not self._is_reported():
            yield "environment"
        if not self._rule.ownership and not self._conditions() and not self._is_released_elsewhere():
            yield "straight"

    def _is_library_call(self, edge: Edge) -> bool:
        """Whether a call is one of a library function."""
        return isinstance(edge.effect, ir.Call) and self._is_of_library(edge.effect)

    def _is_released_elsewhere(self) -> bool:
        """Whether another function releases the object, in some runs: that function has the branch that decides it."""
        return self._rule.about_object and self._of_beginning() == "function-result"

    def _is_decided_outside(self) -> bool:
        """Whether the branch that leads to the beginning, in its function, tests what a library function answered; or the
        beginning is such an answer, inside of a function that the value comes out of."""
        number = self._first
        first = self._steps[0]
        if first.event != "edge" or self._is_own(first):
            return False
        own = [taken for taken in self._path[: number + 1] if (taken.function, taken.depth) == (first.function, first.depth)]
        answers: set[ir.Expr] = set()
        is_answer = False
        for taken in own:
            effect = self._edge(taken).effect if taken.event == "edge" else None
            if isinstance(effect, ir.Call):
                is_told = effect.result is not None and self._is_answer(effect)
                answers |= {effect.result} if is_told and effect.result is not None else set()
                is_answer = is_told if taken is first else is_answer  # others may only clean up
            elif isinstance(effect, ir.Assign) and not answers.isdisjoint(ir.walk(effect.value)):
                answers.add(effect.target)
            elif isinstance(effect, ir.Assume):
                is_answer = not answers.isdisjoint(ir.walk(effect.condition))
        return is_answer

    def _is_answer(self, call: ir.Call) -> bool:
        """Whether a call asks a library function for more than it is passed; also one through a pointer, where all that the
        program assigns to it comes down to the one that the value begins with."""
        if self._is_of_library(call):
            return not only_computes(call)
        begin = effect_of(self._program, self._steps[0])
        return ir.direct_callee(call) is None and gives(self._program, call, begin, self.looked)

    def _is_of_library(self, call: ir.Call) -> bool:
        callee = self._program.only_target(call)
        return callee is not None and callee not in self._program.functions

    def _known_better(self) -> Iterator[Evidence]:
        """Signs that the code knows more of the value than the path says."""
        if self._is_idle_test():
            yield "idle-test"
        if self._is_decided_inside():
            yield "decided-inside"
        if self._is_asked_about():
            yield "asked-about"
        if self._is_asked_before():
            yield "asked-before"
        if self._is_left_unset():
            yield "loop-skipped"
        if self._is_retested():
            yield "tested-before"
        if self._rule.ownership and is_unkept(self._delta, self._steps, self.looked):
            yield "unkept"

    def _needed(self) -> Iterator[Evidence]:
        if self._is_late:
            yield "way-unknown"
        is_read = any(map(is_in_memory, self._fact.paths[:1])) and not self._is_untouched()
        if is_read or any(map(self._is_read_again, self._steps[1:])):
            yield "stored-failure" if self._is_failure() else "in-memory"
        if self._rule.ownership and (any(map(is_reachable, self._own_paths())) or self._is_stored_below()):
            yield "reachable"
        if self._is_never_used():
            yield "never-used"
        if any(map(self._is_through_pointer, range(len(self._steps)))):
            yield "function-pointer"
        if self._steps[0].event == "edge" and not self._rule.ownership and self._was_found():
            yield "found-before"
        if not self._rule.ownership and self._is_reported():
            yield "reported"
        if self._conditions() > _MANY:
            yield "many-conditions"
        is_end = isinstance(self._edge(self._last).effect, ir.Return)
        if self._rule.ownership and is_end and display_name(self._last.function) == "main":
            yield "at-the-end"

    def _was_found(self) -> bool:
        """Whether the first step is a call that looks for something that is known to be there."""
        functions = self._program.functions
        return was_found_before(functions, self._path, self._first) or is_split(functions, self._path, self._first)

    def _is_untouched(self) -> bool:
        """Whether this function passed the very place that the error is about to what released it, and no memory was written and
        nothing was called since then."""
        if self._rule.ownership or not self._rule.about_object:
            return False
        own = [taken for taken in self._path[:-1] if self._is_own(taken) and taken.event in ("edge", "call")]
        return is_untouched(self._fact.paths[0], [self._edge(taken).effect for taken in own])

    def _is_never_used(self) -> bool:
        """Whether it is a descriptor, and the function that loses it passes it to no function and stores it nowhere."""
        if not self._rule.ownership or "opens-descriptor" not in self._rule.kinds.values() or len(self._fact.paths[:1]) != 1:
            return False
        names = {path[0] for taken in self._steps[1:] if self._is_own(taken) for path in self._delta.facts[taken.before].paths}
        effects = (edge.effect for edge in self._program.functions[self._last.function].edges)
        uses = (e for e in effects if not isinstance(e, ir.Assume) and not names & {root_of(v) for v in _assigned(e)})
        used = (variable for effect in uses for value in ir.values_of(effect) for variable in ir.variables(value))
        return not any(root_of(variable) in names for variable in used)

    def _is_idle_test(self) -> bool:
        """Whether the value is suspicious because of a test, and nothing depends on that test in this build."""
        first = self._steps[0]
        test = self._edge(first) if first.event == "edge" else None
        if test is None or not isinstance(test.effect, ir.Assume):
            return False
        branches = self._program.functions[first.function].outgoing[test.source]
        return len(branches) > 1 and len({branch.target for branch in branches}) == 1

    def _is_decided_inside(self) -> bool:
        """Whether null comes out of another function, or from a caller, and nothing that can fail in any run decides that."""
        if not self._rule.failure_states or self._of_beginning() not in ("function-result", "argument"):
            return False
        return not self._is_failure() and not self._is_decided_outside()

    def _is_failure(self) -> bool:
        """Whether the value begins with a failure that any run may have, as of `malloc`."""
        return any(self._delta.facts[taken.after].state in self._rule.failure_states for taken in self._steps[:1])

    def _is_asked_about(self) -> bool:
        own = [taken for taken in self._steps[1:-1] if self._is_own(taken)]
        return not self._rule.ownership and not self._rule.about_object and is_asked_about(self._delta, own)

    def _is_asked_before(self) -> bool:
        source = self.source
        depth = min(taken.depth for taken in self._steps)
        return source is not None and self._is_decided_inside() and is_asked_before(self._program, self._path, source, depth)

    def _is_left_unset(self) -> bool:
        """Whether the path passes a loop that would have set the variable, which was null before, without a turn of it."""
        first = self._steps[0]
        if self._of_beginning() != "null-constant" or not self._is_own(first):
            return False
        cfa = self._program.functions[first.function]
        own = [self._edge(taken) for taken in self._steps[:-1] if taken.event == "edge" and self._is_own(taken)]
        return any(is_skipped(cfa, own[: number + 1]) for number in range(1, len(own)))

    def _is_retested(self) -> bool:
        """Whether the function of the error tests something again, with the other outcome, when the value is tracked already."""
        own = [number for number, taken in enumerate(self._path) if taken.event == "edge" and self._is_own(taken)]
        edges = [self._edge(self._path[number]) for number in own]
        split = sum(number <= self._first for number in own)
        return is_retested(edges[:split], edges[split:])

    def _is_reported(self) -> bool:
        """Whether the function in which the value begins calls another one for its effect, after it has tested the value."""
        first, is_tested = self._steps[0], False
        for taken in self._steps[:-1]:
            if taken.event != "edge" or (taken.function, taken.depth) != (first.function, first.depth):
                continue
            effect = self._edge(taken).effect
            if isinstance(effect, ir.Assume):
                roots = {path[0] for path in self._delta.facts[taken.after].paths}
                is_tested = is_tested or any(root_of(var) in roots for var in ir.variables(effect.condition))
            elif is_tested and isinstance(effect, ir.Call) and effect.result is None and not self._is_of_library(effect):
                return True
        return False

    def _conditions(self) -> int:
        """How many branches are taken since the value came out of the functions that it comes from."""
        returns = [number for number, taken in enumerate(self._steps) if taken.event == "return"]
        least = min(taken.depth for taken in self._steps)
        back = [number for number in returns if self._steps[number].depth == least]
        return sum(map(self._is_branch, self._steps[max(back, default=0) + 1 :]))

    def _own_paths(self) -> Iterator[Path]:
        """The names of the value in the function of the error, before the error."""
        for taken in self._steps[1:]:
            if self._is_own(taken):
                yield from self._delta.facts[taken.before].paths

    def _is_stored_below(self) -> bool:
        """Whether a function that was passed the value stores it behind another pointer that it was passed, or in a variable that
        others know."""
        number = next((at for at, taken in enumerate(self._steps) if self._is_own(taken)), len(self._steps))
        for taken in self._steps[number + 1 :]:
            if taken.depth <= self._home.depth or taken.event != "edge":
                continue
            passed = {root_of(parameter) for parameter in self._program.functions[taken.function].parameters}
            names = self._delta.facts[taken.after].paths
            if any(is_reachable(name) and (name[0].startswith("@") or name[0] in passed) for name in names):
                return True
        return False

    def _is_read_again(self, taken: Taken) -> bool:
        """Whether a step reads the value that the error is about from memory where it was before."""
        effect = self._edge(taken).effect if taken.event == "edge" and self._is_own(taken) else None
        is_called = self._home is not self._last  # the error is below a call that is passed the value
        names = self._delta.facts[self._home.before].paths if is_called else self._fact.paths[:1]
        if not isinstance(effect, ir.Assign) or path_of(effect.target) not in names:
            return False
        read = path_of(effect.value)
        return read is not None and is_in_memory(read)

    def _is_through_pointer(self, number: int) -> bool:
        """Whether a step calls through a pointer, and may reach another function than the path says. Where memory that such a
        call makes belongs, another one of the same table may know."""
        begin = self._steps[0]
        call = effect_of(self._program, self._steps[number])
        if not isinstance(call, ir.Call) or ir.direct_callee(call) is not None:
            return False
        is_result = self._rule.ownership or not self._rule.about_object
        if is_result and gives(self._program, call, effect_of(self._program, begin), self.looked):
            return False
        if self._rule.ownership:
            return number == 0 or self._is_passed(number, call)
        return leads_elsewhere(self._program, self._steps, number, begin, self.looked)

    def _is_passed(self, number: int, call: ir.Call) -> bool:
        """Whether a call is passed the value, or gives it."""
        roots = {path[0] for taken in self._steps[number : number + 2] for path in self._delta.facts[taken.before].paths}
        used = (variable for expr in ir.expressions(call) for variable in ir.variables(expr))
        return any(root_of(variable) in roots for variable in used)

    def _is_condition(self, taken: Taken) -> bool:
        return self._is_own(taken) and self._is_branch(taken)

    def _is_branch(self, taken: Taken) -> bool:
        effect = self._edge(taken).effect if taken.event == "edge" else None
        return isinstance(effect, ir.Assume) and not isinstance(effect.condition, ir.IntConst)

    def _of_assertion(self) -> Iterator[Evidence]:
        """What a failing assertion is about: the last condition before it, if it is a condition of the same place."""
        own = [taken for taken in self._path[:-1] if taken.event == "edge" and self._is_own(taken)]
        if not own or not self._is_condition(own[-1]) or self._line(own[-1]) != self._line(self._last):
            yield "never-asserted"
            return
        names = {var.name for var in self._variables(own[-1])}
        calls = {
            target.name
            for taken in own
            if isinstance(effect := self._edge(taken).effect, ir.Call) and isinstance(target := effect.result, ir.Var)
        }
        if not names:  # `assert(!"reached")`
            yield "never-asserted"
        elif names & calls:
            yield "result-asserted"
        elif any(map(is_memory, self._asserted(own, names))):
            yield "in-memory"
        elif any(var.scope == "parameter" for var in self._variables(own[-1])):
            yield "argument-asserted"

    def _asserted(self, own: Sequence[Taken], names: set[str]) -> Iterator[ir.Expr]:
        """The condition of an assertion, and what was assigned to its variables last."""
        yield from ir.values_of(self._edge(own[-1]).effect)
        for name in sorted(names):
            assigned = (e for t in reversed(own) if isinstance(e := self._edge(t).effect, ir.Assign))
            values = (e.value for e in assigned if isinstance(e.target, ir.Var) and e.target.name == name)
            yield from islice(values, 1)

    def _line(self, taken: Taken) -> tuple[str, int]:
        place = self._places.place(taken.function, taken.edge)
        return place.path, place.range.start.line

    def _variables(self, taken: Taken) -> Iterator[ir.Var]:
        for expr in ir.values_of(self._edge(taken).effect):
            yield from ir.variables(expr)


def beginning(delta: ProgramDelta, fact: Fact, steps: Sequence[Taken]) -> int:
    """The number of the step that made the value suspicious."""
    number = len(steps) - 1
    while number > 0 and steps[number].before != NOTHING and delta.facts[steps[number].before].rule == fact.rule:
        number -= 1
    return number


def _assigned(effect: ir.Effect) -> tuple[ir.Var, ...]:
    """The variable that an assignment sets."""
    return (effect.target,) if isinstance(effect, ir.Assign) and isinstance(effect.target, ir.Var) else ()
