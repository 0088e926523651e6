"""What speaks for a finding, and what it needs, read off the path that is claimed for it (`model.evidence`).

Only the part of the path counts on which the value is tracked: from its beginning, the edge at which it became suspicious, to
the error. What leads there says nothing.

A beginning in the function of the error, in the same activation, is what a reader of that function sees. A beginning that is
carried through calls rests on the summaries of these. But where a function uses what it is passed in each of its runs, the error
is that of the call: what counts is what a reader of the caller sees. And a function that frees what it is passed in each of its
runs is as good as `free` (`report.unavoidable`).
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.cfa.graph import Edge
from analysis.engines.automaton.functions.access_paths import Path, path_of, root_of
from analysis.engines.automaton.report.agreeing_targets import gives
from analysis.engines.automaton.report.asked_sizes import is_zero_asked
from analysis.engines.automaton.report.assertion_evidence import AssertedPath
from analysis.engines.automaton.report.local_objects import is_local, is_passed_local, is_unknown_so_far
from analysis.engines.automaton.report.null_comparisons import needs_null_in_memory
from analysis.engines.automaton.report.other_results import is_sometimes_given, is_taken_for_failure
from analysis.engines.automaton.report.places_in_memory import (
    ends_in,
    is_in_memory,
    is_in_union,
    is_reachable,
    is_renewed,
    is_untouched,
    is_unwritten,
)
from analysis.engines.automaton.report.questions import is_answered_before, is_asked_about, is_asked_before, only_computes
from analysis.engines.automaton.report.retested import is_retested
from analysis.engines.automaton.report.searches import is_of_surroundings, is_split, was_found_before
from analysis.engines.automaton.report.sibling_calls import Calls, tests
from analysis.engines.automaton.report.skipped_loops import is_left_unkept, is_left_unset
from analysis.engines.automaton.report.tagged_owners import counted_members, is_tagged
from analysis.engines.automaton.report.trace import Taken
from analysis.engines.automaton.report.unavoidable import effect_of, leads_elsewhere
from analysis.engines.automaton.report.unkept import is_unkept
from analysis.model import ir
from analysis.model.evidence import Evidence
from analysis.model.spelling import display_name

_MANY = 6  # branches between the beginning and the error, in the function of the error


class Tracked(AssertedPath):
    """The same, with what is seen on it."""

    def evidence(self, others: Calls | None) -> tuple[Evidence, ...]:
        """All that is seen, each once, in a fixed order. `others` are all calls of `callee`."""
        self._others = others
        if not self._rule.shipped:
            return ()  # who writes a rule wants to see what it finds
        if self._rule.tracks is None:
            return tuple(self._of_assertion()) if "fails-assertion" in self._rule.kinds.values() else ()
        if self._rule.transitions[self._fact.transition].trigger.kind in ("returns-local", "returned"):
            return ("own-address", "many-conditions") if self._conditions() > _MANY else ("own-address",)
        return self._of_beginning(), *self._supporting(), *self._known_better(), *self._needed()

    def _supporting(self) -> Iterator[Evidence]:
        source = self.source
        if self._others is not None and source is not None:
            own = tests(self._delta.lookup(source[0]), source[1])
            used, tested = self._others.used - (own is not None), self._others.tested - bool(own)
            if 2 * tested > used:
                if tested > 1 or self._is_library_call(source[1]):  # a single test of what the program decides says little
                    yield "others-test"
            elif used > 1 and 2 * tested < used:
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
        return self._rule.about_object and self._of_beginning() in ("function-result", "handed-out")

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

    def _known_better(self) -> Iterator[Evidence]:
        """Signs that the code knows more of the value than the path says."""
        if self._is_idle_test():
            yield "idle-test"
        if self._is_zero_asked():
            yield "zero-asked"
        if self._is_decided_inside():
            yield "decided-inside"
        if self._is_asked_about():
            yield "asked-about"
        if self._is_asked_before():
            yield "asked-before"
        if self._is_loop_skipped():
            yield "loop-skipped"
        if self._of_beginning() == "null-constant" and self._is_null_compared():
            yield "null-compared"
        if self._is_retested():
            yield "tested-before"
        if self._rule.ownership and is_unkept(self._delta, self._steps, self.looked):
            yield "unkept"
        if self._rule.ownership and is_taken_for_failure(self._delta, self._steps, self._home):
            yield "taken-for-failure"
        if self._of_beginning() == "allocated-elsewhere" and is_sometimes_given(self._delta, self._steps, self._home):
            yield "sometimes-given"
        if self._of_beginning() == "owned-member" and self._is_tagged():
            yield "tagged-owner"

    def _is_tagged(self) -> bool:
        """Whether the path asks the object that owns the value of which kind it is."""
        own = [taken for taken in self._path[self._first :] if taken.event == "edge" and self._is_own(taken)]
        counted = counted_members(self._program.functions[self._home.function])
        return any(is_tagged((self._edge(taken).effect for taken in own), path[0], counted) for path in self._fact.paths)

    def _needed(self) -> Iterator[Evidence]:
        if self._is_late:
            yield "way-unknown"
        if self._wraps:
            yield "sum-wraps"
        if self._of_beginning() != "owned-member":  # there, the program was asked as a whole
            yield from self._shared()
        if self._is_never_used():
            yield "never-used"
        if any(map(self._is_through_pointer, range(len(self._steps)))):
            yield "function-pointer"
        if self._steps[0].event == "edge" and not self._rule.ownership and self._was_found():
            first = effect_of(self._program, self._steps[0])
            yield "answered-before" if is_of_surroundings(first) else "found-before"
        if not self._rule.ownership and self._is_reported():
            yield "reported"
        if self._conditions() > _MANY:
            yield "many-conditions"
        is_end = isinstance(self._edge(self._last).effect, ir.Return)
        if self._rule.ownership and is_end and display_name(self._last.function) == "main":
            yield "at-the-end"

    def _shared(self) -> Iterator[Evidence]:
        """Signs that other functions know the memory that the value is in."""
        holders = self._ended_holders()
        if (
            self._is_from_memory()
            and not self._is_just_handed_out()
            and not any(ends_in(self._fact.paths[0], holder) for holder in holders)
        ):
            yield "stored-failure" if self._is_failure() else "in-memory"
        names = [path for path in self._own_paths() if not any(ends_in(path, holder) for holder in holders)]
        if self._rule.ownership and (any(map(is_reachable, names)) or self._is_stored_below() or self._has_known_address()):
            yield "reachable"

    def _has_known_address(self) -> bool:
        """Whether a variable holds what another function gave, and its own address is known elsewhere."""
        names = [] if self._is_own(self._steps[0]) else [path for path in self._lost_paths()[:1] if len(path) == 1]
        return any(not self._is_local(path) for path in names if path[0][0] != "<")

    def _ended_holders(self) -> list[Path]:
        """The paths to what the error passes to the function that frees it: what was stored in it, nobody reaches there any more.
        What is in a union can have been freed by the name of another member."""
        effect = self._edge(self._last).effect
        if not self._rule.ownership or not self._fact.paths or not isinstance(effect, ir.Call):
            return []
        passed = [path for argument in effect.arguments if (path := path_of(argument)) is not None]
        if not any(ends_in(self._fact.paths[0], path) for path in passed):
            return []
        return [] if is_in_union(self._fact.paths[0], self._program.records) else passed

    def _is_from_memory(self) -> bool:
        """Whether the value is read from memory that others may have changed."""
        is_read = any(map(self._is_of_others, self._lost_paths()[:1])) and not self._is_untouched()
        return is_read or any(map(self._is_read_again, self._steps[1:])) or self._is_renewed()

    def _is_just_handed_out(self) -> bool:
        """Whether a call has just put the freed pointer where it is read, and nothing was written since."""
        if self._of_beginning() != "handed-out":
            return False
        returns = (number for number, taken in enumerate(self._steps) if taken.event == "return" and self._is_own(taken))
        back = max(returns, default=0)
        return is_unwritten([self._edge(taken).effect for taken in self._steps[back + 1 : -1]])

    def _lost_paths(self) -> tuple[Path, ...]:
        """The names of the value that the error is about, in the activation in which it meets the error."""
        is_below = self._rule.ownership and self._home is not self._last
        return self._delta.facts[self._home.before].paths if is_below else self._fact.paths

    def _is_of_others(self, path: Path) -> bool:
        """Whether a value is read from memory, but for what is lost with a local object: its members are followed."""
        if not is_in_memory(path) or not self._rule.ownership:
            return is_in_memory(path)
        return not self._is_local(path)

    def _is_local(self, path: Path) -> bool:
        """Whether a value is in a variable that nobody else knows, on the path at least."""
        if not self._is_late and is_unknown_so_far(self._delta, self._path, self._home, path):
            return True
        return is_local(self._program, self._home.function, path, self.looked)

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

    def _is_renewed(self) -> bool:
        """Whether the function that released the object was passed it from a place in memory, and may have written there."""
        if self._rule.ownership or not self._rule.about_object:
            return False
        model = self._delta.model(self._home.function)
        back = next((taken for taken in self._steps if taken.event == "return" and self._is_own(taken)), None)
        return back is not None and is_renewed(self._edge(back), model)

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

    def _is_zero_asked(self) -> bool:
        """Whether the value begins in another function, which was asked for nothing."""
        first = self._steps[0]
        if self._rule.ownership or self._rule.about_object or first.event != "edge" or self._is_own(first):
            return False
        inside = (first.function, first.depth)
        own = [taken for taken in self._path if (taken.function, taken.depth) == inside and taken.event in ("edge", "call")]
        return is_zero_asked(self._delta.model(first.function), [self._edge(taken) for taken in own])

    def _is_decided_inside(self) -> bool:
        """Whether null comes out of another function, or from a caller, and nothing that can fail in any run decides that."""
        if not self._rule.failure_states or self._of_beginning() not in ("function-result", "argument"):
            return False
        return not self._is_failure() and not self._is_decided_outside()

    def _is_asked_about(self) -> bool:
        own = [taken for taken in self._steps[1:-1] if self._is_own(taken)]
        return not self._rule.ownership and not self._rule.about_object and is_asked_about(self._delta, own)

    def _is_asked_before(self) -> bool:
        source = self.source
        depth = min(taken.depth for taken in self._steps)
        if source is None:
            return False
        if self._of_beginning() == "function-result" and is_answered_before(self._program, self._path, source, depth):
            return True
        return self._is_decided_inside() and is_asked_before(self._program, self._path, source, depth)

    def _is_loop_skipped(self) -> bool:
        """Whether the path passes a loop without a turn that would have set the variable, which was null before; or that would
        have kept the block."""
        first = self._steps[0]
        is_null = self._of_beginning() == "null-constant" and self._is_own(first)
        if not is_null and not self._rule.ownership:
            return False
        cfa = self._program.functions[first.function]
        own = [t for t in self._steps[:-1] if t.event == "edge" and (t.function, t.depth) == (first.function, first.depth)]
        ways = [(taken, [self._edge(one) for one in own[: number + 1]]) for number, taken in enumerate(own) if number]
        if is_null:
            return any(is_left_unset(cfa, way) for _, way in ways)
        return any(is_left_unkept(cfa, way, {path[0] for path in self._delta.facts[taken.before].paths}) for taken, way in ways)

    def _is_null_compared(self) -> bool:
        """Whether the last branch in the function of the error needs that a pointer in memory is null."""
        own = (taken for taken in self._path[:-1] if taken.event == "edge" and self._is_own(taken))
        return needs_null_in_memory(map(self._edge, own))

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
        """How many branches are taken between where the value came out of the functions that it comes from, and the error."""
        returns = [number for number, taken in enumerate(self._steps) if taken.event == "return"]
        least = min(taken.depth for taken in self._steps)
        back = [number for number in returns if self._steps[number].depth == least]
        return sum(map(self._is_branch, self._steps[max(back, default=0) + 1 : -1]))

    def _own_paths(self) -> Iterator[Path]:
        """The names of the value in the function of the error, before the error."""
        for taken in self._steps[1:]:
            if self._is_own(taken) and taken.event != "return":  # there, they are those of the function called
                yield from self._delta.facts[taken.before].paths

    def _is_stored_below(self) -> bool:
        """Whether a function that was passed the value stores it behind another pointer that it was passed, or in a variable that
        others know."""
        first = next((at for at, taken in enumerate(self._steps) if self._is_own(taken)), len(self._steps))
        for number in range(first + 1, len(self._steps)):
            taken = self._steps[number]
            if taken.depth <= self._home.depth or taken.event != "edge":
                continue
            passed = {root_of(parameter) for parameter in self._program.functions[taken.function].parameters}
            for name in filter(is_reachable, self._delta.facts[taken.after].paths):
                if name[0].startswith("@"):
                    return True
                if name[0] in passed and not is_passed_local(self._delta, self._steps, number, name[0], self.looked):
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


def _assigned(effect: ir.Effect) -> tuple[ir.Var, ...]:
    """The variable that an assignment sets."""
    return (effect.target,) if isinstance(effect, ir.Assign) and isinstance(effect.target, ir.Var) else ()
