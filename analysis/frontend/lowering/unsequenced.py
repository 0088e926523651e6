"""Notes what the operands of an expression do whose order C leaves open. Lowering goes from left to right; whether another
order could give anything else is decided where the whole program is known (`cfa.linking.open_order`).

An operand is the edges that lowering made for it, and the value that is left. An assignment is sequenced after the values of its
operands, but not after their side effects (C11 6.5.16p3): those that no sequence point follows are *pending*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from analysis.c.failing import can_fail, place_can_fail
from analysis.frontend.lowering.flow import Flow, RawEdge
from analysis.model import ir
from analysis.model.unordered import Operand, Unordered, accessed, place_reads, read_by


class Mark(NamedTuple):
    """How far lowering was: the location, and how many edges, assignments and jumps there were."""

    location: int
    edges: int
    changed: int
    jumps: int


class Value(NamedTuple):
    """What is left of an operand when its edges are made; of a `place` only where it is."""

    expr: ir.Expr
    is_place: bool = False


class State(NamedTuple):
    """How many assignments and pending ones there were, to go back to."""

    changed: int
    pending: int
    groups: int


class Unsequenced:
    """The operands of one function's expressions, and what they assign."""

    def __init__(self) -> None:
        self.groups: list[Unordered] = []
        self.jumps = 0
        self._changed: list[ir.Expr] = []
        self._pending: list[ir.Expr] = []

    def mark(self, flow: Flow) -> Mark:
        """Where an operand begins or ends."""
        return Mark(flow.current, len(flow.edges), len(self._changed), self.jumps)

    def state(self) -> State:
        """How far everything is."""
        return State(len(self._changed), len(self._pending), len(self.groups))

    def back_to(self, state: State) -> None:
        """Forgets what was noted since."""
        del self._changed[state.changed :]
        del self._pending[state.pending :]
        del self.groups[state.groups :]

    @property
    def pending(self) -> int:
        """How many assignments are not complete."""
        return len(self._pending)

    def sequence_point(self, pending: int = 0) -> None:
        """All assignments but so many of the pending ones are complete here."""
        del self._pending[pending:]

    def assigned(self, target: ir.Expr, start: Mark, pending: int) -> None:
        """An assignment or `++` changes the target; its operands began at `start`, when so many assignments were pending."""
        before = tuple(self._pending[pending:])
        if before:
            operands = (Operand((), before, (), False, False), Operand((), (target,), (), False, False))
            self.groups.append(Unordered(start.location, operands))
        self._changed.append(target)
        self._pending.append(target)

    def operands(
        self, flow: Flow, marks: Sequence[Mark], values: Sequence[Iterable[Value]], stored: ir.Expr | None = None
    ) -> None:
        """Operand number i lies between marks i and i + 1, and leaves these values. `stored` is what the whole assigns: that
        comes after all operands, though an edge of the last one does it."""
        if marks[0].edges == marks[-1].edges:
            return
        edges = [flow.edges[one.edges : other.edges] for one, other in pairwise(marks)]
        effects = [
            one.changed != other.changed or one.jumps != other.jumps or any(map(_acts, mine))
            for one, other, mine in zip(marks, marks[1:], edges, strict=False)
        ]
        if not any(effects):
            return
        found = [
            self._operand(one, other, [_without(edge.effect, stored) for edge in mine], left)
            for one, other, mine, left in zip(marks, marks[1:], edges, values, strict=False)
        ]
        found = [operand for operand in found if not operand.is_nothing]
        if len(found) > 1 and any(operand.has_effects for operand in found):
            self.groups.append(Unordered(marks[0].location, tuple(found), marks[-1].location))

    def _operand(self, start: Mark, end: Mark, effects: Sequence[ir.Effect], values: Iterable[Value]) -> Operand:
        values = tuple(values)
        reads = [lvalue for effect in effects for lvalue in read_by(effect)]
        for value in values:
            reads += place_reads(value.expr) if value.is_place else accessed(value.expr)
        exprs = [expr for effect in effects for expr in ir.expressions(effect)]
        return Operand(
            tuple(dict.fromkeys(reads)),
            tuple(dict.fromkeys(self._changed[start.changed : end.changed])),
            tuple(effect for effect in effects if isinstance(effect, ir.Call)),
            any(map(can_fail, exprs)) or any((place_can_fail if value.is_place else can_fail)(value.expr) for value in values),
            start.jumps != end.jumps or any(isinstance(effect, ir.Return | ir.Unsupported) for effect in effects),
        )


def _without(effect: ir.Effect, stored: ir.Expr | None) -> ir.Effect:
    """The effect without the assignment to what is stored."""
    if stored is not None and isinstance(effect, ir.Assign) and effect.target is stored:
        return ir.Assign(ir.Var("", "temporary", stored.type), effect.value)
    if stored is not None and isinstance(effect, ir.Call) and effect.result is stored:
        return ir.Call(effect.callee, effect.arguments, None)
    return effect


def _acts(edge: RawEdge) -> bool:
    return isinstance(edge.effect, ir.Call | ir.Return | ir.Unsupported)
