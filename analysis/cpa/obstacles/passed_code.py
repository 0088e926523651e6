"""Whether code that is not known can be led to functions of the program by what it is passed."""

from __future__ import annotations

from analysis.c.functions import known
from analysis.cfa.graph import Program
from analysis.model import ir
from analysis.model.c_types import Array, Function, Pointer, Record, Type


def may_call_back(program: Program, name: str, call: ir.Call) -> bool:
    """Whether an external function may call functions of the program that it is passed."""
    function = known(name)
    return (function is None or not function.calls_nothing) and any(leads_to_code(program, one) for one in call.arguments)


def leads_to_code(program: Program, argument: ir.Expr) -> bool:
    """Whether a function of the program can be called through the argument."""
    inner = ir.strip_casts(argument)
    if isinstance(inner, ir.AddressOf) and isinstance(inner.lvalue, ir.Var) and inner.lvalue.scope == "function":
        return True
    return bool(program.address_taken) and _holds_code(program, inner.type, set())


def _holds_code(program: Program, type_: Type, seen: set[Type]) -> bool:
    if type_ in seen:
        return False
    seen.add(type_)
    match type_:
        case Function():
            return True
        case Pointer(target) | Array(target):
            return _holds_code(program, target, seen)
        case Record(_, key):
            definition = program.records.get(key)
            return definition is not None and any(_holds_code(program, m.type, seen) for m in definition.members)
    return False
