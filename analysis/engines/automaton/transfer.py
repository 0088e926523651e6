"""The transition relation of the product: what an edge of the CFA does to a fact (ORION's Delta, section 2).

One step does, in this order: the branch is taken only if the fact's environment and what is known allow it; then the first
matching transition *before* the effect fires; then the effect moves the value between access paths; then the events follow
that come of that (a result that is tracked from now on, the last path lost, the function left). NOTHING starts new facts by
the transitions from `start`.

Calls of functions with a body are in `calls`.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.cfa.graph import Edge, Program
from analysis.engines.automaton.conditions import Known
from analysis.engines.automaton.facts import (
    ENVIRONMENT_LIMIT,
    NOTHING,
    RESULT_KEY,
    Environment,
    Fact,
    FactTable,
    bounded,
)
from analysis.engines.automaton.function_model import FunctionModel
from analysis.engines.automaton.matching import Match
from analysis.engines.automaton.paths import CALLER, RESULT, Path, behind_pointer, kills, lvalue_cell, path_of, root_of
from analysis.model import ir
from analysis.model.c_types import Pointer, Record
from analysis.model.intervals import ANY
from analysis.rules.automaton import ERROR, START, STOP, Rule


class Transfer:
    """Steps over edges without a callee's body, for the functions of one program."""

    def __init__(self, rules: tuple[Rule, ...], facts: FactTable, program: Program) -> None:
        self.rules = rules
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
            transition = self.rules[match.rule].transitions[match.transition]
            if transition.decided and not self.lenient and not model.decided(edge):
                return []
            return [self.error(match.rule, match.transition, edge, match.path)]
        if match.path is None:
            return []
        fact = Fact(match.rule, match.target, (match.path,), self.birth(model, edge))
        return self._effect(model, edge, fact)

    def _begin_after(self, model: FunctionModel, edge: Edge, match: Match) -> list[int]:
        rule = self.rules[match.rule]
        if match.path is None:
            if match.dropped and rule.ownership:
                return self._lost(Fact(match.rule, match.target, ()), edge)
            return []
        if rule.ownership and escapes(model, match.path):
            return []
        return self.settle(model, edge, Fact(match.rule, match.target, (match.path,)), {match.path}, self.birth(model, edge))

    def birth(self, model: FunctionModel, edge: Edge) -> Environment:
        """What is known when a fact begins at the edge."""
        before = model.known.at[edge.source]
        after = None if before is None else model.known.after(edge, before)
        return self.environment(model, edge, after or {})

    def environment(self, model: FunctionModel, edge: Edge, known: Known) -> Environment:
        """The part of what is known that a branch further on may ask for."""
        live = model.known.live[edge.target]
        kept = [(n, known[n]) for n in sorted(known) if n in live or n == RESULT_KEY]
        return tuple(kept[:ENVIRONMENT_LIMIT])

    # -- facts --------------------------------------------------------------------------------------------------

    def step(self, model: FunctionModel, edge: Edge, number: int) -> list[int]:
        """The facts after the edge for a fact before it; the edge is no call, or one of functions without a body."""
        fact = self.facts[number]
        if isinstance(edge.effect, ir.Assume) and self._known(model, edge, fact) is None:
            return []
        moved = self.fire(model, edge, fact)
        if not isinstance(moved, Fact):
            return moved
        return self._effect(model, edge, moved)

    def fire(self, model: FunctionModel, edge: Edge, fact: Fact) -> Fact | list[int]:
        """The fact after the first transition that its value's matches fire before the effect: itself if none does, the
        numbers of what is left otherwise (an error, or nothing)."""
        for match in model.matches(edge).before:
            if match.rule != fact.rule or match.source != fact.state or match.path not in fact.paths:
                continue
            transition = self.rules[fact.rule].transitions[match.transition]
            if transition.if_function_has and not model.function_has(match.rule, match.transition, match.path):
                continue
            if match.target == ERROR:
                return [self.error(match.rule, match.transition, edge, match.path)]
            if match.target == STOP:
                return []
            return Fact(fact.rule, match.target, fact.paths, fact.environment)
        return fact

    def error(self, rule: int, transition: int, edge: Edge, path: Path | None) -> int:
        """The rejecting fact of a transition at an edge."""
        return self.facts.number(Fact(rule, ERROR, () if path is None else (path,), (), transition, edge.id))

    def _known(self, model: FunctionModel, edge: Edge, fact: Fact) -> Known | None:
        before = model.known.at[edge.source]
        if before is None:
            return None
        return model.known.after(edge, {**before, **dict(fact.environment)})

    def _effect(self, model: FunctionModel, edge: Edge, fact: Fact) -> list[int]:
        known = self._known(model, edge, fact)
        if known is None:
            return []
        effect = edge.effect
        environment = dict(fact.environment)
        learned = {n: i for n, i in known.items() if n in environment or self._says(model, edge, n)}
        match effect:
            case ir.Assign(target, value):
                return self._store(model, edge, fact, target, value, self.environment(model, edge, learned))
            case ir.Return(value):
                return self._return(model, edge, fact, value, known)
            case ir.Call():
                return self.external_call(model, edge, fact, effect, self.environment(model, edge, learned))
        return self.settle(model, edge, fact, set(fact.paths), self.environment(model, edge, learned))

    def _says(self, model: FunctionModel, edge: Edge, number: int) -> bool:
        """Whether the edge itself says something of the condition key."""
        test = model.conditions.of_edge.get(edge.id)
        if test is not None:
            return test[0] == number
        effect = edge.effect
        return isinstance(effect, ir.Assign) and model.conditions.numbers.get(effect.target) == number

    def _store(
        self, model: FunctionModel, edge: Edge, fact: Fact, target: ir.Expr, value: ir.Expr, environment: Environment
    ) -> list[int]:
        rule = self.rules[fact.rule]
        written, source = path_of(target), path_of(value)
        paths = survivors(fact.paths, written, lvalue_cell(target))
        if source is not None:
            gained = {(*(written or ()), *path[len(source) :]) for path in fact.paths if copies(path, source, target)}
            if gained and rule.ownership and (written is None or escapes(model, written)):
                return []
            if written is not None and len(written) + 1 < 7:
                paths |= gained
                if source[0].startswith("$"):
                    paths = {path for path in paths if path[0] != source[0]}
        if rule.ownership and not gained_by(paths, fact) and mentions(value, fact.paths):
            return []  # the value goes somewhere by arithmetic or inside an aggregate
        return self.settle(model, edge, fact, paths, environment)

    def external_call(self, model: FunctionModel, edge: Edge, fact: Fact, call: ir.Call, environment: Environment) -> list[int]:
        """A call that reaches a function without a body."""
        rule = self.rules[fact.rule]
        paths = set(fact.paths)
        for argument in call.arguments:
            path = path_of(argument)
            if path is None:
                continue
            if path in paths and rule.ownership and self.takes_over(call, rule):
                return []
            changed = path[:-1] if path[-1] == "&" else (*path, "*")
            hit = {p for p in paths if p[: len(changed)] == changed}
            if hit and rule.ownership:
                return []
            paths -= hit
        if call.result is not None:
            paths = survivors(tuple(paths), path_of(call.result), lvalue_cell(call.result))
        return self.settle(model, edge, fact, paths, environment)

    def takes_over(self, call: ir.Call, rule: Rule) -> bool:
        """Whether a function without a body may keep what it is passed: all but those of the system's headers, and some of
        these."""
        for target in self.program.targets(call):
            external = self.program.externals.get(target)
            if external is None or not external.system or target in rule.keeps:
                return True
        return not self.program.targets(call)

    def _return(self, model: FunctionModel, edge: Edge, fact: Fact, value: ir.Expr | None, known: Known) -> list[int]:
        paths = set(fact.paths)
        source = None if value is None else path_of(value)
        if source is not None:
            paths |= {
                (RESULT, *path[len(source) :]) for path in fact.paths if path[: len(source)] == source and source[-1] != "&"
            }
            if source in fact.paths:
                paths.add((RESULT,))
        elif value is not None and self.rules[fact.rule].ownership and mentions(value, fact.paths):
            return []
        environment: Environment = ()
        if value is not None:
            interval = model.conditions.evaluate(value, known)
            if interval != ANY:
                environment = ((RESULT_KEY, interval),)
        left = self._leave(model, edge, fact)
        if left is not None:
            return left
        outside = {path for path in paths if outlives(model, path)}
        if not outside:
            return self._lost(fact, edge)
        return [self.facts.number(Fact(fact.rule, fact.state, bounded(outside), environment))]

    def _leave(self, model: FunctionModel, edge: Edge, fact: Fact) -> list[int] | None:
        if CALLER in (path[0] for path in fact.paths):
            return None
        for index, transition in enumerate(self.rules[fact.rule].transitions):
            if transition.source == fact.state and transition.trigger.kind == "leave":
                for path in fact.paths:
                    if not transition.if_function_has or model.function_has(fact.rule, index, path):
                        return [self.error(fact.rule, index, edge, path)]
        return None

    def settle(self, model: FunctionModel, edge: Edge, fact: Fact, paths: Iterable[Path], environment: Environment) -> list[int]:
        """The fact at its new paths, or what follows when there are none left."""
        left = bounded(set(paths))
        if not left:
            return self._lost(fact, edge)
        return [self.facts.number(Fact(fact.rule, fact.state, left, environment))]

    def lost(self, fact: Fact, edge: Edge) -> list[int]:
        """What follows when the last path to the value goes away at the edge."""
        return self._lost(fact, edge)

    def _lost(self, fact: Fact, edge: Edge) -> list[int]:
        for index, transition in enumerate(self.rules[fact.rule].transitions):
            if transition.source == fact.state and transition.trigger.kind == "lost":
                return [self.error(fact.rule, index, edge, fact.paths[0] if fact.paths else None)]
        return []


