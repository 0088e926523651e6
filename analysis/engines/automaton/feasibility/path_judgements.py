"""What following all expressions along one path says of it, from which `error_paths` refines its search."""

from __future__ import annotations

import msgspec

from analysis.engines.automaton.feasibility.known_values import Item
from analysis.engines.automaton.feasibility.path_values import Store
from analysis.engines.automaton.feasibility.walk import Walk, expressions_in
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir


class Judgement(msgspec.Struct, frozen=True):
    """The result of following all expressions along a path. `contradiction`: the items whose values
    contradict each other (None: none do). `missing`: the items that calls on the path changed before a branch
    tested them. `sure`: whether the known values decide the last branch."""

    contradiction: frozenset[Item] | None
    missing: frozenset[Item]
    sure: bool


def judge(walk: Walk, store: Store, steps: tuple[Taken, ...], *, opens: bool) -> Judgement:
    """Follows a path from what a store knows at its beginning. `missing` is asked for where the search `opens` calls, and can
    find out what they change."""
    changed: set[str] = set()
    missing: set[Item] = set()
    functions: dict[str, None] = {}
    for index, taken in enumerate(steps):
        effect = walk.edge(taken).effect
        functions[taken.function] = None
        if opens and taken.event == "edge":
            if isinstance(effect, ir.Assume) and store.truth(effect.condition)[0] is None:
                missing |= _lost(walk, taken.function, effect.condition, changed)
                for part in expressions_in(effect.condition):
                    walk.ask_everywhere(functions, part)
            elif walk.view.returning_callee(walk.edge(taken)) is not None:
                changed |= walk.delta.model(taken.function).written[taken.edge]
        following = steps[index + 1].function if index + 1 < len(steps) else ""
        if not walk.advance(store, taken, following):
            return Judgement(store.contradiction, frozenset(), False)
    return Judgement(None, frozenset(missing), store.sure)


def read_on(walk: Walk, steps: tuple[Taken, ...]) -> frozenset[Item]:
    """All that a path reads or sets."""
    found: set[Item] = set()
    for taken in steps:
        effect = walk.edge(taken).effect
        found.update((taken.function, part) for expr in ir.expressions(effect) for part in expressions_in(expr))
    return frozenset(item for item in found if walk.cells(*item) is not None)


def last_condition(walk: Walk, steps: tuple[Taken, ...]) -> set[Item]:
    """What the last branch of a path tests."""
    for taken in reversed(steps):
        effect = walk.edge(taken).effect
        if isinstance(effect, ir.Assume):
            return {(taken.function, part) for part in expressions_in(effect.condition)}
    return set()


def _lost(walk: Walk, function: str, condition: ir.Expr, changed: set[str]) -> set[Item]:
    """The parts of a condition that a call on the path may have changed."""
    found = set()
    for part in expressions_in(condition):
        cells = walk.cells(function, part)
        if cells is not None and not cells.isdisjoint(changed):
            found.add((function, part))
    return found
