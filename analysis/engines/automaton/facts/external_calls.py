"""What a call of an external function does to a fact.

The function may change what is behind the pointers that it is passed. It may keep an owned value that it is passed
(`ownership`), end it, or hand it back as its result.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.c.calls import written_by
from analysis.c.library_variables import SET_BY
from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.facts.facts import Environment, Fact
from analysis.engines.automaton.facts.interior import into, points_into
from analysis.engines.automaton.facts.moved_paths import changed_by, elements_from, is_inside, is_steady, parts_of, survivors
from analysis.engines.automaton.facts.outcomes import Outcomes
from analysis.engines.automaton.facts.ownership import (
    HandedBack,
    copies_bytes,
    handed_back,
    is_about,
    is_read_after,
    loses_holder,
    may_end,
    takes_over,
)
from analysis.engines.automaton.functions.access_paths import Path, lvalue_cell, path_of
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.model import ir
from analysis.model.intervals import NONZERO, ZERO, Interval, meet
from analysis.rules.automaton import STOP


class ExternalCalls:
    """The transition relation on calls of external functions, for the facts of one program."""

    def __init__(self, outcomes: Outcomes, program: Program) -> None:
        self._outcomes = outcomes
        self._rules = outcomes.rules
        self._program = program

    def after(self, model: FunctionModel, edge: Edge, fact: Fact, call: ir.Call, result: Interval | None) -> list[int]:
        """A call that reaches an external function."""
        if self._rules[fact.rule].ownership:
            return self._after_owned(model, edge, fact, call, result)
        set_anew = {"@" + name for name in SET_BY.get(ir.direct_callee(call) or "", ())}
        paths = {path for path in fact.paths if path[0] not in set_anew}
        for argument in call.arguments:
            path = path_of(argument)
            if path is None:
                paths -= elements_from(paths, argument) if argument in self._written(call) else set()
                continue
            if self._changes_state(call, fact, path, paths):
                return []
            paths -= changed_by(paths, path)
        found = self._settle(edge, fact, call, paths)
        if call.result is not None and fact.state in self._rules[fact.rule].returned_states:
            handed, target = handed_back(call, fact.paths, self._program), path_of(call.result)
            if handed is not None and target is not None:
                found += self._outcomes.settle(edge, fact, {target})
        return found

    def _written(self, call: ir.Call) -> tuple[ir.Expr, ...]:
        """The arguments of which the function writes what they lead to: all, of one of which nothing is known."""
        written = written_by(self._program.known(ir.direct_callee(call) or ""), call)
        return call.arguments if written is None else tuple(call.arguments[at] for at in written)

    def _after_owned(self, model: FunctionModel, edge: Edge, fact: Fact, call: ir.Call, result: Interval | None) -> list[int]:
        """The same for a value that somebody owns: the function may be the owner from then on."""
        rule, paths = self._rules[fact.rule], set(fact.paths)
        for position, argument in enumerate(call.arguments):
            path = path_of(argument)
            if points_into(argument, fact.paths) and (takes_over(self._program, call, rule) or may_end(self._program, call)):
                return []
            if path is None:
                continue
            if path in paths and takes_over(self._program, call, rule):
                return []
            if self._changes_state(call, fact, path, paths) or (path[-1] == "&" and changed_by(paths, path)):
                return []
            parts = set[Path]() if path[-1] == "&" else {part for part in parts_of(paths, path) if part != into(path)}
            if parts and copies_bytes(self._program, call, position):
                return []  # what the object holds has another holder
            if parts:
                found = self._after_holder(model, edge, fact, path, paths, parts)
                if found is not None:
                    return found
        handed = handed_back(call, fact.paths, self._program)
        if handed is None:
            return self._settle(edge, fact, call, paths)
        return self._handed_back(model, edge, fact, call, handed, result)

    def _after_holder(
        self, model: FunctionModel, edge: Edge, fact: Fact, path: Path, paths: set[Path], parts: set[Path]
    ) -> list[int] | None:
        """After a call that is passed the object at the path, through which these parts of the paths lead to the value. Where the
        object ends, they are taken out of the paths; None if the call's other arguments matter, too."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        if self._ends(model, edge, fact, path):
            paths -= parts
            if not all(one[: len(path)] == path for one in paths):
                return None
            return [] if is_read_after(model, edge, parts) else self._outcomes.lost(fact, edge)
        moved = self._moved(model, edge, fact, path)
        if moved is None:
            return [] if takes_over(self._program, call, self._rules[fact.rule]) else None
        if self._outcomes.given_away(model, moved, fact.rule) or not is_steady(model, moved):
            return []
        gained = (paths - parts) | {(*moved, *part[len(path) :]) for part in parts}
        return self._moved_with(model, edge, fact, call, paths, gained)

    def _handed_back(
        self, model: FunctionModel, edge: Edge, fact: Fact, call: ir.Call, handed: HandedBack, result: Interval | None
    ) -> list[int]:
        """After a call whose result is the value, or points into the object, unless it is null."""
        assert call.result is not None
        number, target = model.conditions.numbers.get(call.result), path_of(call.result)
        can_be_null = number is not None and handed.can_be_null and (result is None or meet(result, ZERO) is not None)
        null = self._settle(edge, fact, call, set(fact.paths), ((number or 0, ZERO),)) if can_be_null else []
        if target is None or self._outcomes.given_away(model, target, fact.rule):
            return null
        paths = survivors(fact.paths, target, lvalue_cell(call.result))
        if is_steady(model, target):
            paths.add((*target, *handed.operations))
        environment: Environment = ((number or 0, NONZERO),) if can_be_null else ()
        return null + self._outcomes.settle(edge, fact, paths, environment)

    def _moved_with(
        self, model: FunctionModel, edge: Edge, fact: Fact, call: ir.Call, paths: set[Path], gained: set[Path]
    ) -> list[int]:
        """After a call that moves the object through which the paths lead, so that others are gained; or fails, and leaves it."""
        assert call.result is not None
        number = model.conditions.numbers.get(call.result)
        old = survivors(tuple(paths), path_of(call.result), lvalue_cell(call.result))
        failed: Environment = () if number is None else ((number, ZERO),)
        done: Environment = () if number is None else ((number, NONZERO),)
        left = self._outcomes.settle(edge, fact, old, failed) if old else []
        return left + self._outcomes.settle(edge, fact, gained, done)

    def _settle(self, edge: Edge, fact: Fact, call: ir.Call, paths: set[Path], environment: Environment = ()) -> list[int]:
        """The fact at those of its paths that the call's result leaves."""
        if call.result is not None:
            paths = survivors(tuple(paths), path_of(call.result), lvalue_cell(call.result))
            if self._rules[fact.rule].ownership and loses_holder(fact, path_of(call.result), paths):
                return []
        return self._outcomes.settle(edge, fact, paths, environment)

    def _changes_state(self, call: ir.Call, fact: Fact, argument: Path, paths: set[Path]) -> bool:
        """Whether the call may bring the object at the paths, which it is given by an argument, from the fact's state to another
        one."""
        rule, targets = self._rules[fact.rule], self._program.targets(call) or ("",)
        if not takes_over(self._program, call, rule):
            return False
        if not any(rule.is_lost_in(target, fact.state) and not is_about(self._program, rule, target) for target in targets):
            return False
        return any(path == argument or is_inside(path, argument) for path in paths)

    def _ends(self, model: FunctionModel, edge: Edge, fact: Fact, path: Path) -> bool:
        """Whether the call ends, by the rule, the life of the object at the path, whatever its result."""
        return any(self._rules[fact.rule].transitions[one].result is None for one in self._stopping(model, edge, fact, path))

    def _moved(self, model: FunctionModel, edge: Edge, fact: Fact, path: Path) -> Path | None:
        """Where the object at the path is after a call that moves it, if it does not fail."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        is_moved = call.result is not None and any(True for _ in self._stopping(model, edge, fact, path))
        return path_of(call.result) if is_moved and call.result is not None else None

    def _stopping(self, model: FunctionModel, edge: Edge, fact: Fact, path: Path) -> Iterator[int]:
        """The transitions of the rule by which the call ends the life of the object at the path."""
        for match in model.matches(edge).before:
            if match.rule == fact.rule and match.source == fact.state and match.target == STOP and match.path == path:
                yield match.transition
