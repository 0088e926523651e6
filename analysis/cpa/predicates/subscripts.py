"""Subscripts that may lie outside of their array. What such an access reads or changes is not modelled, so a
proof has to show that no execution makes one (C11 6.5.6p8). Only arrays of known length are checked: the
bounds of what a pointer points to are not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.cfa.unnamed_values import with_origins
from analysis.cpa.framework.steps import Step
from analysis.cpa.obstacles.late_results import is_late
from analysis.model import ir
from analysis.model.c_types import Array, Integer
from analysis.model.spelling import display_name, spell_expr
from analysis.smt.logic.term_building import FALSE, TRUE, and_, or_
from analysis.smt.logic.terms import Term
from analysis.smt.transitions.access import Access
from analysis.smt.transitions.system import System
from analysis.smt.transitions.transition_state import State


def accessed(expr: ir.Expr) -> Iterator[ir.Index]:
    """The subscripts through which an expression reads or writes. To take an element's address, also of the one past the end,
    is no access."""
    waiting: list[tuple[ir.Expr, bool]] = [(expr, True)]
    while waiting:
        part, is_access = waiting.pop()
        match part:
            case ir.AddressOf(lvalue):
                waiting.append((lvalue, False))
            case ir.Field(record):
                waiting.append((record, is_access))
            case ir.Index(array, index):
                waiting += [(array, is_access), (index, True)]
                if is_access and _length(part) is not None and not _is_inside(part):
                    yield part
            case _:
                waiting += [(inner, True) for inner in ir.operands(part)]


def outside(part: ir.Index, access: Access) -> Term:
    """The condition that an index is outside of its array. It is `true` if that is not known."""
    length, type_ = _length(part), part.index.type
    index = access.expressions.value(part.index)
    if length is None or not isinstance(type_, Integer) or length >= 1 << (type_.bits - 1):
        return TRUE
    arithmetic = access.arithmetic
    return or_(
        arithmetic.compare("<", index, arithmetic.constant(0, type_), type_),
        arithmetic.compare(">=", index, arithmetic.constant(length, type_), type_),
    )


def open_subscripts(system: System, state: State, step: Step, context: int) -> tuple[State, str] | None:
    """The states in which a step accesses an array outside of its bounds, and what to say of them; None if there are plainly
    none."""
    effect = step.edge.effect
    if step.kind not in ("edge", "enter", "external"):
        return None
    found, first = [], None
    for expr in ir.expressions(effect):
        for part in accessed(expr):
            access = Access(system.vocabulary, state, step.function, context)
            is_result = step.kind == "enter" and isinstance(effect, ir.Call) and expr is effect.result
            if is_result and is_late(system.program.functions[step.function], step.edge):
                fails = TRUE  # what the called function does can change where its result goes
            else:
                fails = and_(outside(part, access), *access.ledger.constraints)
            if fails is not FALSE:
                found.append(fails)
                first = first or part
    failing = state.constrained(or_(*found)) if first is not None else None
    if failing is None or first is None:
        return None
    text = with_origins(spell_expr(first), system.program.functions[step.function])
    return failing, f"{text} in {display_name(step.function)}() may be outside of its array"


def _length(part: ir.Index) -> int | None:
    return part.array.type.length if isinstance(part.array.type, Array) else None


def _is_inside(part: ir.Index) -> bool:
    return isinstance(part.index, ir.IntConst) and 0 <= part.index.value < (_length(part) or 0)
