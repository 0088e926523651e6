"""The transition relation of the product: what an edge of the CFA does to a fact (ORION's Delta, section 2).

One step does, in this order: the first
matching transition *before* the effect fires; then the effect moves the value between access paths; then the events follow
that come of that (a result that is tracked from now on, the last path lost, the function left). NOTHING starts new facts by
the transitions from `start`.

Calls of functions with a body are in `call_mapping`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from analysis.c.functions import Function
from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.facts.facts import (
    RESULT_KEY,
    Environment,
    Fact,
    FactTable,
    bounded,
)
from analysis.engines.automaton.facts.interior import into, is_computed, is_into, points_into
from analysis.engines.automaton.facts.relevance import Relevance
from analysis.engines.automaton.functions.access_paths import (
    CALLER,
    INSIDE,
    RESULT,
    Path,
    behind_pointer,
    kills,
    lvalue_cell,
    path_of,
)
from analysis.engines.automaton.functions.function_model import FunctionModel, asks_for_failures
from analysis.engines.automaton.functions.known_conditions import Known
from analysis.engines.automaton.functions.matching import Match
from analysis.model import ir
from analysis.model.c_types import Pointer, Record
from analysis.model.intervals import ANY, NONZERO, ZERO, Interval, interval_of, meet, without_holes
from analysis.rules.automaton import ERROR, START, STOP, Rule
from analysis.rules.library_names import arguments_of_kind


class Transfer:
    """The transition relation on edges, without entering the bodies of callees, for the functions of one program."""

    def __init__(self, rules: tuple[Rule, ...], facts: FactTable, program: Program, relevance: Relevance, thorough: bool) -> None:
        self.thorough = thorough
        self.rules = rules
        self.relevance = relevance
        self.facts = facts
        self.program = program
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
        return list(found)

    def _begin_before(self, model: FunctionModel, edge: Edge, match: Match) -> list[int]:
        if match.target == ERROR:
            error = self.error(match.rule, match.transition, edge, match.path)
            return [] if not self.thorough and self.asks_for_decision(model, self.facts[error]) else [error]
        if match.path is None or not self.relevance.matters(match.rule, model.cfa.name, match.path):
            return []
        paths = bounded(model.copies.same(edge.source, match.path))
        fact = Fact(match.rule, match.target, paths)
        return self._outcome(model, edge, fact, self.rules[match.rule].transitions[match.transition].result)

    def _begin_after(self, model: FunctionModel, edge: Edge, match: Match) -> list[int]:
        rule = self.rules[match.rule]
        if match.path is None:
            if match.dropped and rule.ownership:
                return self._lost(Fact(match.rule, match.target, ()), edge)
            return []
        if rule.ownership and self._given_away(model, match.path, match.rule):
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
        return self.settle(edge, fact, fact.paths, environment)

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
        for match in model.matches(edge).before:
            if match.rule != fact.rule or match.source != fact.state or match.path not in fact.paths:
                continue
            transition = self.rules[fact.rule].transitions[match.transition]
            if transition.if_function_has and not model.function_has(match.rule, match.transition, match.path):
                continue
            if match.target == ERROR:
                return [(self.error(match.rule, match.transition, edge, match.path), None)]
            outcomes: list[tuple[str | int, Interval | None]] = []
            if match.target != STOP:
                outcomes.append((match.target, transition.result))
            if transition.result is not None:
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
        if key is None:
            return numbers
        environment: Environment = ((key, result),)
        return [n if n in self.facts.errors else self.facts.number(self.facts[n].with_environment(environment)) for n in numbers]

    def error(self, rule: int, transition: int, edge: Edge, path: Path | None) -> int:
        """The rejecting fact of a transition at an edge."""
        return self.facts.number(Fact(rule, ERROR, () if path is None else (path,), (), transition, edge.id))

    def _effect(self, model: FunctionModel, edge: Edge, fact: Fact, result: Interval | None) -> list[int]:
        effect = edge.effect
        match effect:
            case ir.Assume():
                if not self._can_branch(model, edge, fact):
                    return []
                if self.rules[fact.rule].ownership and is_shared(effect, fact.paths):
                    return []
            case ir.Return(value):
                return self._return(model, edge, fact, value)
            case ir.Assign(target, value):
                return self._store(model, edge, fact, target, value)
            case ir.Call():
                return self._external_call(model, edge, fact, effect, result)
        return self.settle(edge, fact, fact.paths)

    def _can_branch(self, model: FunctionModel, edge: Edge, fact: Fact) -> bool:
        """Whether the environment that the edge before has set allows the branch."""
        test = model.conditions.of_edge.get(edge.id)
        environment = None if test is None else dict(fact.environment).get(test[0])
        return test is None or environment is None or meet(environment, test[1]) is not None

    def _store(self, model: FunctionModel, edge: Edge, fact: Fact, target: ir.Expr, value: ir.Expr) -> list[int]:
        if self.rules[fact.rule].ownership:
            return self._owned_store(model, edge, fact, target, value)
        paths = _stored(model, fact, target, value) | self._failed(model, edge, fact, path_of(target), value)
        return self.settle(edge, fact, paths)

    def _owned_store(self, model: FunctionModel, edge: Edge, fact: Fact, target: ir.Expr, value: ir.Expr) -> list[int]:
        """The same for a value that somebody owns: whoever gets it may be the owner from then on."""
        written, source = path_of(target), path_of(value)
        inside = not is_computed(value) and points_into(value, fact.paths)
        if source is not None and not inside and any(behind_pointer(p[len(source) - 1 :]) for p in parts_of(fact.paths, source)):
            return []  # the object that holds the value gets another holder
        gets = inside or (source is not None and any(copies(path, source, target) for path in fact.paths))
        if gets and (written is None or self._given_away(model, written, fact.rule)):
            return []
        paths = _stored(model, fact, target, value)
        if inside and written is not None and is_steady(model, written):
            paths.add(into(written))
        if not inside and goes_away(fact, written, value, paths):
            return []
        return self.settle(edge, fact, paths)

    def _external_call(self, model: FunctionModel, edge: Edge, fact: Fact, call: ir.Call, result: Interval | None) -> list[int]:
        """A call that reaches an external function."""
        if self.rules[fact.rule].ownership:
            return self._owned_external_call(model, edge, fact, call, result)
        paths = set(fact.paths)
        for argument in call.arguments:
            path = path_of(argument)
            if path is None:
                continue
            if self._changes_state(call, fact, path, paths):
                return []
            paths -= changed_by(paths, path)
        return self._after_external(edge, fact, call, paths)

    def _owned_external_call(
        self, model: FunctionModel, edge: Edge, fact: Fact, call: ir.Call, result: Interval | None
    ) -> list[int]:
        """The same for a value that somebody owns: the function may be the owner from then on."""
        rule, paths = self.rules[fact.rule], set(fact.paths)
        for argument in call.arguments:
            path = path_of(argument)
            if points_into(argument, fact.paths) and (self.takes_over(call, rule) or self._ends(call)):
                return []
            if path is None:
                continue
            if path in paths and self.takes_over(call, rule):
                return []
            if self._changes_state(call, fact, path, paths):
                return []
            if path[-1] == "&":
                if changed_by(paths, path):
                    return []
            elif any(part != into(path) for part in parts_of(paths, path)):
                if self._frees(model, edge, fact, path) and all(p[: len(path)] == path for p in paths):
                    return self._lost(fact, edge)
                if self.takes_over(call, rule):
                    return []
        handed = handed_back(call, fact.paths, self.program)
        if handed is None:
            return self._after_external(edge, fact, call, paths)
        return self._handed_back(model, edge, fact, call, handed, result)

    def _handed_back(
        self, model: FunctionModel, edge: Edge, fact: Fact, call: ir.Call, handed: HandedBack, result: Interval | None
    ) -> list[int]:
        """After a call whose result is the value, or points into the object, unless it is null."""
        assert call.result is not None
        number, target = model.conditions.numbers.get(call.result), path_of(call.result)
        can_be_null = number is not None and handed.can_be_null and (result is None or meet(result, ZERO) is not None)
        null = self._after_external(edge, fact, call, set(fact.paths), ((number or 0, ZERO),)) if can_be_null else []
        if target is None or self._given_away(model, target, fact.rule):
            return null
        paths = survivors(fact.paths, target, lvalue_cell(call.result))
        if is_steady(model, target):
            paths.add((*target, *handed.operations))
        environment: Environment = ((number or 0, NONZERO),) if can_be_null else ()
        return null + self.settle(edge, fact, paths, environment)

    def _after_external(
        self, edge: Edge, fact: Fact, call: ir.Call, paths: set[Path], environment: Environment = ()
    ) -> list[int]:
        """The fact at those of its paths that the call's result leaves."""
        if call.result is not None:
            paths = survivors(tuple(paths), path_of(call.result), lvalue_cell(call.result))
        return self.settle(edge, fact, paths, environment)

    def _ends(self, call: ir.Call) -> bool:
        """Whether the call may end, by what is known of the library, an object that it is passed."""
        functions = (self.program.known(target) for target in self.program.targets(call))
        return any(one is not None and (one.frees or bool(one.positions("closed"))) for one in functions)

    def _frees(self, model: FunctionModel, edge: Edge, fact: Fact, path: Path) -> bool:
        """Whether the call ends, by the rule, the life of the object at the path."""
        return any(
            match.rule == fact.rule and match.source == fact.state and match.target == STOP and match.path == path
            for match in model.matches(edge).before
        )

    def _given_away(self, model: FunctionModel, written: Path, rule: int) -> bool:
        """Whether an owned value that is stored at the path is somebody else's from then on."""
        if self.thorough and len(written) == 1:
            return False
        return escapes(model, written) or (behind_pointer(written) and not model.is_fresh(written[0], rule))

    def takes_over(self, call: ir.Call, rule: Rule) -> bool:
        """Whether an external function may keep what it is passed: all but those of the system's headers, and some of
        these; and those of which a contract of the project says that they do not."""
        for target in self.program.targets(call):
            external = self.program.externals.get(target)
            contract = None if external is None else external.contract
            if contract is not None and keeps_nothing(contract):
                continue
            if contract is not None and contract.keeps:
                return True
            if external is None or not external.system or target in rule.keeps:
                return True
        return not self.program.targets(call)

    def _changes_state(self, call: ir.Call, fact: Fact, argument: Path, paths: set[Path]) -> bool:
        """Whether the call may bring the object at the paths, which it is given by an argument, from the fact's state to another
        one."""
        rule, targets = self.rules[fact.rule], self.program.targets(call) or ("",)
        if not self.takes_over(call, rule):
            return False
        if not any(rule.is_lost_in(target, fact.state) and not self._is_about(rule, target) for target in targets):
            return False
        return any(path == argument or is_inside(path, argument) for path in paths)

    def _is_about(self, rule: Rule, target: str) -> bool:
        """Whether a contract of the project makes an external function one that the rule is about."""
        external = self.program.externals.get(target)
        contract = None if external is None else external.contract
        return contract is not None and any(arguments_of_kind(contract, kind) is not None for kind in rule.kinds.values())

    def _return(self, model: FunctionModel, edge: Edge, fact: Fact, value: ir.Expr | None) -> list[int]:
        rule = self.rules[fact.rule]
        source = None if value is None else path_of(value)
        if rule.ownership and value is not None and is_handed_out(value, fact.paths):
            return []
        paths = with_result(fact.paths, source, rule.about_object or fact.state in rule.failure_states)
        paths |= self._failed(model, edge, fact, (RESULT,), value)
        if rule.ownership and value is not None and points_into(value, fact.paths):
            paths.add(into((RESULT,)))
        left = self._leave(model, edge, fact)
        if left is not None:
            return left
        outside = {path for path in paths if outlives(model, path, rule, fact.state)}
        if rule.ownership and any(behind_pointer(path) for path in paths - outside):
            return []  # an object that the function leaves behind holds the value, too
        if not outside:
            return [] if any(behind_pointer(path) for path in paths) else self._lost(fact, edge)
        if all(map(is_into, outside)):
            return []  # who gets a pointer into the object looks after it
        environment = self._environment_at_exit(model, edge, fact, value)
        return [self.facts.number(Fact(fact.rule, fact.state, bounded(outside), environment))]

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
                        return [self.error(fact.rule, index, edge, path)]
        return None

    def settle(self, edge: Edge, fact: Fact, paths: Iterable[Path], environment: Environment = ()) -> list[int]:
        """Returns the fact at its new access paths. If no path is left, returns what the rule does when the value is
        lost."""
        left = bounded(set(paths))
        if not left:
            return self._lost(fact, edge)
        return [self.facts.number(Fact(fact.rule, fact.state, left, environment))]

    def _lost(self, fact: Fact, edge: Edge) -> list[int]:
        for index, transition in enumerate(self.rules[fact.rule].transitions):
            if transition.source == fact.state and transition.trigger.kind == "lost":
                return [self.error(fact.rule, index, edge, fact.paths[0] if fact.paths else None)]
        return []


