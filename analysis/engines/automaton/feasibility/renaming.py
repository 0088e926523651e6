"""Expressions of a caller by the names that the called function has for them, and back; which objects are different ones."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from analysis.engines.automaton.feasibility.path_values import replaced
from analysis.model import ir
from analysis.model.c_types import Pointer, Record


def substitute(expr: ir.Expr, values: Mapping[ir.Expr, ir.Expr]) -> ir.Expr | None:
    """The expression with variables replaced by values; globals stay; None if another variable is left."""
    match expr:
        case ir.Var():
            return values.get(expr, expr if expr.scope in ("global", "function") else None)
        case ir.Deref(pointer):
            inner = substitute(pointer, values)
            if isinstance(inner, ir.AddressOf):
                return inner.lvalue
            return None if inner is None else msgspec.structs.replace(expr, pointer=inner)
        case ir.Field(record):
            inner = substitute(record, values)
            return None if inner is None else msgspec.structs.replace(expr, record=inner)
        case ir.Index(array, index):
            base, place = substitute(array, values), substitute(index, values)
            return None if base is None or place is None else msgspec.structs.replace(expr, array=base, index=place)
        case ir.Cast(operand):
            inner = substitute(operand, values)
            return None if inner is None else msgspec.structs.replace(expr, operand=inner)
        case ir.Unary(_, operand):
            inner = substitute(operand, values)
            return None if inner is None else msgspec.structs.replace(expr, operand=inner)
        case ir.Binary(_, left, right):
            one, other = substitute(left, values), substitute(right, values)
            return None if one is None or other is None else msgspec.structs.replace(expr, left=one, right=other)
        case ir.IntConst():
            return expr
    return None


def behind_parameter(expr: ir.Expr, argument: ir.Expr, parameter: ir.Var) -> ir.Expr | None:
    """What the caller has behind a pointer that it passes, by the callee's name for it; None if it is not there."""
    assert isinstance(parameter.type, Pointer)
    if isinstance(argument, ir.AddressOf):
        place: ir.Expr = ir.Deref(parameter, parameter.type.target)
        if any(variable.scope == "global" for variable in ir.variables(argument)):
            return None  # the callee may write it by its own name
        is_there = argument.lvalue.type == parameter.type.target and expr != argument.lvalue and argument.lvalue in ir.walk(expr)
        return replaced(expr, argument.lvalue, place) if is_there else None
    is_there = (
        argument.type == parameter.type and isinstance(argument, ir.LVALUES) and expr != argument and argument in ir.walk(expr)
    )
    return replaced(expr, argument, parameter) if is_there else None


def are_apart(one: ir.Expr | None, other: ir.Expr) -> bool:
    """Whether two expressions are different members of one variable, or parts of such, and no union is around them."""
    steps, others = _members(one), _members(other)
    for (record, name), (_, other_name) in zip(steps[1:], others[1:], strict=False):
        if not isinstance(record, Record) or record.kind != "struct" or steps[0] != others[0]:
            return False
        if name != other_name:
            return True
    return False


def _members(expr: ir.Expr | None) -> list[tuple[object, str]]:
    """A variable, and the records and names of the members that lead from it to a part of it; empty for anything else."""
    found: list[tuple[object, str]] = []
    while isinstance(expr, ir.Field):
        found.append((expr.record.type, expr.name))
        expr = expr.record
    return [(expr.type, expr.name), *reversed(found)] if isinstance(expr, ir.Var) else []
