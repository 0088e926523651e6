"""What both versions of a function have in common at a pair of locations: edges, errors, what calls lead to, and assignments that
come next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from analysis.cfa.graph import Edge
from analysis.cpa.obstacles.passed_code import may_call_back
from analysis.engines.difference.dependencies import OUTSIDE, Affected
from analysis.engines.difference.function_pairs import FunctionPair, ProgramPair, Side
from analysis.model import ir
from analysis.model.spelling import display_name
from analysis.model.verifiers import is_input


def same_edge(pair: FunctionPair, edge: Edge, partner: int) -> Edge | None:
    """The edge with the same effect that leaves location `partner` of the old version."""
    leaving = [other for other in pair.old.outgoing(partner) if other.effect == edge.effect]
    return leaving[0] if leaving else None


def unlike_errors(pair: FunctionPair, location: int, partner: int) -> bool:
    """Whether only one of the versions violates the property at a pair of locations."""
    return (location in pair.new.errors) != (partner in pair.old.errors)


def both_err(pair: FunctionPair, location: int, partner: int) -> bool:
    """Whether both versions violate the property there."""
    return location in pair.new.errors and partner in pair.old.errors


class Called(NamedTuple):
    """What a call that both versions make leads to, by the names of the new version: functions that both define, or functions
    outside."""

    defined: tuple[str, ...]
    external: tuple[str, ...]


def called_functions(programs: ProgramPair, pair: FunctionPair, edge: int, old_edge: int) -> Called | None:
    """What the call of two edges leads to, by their ids; None if that is not the same in both versions, or not known."""
    new, old = programs.new, programs.old
    calls = new.program.functions[pair.new.cfa.name].by_id[edge].effect, pair.old.cfa.by_id[old_edge].effect
    assert isinstance(calls[0], ir.Call)
    assert isinstance(calls[1], ir.Call)
    targets = new.program.targets(calls[0])
    if not targets or sorted(map(programs.old_name, targets)) != sorted(old.program.targets(calls[1])):
        return None
    defined = tuple(name for name in targets if name in new.program.functions)
    external = tuple(name for name in targets if name not in new.program.functions)
    if (defined and external) or any(programs.old_name(name) not in old.program.functions for name in defined):
        return None
    unparsed = new.unparsed | old.unparsed
    for name in external:
        if programs.old_name(name) in old.program.functions or display_name(name) in unparsed:
            return None
        if may_call_back(new.program, name, calls[0]) or may_call_back(old.program, programs.old_name(name), calls[1]):
            return None
    return Called(defined, external)


# -- assignments of the old version ------------------------------------------------------------------------------


class Skipped(NamedTuple):
    """Where the old version is after assignments of its own, and what is affected then."""

    location: int
    affected: Affected


def is_assignment(effect: ir.Effect) -> bool:
    """Whether an effect only changes objects: it is an assignment, or takes an input."""
    if isinstance(effect, ir.Call):
        name = ir.direct_callee(effect)
        return name is not None and is_input(name) and not effect.arguments
    return isinstance(effect, ir.Assign)


def after_assignment(side: Side, effect: ir.Effect, affected: Affected) -> Affected:
    """What is affected after an assignment that both versions make."""
    target = ir.target_of(effect)
    if target is None:
        return affected
    differs = side.dependencies.depends(ir.values_of(effect), affected) or (isinstance(effect, ir.Call) and OUTSIDE in affected)
    return side.dependencies.after_write(target, differs, affected)


def assignments(old: Side, location: int) -> Iterator[Edge]:
    """The assignments that follow each other from a location of the old version on, each once."""
    seen = set[int]()
    while location not in seen:
        seen.add(location)
        leaving = old.outgoing(location)
        if len(leaving) != 1 or not is_assignment(leaving[0].effect):
            return
        yield leaving[0]
        location = leaving[0].target


def comes_around(side: Side, edge: Edge) -> bool:
    """Whether assignments alone lead from an assignment back to it, so that they never end."""
    return any(other.target == edge.source for other in assignments(side, edge.source))


def stays(side: Side, location: int) -> bool:
    """Whether nothing comes after a location that is neither the exit nor an error: a loop without any effect, or the end of the
    program."""
    return location != side.cfa.exit and location not in side.errors and not side.outgoing(location)


def at_next_step(old: Side, location: int, affected: Affected) -> Skipped | None:
    """The old version after all assignments that come next (lines 12-14); None if they come around again."""
    for edge in assignments(old, location):
        affected |= old.dependencies.written_alone(edge.effect)
        location = edge.target
    leaving = old.outgoing(location)
    if len(leaving) == 1 and is_assignment(leaving[0].effect):
        return None
    return Skipped(location, affected)


def same_assignment(pair: FunctionPair, edge: Edge, partner: int, affected: Affected) -> tuple[Edge, Affected] | None:
    """The assignment of the old version that corresponds to one of the new version, and what is affected before both: one that is
    next, or the twin of the edge if there are other assignments before it."""
    twin = pair.twins.get(edge.id)
    coming = list(assignments(pair.old, partner))
    at = next((n for n, one in enumerate(coming) if one.id == twin and one.effect == edge.effect), None)
    if at is None:
        at = 0 if coming and coming[0].effect == edge.effect else None
    if at is None:
        return None
    return coming[at], affected.union(*(pair.old.dependencies.written_alone(one.effect) for one in coming[:at]))


def same_target(pair: FunctionPair, edge: Edge, partner: int) -> Edge | None:
    """The next assignment of the old version, if it is to the same variable and no other edge of the new version corresponds to
    it."""
    following = next(assignments(pair.old, partner), None)
    if following is None or isinstance(following.effect, ir.Call) or isinstance(edge.effect, ir.Call):
        return None
    mine, other = ir.target_of(edge.effect), ir.target_of(following.effect)
    is_free = following.id not in pair.taken
    return following if is_free and isinstance(mine, ir.Var) and mine == other else None
