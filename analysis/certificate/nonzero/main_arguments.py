"""The arguments of `main`: `argv[0]` to `argv[argc - 1]` are not null where a program starts (C11 5.1.2.2.1p2).

As long as nothing writes to `argc`, to `argv`, or where that leads, a *mark* is known at a location: an expression that no
program has (`-argv[argc]`, of a pointer), which reads all of them. So it is forgotten with the first of them that may change.
Where it is known, a comparison of `argc` says which arguments there are: `argc < 2` that does not hold, that `argv[0]` and
`argv[1]` are not null. After `i < argc`, `argv[i]` is not: that it is inside of the array is assumed of all accesses
(`assumptions.INSIDE`). The array is part of no variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.certificate.nonzero.values import Known, constant
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.graph import Cfa, Program
from analysis.cfa.open_functions import only_started
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer

_MOST = 32  # arguments that one comparison tells of
_INDEX = Integer(64, True, "long")


def argument_array(program: Program, cfa: Cfa) -> str:
    """The name of `argv`, if that leads to the arguments of the program wherever it is named; else empty."""
    if cfa.name not in only_started(program) or len(cfa.parameters) < 2:
        return ""
    name = cfa.parameters[1].name
    targets = (ir.target_of(edge.effect) for edge in cfa.edges)
    is_changed = name in taken_by(cfa).own or any(isinstance(one, ir.Var) and one.name == name for one in targets)
    return "" if is_changed else name


def at_start(parameters: Sequence[ir.Var]) -> Iterator[ir.Expr]:
    """What is not null where `main` begins that nothing in the program calls: `argv`, and the mark."""
    if len(parameters) < 2 or not isinstance(parameters[1].type, Pointer):
        return
    count, values = parameters[:2]
    yield values
    inner = values.type.target if isinstance(values.type, Pointer) else None
    if isinstance(count.type, Integer) and isinstance(inner, Pointer):
        end = ir.Deref(ir.Binary("+", values, count, values.type), inner)
        yield ir.Unary("-", end, inner)


def present(known: Known, operator: str, one: ir.Expr, other: ir.Expr) -> Iterator[ir.Expr]:
    """The arguments that are not null where `one operator other`."""
    values = _values(known, one)
    if values is None or not isinstance(values.type, Pointer):
        return
    bound = constant(known, other)
    if operator in (">", ">=", "==") and bound is not None:
        for number in range(min(bound + (operator == ">"), _MOST)):
            yield _element(values, ir.IntConst(number, _INDEX))
            if number == 0:
                yield ir.Deref(values, values.type.target)
    if operator == ">" and isinstance(other, ir.Var):
        yield _element(values, other)
        yield _element(values, ir.Cast(other, _INDEX))


def _values(known: Known, count: ir.Expr) -> ir.Expr | None:
    """`argv`, where it, what it leads to and `count`, which is `argc`, are as at the start."""
    if not isinstance(count, ir.Var) or count.scope != "parameter":
        return None
    for one in known.nonzero:
        if isinstance(one, ir.Unary) and isinstance(one.type, Pointer) and isinstance(one.operand, ir.Deref):
            pointer = one.operand.pointer
            if isinstance(pointer, ir.Binary) and pointer.right == count:
                return pointer.left
    return None


def _element(values: ir.Expr, index: ir.Expr) -> ir.Expr:
    inner = values.type.target if isinstance(values.type, Pointer) else values.type
    return ir.Deref(ir.Binary("+", values, index, values.type), inner)
