"""What is known of the results of library functions, and of what they store."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.c.functions import Function
from analysis.certificate.nonzero.data_invariants import Always
from analysis.certificate.nonzero.values import Known, is_nonzero, is_stable
from analysis.model import ir
from analysis.model.c_types import Integer, Pointer


def is_never_zero(known: Known, call: ir.Call, function: Function, always: Always) -> bool:
    """Whether an external function never returns zero, or null, with these arguments."""
    if function.null or call.result is None:
        return False
    if function.result == "number":
        least, greatest = function.least, function.greatest
        return (least is not None and least > 0) or (greatest is not None and greatest < 0)
    if not isinstance(call.result.type, Pointer):
        return False
    if function.result in ("argument", "into"):
        return function.of < len(call.arguments) and is_nonzero(known, call.arguments[function.of], always)
    return True


def with_table(known: Known, target: ir.Expr, function: Function | None) -> Known:
    """What is known behind the result of a function of the library whose result leads to a pointer."""
    type_ = target.type
    if function is None or "table" not in function.besides:
        return known
    if not isinstance(target, ir.Var) or not isinstance(type_, Pointer) or not isinstance(type_.target, Pointer):
        return known
    return known._replace(nonzero=known.nonzero | {ir.Deref(target, type_.target)})


def with_length(known: Known, target: ir.Expr, function: Function | None) -> Known:
    """A length is not the greatest number of its type: the text, and what ends it, are in memory."""
    is_length = function is not None and "size_t" in function.besides and bool(function.positions("text"))
    if not is_length or not isinstance(target, ir.Var) or not isinstance(target.type, Integer):
        return known
    return known._replace(nonzero=known.nonzero | {ir.Unary("~", target, target.type)})


def linked(function: Function | None, call: ir.Call) -> Iterator[ir.Expr]:
    """The variables where a library function stores a pointer into the text that it is passed: `end` of `strtol(s, &end, 10)`
    (C11 7.22.1.4p5)."""
    if function is None or not function.is_complete or not function.positions("text") or function.result != "number":
        return
    for at in function.positions("link"):
        if not all(map(_is_base, call.arguments[at + 1 :])):
            continue
        bare = ir.strip_casts(call.arguments[at]) if at < len(call.arguments) else None
        if isinstance(bare, ir.AddressOf) and isinstance(bare.lvalue.type, Pointer) and is_stable(bare.lvalue):
            yield bare.lvalue


def _is_base(argument: ir.Expr) -> bool:
    """Whether an argument is a base that `strtol` has for sure: with others it may store nothing (C11 7.22.1.4p3)."""
    bare = ir.strip_casts(argument)
    return isinstance(bare, ir.IntConst) and (bare.value == 0 or 2 <= bare.value <= 36)
