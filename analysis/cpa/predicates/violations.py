"""When an edge violates a property, as a condition on the state before it. The conditions are exact or over-approximate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import msgspec

from analysis.cfa.graph import Cfa, Program
from analysis.cpa.steps import Step
from analysis.model import ir
from analysis.model.c_types import Array, Floating, Integer, Pointer
from analysis.model.spelling import display_name
from analysis.smt.build import FALSE, TRUE, and_, eq, number, or_
from analysis.smt.encoding import scalars
from analysis.smt.terms import Term
from analysis.smt.transitions.access import Access
from analysis.smt.transitions.state import State
from analysis.smt.transitions.system import System

Property = Literal["assertion", "division-by-zero", "signed-overflow", "shift-range"]
PROPERTIES: frozenset[str] = frozenset(get_args(Property))
"""The properties that a certificate can be about."""

_ENDS = frozenset(
    {"reach_error", "__VERIFIER_error", "__assert_fail", "__assert", "__assert_perror_fail", "__assert_rtn", "_assert"}
)
CHECKS = frozenset({"__VERIFIER_assert"})
"""Functions that fail if their argument is zero, where the program does not define them."""


class Violation(msgspec.Struct, frozen=True):
    """A property, violated at an edge of a function."""

    function: str
    edge: int
    property: Property


def violations(program: Program, property_: Property) -> tuple[Violation, ...]:
    """All edges of a program that could violate a property."""
    return tuple(
        Violation(name, edge, property_)
        for name, cfa in sorted(program.functions.items())
        if property_ != "assertion" or display_name(name) not in _ENDS
        for edge in _edges(program, cfa, property_)
    )


def _edges(program: Program, cfa: Cfa, property_: Property) -> Iterator[int]:
    for edge in cfa.edges:
        if property_ == "assertion":
            if isinstance(edge.effect, ir.Call) and any(_is_check(program, name) for name in program.targets(edge.effect)):
                yield edge.id
        elif any(_is_suspect(part, property_) for expr in ir.expressions(edge.effect) for part in ir.walk(expr)):
            yield edge.id


def _is_check(program: Program, callee: str) -> bool:
    """Whether calling the function can be, or is, the failure of an assertion."""
    return display_name(callee) in _ENDS or (callee in CHECKS and callee not in program.functions)


def _is_suspect(part: ir.Expr, property_: Property) -> bool:
    if not isinstance(part, ir.Binary | ir.Unary) or not isinstance(part.type, Integer):
        return False
    operator = part.operator
    match property_:
        case "division-by-zero":
            return operator in ("/", "%")
        case "shift-range":
            return operator in ("<<", ">>")
        case _:
            return part.type.signed and operator in ("+", "-", "*", "/", "%", "<<")


def condition(system: System, state: State, step: Step, context: int, violation: Violation) -> State | None:
    """The states in which the edge is reached and violates; None if there are plainly none.

    Raises ValueError for an edge that the property does not speak about."""
    effect = step.edge.effect
    if violation.property == "assertion":
        access = Access(system.vocabulary, state, step.function, context)
        fails = _assertion(system.program, effect, step.callee, access)
        return None if fails is FALSE else state.constrained(fails, *access.ledger.constraints)
    found = []
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            if _is_suspect(part, violation.property) and isinstance(part, ir.Binary | ir.Unary):
                access = Access(system.vocabulary, state, step.function, context)
                fails = _fails(part, access, violation.property)
                found.append(and_(fails, *access.ledger.constraints))  # constraints of its operands: these do not violate
    return None if or_(*found) is FALSE else state.constrained(or_(*found))


def _assertion(program: Program, effect: ir.Effect, callee: str, access: Access) -> Term:
    """That the call is one of `callee` (which a pointer may lead to), and that it fails."""
    if not isinstance(effect, ir.Call):
        raise ValueError("an assertion is a call")
    if not _is_check(program, callee):
        return FALSE
    fails = TRUE
    type_ = program.function_type(callee)
    if ir.direct_callee(effect) is None and type_ is not None:
        fails = eq(access.expressions.value(effect.callee), access.address(ir.Var(callee, "function", type_)))
    if callee in CHECKS and effect.arguments:
        argument = effect.arguments[0]
        value = access.expressions.value(argument)
        return and_(fails, access.arithmetic.compare("==", value, access.zero(argument.type), argument.type))
    return fails


def _fails(part: ir.Binary | ir.Unary, access: Access, property_: Property) -> Term:
    arithmetic = access.arithmetic
    if isinstance(part, ir.Unary):
        if part.operator != "-":
            return FALSE
        return arithmetic.overflows("-", access.expressions.value(part.operand), None, part.type)
    if isinstance(part.left.type, Pointer | Array | Floating):
        return FALSE
    left, right = access.expressions.value(part.left), access.expressions.value(part.right)
    if property_ == "division-by-zero":
        return eq(right, number(0, right.sort))
    if property_ == "shift-range":
        width = arithmetic.constant(scalars.width(part.type, arithmetic.model.pointer_bits), part.right.type)
        zero = arithmetic.constant(0, part.right.type)
        return or_(arithmetic.compare("<", right, zero, part.right.type), arithmetic.compare(">=", right, width, part.right.type))
    return arithmetic.overflows(part.operator, left, right, part.type)