class HandedBack(NamedTuple):
    """The result of a library function that is passed an owned value: `operations` lead from where the value is to the result's
    path (none: it is the value itself). `can_be_null`: it need not be."""

    operations: Path
    can_be_null: bool


def handed_back(call: ir.Call, paths: tuple[Path, ...], program: Program) -> HandedBack | None:
    """Whether the result of a call, if it is used and not null, is the value that the paths hold, or points into the object."""
    function = program.known(ir.direct_callee(call) or "")
    if call.result is None or function is None or function.result not in ("argument", "into"):
        return None
    if function.of >= len(call.arguments):
        return None
    argument = call.arguments[function.of]
    is_whole = path_of(argument) in paths
    if not is_whole and not points_into(argument, paths):
        return None
    return HandedBack(() if is_whole and function.result == "argument" else (INSIDE,), bool(function.null))


def keeps_nothing(function: Function) -> bool:
    """Whether all is known of a function, and no pointer that it is passed is elsewhere after the call, or in its result, but the
    first one."""
    is_open = not function.is_complete or function.calls_code or bool(function.keeps or function.positions("link", "beneath"))
    gives_other = function.result == "any" or (function.result in ("argument", "into") and function.of > 0)
    return not (is_open or gives_other or "elsewhere" in function.besides)


