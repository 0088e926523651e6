"""A program in which violations lead to locations of their own, for analyses whose targets are locations: in front of an edge
that can violate, branches to a new location where an operand is what it must not be. The conditions are exact or
over-approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analysis.c.operators import rules_of
from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cpa.obstacles.exposed_variables import exposed
from analysis.cpa.predicates.violations import Violation, has_float_division, moves_pointer
from analysis.model import ir
from analysis.model.c_types import INT, Pointer
from analysis.model.verifiers import CHECKS

Locations = Mapping[str, frozenset[int]]
"""Locations by the function that they are in."""
TRUE, REACHED = ir.IntConst(1, INT), ir.IntConst(2, INT)  # the edge fails; it may, and more is not said
EXPRESSED = frozenset({"assertion", "null-dereference", "division-by-zero"})
"""Properties with conditions on operands."""


class ErrorLocations(msgspec.Struct, frozen=True):
    """The program with more locations, and which ones these are. Edges that cannot be taken without violating the property, calls
    of error functions, are not in it."""

    program: Program
    locations: Locations


def with_error_locations(program: Program, violations: Sequence[Violation]) -> ErrorLocations | None:
    """The program with a location for the violations in each function; None if one has no condition on operands."""
    if any(violation.property not in EXPRESSED for violation in violations):
        return None
    functions = dict(program.functions)
    locations: dict[str, frozenset[int]] = {}
    for name in dict.fromkeys(violation.function for violation in violations):
        cfa = program.functions[name]
        claimed = {violation.edge: violation for violation in violations if violation.function == name}
        found: dict[tuple[int, ir.Expr], None] = {}
        kept: list[Edge] = []
        for edge in cfa.edges:
            conditions = _conditions(program, edge.effect, claimed[edge.id]) if edge.id in claimed else []
            found.update({(edge.source, condition): None for condition in conditions})
            if not _always_fails(edge.effect, conditions):
                kept.append(edge)
        location, number = cfa.next_location, cfa.next_edge
        locations[name] = frozenset((location,))
        kept += [Edge(number + i, source, location, ir.Assume(c, True)) for i, (source, c) in enumerate(found)]
        functions[name] = cfa.with_edges(tuple(kept))
    return ErrorLocations(with_functions(program, functions), locations)


def _always_fails(effect: ir.Effect, conditions: Sequence[ir.Expr]) -> bool:
    """Whether it is a call of an error function. (A call through a pointer may lead to another one.)"""
    return isinstance(effect, ir.Call) and TRUE in conditions and ir.direct_callee(effect) is not None


def _conditions(program: Program, effect: ir.Effect, violation: Violation) -> list[ir.Expr]:
    if violation.property == "assertion":
        checked = check_argument(program, effect)
        return [TRUE] if checked is None else [_is_zero(checked)]
    suspects = pointers(program, effect) if violation.property == "null-dereference" else divisors(effect)
    if violation.property == "division-by-zero" and has_float_division(effect):
        return [REACHED]
    return [_is_zero(expr) for expr in dict.fromkeys(suspects)]


def _is_zero(expr: ir.Expr) -> ir.Expr:
    return ir.Binary("==", expr, ir.IntConst(0, expr.type), INT)


def check_argument(program: Program, effect: ir.Effect) -> ir.Expr | None:
    """What must not be zero, where the effect is a call that fails if its argument is."""
    if not isinstance(effect, ir.Call) or ir.direct_callee(effect) not in CHECKS - program.functions.keys():
        return None
    return ir.strip_casts(effect.arguments[0]) if effect.arguments else None


def pointers(program: Program, effect: ir.Effect) -> Iterator[ir.Expr]:
    """What must not be null: the pointers that are dereferenced (as computed, and as they were before something was added), and
    those that are passed to external functions, or called."""
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            if isinstance(part, ir.Deref):
                yield from _bases(part.pointer)
            elif moves_pointer(part):
                yield from _bases(part)
    if isinstance(effect, ir.Call):
        is_outside = any(name not in program.functions for name in program.targets(effect) or ("",))
        for argument in (effect.callee, *(effect.arguments if is_outside else ())):
            if isinstance(argument.type, Pointer):
                yield from _bases(argument)


def _bases(pointer: ir.Expr) -> Iterator[ir.Expr]:
    if not isinstance(pointer.type, Pointer):
        return
    yield pointer
    inner = ir.strip_casts(pointer)
    if isinstance(inner, ir.Binary) and isinstance(inner.left.type, Pointer):
        yield from _bases(inner.left)
    elif isinstance(inner, ir.AddressOf):
        root = ir.root(inner.lvalue)
        if isinstance(root, ir.Deref):
            yield from _bases(root.pointer)


def divisors(effect: ir.Effect) -> Iterator[ir.Expr]:
    """What must not be zero of divisions of integers."""
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            if isinstance(part, ir.Binary) and "division-by-zero" in rules_of(part):
                yield part.right


def with_functions(program: Program, functions: Mapping[str, Cfa]) -> Program:
    """The program with other functions."""
    return Program(dict(functions), program.globals, program.externals, program.records, program.address_taken, exposed(program))
