"""Where on a path a value and its use meet, and whether what makes it suspicious is done in each run of the calls there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.cfa.graph import Cfa, Program
from analysis.engines.automaton.report.agreeing_targets import agreeing
from analysis.engines.automaton.report.every_run import is_unavoidable
from analysis.engines.automaton.report.trace import Taken
from analysis.model import ir

_DOWN = frozenset(("call", "descent"))


def meeting(functions: Mapping[str, Cfa], steps: Sequence[Taken]) -> Taken:
    """A step of the activation in which a value and its use meet, on a path from where the value begins to the error: that of the
    error; or, where a function uses what it is passed in each run, that of its caller."""
    home = steps[-1]
    while any(taken.depth < home.depth for taken in steps) and is_unavoidable(functions[home.function], home.edge):
        home = next(taken for taken in reversed(steps) if taken.depth < home.depth)
        if home.event not in _DOWN:
            break
    return home


def always_begins(program: Program, path: Sequence[Taken], home: Taken, looked: set[str]) -> bool:
    """Whether the last step of a path is below a call that the activation of `home` makes, and taken in each run of that call. A
    call through a pointer that can reach several functions may run another one. Adds to `looked` the functions that this depends
    on and that are not on the path."""
    functions = program.functions
    last = path[-1]
    depth = last.depth
    if last.event != "edge" or depth <= home.depth:
        return False
    for number in reversed(range(len(path))):
        taken = path[number]
        if taken.depth == depth and (taken is last or taken.event in _DOWN):
            if leads_elsewhere(program, path, number, last, looked):
                return False
            if depth == home.depth:
                return taken.function == home.function
            if not is_unavoidable(functions[taken.function], taken.edge):
                return False
            depth -= 1
    return False


def leads_elsewhere(program: Program, path: Sequence[Taken], number: int, begin: Taken, looked: set[str]) -> bool:
    """Whether a step of a path is a call of another function than the one that it names, or that the program assigns to the
    pointer: one that only fits, or may come from outside. It makes no difference where all that the program assigns comes down to
    what the step `begin` does. Adds to `looked` the functions that this depends on and that are not on the path."""
    taken = path[number]
    effect = effect_of(program, taken)
    if not isinstance(effect, ir.Call) or ir.direct_callee(effect) is not None:
        return False
    alike = agreeing(program, effect, effect_of(program, begin))
    looked.update(alike or ())
    inside = number + 1 if taken.event in _DOWN else number - 1
    reached = path[inside].function if taken.event != "edge" and 0 <= inside < len(path) else None
    if alike is not None:
        return taken.event != "edge" and reached not in alike
    only = program.only_target(effect)
    if taken.event != "edge":
        return reached is None or reached != only
    return only is None or any(target != only for target in program.targets(effect) if target not in program.functions)


def effect_of(program: Program, taken: Taken) -> ir.Effect | None:
    """What a step of a path does, if it is at an edge."""
    return None if taken.edge < 0 else program.functions[taken.function].by_id[taken.edge].effect
