"""The transition relation of the product: what an edge of the CFA does to a fact (ORION's Delta, section 2).

A step has three parts. First, the first matching transition *before* the effect fires. Then the effect moves the value
between access paths (`moved_paths`). Then the events follow that come of that: a result is tracked from now on, the last path
is lost (`outcomes`), the function is left. NOTHING starts new facts by the transitions from `start`.

Calls of external functions are in `external_calls`, calls of functions with a body in `call_mapping`.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.facts.environments import complement, exit_environment
from analysis.engines.automaton.facts.external_calls import ExternalCalls
from analysis.engines.automaton.facts.facts import Environment, Fact, FactTable, bounded
from analysis.engines.automaton.facts.interior import into, is_computed, is_into, points_into
from analysis.engines.automaton.facts.moved_paths import (
    copies,
    is_beside_whole,
    is_steady,
    outlives,
    stored,
    with_result,
    without_old_reads,
)
from analysis.engines.automaton.facts.outcomes import Outcomes
from analysis.engines.automaton.facts.ownership import gets_holder, goes_away, is_handed_out, is_new_holder, is_shared
from analysis.engines.automaton.facts.relevance import Relevance
from analysis.engines.automaton.facts.resized_blocks import is_of_no_size, where_left
from analysis.engines.automaton.functions.access_paths import CALLER, RESULT, Path, behind_pointer, beside, path_of
from analysis.engines.automaton.functions.function_model import FunctionModel, asks_for_failures
from analysis.engines.automaton.functions.known_conditions import Known
from analysis.engines.automaton.functions.local_addresses import can_return, handed_out, moved, tells_apart
from analysis.engines.automaton.functions.matching import Match
from analysis.engines.automaton.functions.owned_members import OwnedMembers
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.intervals import ANY, ZERO, Interval, meet
from analysis.rules.automaton import ERROR, START, STOP, Rule


class Transfer:
    """The transition relation on edges, without entering the bodies of callees, for the functions of one program."""

    def __init__(
        self,
        rules: tuple[Rule, ...],
        facts: FactTable,
        program: Program,
        relevance: Relevance,
        members: tuple[OwnedMembers, ...],
        thorough: bool,
    ) -> None:
        self.thorough = thorough
        self.rules = rules
        self.relevance = relevance
        self.facts = facts
        self.outcomes = Outcomes(rules, facts, thorough)
        self._external = ExternalCalls(self.outcomes, program)
        self._program = program
        self._members = members
        self._guessed = frozenset(name for name, one in program.externals.items() if one.guess)
        self.lenient = any(name.startswith("__VERIFIER_") for name in (*program.externals, *program.functions))

    # -- NOTHING ------------------------------------------------------------------------------------------------

    def start(self, model: FunctionModel, edge: Edge) -> list[int]:
        """The facts that begin at the edge, errors among them."""
        found: dict[int, None] = {}
        matches = model.matches(edge)
        for match in matches.before:
            if match.source == START:
                found.update(dict.fromkeys(self._begin_before(model, edge, match)))
        for match in matches.after:
            if match.source == START:
                found.update(dict.fromkeys(self._begin_after(model, edge, match)))
        for members in self._members:
            found.update(dict.fromkeys(self._begin_owned(model, edge, members)))
        return list(found)

    def _begin_owned(self, model: FunctionModel, edge: Edge, members: OwnedMembers) -> Iterator[int]:
        """The facts that objects own something which this function loses (`functions.owned_members`): with a parameter that it
        ends, from its entry on; with a variable, from where that gets an object from memory on; or what it leaves, from where it
        frees other parts on; or that it resizes in place, from there on."""
        effect = edge.effect
        ended, left, resized = members.rule.member_states
        for at, path in sorted(members.resized.get(model.cfa.name, ())):
            if at == edge.id and isinstance(effect, ir.Call):
                yield from self._begin_resized(model, edge, effect, Fact(members.number, resized, (path,)))
        for behind, path in sorted(members.left.get(model.cfa.name, ())):
            if behind == edge.id and path[0] not in model.assignments.reassigned:
                yield self.facts.number(Fact(members.number, left, (path,)))
        for variable, steps in sorted(members.ended.get(model.cfa.name, ())):
            number = self.facts.number(Fact(members.number, ended, ((variable, "*", *steps),)))
            if variable in model.parameters and edge.source == model.cfa.entry:
                if not (isinstance(effect, ir.Call) and any(t in self._program.functions for t in self._program.targets(effect))):
                    yield from self.step(model, edge, number)
            elif isinstance(effect, ir.Assign) and path_of(effect.target) == (variable,):
                is_read = isinstance(ir.strip_casts(effect.value), ir.LVALUES)
                if is_read and variable not in model.assignments.moving:
                    yield number

    def _begin_resized(self, model: FunctionModel, edge: Edge, call: ir.Call, fact: Fact) -> Iterator[int]:
        """The fact that a member holds null since what it held could not be resized; nothing if it held null before."""
        known, numbers = model.cases.known.at[edge.source] or {}, model.conditions.numbers
        resized = next(one for one in call.arguments if path_of(one) == fact.paths[0])
        if call.result is None or model.conditions.evaluate(resized, known) == ZERO or is_of_no_size(self._program, call):
            return
        said = where_left(model, self._program, call)
        if call.result in numbers:
            said = said | {numbers[call.result]: ZERO}
        yield self.facts.number(fact.with_environment(tuple((number, said[number]) for number in sorted(said))))

    def _begin_before(self, model: FunctionModel, edge: Edge, match: Match) -> list[int]:
        if match.target == ERROR:
            error = self.outcomes.error(match.rule, match.transition, edge, match.path)
            return [] if not self.thorough and self.asks_for_decision(model, self.facts[error]) else [error]
        if match.path is None or not self.relevance.matters(match.rule, model.cfa.name, match.path):
            return []
        paths = bounded(model.copies.same(edge.source, match.path))
        if self.rules[match.rule].is_last(match.target):
            paths = bounded({*paths, *model.left_behind(edge, paths)})
        if self._is_guess(edge):
            # they do not leave the function: most programs have no bound on what a library frees of their global data
            paths = tuple(path for path in paths if path[0][0] != "@" and path[0] not in model.parameters)
            if not paths:
                return []
        fact = Fact(match.rule, match.target, paths)
        return self._outcome(model, edge, fact, self.rules[match.rule].transitions[match.transition].result)

    def _is_guess(self, edge: Edge) -> bool:
        """Whether a call releases what it is passed only by what its declaration makes likely (`External.believed`)."""
        return isinstance(edge.effect, ir.Call) and ir.direct_callee(edge.effect) in self._guessed

    def _begin_after(self, model: FunctionModel, edge: Edge, match: Match) -> list[int]:
        rule = self.rules[match.rule]
        if rule.ownership and model.takes_closed_number(edge):
            return []
        if match.target in rule.returned_states and not can_return(model.cfa.type.result):
            return []
        if match.path is None:
            if match.dropped and rule.ownership:
                return self.outcomes.lost(Fact(match.rule, match.target, ()), edge)
            return []
        if rule.ownership and self.outcomes.given_away(model, match.path, match.rule):
            return []
        if behind_pointer(match.path) and match.path[0] in model.assignments.moving:
            return []  # where the pointer will point next time is not known
        if not self.relevance.matters(match.rule, model.cfa.name, match.path):
            return []
        fact = Fact(match.rule, match.target, (match.path,))
        environment: Environment = ()
        if isinstance(edge.effect, ir.Return):
            known = model.cases.known.at[edge.source] or {}
            environment = exit_environment(model, edge.effect.value, known, known)
        elif isinstance(edge.effect, ir.Call) and edge.effect.result is not None:
            said = self.rules[match.rule].transitions[match.transition].result
            number = model.conditions.numbers.get(edge.effect.result)
            environment = () if said is None or number is None else ((number, said),)
        return self.outcomes.settle(edge, fact, fact.paths, environment)

    def asks_for_decision(self, model: FunctionModel, error: Fact) -> bool:
        """Whether the error counts only on a path on which the branch to it is decided by what is known there."""
        decided = self.rules[error.rule].transitions[error.transition].decided
        return decided and not self.lenient and not model.decided(model.cfa.by_id[error.edge])

    # -- facts --------------------------------------------------------------------------------------------------

    def step(self, model: FunctionModel, edge: Edge, number: int) -> list[int]:
        """The facts after the edge for a fact before it; the edge is no call, or one of external functions."""
        fact = self.facts[number]
        found: dict[int, None] = {}
        for state, result in self.fire(model, edge, fact):
            if isinstance(state, int):
                found[state] = None
            else:
                moved = Fact(fact.rule, state, fact.paths, fact.environment)
                found.update(dict.fromkeys(self._outcome(model, edge, moved, result)))
        return list(found)

    def fire(self, model: FunctionModel, edge: Edge, fact: Fact) -> list[tuple[str | int, Interval | None]]:
        """What the first transition does that the value's matches fire before the effect.

        The states from then on (an error by its number), each with what it says of the call's result; the state as it is, if no
        transition fires; nothing, if the value is of no more interest.
        """
        rule = self.rules[fact.rule]
        for match in model.matches(edge).before:
            if match.rule != fact.rule or match.source != fact.state or match.path not in fact.paths:
                continue
            transition = rule.transitions[match.transition]
            if transition.if_function_has and not model.function_has(match.rule, match.transition, match.path):
                continue
            if match.target == ERROR:
                return [(self.outcomes.error(match.rule, match.transition, edge, match.path), None)]
            outcomes: list[tuple[str | int, Interval | None]] = []
            if match.target != STOP:
                outcomes.append((match.target, transition.result))
            if transition.result is not None and not (rule.ownership and is_of_no_size(self._program, edge.effect)):
                outcomes.append((fact.state, complement(transition.result)))
            return outcomes
        return [(fact.state, None)]

    def _outcome(self, model: FunctionModel, edge: Edge, fact: Fact, result: Interval | None) -> list[int]:
        """The effect of a call with a result in the given interval (None: any), or of another edge."""
        numbers = self._effect(model, edge, fact, result)
        call = edge.effect
        if result is None or not isinstance(call, ir.Call) or call.result is None:
            return numbers
        key = model.conditions.numbers.get(call.result)
        said: Known = {} if key is None else {key: result}
        if self.rules[fact.rule].ownership and result == ZERO:
            said = where_left(model, self._program, call) | said
        environment: Environment = tuple((number, said[number]) for number in sorted(said))
        return [n if n in self.facts.errors else self.facts.number(self.facts[n].with_environment(environment)) for n in numbers]

    def _effect(self, model: FunctionModel, edge: Edge, fact: Fact, result: Interval | None) -> list[int]:
        effect = edge.effect
        match effect:
            case ir.Assume():
                if not self._can_branch(model, edge, fact):
                    return []
                if fact.state in self.rules[fact.rule].returned_states and tells_apart(effect, fact.paths):
                    return []
                if self.rules[fact.rule].ownership and (is_shared(effect, fact.paths) or model.still_held(edge) in fact.paths):
                    return []
            case ir.Return(value):
                return self._return(model, edge, fact, value)
            case ir.Assign(ir.Var(name)) if model.changes_nothing(edge):
                return self.outcomes.settle(edge, fact, without_old_reads(fact.paths, name))
            case ir.Assign(target, value):
                return self._store(model, edge, fact, target, value)
            case ir.Call():
                return self._external.after(model, edge, fact, effect, result)
            case ir.Unsupported(_, mentions) if any(path[0].removeprefix("@") in mentions for path in fact.paths):
                return []  # what the statement does to the value is not known
        return self.outcomes.settle(edge, fact, fact.paths)

    def _can_branch(self, model: FunctionModel, edge: Edge, fact: Fact) -> bool:
        """Whether the environment that the edge before has set allows the branch."""
        test = model.conditions.of_edge.get(edge.id)
        environment = None if test is None else dict(fact.environment).get(test[0])
        return test is None or environment is None or meet(environment, test[1]) is not None

    def _store(self, model: FunctionModel, edge: Edge, fact: Fact, target: ir.Expr, value: ir.Expr) -> list[int]:
        if self.rules[fact.rule].ownership:
            return self._owned_store(model, edge, fact, target, value)
        paths = stored(model, fact, target, value) | self._failed(model, edge, fact, path_of(target), value)
        written = path_of(target)
        is_moved = fact.state in self.rules[fact.rule].returned_states and moved(value, fact.paths)
        if written is not None and (is_moved or self._is_beside(fact, value)) and is_steady(model, written):
            paths.add(written)
        return self.outcomes.settle(edge, fact, paths)

    def _is_beside(self, fact: Fact, value: ir.Expr) -> bool:
        """Whether a value is a pointer at a constant distance from the tracked one. There is none beside null (C11
        6.5.6p8)."""
        pointer = None if self.rules[fact.rule].about_object else beside(value)
        return pointer is not None and path_of(pointer) in fact.paths

    def _owned_store(self, model: FunctionModel, edge: Edge, fact: Fact, target: ir.Expr, value: ir.Expr) -> list[int]:
        """The same for a value that somebody owns: whoever gets it may be the owner from then on."""
        written, source = path_of(target), path_of(value)
        inside = points_into(value, fact.paths) and (not is_computed(value) or is_beside_whole(model, fact.paths, written))
        if source is not None and not inside and gets_holder(source, fact.paths):
            return []
        gets = inside or (source is not None and any(copies(path, source, target) for path in fact.paths))
        if gets and (written is None or self.outcomes.given_away(model, written, fact.rule)):
            return []
        paths = stored(model, fact, target, value)
        if inside and written is not None and is_steady(model, written):
            paths.add(into(written))
        if not inside and goes_away(fact, written, value, paths):
            return []
        return self.outcomes.settle(edge, fact, paths)

    def _return(self, model: FunctionModel, edge: Edge, fact: Fact, value: ir.Expr | None) -> list[int]:
        rule = self.rules[fact.rule]
        if fact.state in rule.returned_states:
            return self._handed_out(edge, fact, value)
        is_handed = rule.ownership and value is not None and is_handed_out(value, fact.paths)
        if is_handed and not (value is not None and is_new_holder(model, fact, value)):
            return []
        paths = self._with_result(model, edge, fact, value, with_parts=is_handed)
        left = self._leave(model, edge, fact)
        if left is not None:
            return left
        outside = {path for path in paths if outlives(model, path, rule, fact.state)}
        if rule.ownership and any(behind_pointer(path) for path in paths - outside):
            return []  # an object that the function leaves behind holds the value, too
        if not outside:
            return [] if any(behind_pointer(path) for path in paths) else self.outcomes.lost(fact, edge)
        if all(map(is_into, outside)):
            return []  # who gets a pointer into the object looks after it
        environment = self._environment_at_exit(model, edge, fact, value)
        return self.outcomes.numbered(fact, outside, environment)

    def _handed_out(self, edge: Edge, fact: Fact, value: ir.Expr | None) -> list[int]:
        """The errors where a function returns something; in such a state nothing is known to callers."""
        path = None if value is None else handed_out(value, fact.paths)
        transitions = enumerate(self.rules[fact.rule].transitions)
        at = (index for index, one in transitions if one.source == fact.state and one.trigger.kind == "returned")
        return [] if path is None else [self.outcomes.error(fact.rule, index, edge, path) for index in at]

    def _with_result(
        self, model: FunctionModel, edge: Edge, fact: Fact, value: ir.Expr | None, *, with_parts: bool = False
    ) -> set[Path]:
        """The paths of a fact with those through the result of a function that returns a value; `with_parts`: that is an object
        that nobody but the caller has from then on."""
        rule, source = self.rules[fact.rule], None if value is None else path_of(value)
        paths = with_result(fact.paths, source, rule.about_object or fact.state in rule.failure_states)
        if with_parts and source is not None:
            paths = {path for path in paths if path[0] != source[0]}
        paths |= self._failed(model, edge, fact, (RESULT,), value)
        if value is not None and not rule.ownership and self._is_beside(fact, value):
            paths.add((RESULT,))
        if value is not None and rule.ownership and points_into(value, fact.paths):
            paths.add(into((RESULT,)))
        return paths

    def _failed(self, model: FunctionModel, edge: Edge, fact: Fact, place: Path | None, value: ir.Expr | None) -> set[Path]:
        """The place, if null is returned or stored there in a variable where something that the function tests has failed, or
        may have; else nothing."""
        if fact.state not in self.rules[fact.rule].failure_states or model.tested_paths.isdisjoint(fact.paths):
            return set()
        if place is None or value is None or not asks_for_failures(edge.effect):
            return set()
        is_null = model.conditions.evaluate(value, model.cases.known.at[edge.source] or {}) == ZERO
        return {place} if is_null and isinstance(value.type, Pointer) else set()

    def _environment_at_exit(self, model: FunctionModel, edge: Edge, fact: Fact, value: ir.Expr | None) -> Environment:
        """See `exit_environment`."""
        known = dict(model.cases.known.at[edge.source] or {})
        for number, interval in fact.environment:  # `return realloc(p, n)`: while p lives, the result is null
            if isinstance(number, int) and (both := meet(known.get(number, ANY), interval)) is not None:
                known[number] = both
        said: Known = {}
        if not self.rules[fact.rule].about_object:
            said = dict.fromkeys(model.parameter_keys(fact.paths), ZERO)  # what is tracked is null or zero
        return exit_environment(model, value, said, known)

    def _leave(self, model: FunctionModel, edge: Edge, fact: Fact) -> list[int] | None:
        if CALLER in (path[0] for path in fact.paths):
            return None
        for index, transition in enumerate(self.rules[fact.rule].transitions):
            if transition.source == fact.state and transition.trigger.kind == "leave":
                for path in fact.paths:
                    if not transition.if_function_has or model.function_has(fact.rule, index, path):
                        return [self.outcomes.error(fact.rule, index, edge, path)]
        return None