def survivors(paths: tuple[Path, ...], written: Path | None, cell: str) -> set[Path]:
    """The paths whose value a write does not change."""
    return {path for path in paths if not kills(written, cell, path)}


def copies(path: Path, source: Path, target: ir.Expr) -> bool:
    """Whether assigning the value at `source` copies the value at `path` along: the same, or a member of an assigned record."""
    return path == source or (isinstance(target.type, Record) and path[: len(source)] == source)


def gained_by(paths: set[Path], fact: Fact) -> bool:
    """Whether the value has a path that it did not have before."""
    return bool(paths.difference(fact.paths))


def mentions(value: ir.Expr, paths: tuple[Path, ...]) -> bool:
    """Whether a pointer or record value is computed from the tracked one, other than by following it."""
    bare = ir.strip_casts(value)
    if isinstance(bare, ir.Binary):
        if bare.operator not in ("+", "-") or not isinstance(bare.type, Pointer):
            return False
        return mentions(bare.left, paths) or path_of(bare.left) in paths
    return False


def outlives(model: FunctionModel, path: Path) -> bool:
    """Whether the path means something to the function's callers."""
    root = path[0]
    if root[0] in "@<":
        return True
    return root in model.parameters and behind_pointer(path) and root not in model.reassigned


def escapes(model: FunctionModel, written: Path) -> bool:
    """Whether storing an owned value at the path gives it to somebody else: all but variables of the function's own and what its
    parameters point to."""
    root = written[0]
    if root[0] == "@":
        return True
    if not behind_pointer(written):
        return False
    return root not in model.parameters or sum(1 for op in written if op[0] == "*") > 1


__all__ = ["NOTHING", "Transfer", "copies", "escapes", "mentions", "outlives", "root_of", "survivors"]