def is_shared(effect: ir.Assume, paths: tuple[Path, ...]) -> bool:
    """Whether the branch implies that the value equals another variable's, which then holds it too; or the address of an object
    with a name, which nobody has to free (`if (buffer != small) free(buffer);`)."""
    equality = effect.condition
    if not isinstance(equality, ir.Binary) or equality.operator != ("==" if effect.truth else "!="):
        return False
    left, right = ir.strip_casts(equality.left), ir.strip_casts(equality.right)
    return any(
        path_of(one) in paths
        and (isinstance(other, ir.AddressOf | ir.StringConst) or (isinstance(other, ir.LVALUES) and path_of(other) not in paths))
        for one, other in ((left, right), (right, left))
    )


def is_inside(path: Path, argument: Path) -> bool:
    """Whether the path leads to a part of the object that the argument points to."""
    pointed = argument[:-1] if argument[-1] == "&" else (*argument, "*")
    return path[: len(pointed)] == pointed


def stands_in(path: Path, place: Path) -> bool:
    """Whether the path is the address of the place or of a part of it, which does not change with what is stored there."""
    return path[-1] == "&" and not any(operation[0] == "*" for operation in path[len(place) :])


PARAMETER_CONDITIONS = 3


def exit_environment(model: FunctionModel, value: ir.Expr | None, said: Known, known: Known) -> Environment:
    """What a fact takes along when the function is left, by name: the result's interval (RESULT_KEY), and conditions on
    unchanged parameters."""
    found: list[tuple[int | str, Interval]] = []
    if value is not None:
        interval = without_holes(model.conditions.evaluate(value, known))
        if interval != ANY:
            found.append((RESULT_KEY, interval))
    for number in sorted(said):
        key = model.conditions.keys[number]
        if isinstance(key, ir.Var) and key.name in model.parameters and key.name not in model.assignments.reassigned:
            found.append((key.name, said[number]))
    return tuple(found[:PARAMETER_CONDITIONS])


