"""The standard streams that nothing in a program closes (C11 7.21.3p7): `stderr` leads to what never ends.

A program may close one by what it passes to `fclose`. So each place where it names the stream is looked at:

- It is passed to a library function that uses streams, and neither closes nor keeps it, or it is compared: nothing comes of that.
- It goes elsewhere (into a variable, to a function of the program): then any stream that is closed may be this one, but for those
  that the function with the call opens.
- It is passed to a function that closes it, like `fclose(stderr)`, or of which not all is known, like `freopen`.

That it is open when a function is called from outside, and stays so while other files' code runs, is `assumptions.LEFT_OPEN`.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.c.library_variables import STREAMS
from analysis.certificate.nonzero.values import open_streams
from analysis.cfa.addresses_taken import taken_by
from analysis.cfa.callgraph import callees
from analysis.cfa.graph import Cfa, Global, Program
from analysis.model import ir
from analysis.model.c_types import Pointer
from analysis.model.comparisons import COMPARISONS
from analysis.model.kept_with import kept_with

_CLOSE_ALL = frozenset(("fcloseall", "_fcloseall"))


@kept_with
def never_closed(program: Program) -> frozenset[str]:
    """The names of the streams that nothing in the program can close."""
    found = open_streams(program)
    if not found or any(not _CLOSE_ALL.isdisjoint((*called, *program.address_taken)) for called in callees(program).values()):
        return frozenset()
    closed, elsewhere = set[str](), set[str]()
    for cfa in program.functions.values():
        for effect in _naming(cfa):
            for name, is_closed in _going(program, effect):
                (closed if is_closed else elsewhere).add(name)
    for variable in program.globals.values():
        elsewhere.update(_named_at_start(variable))
    return found - closed - (elsewhere if _closes_any(program) else set())


@kept_with
def _named_at_start(variable: Global) -> frozenset[str]:
    return frozenset(_named((variable.initial, *(part.value for part in variable.parts))))


@kept_with
def _naming(cfa: Cfa) -> tuple[ir.Effect, ...]:
    """The effects of a function that name a stream. Most functions have none, and most stay the same from edit to edit."""
    return tuple(edge.effect for edge in cfa.edges if any(map(_is_stream, cfa.parts[edge.id])))


def _is_stream(part: ir.Expr) -> bool:
    return isinstance(part, ir.Var) and part.name in STREAMS


def _closes_any(program: Program) -> bool:
    """Whether the program may close a stream that is not named there, and that the function does not open: also by a function of
    which not all is known, and to which pointers may lead."""
    outside = program.address_taken - program.functions.keys()
    calls = ((cfa, edge.effect) for cfa in program.functions.values() for edge in cfa.calls)
    return any(_may_close(program, name) for name in sorted(outside)) or any(
        isinstance(call, ir.Call) and _closes_other(program, cfa, call) for cfa, call in calls
    )


def _closes_other(program: Program, cfa: Cfa, call: ir.Call) -> bool:
    name = ir.direct_callee(call)
    if name is None or name in program.functions or not _may_close(program, name):
        return False
    function = program.known(name)
    if function is None or not function.is_complete:
        return any(isinstance(argument.type, Pointer) for argument in call.arguments)
    given = [call.arguments[at] for at in function.positions("closed") if at < len(call.arguments)]
    return not all(_is_opened_there(program, cfa, ir.strip_casts(argument)) for argument in given)


def _is_opened_there(program: Program, cfa: Cfa, stream: ir.Expr) -> bool:
    """Whether it is a number, or a variable of the function to which nothing is assigned but null and what library functions
    open."""
    if not isinstance(stream.type, Pointer):
        return True
    if not isinstance(stream, ir.Var) or stream.scope != "local" or stream.name in taken_by(cfa).own:
        return False
    effects = [edge.effect for edge in cfa.edges if ir.target_of(edge.effect) == stream]
    return all(_opens(program, effect) for effect in effects)


def _opens(program: Program, effect: ir.Effect) -> bool:
    if isinstance(effect, ir.Call):
        function = program.known(ir.direct_callee(effect) or "")
        return function is not None and function.is_complete and function.result in ("stream", "directory")
    return isinstance(effect, ir.Assign) and isinstance(effect.value, ir.Undefined | ir.IntConst)


def _may_close(program: Program, name: str) -> bool:
    function = program.known(name)
    return function is None or not function.is_complete or bool(function.positions("closed"))


def _going(program: Program, effect: ir.Effect) -> Iterator[tuple[str, bool]]:
    """The streams that an effect names where something may come of it, and whether they may be closed there."""
    if not isinstance(effect, ir.Call):
        yield from ((name, False) for expr in ir.expressions(effect) for name in _outside_comparisons(expr))
        return
    callee = ir.direct_callee(effect)
    function = None if callee is None or callee in program.functions else program.known(callee)
    is_defined = callee is not None and callee in program.functions
    for at, argument in enumerate(effect.arguments):
        if not isinstance(ir.strip_casts(argument), ir.Var):
            yield from ((name, False) for name in _outside_comparisons(argument))
            continue
        for name in _named((argument,)):
            if function is None or not function.is_complete:
                yield name, not is_defined and callee is not None
            elif "closed" in function.argument(at).uses:
                yield name, True
            elif "kept" in function.argument(at).uses or function.result in ("any", "argument", "into") or function.calls_code:
                yield name, False
    yield from ((name, False) for name in _named((effect.callee, *(() if effect.result is None else (effect.result,)))))


def _outside_comparisons(expr: ir.Expr) -> Iterator[str]:
    """The streams whose values are more than compared, or tested."""
    match expr:
        case ir.Binary(operator, left, right) if operator in COMPARISONS:
            for side in (left, right):
                if not isinstance(ir.strip_casts(side), ir.Var):
                    yield from _outside_comparisons(side)
        case ir.Var(name):
            yield from (name,) if name in STREAMS else ()
        case _:
            for operand in ir.operands(expr):
                yield from _outside_comparisons(operand)


def _named(exprs: tuple[ir.Expr, ...]) -> Iterator[str]:
    return (part.name for expr in exprs for part in ir.walk(expr) if isinstance(part, ir.Var) and part.name in STREAMS)
