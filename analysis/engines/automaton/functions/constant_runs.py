"""What a small function returns for constants: it is run on them.

Only a function that does nothing but compute with numbers: it assigns to its own variables of integer types, branches and
returns. Nothing is known where C leaves a result undefined, and where a run takes many steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.c.results import defined, defined_unary
from analysis.cfa.graph import Cfa, Edge
from analysis.model import ir
from analysis.model.c_types import Integer
from analysis.model.comparisons import HOLDS
from analysis.model.kept_with import kept_with
from analysis.model.ranges import wrapped

_EDGES = 40  # of a small function
_STEPS = 200  # of a run
_OWN = ("parameter", "local", "temporary")
_Values = Mapping[ir.Expr, int]


@kept_with
def only_computes(cfa: Cfa) -> bool:
    """Whether a function is small, and does nothing but compute with numbers."""
    return len(cfa.edges) <= _EDGES and all(map(_is_own, cfa.parameters)) and all(map(_is_computation, cfa.edges))


def _is_computation(edge: Edge) -> bool:
    match edge.effect:
        case ir.Assign(target, value):
            return _is_own(target) and (_is_number(value) or isinstance(value, ir.Undefined | ir.Unknown))
        case ir.Assume(condition):
            return _is_number(condition)
        case ir.Return(value):
            return value is not None and _is_number(value)
    return False


def _is_own(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Var) and expr.scope in _OWN and isinstance(expr.type, Integer)


def _is_number(expr: ir.Expr) -> bool:
    """Whether the value of an expression depends on numbers in the function's own variables alone."""
    match expr:
        case ir.IntConst():
            return isinstance(expr.type, Integer)
        case ir.Var():
            return _is_own(expr)
        case ir.Unary(_, operand) | ir.Cast(operand):
            return isinstance(expr.type, Integer) and _is_number(operand)
        case ir.Binary(_, left, right):
            return isinstance(expr.type, Integer) and _is_number(left) and _is_number(right)
    return False


def result_for(cfa: Cfa, arguments: Sequence[int]) -> int | None:
    """The result of a function that `only_computes`, None if it is not known."""
    values: dict[ir.Expr, int] = {
        parameter: wrapped(value, parameter.type) for parameter, value in zip(cfa.parameters, arguments, strict=True)
    }
    location = cfa.entry
    for _ in range(_STEPS):
        taken = next((edge for edge in cfa.outgoing.get(location, ()) if _is_taken(edge, values)), None)
        if taken is None:
            return None
        match taken.effect:
            case ir.Return(value):
                return None if value is None else _value(value, values)
            case ir.Assign(target, value):
                found = _value(value, values)
                if found is None:
                    values.pop(target, None)
                else:
                    values[target] = wrapped(found, target.type)
        location = taken.target
    return None


def _is_taken(edge: Edge, values: _Values) -> bool:
    if not isinstance(edge.effect, ir.Assume):
        return True
    found = _value(edge.effect.condition, values)
    return found is not None and (found != 0) == edge.effect.truth


def _value(expr: ir.Expr, values: _Values) -> int | None:
    match expr:
        case ir.IntConst(value):
            return value
        case ir.Var():
            return values.get(expr)
        case ir.Cast(operand, type_):
            inner = _value(operand, values)
            return None if inner is None else wrapped(inner, type_)
        case ir.Unary(operator, operand, type_):
            inner = _value(operand, values)
            if inner is None or not isinstance(type_, Integer):
                return None
            return int(inner == 0) if operator == "!" else defined_unary(operator, type_)(inner)
        case ir.Binary(operator, left, right):
            return _combined(operator, left, right, values)
    return None


def _combined(operator: str, left: ir.Expr, right: ir.Expr, values: _Values) -> int | None:
    one, other = _value(left, values), _value(right, values)
    if one is None or other is None or not isinstance(left.type, Integer):
        return None
    if operator in HOLDS:
        return int(HOLDS[operator](one, other))
    return defined(operator, left.type)(one, other)