def complement(interval: Interval) -> Interval:
    """The smallest interval with all integers that are not in this one."""
    if interval == ZERO:
        return NONZERO
    if interval == NONZERO:
        return ZERO
    if interval.low is not None and interval.low == interval.high:
        return interval_of("!=", interval.low) or ANY
    if interval.low is None and interval.high is not None:
        return Interval(interval.high + 1, None, interval.high >= 0)
    if interval.high is None and interval.low is not None:
        return Interval(None, interval.low - 1, interval.low <= 0)
    return ANY


def survivors(paths: tuple[Path, ...], written: Path | None, cell: str) -> set[Path]:
    """The paths whose value a write does not change."""
    return {path for path in paths if not kills(written, cell, path)}


def parts_of(paths: Iterable[Path], whole: Path) -> list[Path]:
    """The paths that lead on from where another one leads."""
    length = len(whole)
    return [path for path in paths if len(path) > length and path[:length] == whole]


def changed_by(paths: set[Path], argument: Path) -> set[Path]:
    """The paths whose value a function may change that is passed the argument: those through what it points to."""
    changed = argument[:-1] if argument[-1] == "&" else (*argument, "*")
    return {p for p in paths if p[: len(changed)] == changed and not stands_in(p, changed)}


def is_steady(model: FunctionModel, written: Path) -> bool:
    """Whether a path to what is written can be followed: it is short, and its pointer does not point elsewhere next time."""
    return len(written) + 1 < 7 and not (behind_pointer(written) and written[0] in model.assignments.moving)


