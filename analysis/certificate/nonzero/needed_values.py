"""Which values must not be zero where an edge is taken, so that it does not violate a rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from analysis.c.functions import Function
from analysis.c.operators import rules_of
from analysis.cfa.graph import Program
from analysis.cpa.predicates.violations import divides_floats, has_odd_format, moves_pointer, passed_pointers
from analysis.model import ir
from analysis.model.c_types import Floating, Integer, Pointer, Void

Rule = Literal["null-dereference", "division-by-zero"]
RULES: frozenset[str] = frozenset(("null-dereference", "division-by-zero"))
"""The rules that this kind of proof is about."""


class Needed(NamedTuple):
    """An expression that must not be zero. `later`: it is evaluated when the effect is over, too. `tells`: runs that go on show
    that it was not zero. `why`: the rule is not excluded whatever the value; else empty. `unless`: a mark that does instead,
    where the function has begun with a text before (`begun`)."""

    expr: ir.Expr
    later: bool = False
    tells: bool = True
    why: str = ""
    unless: ir.Expr | None = None


def begun(function: Function, position: int) -> ir.Expr | None:
    """A mark that is not zero once a function like `strtok` was passed a text, which it keeps, so that null stands for the rest
    of that (C11 7.24.5.8p3); None for all others, also for those that keep it where an argument says. It reads nothing, so that
    no write takes it away."""
    is_kept = {"inout", "kept"} <= set(function.argument(position).uses) and "elsewhere" in function.besides
    return ir.StringConst(function.name, Pointer(Void())) if is_kept and position == 0 else None


def needed(program: Program, effect: ir.Effect, rule: Rule) -> Iterator[Needed]:
    """What an edge needs."""
    target = effect.result if isinstance(effect, ir.Call) else None
    for expr in ir.expressions(effect):
        for part in ir.walk(expr):
            yield from _of_part(part, rule, later=expr is target)
    if rule == "null-dereference":
        if has_odd_format(program, effect):
            yield Needed(ir.IntConst(0, Pointer(expr.type)), why="a format asks for pointers that are not passed")
        called = effect.callee if isinstance(effect, ir.Call) else None
        for pointer in passed_pointers(program, effect, rule):
            # functions outside may do nothing with what they are passed, and go on
            mark = _mark(program, effect, pointer)
            yield from (Needed(expr, tells=pointer is called, unless=mark) for expr in _chain(pointer))


def _mark(program: Program, effect: ir.Effect, pointer: ir.Expr) -> ir.Expr | None:
    if not isinstance(effect, ir.Call) or not effect.arguments or effect.arguments[0] is not pointer:
        return None
    name = ir.direct_callee(effect)
    function = None if name is None or name in program.functions else program.known(name)
    return None if function is None else begun(function, 0)


def _of_part(part: ir.Expr, rule: Rule, *, later: bool) -> Iterator[Needed]:
    if rule == "division-by-zero":
        if divides_floats(part):
            yield _floating_divisor(part, later=later)
        elif isinstance(part, ir.Binary) and rule in rules_of(part):
            yield Needed(part.right, later)
    elif isinstance(part, ir.Deref):
        yield from (Needed(expr, later) for expr in _chain(part.pointer))
    elif isinstance(part, ir.Binary) and moves_pointer(part) and not _is_zero(part.right):
        yield Needed(part.left, later, tells=False)


def _floating_divisor(part: ir.Expr, *, later: bool) -> Needed:
    """What the division needs: an integer that is converted to floating types is zero if and only if it was so (C11 6.3.1.4p2).
    Runs go on where it is zero, as values may be infinite (annex F)."""
    divisor = part.right if isinstance(part, ir.Binary) else part
    while isinstance(divisor, ir.Cast) and isinstance(divisor.type, Floating):
        divisor = divisor.operand
        if isinstance(divisor.type, Integer):
            return Needed(divisor, later, tells=False)
    return Needed(part, later, why="what floating values are divided by is not followed")


def _is_zero(distance: ir.Expr) -> bool:
    bare = ir.strip_casts(distance)
    return isinstance(bare, ir.IntConst) and bare.value == 0


def _chain(pointer: ir.Expr) -> Iterator[ir.Expr]:
    """The pointer without what is added to it. A null pointer that was moved leads nowhere, either."""
    bare = pointer
    while isinstance(bare, ir.Cast | ir.Binary) and isinstance(bare.type, Pointer):
        inner = bare.operand if isinstance(bare, ir.Cast) else bare.left
        if not isinstance(inner.type, Pointer):
            break
        bare = inner
    yield bare
