"""What callers may rely on of a function, and what they have to keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from analysis.c.control import UNMODELLED
from analysis.certificate.nonzero.writes import EVERYTHING, Place
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.linking.obstacle_words import RETURNS
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.spelling import display_name

Needs = tuple[ir.Expr, ...]
"""Expressions over the parameters of a function that must not be zero where it is called."""


class Tell(NamedTuple):
    """That an expression over parameters is not zero (`nonzero`), or is, after a call whose result is not zero (`when`), or
    is."""

    when: bool
    expr: ir.Expr
    nonzero: bool


class Contract(NamedTuple):
    """`needs`: what callers must establish, so that the function does not violate the rule. `returns`: whether it may return.
    `nonzero`: whether its result is never zero, or null; `unless`: the numbers of parameters, of which it is enough that one is
    not zero. `writes`: what it may write, as callers see it; `clears`: what of that may be zero then, or changed in part.
    `tells`: what its result says of its parameters, and of what they lead to; None: everything, as it does not return. All of
    that is about calls that get what it needs; `unkept`, the same about those that do not, up to where the rule is violated: who
    does not keep what is needed is told, and nothing is shown of runs behind that. None: nothing is known."""

    needs: Needs = ()
    returns: bool = True
    nonzero: bool = False
    writes: frozenset[Place] = EVERYTHING
    unless: frozenset[int] = frozenset()
    clears: frozenset[Place] = EVERYTHING
    tells: frozenset[Tell] | None = frozenset()
    unkept: Contract | None = None


ANYTHING = Contract()
"""Of a function that is not followed."""
NOTHING_YET = Contract((), returns=False, nonzero=True, writes=frozenset(), clears=frozenset(), tells=None)
"""What functions that call each other begin with: calls among them do nothing and never return."""


def not_followed(program: Program, name: str | None, targets: Iterable[str]) -> str:
    """The function that makes a call one behind which nothing is followed, in words; empty if there is none. `name`: that of the
    call, unless it is through a pointer. What follows a call of a function that returns though it should not is in no CFA."""
    if name in UNMODELLED or not UNMODELLED.isdisjoint(targets):
        return display_name(name or "a function through a pointer")
    return next((display_name(target) for target in targets if _may_come_back(program, target)), "")


def _may_come_back(program: Program, name: str) -> bool:
    """Whether a function may return that is declared not to."""
    cfa = program.functions.get(name)
    return cfa is not None and comes_back_though(cfa)


def comes_back_though(cfa: Cfa) -> bool:
    """Whether a function may return though it is declared not to."""
    return any(isinstance(edge.effect, ir.Unsupported) and edge.effect.reason == RETURNS for edge in cfa.unsupported)


def followed_pointers(need: ir.Expr) -> tuple[ir.Expr, ...]:
    """The pointers that lead to what is needed, the first one first. Where one is null, nothing is needed there."""
    return tuple(part.pointer for part in ir.walk(need) if isinstance(part, ir.Deref))


def passed(callee: Cfa, need: ir.Expr, arguments: tuple[ir.Expr, ...]) -> ir.Expr | None:
    """What is needed of a call, in the words of the caller; None if an argument is missing or of another type."""
    given: dict[str, ir.Expr] = {}
    for parameter, argument in zip(callee.parameters, arguments, strict=False):
        are_pointers = isinstance(parameter.type, Pointer) and isinstance(argument.type, Pointer)
        if are_pointers or parameter.type == argument.type:  # without a prototype, nothing converts it
            given[parameter.name] = argument
    return _replaced(need, given)


def _replaced(expr: ir.Expr, given: dict[str, ir.Expr]) -> ir.Expr | None:
    match expr:
        case ir.Var(name):
            return given.get(name)
        case ir.Deref(pointer, type_):
            inner = _replaced(pointer, given)
            if isinstance(inner, ir.AddressOf) and inner.lvalue.type == type_:
                return inner.lvalue
            return None if inner is None else ir.Deref(inner, type_)
        case ir.Field(record, name, type_):
            inner = _replaced(record, given)
            return None if inner is None else ir.Field(inner, name, type_)
        case _:
            return None