def goes_away(fact: Fact, written: Path | None, value: ir.Expr, paths: set[Path]) -> bool:
    """Whether an owned value is no more a matter of the fact, which has these paths after an assignment."""
    if mentions(value, fact.paths) and not gained_by(paths, fact):
        return True  # it goes somewhere by arithmetic or inside an aggregate
    if paths or written is None or written in fact.paths:
        return False
    return any(map(behind_pointer, fact.paths))  # its holder is gone, which is a matter of its own


def copies(path: Path, source: Path, target: ir.Expr) -> bool:
    """Whether assigning the value at `source` copies the value at `path` along: the same, or a member of an assigned record."""
    if path in (source, into(source)):
        return True
    return isinstance(target.type, Record) and path[: len(source)] == source


def gained_by(paths: set[Path], fact: Fact) -> bool:
    """Whether the value has a path that it did not have before."""
    return bool(paths.difference(fact.paths))


def mentions(value: ir.Expr, paths: tuple[Path, ...]) -> bool:
    """Whether a pointer or record value is computed from the tracked one, other than by following it."""
    bare = ir.strip_casts(value)
    if isinstance(bare, ir.Binary):
        if bare.operator not in ("+", "-") or not isinstance(bare.type, Pointer):
            return False
        return mentions(bare.left, paths) or path_of(bare.left) in paths or points_into(bare, paths)
    return False


def outlives(model: FunctionModel, path: Path, rule: Rule, state: str) -> bool:
    """Whether the path means something to the function's callers, and the state is known to them."""
    root = path[0]
    if root[0] == "<":
        return True
    if state in rule.local_states:
        return False
    if root[0] == "@":
        return True
    if root not in model.parameters or root in model.assignments.reassigned:
        return False
    return rule.about_object if len(path) == 1 else behind_pointer(path) or path[-1] == "&"


def _stored(model: FunctionModel, fact: Fact, target: ir.Expr, value: ir.Expr) -> set[Path]:
    """The paths of a fact after an assignment."""
    written, source = path_of(target), path_of(value)
    paths = survivors(fact.paths, written, lvalue_cell(target))
    if source is None or written is None or not is_steady(model, written):
        return paths
    paths |= {(*written, *path[len(source) :]) for path in fact.paths if copies(path, source, target)}
    return {path for path in paths if path[0] != source[0]} if source[0].startswith("$") else paths


def is_handed_out(value: ir.Expr, paths: tuple[Path, ...]) -> bool:
    """Whether an object that holds a value is returned, or what arithmetic makes of the value."""
    source = path_of(value)
    return mentions(value, paths) if source is None else any(path != into(source) for path in parts_of(paths, source))


def with_result(paths: tuple[Path, ...], source: Path | None, with_parts: bool) -> set[Path]:
    """The paths with those through the result of a function that returns what is at `source`; `with_parts`: also what its result
    leads to."""
    found = set(paths)
    if source is not None:
        if with_parts and source[-1] != "&":
            found |= {(RESULT, *path[len(source) :]) for path in paths if path[: len(source)] == source}
        if source in paths:
            found.add((RESULT,))
    return found


def escapes(model: FunctionModel, written: Path) -> bool:
    """Whether storing an owned value at the path gives it to somebody else: all but variables of the function's own and what
    these point to directly (an object in the making, or the caller's variable)."""
    root = written[0]
    if root[0] == "@":
        return True
    return sum(1 for op in written if op[0] == "*") > 1
