"""Symbolic identifiers put out of what a state says, so that only cells of the state are left: an identifier that a cell holds is
that cell; where a cell holds an operation on it that can be undone (modulo the type's width), it is the result of undoing it.

What still speaks of identifiers after that is left out: the rest says less, and holds wherever the state does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from analysis.cpa.symbolic_values.symbolic import binary, cast, identifiers, substitute, unary
from analysis.model import ir
from analysis.model.c_types import INT, Integer

_INVERSE: dict[str, Literal["+", "-", "^"]] = {"+": "-", "-": "+", "^": "^"}


class Cell(NamedTuple):
    """A part of a state, and the symbolic value that it holds."""

    var: ir.Var
    value: ir.Expr


def without_identifiers(cells: Sequence[Cell], conditions: Sequence[ir.Expr], kept: Iterable[ir.Var]) -> Iterator[ir.Expr]:
    """What cells and conditions say, as conditions over the `kept` variables alone."""
    allowed = frozenset(kept)
    solution: dict[ir.Var, ir.Expr] = {}
    for cell in _simple_first(cells):
        value = substitute(cell.value, solution)
        solved = _solved(value, cell.var, allowed)
        if solved is not None:
            solution[solved[0]] = solved[1]
            solution = {var: substitute(expr, {solved[0]: solved[1]}) for var, expr in solution.items()}
    for cell in cells:
        value = substitute(cell.value, solution)
        if value != cell.var and identifiers(value) <= allowed:
            yield ir.Binary("==", cell.var, value, INT)
    for condition in conditions:
        found = substitute(condition, solution)
        if identifiers(found) <= allowed:
            yield found


def _simple_first(cells: Sequence[Cell]) -> list[Cell]:
    return sorted(cells, key=lambda cell: not isinstance(cell.value, ir.Var))


def _solved(value: ir.Expr, result: ir.Expr, allowed: frozenset[ir.Var]) -> tuple[ir.Var, ir.Expr] | None:
    """An identifier, and what it is if the value is `result`; None if that is not known."""
    while not isinstance(value, ir.Var):
        undone = _undone(value, result, allowed)
        if undone is None:
            return None
        value, result = undone
    return None if value in allowed else (value, result)


def _undone(value: ir.Expr, result: ir.Expr, allowed: frozenset[ir.Var]) -> tuple[ir.Expr, ir.Expr] | None:
    """One operand of the value that has identifiers which are not allowed, and what it is if the value is `result`."""
    if not isinstance(value.type, Integer) or value.type.name == "_Bool":
        return None
    match value:
        case ir.Binary(operator, left, right) if operator in _INVERSE and left.type == right.type == value.type:
            if identifiers(right) <= allowed:
                undone, unknown = ir.Binary(_INVERSE[operator], result, right, value.type), left
            elif not identifiers(left) <= allowed:
                return None
            elif operator == "-":
                undone, unknown = ir.Binary("-", left, result, value.type), right
            else:
                undone, unknown = ir.Binary(_INVERSE[operator], result, left, value.type), right
            found = binary(undone, undone.left, undone.right)
            return None if found is None else (unknown, found)
        case ir.Unary(operator, operand) if operator in ("-", "~") and operand.type == value.type:
            found = unary(ir.Unary(operator, result, value.type), result)
            return None if found is None else (operand, found)
        case ir.Cast(operand) if isinstance(operand.type, Integer) and operand.type.name != "_Bool":
            if operand.type.bits <= value.type.bits:  # nothing is lost: converting back undoes it
                found = cast(result, operand.type)
                return None if found is None else (operand, found)
    return None
