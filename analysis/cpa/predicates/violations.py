"""When an edge violates a property, as a condition on the state before it. The conditions are exact or over-approximate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import get_args

import msgspec

from analysis.c.calls import converts_no_pointer, is_null, literal
from analysis.c.control import FAILED_ASSERTIONS
from analysis.c.functions import Function
from analysis.c.operators import rules_of
from analysis.c.passed_objects import fits_format, is_one, passes_over
from analysis.c.undefined import OPERATOR_RULES, CertifiedRule
from analysis.cfa.graph import Cfa, Program
from analysis.cpa.framework.steps import Step
from analysis.cpa.obstacles.late_results import is_late
from analysis.cpa.predicates.definedness import may_read_undefined, reads_undefined
from analysis.cpa.predicates.subscripts import outside
from analysis.model import ir
from analysis.model.c_types import ILP32, LP64, Floating, Pointer
from analysis.model.c_types import INT as C_INT
from analysis.model.spelling import display_name
from analysis.model.verifiers import CHECKS
from analysis.smt.encoding.numbers.operator_faults import fault
from analysis.smt.encoding.numbers.scalar_terms import parse_float, rounded
from analysis.smt.logic.term_building import FALSE, TRUE, and_, distinct, eq, number, or_
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.access import Access
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State

Property = CertifiedRule
PROPERTIES: frozenset[str] = frozenset(get_args(Property))
"""The properties that a certificate can be about."""

MEMORY = frozenset({"null-dereference", "array-bounds"})


class Violation(msgspec.Struct, frozen=True):
    """A property, violated at an edge of a function."""

    function: str
    edge: int
    property: Property


def property_of(found: Iterable[Violation]) -> Property | None:
    """The property that all of these violate; None if there are none. ValueError if they are of more than one."""
    kinds = {violation.property for violation in found}
    if len(kinds) > 1:
        raise ValueError("violations of one property are wanted")
    return kinds.pop() if kinds else None


def violations(program: Program, property_: Property) -> tuple[Violation, ...]:
    """All edges of a program that could violate a property."""
    return tuple(violation for name in sorted(program.functions) for violation in violations_in(program, name, property_))


def violations_in(program: Program, function: str, property_: Property) -> Iterator[Violation]:
    """The edges of one function that could violate a property."""
    if property_ != "assertion" or display_name(function) not in FAILED_ASSERTIONS:
        for edge in _edges(program, program.functions[function], property_):
            yield Violation(function, edge, property_)


def _edges(program: Program, cfa: Cfa, property_: Property) -> Iterator[int]:
    for edge in cfa.edges:
        if property_ == "uninitialized-read":
            is_suspect = may_read_undefined(program, cfa, edge.effect)
        elif property_ == "assertion":
            is_suspect = isinstance(edge.effect, ir.Call) and any(_is_check(program, n) for n in program.targets(edge.effect))
        else:
            parts = (part for expr in ir.expressions(edge.effect) for part in ir.walk(expr))
            is_suspect = any(_is_suspect(part, property_) for part in parts)
            is_suspect = is_suspect or (
                property_ in MEMORY and any(True for _ in passed_pointers(program, edge.effect, property_))
            )
            is_suspect = is_suspect or (property_ in MEMORY and has_odd_format(program, edge.effect))
        if is_suspect:
            yield edge.id


def _is_check(program: Program, callee: str) -> bool:
    """Whether calling the function can be, or is, the failure of an assertion."""
    return display_name(callee) in FAILED_ASSERTIONS or (callee in CHECKS and callee not in program.functions)


def passed_pointers(program: Program, effect: ir.Effect, property_: Property) -> Iterator[ir.Expr]:
    """The pointers that a call uses: the called one, and those passed to external functions where they could be wrong."""
    if not isinstance(effect, ir.Call):
        return
    if ir.direct_callee(effect) is None:
        yield effect.callee
    outside = [name for name in program.targets(effect) or ("",) if name not in program.functions]
    for at, argument in enumerate(effect.arguments):
        if isinstance(argument.type, Pointer) and any(_is_wrong(program.known(name), effect, at, property_) for name in outside):
            yield argument


def has_odd_format(program: Program, effect: ir.Effect) -> bool:
    """Whether a call may make an external function go through what is no pointer, by its format."""
    if not isinstance(effect, ir.Call):
        return False
    return not all(fits_format(name, effect) for name in program.targets(effect) if name not in program.functions)


def _is_wrong(function: Function | None, call: ir.Call, position: int, property_: Property) -> bool:
    """Whether an external function may access what an argument does not lead to. It does not if the argument is a block to be
    freed (another rule is about that, but for null, which not all functions accept), or may be null and is, or is the address of
    a variable that is all that is accessed (on machines of 32 and of 64 bits), or is a string literal that is read up to its end,
    at most."""
    if function is None or not function.is_complete:
        return True
    argument, given = function.argument(position), call.arguments[position]
    if "freed" in argument.uses and (argument.nullable or property_ != "null-dereference"):
        return False
    if function.accepts_null(position) and (property_ == "null-dereference" or is_null(given) or "handle" in argument.uses):
        return False
    if all(is_one(function, position, given, model) for model in (LP64, ILP32)):
        return False
    if property_ == "null-dereference" and passes_over(function, call, position):
        return False
    return not (_is_literal(given) and _reads_text(function, call, position))


def _is_literal(argument: ir.Expr) -> bool:
    """Whether an argument is a string literal of plain characters."""
    literal = ir.strip_casts(argument)
    return isinstance(literal, ir.StringConst) and literal.text.startswith('"')


def _reads_text(function: Function, call: ir.Call, position: int) -> bool:
    """Whether the function reads a string up to its end, at most, and nothing that it says: formats have no conversion of a
    pointer."""
    if position == function.format:
        text = literal(call.arguments[position])
        return text is not None and converts_no_pointer(text)
    return "text" in function.argument(position).uses


def _is_suspect(part: ir.Expr, property_: Property) -> bool:
    if property_ == "null-dereference":
        return isinstance(part, ir.Deref) or moves_pointer(part)
    if property_ == "array-bounds":
        return isinstance(part, ir.Deref | ir.Index)
    if property_ not in OPERATOR_RULES:  # False would say that nothing violates it
        raise ValueError(f"no condition says which expressions can violate {property_}: add one")
    return property_ in rules_of(part) or (property_ == "division-by-zero" and divides_floats(part))


def moves_pointer(part: ir.Expr) -> bool:
    """Whether something is added to a pointer, or subtracted: of a null pointer that is undefined (C11 6.5.6p8), and what comes
    of it is not null, but leads nowhere either."""
    return isinstance(part, ir.Binary) and part.operator in ("+", "-") and isinstance(part.type, Pointer)


def divides_floats(part: ir.Expr) -> bool:
    """Whether a floating value is divided by anything but a constant other than zero: undefined for zero by C11 6.5.5p5 (by its
    annex F, it is not)."""
    if not isinstance(part, ir.Binary) or part.operator != "/" or not isinstance(part.type, Floating):
        return False
    return not _constant(part.right)


def _constant(divisor: ir.Expr) -> Fraction | None:
    """The value of a constant, after conversions to floating types; None if it is not one. Others may make it zero, as in
    `(int)0.5`; so may these, as in `(float)1e-300`."""
    match divisor:
        case ir.IntConst(integer):
            return Fraction(integer)
        case ir.FloatConst(text, Floating() as type_):
            return parse_float(text, type_)
        case ir.Cast(operand, Floating() as type_):
            value = _constant(operand)
            return None if value is None else rounded(float(value), type_)
        case _:
            return None


def has_float_division(effect: ir.Effect) -> bool:
    """Whether the effect divides floating values so."""
    return any(divides_floats(part) for expr in ir.expressions(effect) for part in ir.walk(expr))


def condition(system: System, state: State, step: Step, context: int, violation: Violation) -> State | None:
    """The states in which the edge is reached and violates; None if there are plainly none.

    Raises ValueError for an edge that the property does not speak about."""
    effect = step.edge.effect
    if violation.property == "assertion":
        access = Access(system.vocabulary, state, step.function, context)
        fails = _assertion(system.program, effect, step.callee, access)
        return None if fails is FALSE else state.constrained(fails, *access.ledger.constraints)
    if violation.property == "uninitialized-read":
        fails = reads_undefined(system, state, step, context)
        return None if fails is FALSE else state.constrained(fails)
    found = []
    for expr in ir.expressions(effect):
        is_result = step.kind == "enter" and isinstance(effect, ir.Call) and expr is effect.result
        later = is_result and is_late(system.program.functions[step.function], step.edge)
        for part in ir.walk(expr):
            if later and _is_suspect(part, violation.property):
                found.append(TRUE)
            elif _is_suspect(part, violation.property):
                access = Access(system.vocabulary, state, step.function, context)
                fails = _fails(part, access, violation.property)
                found.append(and_(fails, *access.ledger.constraints))  # constraints of its operands: these do not violate
    if violation.property in MEMORY and has_odd_format(system.program, effect):
        found.append(TRUE)
    for pointer in passed_pointers(system.program, effect, violation.property) if violation.property in MEMORY else ():
        access = Access(system.vocabulary, state, step.function, context)
        fails = _is_null(pointer, access) if violation.property == "null-dereference" else TRUE
        found.append(and_(fails, *access.ledger.constraints))
    return None if or_(*found) is FALSE else state.constrained(or_(*found))


def _assertion(program: Program, effect: ir.Effect, callee: str, access: Access) -> Term:
    """The condition that the call is one of `callee` (which a pointer may lead to), and that it fails."""
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


def _is_null(pointer: ir.Expr, access: Access) -> Term:
    """The condition that a pointer is null, or was before something was added to it."""
    found = []
    while isinstance(pointer.type, Pointer):
        value = access.expressions.value(pointer)
        found.append(eq(value, number(0, value.sort)))
        inner = ir.strip_casts(pointer)
        if isinstance(inner, ir.AddressOf):
            root = ir.root(inner.lvalue)
            pointer = root.pointer if isinstance(root, ir.Deref) else ir.IntConst(0, C_INT)
        else:
            pointer = inner.left if isinstance(inner, ir.Binary) else ir.IntConst(0, C_INT)
    return or_(*found)


def _fails(part: ir.Expr, access: Access, property_: Property) -> Term:
    if isinstance(part, ir.Deref):  # how large the object is that a pointer leads to is not known
        return _is_null(part.pointer, access) if property_ == "null-dereference" else TRUE
    if isinstance(part, ir.Index):
        return outside(part, access)
    if property_ == "null-dereference" and isinstance(part, ir.Binary):
        left, right = access.expressions.value(part.left), access.expressions.value(part.right)
        return and_(eq(left, number(0, left.sort)), distinct(right, number(0, right.sort)))
    if not isinstance(part, ir.Binary | ir.Unary):
        return FALSE
    if property_ == "division-by-zero" and divides_floats(part):
        return TRUE  # how results are rounded is not followed, so that the divisor could be zero
    return fault(access.arithmetic, property_, part, access.expressions.value)
