"""How facts cross calls: caller's paths to callee's on the way in, and back with the callee's summary on the way out.

On the way in, a path that an argument reaches becomes a path of the parameter, globals stay what they are,
and CALLER stands for whatever the caller has besides. A value that the callee can neither reach nor change
does not enter it. It continues after the call if the callee can return (it has a NOTHING summary): a callee
that never returns ends the path.

On the way out, the caller's own variables have kept the value; paths through memory that the callee could reach hold it if
the callee's exit says so; results, globals and what the parameters point to are new places where it can be found.
"""

from __future__ import annotations

from analysis.cfa.graph import Edge
from analysis.engines.automaton.facts.facts import NOTHING, RESULT_KEY, Environment, Fact, bounded
from analysis.engines.automaton.facts.interior import into, is_into, points_into
from analysis.engines.automaton.facts.moved_paths import is_steady
from analysis.engines.automaton.facts.ownership import escapes, loses_holder
from analysis.engines.automaton.facts.passed_paths import (
    arguments_of,
    is_out_parameter,
    is_own,
    rewritten,
    temporaries,
    through_argument,
)
from analysis.engines.automaton.facts.transfer import Transfer
from analysis.engines.automaton.functions.access_paths import (
    CALLER,
    LENGTH_LIMIT,
    RESULT,
    Path,
    apply_operations,
    behind_pointer,
    kills,
    lvalue_cell,
    path_of,
)
from analysis.engines.automaton.functions.beliefs import Beliefs
from analysis.engines.automaton.functions.entry_values import before_entry
from analysis.engines.automaton.functions.footprint import Footprints
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.engines.automaton.functions.matching import Matcher
from analysis.engines.automaton.functions.private_objects import is_member_of
from analysis.engines.automaton.functions.value_ranges import stored_as
from analysis.model import ir
from analysis.model.intervals import ZERO, meet, within
from analysis.rules.automaton import ERROR, START

CALLER_PATH: Path = (CALLER,)


