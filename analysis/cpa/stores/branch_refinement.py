"""What a branch implies about a cell whose value is not known: "c is the only satisfying assignment"
([SYMCEGAR] section 3.2.4, 3 a).

    x == e, taken      x becomes what e is        x, not taken       x becomes 0
    x != e, not taken  likewise                   _Bool x, taken     x becomes 1

x may be under conversions: to a type that can hold all values of x (then e may be none of them, and the branch is impossible),
or to one of the same width.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.cpa.stores.evaluate import Evaluator, Place, Work
from analysis.cpa.stores.scalar_values import Address, Value, bits_of, wrap
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer, Type

Refine = Callable[[Work], bool]
Write = Callable[[Work, Place, int, Value], None]


def refinement(evaluator: Evaluator, effect: ir.Assume, write: Write) -> Refine | None:
    """Writes what the branch implies, given that its condition is not known; answers False if the branch is impossible. None: it
    tells nothing."""
    found = [refine for lvalue, value in _equalities(effect) if (refine := _refine(evaluator, lvalue, value, write)) is not None]
    if not found:
        return None
    return found[0] if len(found) == 1 else lambda work: all(refine(work) for refine in found)


def _equalities(effect: ir.Assume) -> list[tuple[ir.Expr, ir.Expr]]:
    """Pairs of a converted lvalue and the value it has."""
    condition = effect.condition
    if isinstance(condition, ir.Binary) and condition.operator == ("==" if effect.truth else "!="):
        return [(condition.left, condition.right), (condition.right, condition.left)]
    if not effect.truth:
        return [(condition, ir.IntConst(0, condition.type))]
    bare = ir.strip_casts(condition)
    if isinstance(bare.type, Integer) and (bare.type.name == "_Bool" or (bare.type.bits == 1 and not bare.type.signed)):
        return [(bare, ir.IntConst(1, bare.type))]
    return []


def _refine(evaluator: Evaluator, converted: ir.Expr, value: ir.Expr, write: Write) -> Refine | None:
    lvalue = _under_conversions(converted)
    if lvalue is None:
        return None
    locate, compute, current = evaluator.place(lvalue), evaluator.value(value), evaluator.value(lvalue)
    width = bits_of(lvalue.type, evaluator.variables.pointer_bits)
    if width is None:
        return None
    own, outer, written = lvalue.type, converted.type, width

    def refine(work: Work) -> bool:
        if current(work) is not None:
            return True
        found = compute(work)
        if type(found) is int:
            inner = wrap(found, own)
            if inner is None:
                return True
            if wrap(inner, outer) != found:
                return False
            found = inner
        elif type(found) is not Address:
            return True
        place = locate(work)
        if place is not None and place[1] is not None:
            write(work, place, written, found)
        return True

    return refine


def _under_conversions(expr: ir.Expr) -> ir.Expr | None:
    """The lvalue under conversions that lose nothing."""
    while isinstance(expr, ir.Cast) and _keeps(expr.operand.type, expr.type):
        expr = expr.operand
    return expr if isinstance(expr, ir.LVALUES) else None


def _keeps(source: Type, target: Type) -> bool:
    if isinstance(source, Pointer) and isinstance(target, Pointer):
        return True
    if not isinstance(source, Integer) or not isinstance(target, Integer) or target.name == "_Bool":
        return False
    return target.bits >= source.bits
