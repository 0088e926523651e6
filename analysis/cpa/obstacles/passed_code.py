"""Whether code that is not known can be led to functions of the program by what it is passed.

A pointer to a function may be held as something else meanwhile: as a `void *` (POSIX), or as a number (C11 6.3.2.3p6). Where a
function of the library calls an argument, what that is does not depend on the type in which it was held. Of other functions, any
pointer to void and any large number may be such a pointer, in a program that makes one somewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.c.aliasing import has_room_for_address
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.c_types import Array, Function, Integer, Pointer, Record, Type, Void
from analysis.model.kept_with import kept_with

_CALLED = ("code", "later", "starts", "starts-inside")


def may_call_back(program: Program, name: str, call: ir.Call) -> bool:
    """Whether an external function may call functions of the program that it is passed."""
    function = program.known(name)
    if function is None or not function.is_complete:
        return any(leads_to_code(program, argument) for argument in call.arguments)
    called = [call.arguments[at] for at in function.positions(*_CALLED) if at < len(call.arguments)]
    return any(_may_be_code(program, argument) for argument in called) or (
        bool(called) and any(leads_to_code(program, argument) for argument in call.arguments)
    )


def _may_be_code(program: Program, argument: ir.Expr) -> bool:
    """Whether what is called may be a function of the program."""
    inner = ir.strip_casts(argument)
    return _is_function(inner) or (bool(program.address_taken) and not isinstance(inner, ir.IntConst))


def leads_to_code(program: Program, argument: ir.Expr) -> bool:
    """Whether a function of the program can be called through the argument."""
    inner = ir.strip_casts(argument)
    if _is_function(inner):
        return True
    if not program.address_taken or isinstance(inner, ir.IntConst | ir.StringConst):
        return False
    return any(_holds_code(program, part.type, set()) for part in _casts(argument))


def _casts(expr: ir.Expr) -> Iterator[ir.Expr]:
    """A value, and what it is converted from."""
    yield expr
    while isinstance(expr, ir.Cast):
        expr = expr.operand
        yield expr


def _is_function(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.AddressOf) and isinstance(expr.lvalue, ir.Var) and expr.lvalue.scope == "function"


def _holds_code(program: Program, type_: Type, seen: set[Type]) -> bool:
    if type_ in seen:
        return False
    seen.add(type_)
    match type_:
        case Function():
            return True
        case Pointer(Void()):
            return "pointer" in _hidden(program)
        case Integer():
            return has_room_for_address(type_) and "number" in _hidden(program)
        case Pointer(target) | Array(target):
            return _holds_code(program, target, seen)
        case Record(_, key):
            definition = program.records.get(key)
            return definition is not None and any(_holds_code(program, m.type, seen) for m in definition.members)
    return False


@kept_with
def _hidden(program: Program) -> frozenset[str]:
    """As what pointers to functions of a program may be held besides: "pointer" for those to objects, "number"."""
    casts = {(_sort(part.operand.type), _sort(part.type)) for part in _parts(program) if isinstance(part, ir.Cast)}
    direct = {held for was, held in casts if was == "code" and held in ("pointer", "number")}
    if "pointer" in direct and ("pointer", "number") in casts:
        direct.add("number")
    if "number" in direct and ("number", "pointer") in casts:
        direct.add("pointer")
    return frozenset(direct)


def _parts(program: Program) -> Iterator[ir.Expr]:
    for cfa in program.functions.values():
        for parts in cfa.parts.values():
            yield from parts
    for variable in program.globals.values():
        for value in (variable.initial, *(part.value for part in variable.parts)):
            yield from ir.walk(value)


def _sort(type_: Type) -> str:
    if isinstance(type_, Pointer):
        return "code" if isinstance(type_.target, Function) else "pointer"
    return "number" if isinstance(type_, Integer) and has_room_for_address(type_) else ""