class CallTransfer:
    """Entering and leaving functions that have a body."""

    def __init__(self, transfer: Transfer, footprints: Footprints, matcher: Matcher, beliefs: Beliefs) -> None:
        self._beliefs = beliefs
        self._transfer = transfer
        self._facts = transfer.facts
        self._footprints = footprints
        self._matcher = matcher

    # -- in -----------------------------------------------------------------------------------------------------

    def entries(self, edge: Edge, callee: FunctionModel) -> list[int]:
        """The facts that begin as the callee is entered from NOTHING: constants passed as arguments that a rule tracks."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        found: dict[int, None] = {}
        for parameter, argument in zip(callee.cfa.parameters, call.arguments, strict=False):
            for match in self._matcher.assigned(parameter, argument):
                if match.source != START or match.target == ERROR or match.path is None:
                    continue
                if self._transfer.relevance.matters(match.rule, callee.cfa.name, match.path):
                    found[self._facts.number(Fact(match.rule, match.target, (match.path,)))] = None
        return list(found)

    def enter(self, model: FunctionModel, edge: Edge, callee: FunctionModel, fact: Fact) -> int:
        """The fact with which the callee is entered; NOTHING when the value does not matter to it."""
        rule = self._transfer.rules[fact.rule]
        if fact.state in rule.member_states[1:] or fact.state in rule.returned_states:
            return NOTHING  # no function frees it; what others return is not what this one does
        images = {image for path in fact.paths for image in self._entering(model, edge, callee, fact, path)}
        if not images:
            return NOTHING
        stays = any(is_own(path, edge) or all(map(is_into, self._places(model, edge, callee, fact, path))) for path in fact.paths)
        return self._facts.number(Fact(fact.rule, fact.state, bounded(images | {CALLER_PATH} if stays else images)))

    def _entering(self, model: FunctionModel, edge: Edge, callee: FunctionModel, fact: Fact, path: Path) -> list[Path]:
        """The callee's paths by which it is followed there: null or zero behind a pointer only where something failed, or where
        it is passed itself, or what a parameter points to, and was not only found by a test."""
        images, rule = self._images(edge, callee, path, fact.rule), self._transfer.rules[fact.rule]
        if rule.about_object or fact.state in rule.failure_states or not behind_pointer(path):
            return images
        if fact.state in rule.local_states:
            return []
        return images if is_out_parameter(model, path) else [image for image in images if len(image) == 1]

    def _places(self, model: FunctionModel, edge: Edge, callee: FunctionModel, fact: Fact, path: Path) -> list[Path]:
        """The callee's paths to what the caller knows by the path: the place itself, if null or zero is followed, which is copied
        where it is passed."""
        images = self._entering(model, edge, callee, fact, path)
        if self._transfer.rules[fact.rule].about_object or not behind_pointer(path):
            return images
        return [image for image in images if len(image) > 1]

    def _images(self, edge: Edge, callee: FunctionModel, path: Path, rule: int) -> list[Path]:
        """The callee's paths to the value at a path of the caller."""
        images: list[Path] = []
        if path[0][0] == "@":
            name = callee.cfa.name
            if name in self._footprints.returning and path[0] in self._footprints.read[name]:
                images.append(path)
        call = edge.effect
        assert isinstance(call, ir.Call)
        ownership = self._transfer.rules[rule].ownership
        has_parts = ownership or self._transfer.rules[rule].about_object
        for parameter, value, passed, is_computed in arguments_of(call, callee.cfa.parameters):
            image = through_argument(path, passed, parameter)
            if image is not None and len(image) <= LENGTH_LIMIT:
                images.append(image)
            elif has_parts and (is_computed or is_into(path)) and points_into(value, (path,)):
                # a part of an object that was freed or closed is as dead as the object
                images.append(into((parameter,)) if ownership else (parameter,))
        return images

    # -- out ----------------------------------------------------------------------------------------------------

    def leave(self, model: FunctionModel, edge: Edge, callee: FunctionModel, number: int, entry: int, exit_: int) -> list[int]:
        """The facts after the call: for the caller's fact `number`, with which the callee was entered as `entry` and left as
        `exit_`."""
        if number == NOTHING:
            if exit_ == NOTHING:
                return [NOTHING, *self._transfer.start(model, edge)]
            return self._returned(model, edge, callee, None, self._facts[exit_])
        if entry == NOTHING:
            return []
        return self._returned(model, edge, callee, self._facts[number], self._facts[exit_])

    def passed_by(self, model: FunctionModel, edge: Edge, fact: Fact) -> list[int]:
        """A value that the callee cannot reach, after a call that returns: lost only where the call's writes change its paths."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        untouched = {path for path in fact.paths if not self._is_changed(model, edge, fact, path)}
        if len(untouched) < len(fact.paths) and self._transfer.rules[fact.rule].ownership:
            return []  # the callee may have put something else in its place, and may have taken care of it
        paths = self._left_by_result(call, untouched) - temporaries(call)
        if self._gives_another(call, fact, paths):
            return []
        found: list[int] = []
        number = None if call.result is None else model.conditions.numbers.get(call.result)
        for state, result in self._transfer.fire(model, edge, fact):
            if isinstance(state, str):
                environment: Environment = () if result is None or number is None else ((number, result),)
                found.extend(self._transfer.outcomes.settle(edge, Fact(fact.rule, state, fact.paths), paths, environment))
        return found

    def _gives_another(self, call: ir.Call, fact: Fact, paths: set[Path]) -> bool:
        """Whether an owned value is out of reach as the result is stored where its holder was (`loses_holder`)."""
        written = None if call.result is None else path_of(call.result)
        return self._transfer.rules[fact.rule].ownership and loses_holder(fact, written, paths)

    def _is_changed(self, model: FunctionModel, edge: Edge, fact: Fact, path: Path) -> bool:
        """Whether the call may change the value at a path of a fact. What a test has found stays where only functions might
        change it that are called through pointers: one of many would have to, and the object is not what the call was given."""
        is_tested = fact.state in self._transfer.rules[fact.rule].local_states
        return _is_changed(model, edge, path) and not (is_tested and model.may_miss(edge, path))

    def _kept(self, model: FunctionModel, edge: Edge, paths: set[Path]) -> set[Path]:
        """The paths whose value the call does not change, by what the callee may write and by where the result goes."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        return self._left_by_result(call, {path for path in paths if not _is_changed(model, edge, path)}) - temporaries(call)

    def _returned(self, model: FunctionModel, edge: Edge, callee: FunctionModel, before: Fact | None, after: Fact) -> list[int]:
        call = edge.effect
        assert isinstance(call, ir.Call)
        rule = self._transfer.rules[after.rule]
        if not self._possible(model, edge, callee, before, after):
            return []
        if before is None and (after.state in rule.member_states or not self._is_evidence(model, edge, callee, after)):
            return []
        paths = self._homes(model, edge, callee, before, after)
        if paths is None:
            return []
        if before is not None:
            paths |= self._stayed(model, edge, callee, before, after)
            is_elsewhere = self._gives_another(call, before, paths)
            if is_elsewhere or (not paths and rule.ownership and self._wiped(edge, callee, before, after)):
                return []
        paths -= temporaries(call)
        fact = Fact(after.rule, after.state, bounded(paths) or after.paths)
        return self._transfer.outcomes.settle(edge, fact, paths, self._result_environment(model, call, callee, after))

    def _is_evidence(self, model: FunctionModel, edge: Edge, callee: FunctionModel, after: Fact) -> bool:
        """Whether what a callee returns by itself can be null or zero at this call, too (`functions.beliefs`)."""
        rule = self._transfer.rules[after.rule]
        if rule.about_object or after.paths != ((RESULT,),) or after.state in rule.failure_states or self._transfer.thorough:
            return True
        asked_for = any(name in callee.parameters and interval == ZERO for name, interval in after.environment)
        if asked_for and callee.cfa.name != model.cfa.name:
            return True  # the argument is known here to be what asks for it: `_possible` has looked
        return self._beliefs.doubted(callee.cfa.name, model, edge)

    def _stayed(self, model: FunctionModel, edge: Edge, callee: FunctionModel, before: Fact, after: Fact) -> set[Path]:
        """The caller's paths that the value still has: the callee cannot reach them, or it has them at its exit."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        images = {path: self._places(model, edge, callee, before, path) for path in before.paths}
        unreachable = {path for path, its in images.items() if all(map(is_into, its))}
        kept = {path for path, its in images.items() if any(image in after.paths for image in its)} - unreachable
        kept |= {path for path, its in images.items() if its and is_own(path, edge)}
        return self._kept(model, edge, unreachable) | self._left_by_result(call, kept)

    def _homes(
        self, model: FunctionModel, edge: Edge, callee: FunctionModel, before: Fact | None, after: Fact
    ) -> set[Path] | None:
        """The caller's paths for those at the callee's exit; None where somebody else owns the value from then on."""
        call = edge.effect
        assert isinstance(call, ir.Call)
        rule = self._transfer.rules[after.rule]
        homes: set[Path] = set()
        for path in after.paths:
            if path == CALLER_PATH or self._is_replaced(call, callee, path):
                continue
            origin = before_entry(path)
            if origin is not None:
                homes |= self._left_behind(model, edge, origin, self._home(call, callee, origin))
                continue
            home = self._home(call, callee, path)
            if home is None or len(home) > LENGTH_LIMIT:
                if rule.ownership and not (path[0] == RESULT and call.result is None):
                    return None
                continue
            if rule.ownership and escapes(model, home) and not (self._transfer.thorough and len(home) == 1):
                return None
            if not rule.about_object and behind_pointer(home) and not self._is_followed(model, before, after, path, home):
                continue
            if before is not None:
                homes.add(home)
            elif self._transfer.relevance.matters(after.rule, model.cfa.name, home):
                homes |= model.copies.same_after(edge, home)
        return homes

    def _left_behind(self, model: FunctionModel, edge: Edge, origin: Path, place: Path | None) -> set[Path]:
        """The caller's copies of what the place held before the call: the callee has released that and stored something else
        there, but for what it was passed itself, which is the caller's as before."""
        if place is None or len(place) > LENGTH_LIMIT:
            return set()
        entry_values = model.entry_values
        same = set[Path]()
        for holder in entry_values.same(edge.source, place[:1]):
            same |= entry_values.same(edge.source, (*holder, *place[1:]))
        copies = self._kept(model, edge, {path for path in same if not behind_pointer(path)})
        return (copies if len(origin) == 1 else copies - {place}) | model.left_behind(edge, same)

    def _is_followed(self, model: FunctionModel, before: Fact | None, after: Fact, path: Path, home: Path) -> bool:
        """Whether null or zero is followed to a place behind a pointer: where the result of the call by which it arises is
        stored, as in an assignment; to all places where something failed; else only where a parameter of the caller points."""
        of_this_call = path == (RESULT,) and before is None
        if of_this_call or (path != (RESULT,) and after.state in self._transfer.rules[after.rule].failure_states):
            return is_steady(model, home)
        return is_out_parameter(model, home)

    def _is_replaced(self, call: ir.Call, callee: FunctionModel, path: Path) -> bool:
        """Whether the caller's place for one that the callee knew before it returned holds the call's result from then on:
        `p = f(p)`, `t->cells = f(t)`. What is stored in members behind another pointer may be elsewhere."""
        home = None if call.result is None or path[0] == RESULT else self._home(call, callee, path)
        if home is None or self._left_by_result(call, {home}):
            return False
        target = path_of(call.result)
        return len(path) == 1 or (target is not None and home[: len(target)] == target)

    def _wiped(self, edge: Edge, callee: FunctionModel, before: Fact, after: Fact) -> bool:
        """Whether the callee, not the call's result, took away the last path: it put something else there, and may know what
        it did."""
        images = (image for path in before.paths for image in self._images(edge, callee, path, before.rule))
        return not any(is_own(path, edge) for path in before.paths) and not any(image in after.paths for image in images)

    def _possible(self, model: FunctionModel, edge: Edge, callee: FunctionModel, before: Fact | None, after: Fact) -> bool:
        """Whether the conditions on parameters under which the callee leaves this way can hold for these arguments.

        Decides whether a null or zero result counts as evidence. If it is null only because an argument was, the
        argument must be known to be null at this call; in a recursion this is not asked, because it ends somewhere.
        """
        call = edge.effect
        assert isinstance(call, ir.Call)
        known = model.cases.known.at[edge.source] or {}
        for name, interval in after.environment:
            index = callee.parameters.get(name) if isinstance(name, str) else None
            if index is None or index >= len(call.arguments):
                continue
            value = model.conditions.evaluate(call.arguments[index], known)
            if meet(value, interval) is None:
                return False
            about_value = before is None and not self._transfer.rules[after.rule].about_object
            recursive = callee.cfa.name == model.cfa.name
            if about_value and not recursive and interval == ZERO and not within(value, interval):
                return False
        return True

    def _left_by_result(self, call: ir.Call, paths: set[Path]) -> set[Path]:
        """The paths whose value storing the call's result does not change."""
        if call.result is None:
            return paths
        cell, target = lvalue_cell(call.result), path_of(call.result)
        return {path for path in paths if not kills(target, cell, path)}

    def _home(self, call: ir.Call, callee: FunctionModel, path: Path) -> Path | None:
        """The caller's path for a path at the callee's exit."""
        root = path[0]
        if root[0] == "@":
            return path
        if root == RESULT:
            target = None if call.result is None else path_of(call.result)
            return None if target is None else (*target, *path[1:])
        index = callee.parameters.get(root)
        if index is None or index >= len(call.arguments):
            return None
        return apply_operations(path_of(call.arguments[index]), path[1:])

    def _result_environment(self, model: FunctionModel, call: ir.Call, callee: FunctionModel, after: Fact) -> Environment:
        """What the callee's exit says of the result, for the branch that tests it."""
        interval = dict(after.environment).get(RESULT_KEY)
        number = None if call.result is None else model.conditions.numbers.get(call.result)
        if interval is None or number is None or call.result is None:
            return ()
        return ((number, stored_as(interval, callee.cfa.type.result, call.result.type)),)


def _is_changed(model: FunctionModel, edge: Edge, path: Path) -> bool:
    """Whether the functions called at an edge may change the value at the path."""
    return rewritten(path, model.written_by_callees(edge)) and not is_member_of(path, model.private_at(edge))
