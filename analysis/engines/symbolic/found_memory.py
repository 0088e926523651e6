"""Assumes that allocations succeed: each allocation is followed by a branch that only a result other than null
takes. Every part of the search sees the branch, as it sees any other.

`realloc` of size 0 may free the block and return null (C11 7.22.3.5), so its branch is also taken where the size is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from analysis.c.blocks import RESIZES
from analysis.c.functions import known
from analysis.cfa.graph import Cfa, Edge
from analysis.cpa.predicates.error_locations import with_functions
from analysis.engines.symbolic.task import Confirmed, Decision, Task
from analysis.interpreter.outcome import Step
from analysis.model import ir
from analysis.model.c_types import INT, Pointer


class FoundMemory:
    """The task with these branches, and its answer without them."""

    def __init__(self, task: Task) -> None:
        self._own = {name: frozenset(cfa.by_id) for name, cfa in task.program.functions.items()}
        self._following: dict[tuple[str, int], Step] = {}
        functions = {name: self._branched(name, cfa, self._own) for name, cfa in task.program.functions.items()}
        self.task = task._replace(program=with_functions(task.program, functions), path=tuple(self._path(task.path)))

    def in_original_edges(self, decision: Decision) -> Decision:
        """The answer in the edges of the program as it was."""
        if not isinstance(decision, Confirmed):
            return decision
        steps = tuple(step for step in decision.steps if step.edge in self._own[step.function])
        return msgspec.structs.replace(decision, steps=steps)

    def _branched(self, name: str, cfa: Cfa, defined: dict[str, frozenset[int]]) -> Cfa:
        edges: list[Edge] = []
        inside, location, number = dict(cfa.inside), cfa.next_location, cfa.next_edge
        for edge in cfa.edges:
            conditions = _conditions(edge.effect, defined)
            if not conditions:
                edges.append(edge)
                continue
            edges.append(msgspec.structs.replace(edge, target=location))
            self._following[name, edge.id] = Step(name, number)
            for condition in conditions:
                edges.append(Edge(number, location, edge.target, ir.Assume(condition, True)))
                if edge.id in inside:
                    inside[number] = inside[edge.id]
                number += 1
            location += 1
        if len(edges) == len(cfa.edges):
            return cfa
        return cfa.with_edges(tuple(edges), inside)

    def _path(self, path: Sequence[Step]) -> Iterator[Step]:
        for position, step in enumerate(path):
            yield step
            following = self._following.get((step.function, step.edge))
            if following is not None and position + 1 < len(path):
                yield following


def _conditions(effect: ir.Effect, defined: dict[str, frozenset[int]]) -> list[ir.Expr]:
    """The conditions under which a call may go on; none if it always may."""
    if not isinstance(effect, ir.Call) or effect.result is None or not isinstance(effect.result.type, Pointer):
        return []
    name = ir.direct_callee(effect)
    if name is None or name in defined:
        return []
    result = effect.result
    found: list[ir.Expr] = [ir.Binary("!=", result, ir.IntConst(0, result.type), INT)]
    function = known(name)
    if function is None or not function.gives_block:
        return []
    if name not in RESIZES:
        return found
    sizes = [effect.arguments[at] for at in function.sizes if at < len(effect.arguments)]
    return found + [ir.Binary("==", size, ir.IntConst(0, size.type), INT) for size in sizes]
