"""What single calls pass to a function: that a parameter is zero, is not, or is a constant or a string literal.

Where a call does not keep all that a function needs, the function may still violate nothing in that call: `fail("no memory",
NULL)` needs no text where the format asks for none. So the function is followed once more, from what this call passes.
"""

from __future__ import annotations

from collections.abc import Callable

from analysis.c.calls import literal
from analysis.certificate.nonzero.callee_contracts import Contract
from analysis.certificate.nonzero.data_invariants import Always
from analysis.certificate.nonzero.values import Known, constant, is_nonzero, is_zero
from analysis.cfa.graph import Cfa
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer

Given = tuple[ir.Expr | bool | None, ...]
"""For each parameter: the constant or literal that it is, whether it is not zero, or None where nothing is known."""
InContext = Callable[[str, Given], Contract | None]
"""The contract of a function where a call passes this; None if it may violate the rule then, or is not followed."""


def never(_name: str, _given: Given) -> Contract | None:
    """Follows nothing once more."""
    return None


def given(known: Known, callee: Cfa, arguments: tuple[ir.Expr, ...], always: Always) -> Given:
    """What a call passes to the parameters of a function. Without a prototype nothing converts it: then nothing is known."""
    pairs = list(zip(callee.parameters, arguments, strict=False))
    found = [_value(known, parameter, argument, always) for parameter, argument in pairs]
    return (*found, *(None for _ in callee.parameters[len(pairs) :]))


def _value(known: Known, parameter: ir.Var, argument: ir.Expr, always: Always) -> ir.Expr | bool | None:
    are_pointers = isinstance(parameter.type, Pointer) and isinstance(argument.type, Pointer)
    if not are_pointers and (parameter.type != argument.type or not isinstance(argument.type, Integer)):
        return None
    text = text_of(known, argument) if are_pointers else None
    if text is not None:
        return text
    number = constant(known, argument) if isinstance(parameter.type, Integer) else None
    if number is not None:
        return ir.IntConst(number, parameter.type)
    if is_zero(known, argument):
        return False
    return True if is_nonzero(known, argument, always) else None


def text_of(known: Known, argument: ir.Expr) -> ir.Expr | None:
    """The string literal that an argument is, or that a variable is known to be."""
    bare = _pointer(argument)
    return next((_pointer(one) for one in (bare, *known.values(bare)) if literal(_pointer(one)) is not None), None)


def _pointer(expr: ir.Expr) -> ir.Expr:
    """A pointer under casts to other pointers."""
    while isinstance(expr, ir.Cast) and isinstance(expr.operand.type, Pointer):
        expr = expr.operand
    return expr


def at_entry(known: Known, cfa: Cfa, passed: Given) -> Known:
    """What is known where a function begins that is passed this, beside what is known there anyway."""
    for parameter, value in zip(cfa.parameters, passed, strict=False):
        if isinstance(value, ir.Expr):
            known = known._replace(equal=known.equal | {(parameter, value)})
        is_zero_ = value is False or (isinstance(value, ir.IntConst) and value.value == 0)
        if is_zero_:
            known = known._replace(zero=known.zero | {parameter})
        elif value is not None:
            known = known._replace(nonzero=known.nonzero | {parameter})
    return known
