"""What both versions of a function have in common at a pair of locations: edges, errors, and what calls lead to."""

from __future__ import annotations

from typing import NamedTuple

from analysis.cfa.graph import Edge
from analysis.cpa.obstacles.passed_code import may_call_back
from analysis.engines.difference.function_pairs import FunctionPair, ProgramPair
from analysis.model import ir
from analysis.model.spelling import display_name


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
