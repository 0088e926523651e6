"""Which edges of a function can change or test an expression: found once for an expression, not asked of every edge. And which
expressions an edge can change: found once for an edge, not asked of every expression."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import lru_cache
from typing import NamedTuple

from analysis.cfa.graph import Edge
from analysis.engines.automaton.feasibility.renaming import are_apart
from analysis.engines.automaton.functions.access_paths import lvalue_cell
from analysis.engines.automaton.functions.footprint import base_variable, visible
from analysis.engines.automaton.functions.function_model import FunctionModel
from analysis.engines.automaton.functions.known_conditions import condition_of, expr_cells
from analysis.model import ir


class Touched(NamedTuple):
    """The ids of the edges that can change an expression, and of those that test or mention it."""

    changing: frozenset[int]
    mentioning: frozenset[int]


class TouchedEdges:
    """The edges of one function, by what they write and mention. It holds as long as the model, and the cells that the model says
    to be written."""

    def __init__(self, model: FunctionModel) -> None:
        self.model = model
        self._writers: dict[str, list[Edge]] = {}
        self._mentioning: dict[ir.Expr, list[int]] = {}
        self._known: dict[ir.Expr, Touched] = {}
        returning = []
        for edge in model.cfa.edges:
            for cell in model.written[edge.id]:
                self._writers.setdefault(cell, []).append(edge)
            for part in _parts(edge.effect):
                self._mentioning.setdefault(part, []).append(edge.id)
            if isinstance(edge.effect, ir.Return):
                returning.append(edge.id)
        self.returning = frozenset(returning)

    def of(self, expr: ir.Expr, cells: Set[str]) -> Touched:
        """The edges that touch an expression, which reads these cells."""
        found = self._known.get(expr)
        if found is None:
            writers = {edge.id: edge for cell in cells for edge in self._writers.get(cell, ())}
            changing = (id_ for id_, edge in writers.items() if may_change(self.model, edge)(expr, cells))
            found = self._known[expr] = Touched(frozenset(changing), frozenset(self._mentioning.get(expr, ())))
        return found


class CellsRead:
    """The expressions of one function that are asked for, by the cells that they read. It holds as long as `TouchedEdges`."""

    def __init__(self, model: FunctionModel) -> None:
        self.model = model
        self._cells: dict[ir.Expr, frozenset[str]] = {}
        self._visible: dict[ir.Expr, frozenset[str]] = {}
        self._reading: dict[str, list[ir.Expr]] = {}
        self._changed: dict[int, tuple[int, Set[ir.Expr]]] = {}  # by edge, of so many expressions

    def of(self, expr: ir.Expr) -> frozenset[str]:
        """The cells that an expression reads."""
        found = self._cells.get(expr)
        if found is None:
            found = self._cells[expr] = frozenset(expr_cells(expr, self.model.aliased))
            for cell in found:
                self._reading.setdefault(cell, []).append(expr)
        return found

    def visible(self, expr: ir.Expr) -> frozenset[str]:
        """Those of the cells that mean something outside the function."""
        found = self._visible.get(expr)
        if found is None:
            found = self._visible[expr] = frozenset(filter(visible, self.of(expr)))
        return found

    def changed(self, edge: Edge, exprs: Set[ir.Expr]) -> Set[ir.Expr]:
        """Those of the expressions that an edge can change."""
        if not self._cells.keys() >= exprs:
            for expr in exprs:
                self.of(expr)
        count, found = self._changed.get(edge.id, (0, frozenset[ir.Expr]()))
        if count != len(self._cells):
            changes = may_change(self.model, edge)
            reading = {expr for cell in self._reading.keys() & self.model.written[edge.id] for expr in self._reading[cell]}
            found = {expr for expr in reading if changes(expr, self._cells[expr])}
            self._changed[edge.id] = len(self._cells), found
        return exprs & found


def may_change(model: FunctionModel, edge: Edge) -> Callable[[ir.Expr, Set[str]], bool]:
    """Whether an edge can change the value of an expression, which reads the cells given with it."""
    written = model.written[edge.id]
    target = ir.target_of(edge.effect)
    elsewhere = None if target is None else _beside_member(edge, target, written, model)

    def changes(expr: ir.Expr, cells: Set[str]) -> bool:
        if cells.isdisjoint(written):
            return False
        return elsewhere is None or not cells.isdisjoint(elsewhere) or not are_apart(target, expr)

    return changes


def _beside_member(edge: Edge, target: ir.Expr, written: frozenset[str], model: FunctionModel) -> frozenset[str] | None:
    """The other cells that an edge writes, which assigns to a member of a variable; None if it assigns to something else, or if a
    called function may write other members of that variable."""
    if not isinstance(target, ir.Field) or base_variable(target) is None:
        return None
    cell = lvalue_cell(target)
    is_passed = isinstance(edge.effect, ir.Call) and cell in model.written_by_callees(edge)
    return None if is_passed else written - {cell}


@lru_cache(maxsize=10_000)
def _parts(effect: ir.Effect) -> frozenset[ir.Expr]:
    """All expressions in an effect, and what it tests if it is a branch."""
    parts = {part for expr in ir.expressions(effect) for part in ir.walk(expr)}
    if isinstance(effect, ir.Assume) and (condition := condition_of(effect)) is not None:
        parts.add(condition[0])
    return frozenset(parts)
