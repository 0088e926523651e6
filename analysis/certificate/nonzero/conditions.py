"""What is known where a condition holds, or does not; and that a branch cannot be taken."""

from __future__ import annotations

from typing import NamedTuple

from analysis.certificate.nonzero.data_invariants import Always
from analysis.certificate.nonzero.main_arguments import present
from analysis.certificate.nonzero.values import Known, constant, is_nonzero, is_stable, is_zero
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer
from analysis.model.comparisons import COMPARISONS, HOLDS, MIRRORED, NEGATED


class _Said(NamedTuple):
    """That an expression is zero, or is not."""

    expr: ir.Expr
    nonzero: bool


def assumed(known: Known, condition: ir.Expr, always: Always, *, truth: bool) -> Known | None:
    """What is known where a condition is not zero (`truth`), or is; None if it cannot be."""
    waiting, done = [_Said(condition, truth)], set[_Said]()
    while waiting:
        said = waiting.pop()
        if said in done:
            continue
        done.add(said)
        if is_zero(known, said.expr) if said.nonzero else is_nonzero(known, said.expr, always):
            return None
        if _contradicts(known, said):
            return None
        if isinstance(said.expr, ir.LVALUES) and is_stable(said.expr):
            known = _with(known, said)
            waiting += [_Said(value, said.nonzero) for value in known.values(said.expr)]
            waiting += [_Said(variable, said.nonzero) for variable, value in known.equal if value == said.expr]
            waiting += [_Said(one.expr, one.nonzero) for one in known.told if (one.variable, one.when) == said]
        elif isinstance(said.expr, ir.Binary) and said.expr.operator in COMPARISONS:
            known = _with_constant(known, said)
            waiting += _compared(known, said, always)
        else:
            waiting += _parts(said)
    return known


def _with(known: Known, said: _Said) -> Known:
    if said.nonzero:
        return known._replace(nonzero=known.nonzero | {said.expr})
    return known._replace(zero=known.zero | {said.expr})


def _parts(said: _Said) -> list[_Said]:
    """What follows of the operands."""
    match said.expr:
        case ir.Cast(operand, type_):
            return [_Said(operand, said.nonzero)] if _follows(operand, type_, nonzero=said.nonzero) else []
        case ir.Unary("!", operand) if isinstance(operand.type, Integer | Pointer):
            return [_Said(operand, not said.nonzero)]
        case ir.Unary("-", operand) if isinstance(operand.type, Integer):
            return [_Said(operand, said.nonzero)]
        case ir.Binary("&" | "*", left, right) if isinstance(said.expr.type, Integer) and said.nonzero:
            return [_Said(left, True), _Said(right, True)]
        case ir.Binary("|", left, right) if not said.nonzero:
            return [_Said(left, False), _Said(right, False)]
        case _:
            return []


def _follows(operand: ir.Expr, type_: object, *, nonzero: bool) -> bool:
    """Whether what a conversion gives says whether its operand is zero. One that is cut off may be zero though the operand is
    not."""
    match operand.type, type_:
        case Pointer(), Pointer():
            return True
        case ((Integer() | Pointer()), Integer(_, _, "_Bool")):
            return True
        case ((Integer() | Pointer()), (Integer() | Pointer())) if nonzero:
            return True
        case Integer(before), Integer(after):
            return after >= before
        case _:
            return False


def _comparison(said: _Said) -> tuple[str, ir.Expr, ir.Expr] | None:
    if not isinstance(said.expr, ir.Binary) or said.expr.operator not in COMPARISONS:
        return None
    operator = said.expr.operator if said.nonzero else NEGATED[said.expr.operator]
    return operator, said.expr.left, said.expr.right


def _contradicts(known: Known, said: _Said) -> bool:
    """Whether a comparison of known constants comes out otherwise."""
    found = _comparison(said)
    if found is None:
        return False
    operator, left, right = found
    first, second = constant(known, left), constant(known, right)
    return first is not None and second is not None and not HOLDS[operator](first, second)


def _with_constant(known: Known, said: _Said) -> Known:
    """A variable that equals a constant is noted as such."""
    found = _comparison(said)
    if found is None or found[0] != "==":
        return known
    for one, other in (found[1:], found[:0:-1]):
        if (
            isinstance(one, ir.Var)
            and isinstance(other, ir.IntConst)
            and isinstance(one.type, Integer)
            and one.type == other.type
        ):
            return known._replace(equal=known.equal | {(one, other)})
    return known


def _compared(known: Known, said: _Said, always: Always) -> list[_Said]:
    """What a comparison says of its sides."""
    found = _comparison(said)
    if found is None:
        return []
    operator, left, right = found
    told = [_one_side(known, operator, left, right, always), _one_side(known, MIRRORED[operator], right, left, always)]
    given = *present(known, operator, left, right), *present(known, MIRRORED[operator], right, left)
    return [*(one for one in told if one is not None), *(_Said(one, True) for one in given)]


def _one_side(known: Known, operator: str, one: ir.Expr, other: ir.Expr, always: Always) -> _Said | None:
    """What `one operator other` says of `one`."""
    if not isinstance(one.type, Integer | Pointer) or not isinstance(other.type, Integer | Pointer):
        return None
    if operator in ("==", "!="):
        if is_zero(known, other):
            return _Said(one, operator == "!=")
        return _Said(one, True) if operator == "==" and is_nonzero(known, other, always) else None
    return _ordered(operator, one, constant(known, other)) if isinstance(one.type, Integer) else None


def _ordered(operator: str, one: ir.Expr, bound: int | None) -> _Said | None:
    """What an order says of an integer: that it is not zero, or is."""
    type_ = one.type
    if not isinstance(type_, Integer):
        return None
    if not type_.signed and operator == ">":
        return _Said(one, True)
    if bound is None:
        return None
    if not HOLDS[operator](0, bound):
        return _Said(one, True)
    is_least = not type_.signed and ((operator == "<" and bound == 1) or (operator == "<=" and bound == 0))
    return _Said(one, False) if is_least else None
