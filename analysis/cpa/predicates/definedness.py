"""When an edge reads what has no value (C11 6.3.2.1p2, 6.7.9p10), as a condition on the state before it.

Each local variable, and each parameter and result that is a structure, has a flag in the state that says whether a value was
assigned to it as a whole (`analysis.smt.transitions.system`). What is read through pointers, or by external functions
through pointers that they are given, may always lack a value; so may the result of a function that can end without one (C11
6.9.1p12).
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.cfa.graph import Cfa, Edge, Program
from analysis.cpa.framework.steps import Step
from analysis.model import ir
from analysis.model.c_types import Pointer, Record
from analysis.model.kept_with import kept_with
from analysis.smt.logic.term_building import FALSE, TRUE, eq, number, or_
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.access import Access
from analysis.smt.transitions.system import System, definedness_flag, has_flag
from analysis.smt.transitions.transition_state import State


def may_read_undefined(program: Program, cfa: Cfa, effect: ir.Effect) -> bool:
    """Whether an edge of a function reads anything that may lack a value."""
    return _reads_unknown(program, effect) or any(_is_flagged(cfa, part) for part in _read(effect))


def reads_undefined(system: System, state: State, step: Step, context: int) -> Term:
    """The condition that the edge reads something that lacks a value, or may."""
    effect, cfa = step.edge.effect, system.program.functions[step.function]
    if _reads_unknown(system.program, effect) or was_jumped_past(cfa, step.edge):
        return TRUE
    access = Access(system.vocabulary, state, step.function, context)
    flags = [access.get(definedness_flag(system.vocabulary, access.name(v))) for v in _variables(cfa, effect)]
    return or_(*(eq(flag, number(0, flag.sort)) for flag in flags)) if flags else FALSE


def was_jumped_past(cfa: Cfa, edge: Edge) -> bool:
    """Whether an edge reads a variable whose declaration may have been jumped past. In a loop, it could then have the value of
    the round before, which it has lost (C11 6.2.4p6)."""
    read = {variable.name for variable in _variables(cfa, edge.effect) if variable.scope == "local"}
    if not read:
        return False
    met = _always_met(cfa)
    return edge.source in met and not read <= met[edge.source]


@kept_with
def _always_met(cfa: Cfa) -> dict[int, frozenset[str]]:
    """The variables that every path to a location has declared or assigned to. Unreachable locations are left out."""
    met: dict[int, frozenset[str]] = {cfa.entry: frozenset()}
    waiting = [cfa.entry]
    while waiting:
        here = waiting.pop()
        for edge in cfa.outgoing.get(here, ()):
            target = getattr(edge.effect, "target", None) or getattr(edge.effect, "result", None)
            after = met[here] | {variable.name for variable in (_root(target),) if variable is not None}
            known = met.get(edge.target)
            if known is None or not known <= after:
                met[edge.target] = after if known is None else known & after
                waiting.append(edge.target)
    return met


def _root(lvalue: ir.Expr | None) -> ir.Var | None:
    """The variable that an lvalue is, or is a part of."""
    root = None if lvalue is None else ir.root(lvalue)
    return root if isinstance(root, ir.Var) else None


def _variables(cfa: Cfa, effect: ir.Effect) -> list[ir.Var]:
    found = [part for part in _read(effect) if isinstance(part, ir.Var) and _is_flagged(cfa, part)]
    return list({variable.name: variable for variable in found}.values())


def _is_flagged(cfa: Cfa, part: ir.Expr) -> bool:
    """Whether the part is a variable with a flag that is no scalar parameter. Scalar temporaries are assigned wherever they are
    read."""
    if not isinstance(part, ir.Var) or not has_flag(part):
        return False
    return isinstance(part.type, Record) or all(part.name != known.name for known in cfa.parameters)


def _reads_unknown(program: Program, effect: ir.Effect) -> bool:
    """Whether it reads through a pointer, hands a pointer to code that is not known, or takes a result that may be missing."""
    if any(isinstance(part, ir.Deref) for part in _read(effect)):
        return True
    if not isinstance(effect, ir.Call):
        return False
    targets = program.targets(effect)
    bodies = [program.functions[name] for name in targets if name in program.functions]
    if len(bodies) < len(targets) or not targets:
        bare = [ir.strip_casts(argument) for argument in effect.arguments if isinstance(argument.type, Pointer)]
        if not all(isinstance(pointer, ir.IntConst) or _is_literal(pointer) for pointer in bare):
            return True
    return effect.result is not None and any(_can_lack_result(cfa) for cfa in bodies)


def _is_literal(pointer: ir.Expr) -> bool:
    lvalue = pointer.lvalue if isinstance(pointer, ir.AddressOf) else pointer
    while isinstance(lvalue, ir.Index):
        lvalue = lvalue.array
    return isinstance(lvalue, ir.StringConst)


def _can_lack_result(cfa: Cfa) -> bool:
    ends = cfa.incoming.get(cfa.exit, ())
    return any(not (isinstance(edge.effect, ir.Return) and edge.effect.value is not None) for edge in ends)


def _read(effect: ir.Effect) -> Iterator[ir.Expr]:
    """The parts of an effect whose values are read: not objects that are assigned to, or whose address or elements are taken."""
    for value in ir.values_of(effect):
        yield from _of_value(value)
    target = ir.target_of(effect)
    if target is not None:
        yield from _of_place(target)


def _of_value(expr: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(expr, ir.AddressOf):
        yield from _of_place(expr.lvalue)
        return
    if isinstance(expr, ir.LVALUES):
        yield expr
        root = ir.root(expr)
        if root is not expr:
            yield root
        yield from _of_place(expr)
        return
    for operand in ir.operands(expr):
        yield from _of_value(operand)


def _of_place(lvalue: ir.Expr) -> Iterator[ir.Expr]:
    """What is read to know which object is meant: pointers and indices."""
    for value in ir.place_values(lvalue):
        yield from _of_value(value)
